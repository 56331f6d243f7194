/** A thin line under the bar while something is on the way. */
import type { Progress } from "../api/types";

export function ProgressLine({
  isActive,
  progress,
}: {
  isActive: boolean;
  progress: Progress | null;
}) {
  if (!isActive) return <div class="progress-line" />;
  const share = progress && progress.total > 0 ? Math.min(progress.done / progress.total, 1) : null;
  return (
    <div
      class={share === null ? "progress-line active" : "progress-line"}
      role="progressbar"
      aria-label="Loading"
      aria-valuenow={share === null ? undefined : Math.round(share * 100)}
    >
      <span style={{ width: share === null ? "30%" : `${share * 100}%` }} />
    </div>
  );
}
