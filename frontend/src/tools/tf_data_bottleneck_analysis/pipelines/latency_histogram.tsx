/** A histogram of call latencies in the height of a text line. */
import { formatCount, formatTime } from "../../../base/format";
import { microseconds } from "../../../base/units";
import { SLOW_US } from "../payload";

/** The range of bins to draw: from the first to the last bin with calls of any pipeline. */
export interface Bins {
  readonly first: number;
  readonly last: number;
  readonly edges: readonly number[];
}

interface LatencyHistogramProps {
  readonly counts: readonly number[];
  readonly bins: Bins;
}

const WIDTH = 160;
const HEIGHT = 22;
const LEAST = 2;
const LEAST_BINS = 12;

export function LatencyHistogram({ counts, bins }: LatencyHistogramProps) {
  const { first, last, edges } = bins;
  const count = last - first + 1;
  const most = Math.max(...counts);
  if (!(most > 0) || count <= 0) return null;
  const width = WIDTH / count;
  const slow = slowPlace(bins) * width;
  return (
    <svg
      class="tf-histogram"
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      role="img"
      aria-label={describeBins(counts, edges)}
    >
      {counts.map((calls, index) => {
        if (!(calls > 0)) return null;
        const height = Math.max((calls / most) * (HEIGHT - 1), LEAST);
        return (
          <rect
            key={index}
            class={edges[index] >= SLOW_US ? "slow" : undefined}
            x={(index - first) * width + 0.5}
            y={HEIGHT - height}
            width={Math.max(width - 1, 1)}
            height={height}
          >
            <title>{describeBin(calls, edges[index], edges[index + 1])}</title>
          </rect>
        );
      })}
      {slow > 0 && slow < WIDTH ? (
        <path class="tf-slow-line" d={`M ${slow} 0 V ${HEIGHT}`} />
      ) : null}
    </svg>
  );
}

/** The common bins of these histograms. */
export function usedBins(edges: readonly number[], all: readonly (readonly number[])[]): Bins {
  const used = edges.slice(1).map((_, bin) => all.some((counts) => counts[bin] > 0));
  let [first, last] = [used.indexOf(true), used.lastIndexOf(true)];
  if (first < 0) return { first: 0, last: -1, edges };
  // With few bins, bars would be too wide.
  while (last - first + 1 < Math.min(LEAST_BINS, used.length)) {
    if (first > 0) first -= 1;
    if (last < used.length - 1) last += 1;
  }
  return { first, last, edges };
}

/** The position where slow calls begin, in bins from the first one, on the logarithmic scale. */
export function slowPlace({ first, last, edges }: Bins): number {
  if (edges[first] >= SLOW_US) return 0;
  for (let bin = first; bin <= last; bin++) {
    if (edges[bin + 1] >= SLOW_US) {
      const [low, high] = [Math.max(edges[bin], 1e-3), edges[bin + 1]];
      return bin - first + Math.log(SLOW_US / low) / Math.log(high / low);
    }
  }
  return last - first + 1;
}

function describeBin(calls: number, from: number, to: number): string {
  return `${formatCount(calls)}: ${formatTime(microseconds(from))} to ${formatTime(microseconds(to))}`;
}

const SAID = 12;

function describeBins(counts: readonly number[], edges: readonly number[]): string {
  const said = counts.flatMap((calls, index) =>
    calls > 0 ? [describeBin(calls, edges[index], edges[index + 1])] : [],
  );
  return `Calls by latency: ${said.slice(0, SAID).join("; ")}${said.length > SAID ? " and others" : ""}`;
}
