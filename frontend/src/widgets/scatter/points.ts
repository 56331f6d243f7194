/** The data of a scatter plot: points of several kinds on logarithmic axes, and their upper bounds. */

export interface ScatterPoints {
  /** Positive: other values have no place on a logarithmic axis. */
  readonly x: Float64Array;
  readonly y: Float64Array;
  /** The areas of the marks are proportional to it. */
  readonly weight: Float64Array;
  /** Indices into the kinds. */
  readonly kind: Int32Array;
}

export interface PointKind {
  readonly label: string;
  /** May be a custom property. */
  readonly color: string;
}

/** An upper bound: y ≤ `value` for a level, y ≤ `value` × x for a slope. */
export interface Roof {
  readonly label: string;
  readonly bounds: "level" | "slope";
  readonly value: number;
  /** Drawn as a solid line; others are dashed. */
  readonly isMain: boolean;
}

export interface Axis {
  readonly title: string;
  /** Formats a power of ten: "1 T". */
  readonly format: (value: number) => string;
}

/** The ranges of both axes, as exponents of ten. */
export interface Range {
  readonly x: readonly [number, number];
  readonly y: readonly [number, number];
}

const ROOM = 0.45;
/** With fewer decades, small differences would look large. */
const LEAST_DECADES = 2;

/** The range that shows all points, and the point where the roofs meet. */
export function wholeRange(points: ScatterPoints, roofs: readonly Roof[]): Range {
  const levels = roofs.filter(({ bounds }) => bounds === "level").map(({ value }) => value);
  const slopes = roofs.filter(({ bounds }) => bounds === "slope").map(({ value }) => value);
  const top = Math.max(...levels);
  const ridge = levels.length > 0 && slopes.length > 0 ? [top / Math.min(...slopes)] : [];
  return {
    x: decades([points.x, ridge]),
    // Room for the labels of the highest lines.
    y: decades([points.y, levels.map((value) => value * 2)]),
  };
}

function decades(values: readonly ArrayLike<number>[]): [number, number] {
  let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const list of values) {
    for (let index = 0; index < list.length; index++) {
      const power = Math.log10(list[index]);
      if (!Number.isFinite(power)) continue;
      low = Math.min(low, power);
      high = Math.max(high, power);
    }
  }
  if (low > high) return [-1, 1];
  const missing = Math.max(LEAST_DECADES - (high - low), 0) / 2;
  return [low - missing - ROOM, high + missing + ROOM];
}

/** The lowest roof at x with its label; null without roofs. */
export function roofAt(roofs: readonly Roof[], x: number): { y: number; label: string } | null {
  let least: { y: number; label: string } | null = null;
  for (const { bounds, value, label } of roofs) {
    const y = bounds === "level" ? value : value * x;
    if (!least || y < least.y) least = { y, label };
  }
  return least;
}

/** "0.01", "1", "10 k", "1 T" for a power of ten. */
export function formatPower(value: number): string {
  const power = Math.round(Math.log10(value));
  if (power < 3) return String(Number(value.toPrecision(1)));
  const step = Math.min(Math.floor(power / 3), PREFIXES.length - 1);
  return `${Number((value / 1000 ** step).toPrecision(1))} ${PREFIXES[step]}`;
}

const PREFIXES = ["", "k", "M", "G", "T", "P", "E"];
