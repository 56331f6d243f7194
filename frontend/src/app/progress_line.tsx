/** A thin line under the bar while something is on the way. */

/** `share`: 0–1 of the work, 0 where nothing is known of it. */
export function ProgressLine({ isActive, share }: { isActive: boolean; share: number }) {
  if (!isActive) return <div class="progress-line" />;
  const isKnown = share > 0;
  return (
    <div
      class={isKnown ? "progress-line" : "progress-line active"}
      role="progressbar"
      aria-label="Loading"
      aria-valuenow={isKnown ? Math.round(share * 100) : undefined}
    >
      <span style={{ width: isKnown ? `${Math.min(share, 1) * 100}%` : "30%" }} />
    </div>
  );
}
