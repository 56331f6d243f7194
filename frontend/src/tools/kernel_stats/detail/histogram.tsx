/** A histogram of the durations of a kernel's launches. */
import { formatCount, formatTime } from "../../../base/format";
import { microseconds } from "../../../base/units";
import type { Histogram as Bins, KernelCalls } from "./calls";

const [WIDTH, HEIGHT] = [240, 56];

export function Histogram({ calls }: { calls: KernelCalls }) {
  const { duration, deviation, histogram } = calls;
  const { edges, counts, isLogarithmic } = histogram;
  const most = Math.max(...counts);
  const wide = WIDTH / counts.length;
  const time = (value: number) => formatTime(microseconds(value));
  const text = `Median ${time(duration.median)}, σ ${time(deviation)}`;
  const middle = placeOf(duration.median, histogram) * WIDTH;
  return (
    <figure class="kernel-durations">
      <figcaption>Duration, σ {time(deviation)}</figcaption>
      <div class="muted" title="Launches in the highest bar">
        {formatCount(most)}
      </div>
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={text}
      >
        {Array.from(counts, (count, index) => {
          const height = count === 0 ? 0 : Math.max((count / most) * HEIGHT, 2);
          return (
            <rect key={index} x={index * wide} y={HEIGHT - height} width={wide - 1} height={height}>
              <title>{`${formatCount(count)}: ${time(edges[index])} to ${time(edges[index + 1])}`}</title>
            </rect>
          );
        })}
        <line x1={middle} x2={middle} y1={0} y2={HEIGHT} vector-effect="non-scaling-stroke">
          <title>{`Median: ${time(duration.median)}`}</title>
        </line>
      </svg>
      <div class="kernel-range muted">
        <span>{time(edges[0])}</span>
        {isLogarithmic ? (
          <span title="Bars have equal widths on a logarithmic scale">log scale</span>
        ) : null}
        <span>{time(edges[edges.length - 1])}</span>
      </div>
    </figure>
  );
}

/** The position of a duration on the axis, 0–1; bins are drawn with equal widths. */
export function placeOf(value: number, { edges }: Bins): number {
  const bins = edges.length - 1;
  const index = edges.findIndex((edge, bin) => bin > 0 && value <= edge);
  if (index <= 0) return 1;
  const [low, high] = [edges[index - 1], edges[index]];
  return (index - 1 + (high > low ? (value - low) / (high - low) : 0.5)) / bins;
}
