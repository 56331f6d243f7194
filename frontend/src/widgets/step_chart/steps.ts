/** What a step chart draws: one value per step and series, as stacks or as lines. */
import { columnScale, type Quantity, type Scale } from "../../base/format";

export interface StepAxis {
  /** The steps' numbers or names as the trace has them, in order. */
  readonly labels: readonly string[];
  /** What the events that mark the steps are called, "" where nothing marks them. */
  readonly marker?: string;
  /** Whether a part of the step was not recorded. */
  readonly isTruncated: readonly boolean[];
  /** Whether nothing that a device did in the step was: it has no times. */
  readonly isUnrecorded?: readonly boolean[];
  /** Why a step takes much longer than the others, "" for those that do not. */
  readonly outliers?: readonly string[];
}

export interface StepSeries {
  readonly id: string;
  readonly label: string;
  /** A custom property: "var(--c-input)". */
  readonly color: string;
  /** [steps], in µs or percent; NaN where not measured. */
  readonly values: Float64Array;
  /** For lines: the range about the value, drawn as a band. */
  readonly low?: Float64Array;
  readonly high?: Float64Array;
}

export type Drawing = "stack" | "line";

/** Steps that are drawn as one column, of which `step` is shown. `to` is the first one after. */
export interface StepColumn {
  readonly from: number;
  readonly to: number;
  readonly step: number;
}

/** What the heights of a stack sum to, per step; for lines the largest value. NaN counts as 0. */
export function stepTotals(
  series: readonly StepSeries[],
  count: number,
  drawing: Drawing = "stack",
): Float64Array {
  const totals = new Float64Array(count);
  for (const { values, high } of series) {
    for (let step = 0; step < count; step++) {
      const value = values[step] || 0;
      if (drawing === "stack") totals[step] += value;
      else totals[step] = Math.max(totals[step], value, high?.[step] || 0);
    }
  }
  return totals;
}

/** "Step 7" of the label "7"; a label that is a name stays as it is: "train 7". */
export function stepName({ labels }: StepAxis, step: number): string {
  const label = (labels[step] ?? "").slice(0, 60);
  return /^\D/.test(label) && label.length > 1 ? label : `Step ${label}`;
}

/** What to know of a step, for its card and for who hears the chart. */
export function stepNotes({ isTruncated, outliers }: StepAxis, step: number): string[] {
  const reason = outliers?.[step] ?? "";
  return [
    ...(isTruncated[step] ? ["Not fully recorded: left out of averages."] : []),
    ...(reason === "" ? [] : [`Outlier: ${reason.slice(0, 400)}.`]),
  ];
}

/**
 * The steps `from` to `to` as at most about `most` columns. Where a column stands for several steps
 * it shows the one with the largest of `totals`, so that no slow step is lost. Columns begin at
 * multiples of their length, so that they stay the same while the view moves.
 */
export function findColumns(
  totals: Float64Array,
  from: number,
  to: number,
  most: number,
): StepColumn[] {
  const length = Math.max(Math.ceil((to - from) / Math.max(most, 1)), 1);
  const columns: StepColumn[] = [];
  for (let start = from - (from % length); start < to; start += length) {
    const end = Math.min(start + length, totals.length);
    let step = start;
    for (let other = start + 1; other < end; other++) {
      if (totals[other] > totals[step]) step = other;
    }
    columns.push({ from: start, to: end, step });
  }
  return columns;
}

/** Percent at which an axis of shares may end: each of these can be divided into few round parts. */
const PERCENT_TOPS = [1, 2, 4, 5, 10, 20, 40, 50, 100];
/** The part of a column's height that stays free above it. */
const MARGIN = 0.05;

/**
 * The vertical axis for the largest of `totals` from `from` to `to`: its unit, and what its upper
 * edge stands for. Shares end at a mark, so that a line near the edge can be read.
 */
export function axisScale(
  totals: Float64Array,
  from: number,
  to: number,
  quantity: Quantity,
): { readonly top: number; readonly scale: Scale } {
  let most = 0;
  for (let step = from; step < to; step++) most = Math.max(most, totals[step] || 0);
  const round = PERCENT_TOPS.find((top) => top >= most);
  const top = quantity === "percent" && round ? round : most * (1 + MARGIN) || 1;
  return { top, scale: readingScale(most, quantity) };
}

/** The unit in which a person says `most`: a column of a table stays with the smaller one longer. */
export function readingScale(most: number, quantity: Quantity): Scale {
  return columnScale(quantity, most * 10);
}
