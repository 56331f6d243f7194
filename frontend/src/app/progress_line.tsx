/** A thin progress line under the bar while data is loading. */

/** `share`: the part of the work that is done, 0–1; 0 if unknown. */
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
