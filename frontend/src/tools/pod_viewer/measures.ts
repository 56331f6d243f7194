/** The measures that the heat map can show, and the value range of its colors. */
import { COLLECTIVES, type Pod } from "./payload";

export interface Measure {
  /** The id in the address. */
  readonly id: string;
  readonly label: string;
  readonly quantity: "time" | "percent";
  readonly formula: string;
}

const STEP_TIME: Measure = {
  id: "time",
  label: "Step time",
  quantity: "time",
  formula: "From the start of the worker's step to the start of its next one",
};
const OWN_TIME: Measure = {
  id: "own",
  label: "Time without collectives",
  quantity: "time",
  formula:
    "Step time minus the time in collectives. Early workers wait for late ones in collectives, which makes step times alike",
};

export function findMeasures({ phases }: Pod): Measure[] {
  const hasCollectives = phases.some(({ label }) => label === COLLECTIVES);
  return [
    STEP_TIME,
    ...(hasCollectives ? [OWN_TIME] : []),
    ...phases.map(
      ({ id, label }): Measure => ({
        id: String(id),
        label: `Share of ${label.charAt(0).toLowerCase()}${label.slice(1)}`,
        quantity: "percent",
        formula: `Time of the step in “${label}” ÷ step time`,
      }),
    ),
  ];
}

/** The measure with this id; by default the one in which workers differ. */
export function chooseMeasure(
  { workers }: Pod,
  measures: readonly Measure[],
  id: string | undefined,
): Measure {
  const ownTime = workers.count > 1 ? measures.find((measure) => measure === OWN_TIME) : undefined;
  return measures.find((measure) => measure.id === id) ?? ownTime ?? STEP_TIME;
}

/** [workers × steps] µs or percent; NaN if the worker does not have the step. */
export function measureValues(pod: Pod, { id }: Measure): Float32Array {
  if (id === STEP_TIME.id) return pod.total;
  const phase = pod.phases.find((candidate) =>
    id === OWN_TIME.id ? candidate.label === COLLECTIVES : String(candidate.id) === id,
  );
  if (!phase) return pod.total;
  const { permille } = phase;
  if (id === OWN_TIME.id)
    return pod.total.map((total, cell) => total * (1 - permille[cell] / 1000));
  return Float32Array.from(permille, (share) => (share < 0 ? Number.NaN : share / 10));
}

/** The values of the first and the last color; values beyond have the same colors. */
export interface Domain {
  readonly low: number;
  readonly high: number;
  /** The extremes of all values. */
  readonly least: number;
  readonly most: number;
}

const MOST_SORTED = 100_000;
/** Tukey's outer fences: values beyond are extreme. */
const FENCE = 3;
/** The minimum range as a part of its middle: a smaller one would show noise. */
const LEAST_SPAN = 0.1;

/**
 * The range of the values of fully recorded steps without extreme ones, so that a slow first step
 * does not make all others look alike; at most up to `limit`. If no step is fully recorded, all count.
 */
export function findDomain(
  values: Float32Array,
  isTruncated: readonly boolean[],
  isFromZero = false,
  limit = Number.POSITIVE_INFINITY,
): Domain {
  const steps = isTruncated.length;
  const hasWhole = isTruncated.includes(false);
  let least = Number.POSITIVE_INFINITY;
  let most = Number.NEGATIVE_INFINITY;
  const stride = Math.max(Math.ceil(values.length / MOST_SORTED), 1);
  const sample: number[] = [];
  for (let cell = 0; cell < values.length; cell++) {
    const value = values[cell];
    if (Number.isNaN(value)) continue;
    if (value < least) least = value;
    if (value > most) most = value;
    if (cell % stride === 0 && !(hasWhole && isTruncated[cell % steps])) sample.push(value);
  }
  if (!(most >= least)) return { low: 0, high: 1, least: 0, most: 0 };
  const sorted = Float32Array.from(sample).sort();
  const at = (part: number) => sorted[Math.round((sorted.length - 1) * part)] ?? most;
  const fence = FENCE * (at(0.75) - at(0.25));
  const inner = sorted.filter((value) => value >= at(0.25) - fence && value <= at(0.75) + fence);
  const [low, high] = widen(inner[0] ?? least, inner.at(-1) ?? most);
  const from = isFromZero ? 0 : low;
  const to = Math.min(high > from ? high : from + 1, limit);
  return { low: from, high: to, least, most };
}

/** Widens a narrow range, so that values that hardly differ are in the middle. */
function widen(low: number, high: number): readonly [low: number, high: number] {
  const middle = (low + high) / 2;
  const half = Math.max((high - low) / 2, (middle * LEAST_SPAN) / 2);
  return [Math.max(middle - half, 0), middle + half];
}
