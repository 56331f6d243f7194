/** A small line chart of a figure over the steps. */

interface SparklineProps {
  /** NaN where not measured. */
  readonly values: Float64Array;
  readonly label: string;
}

const WIDTH = 120;
const HEIGHT = 24;
const MOST = 120;

export function Sparkline({ values, label }: SparklineProps) {
  const d = sparkPath(values);
  if (d === "") return null;
  return (
    <svg
      class="sparkline"
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
    >
      <path d={d} />
    </svg>
  );
}

/** The path, from a zero base line. Each point is the maximum of a bucket. "" for fewer than two. */
export function sparkPath(values: Float64Array): string {
  const length = Math.max(Math.ceil(values.length / MOST), 1);
  const points: number[] = [];
  for (let start = 0; start < values.length; start += length) {
    let most = Number.NaN;
    for (const value of values.subarray(start, start + length)) {
      if (!(value <= most)) most = Number.isNaN(value) ? most : value;
    }
    if (!Number.isNaN(most)) points.push(most);
  }
  const top = Math.max(...points);
  if (points.length < 2 || !(top > 0)) return "";
  return points
    .map((value, index) => {
      const x = (index / (points.length - 1)) * WIDTH;
      const y = HEIGHT - 1 - (value / top) * (HEIGHT - 2);
      return `${index === 0 ? "M" : "L"}${x.toFixed(1)} ${y.toFixed(1)}`;
    })
    .join("");
}
