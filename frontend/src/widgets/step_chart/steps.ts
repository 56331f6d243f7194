/** The data of a step chart: one value per step and series, drawn as stacks or lines. */
import { columnScale, type Quantity, type Scale } from "../../base/format";

export interface StepAxis {
  /** The steps' numbers or names as in the trace, in order. */
  readonly labels: readonly string[];
  /** The name of the events that mark the steps; "" if nothing marks them. */
  readonly marker?: string;
  /** Whether the step was only partly recorded. */
  readonly isTruncated: readonly boolean[];
  /** Whether no device activity of the step was recorded; it then has no times. */
  readonly isUnrecorded?: readonly boolean[];
  /** Why a step is much longer than the others; "" if it is not. */
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

/** Steps drawn as one column, which shows `step`; `to` is exclusive. */
export interface StepColumn {
  readonly from: number;
  readonly to: number;
  readonly step: number;
}

/** The height of the stack per step; for lines, the largest value. NaN counts as 0. */
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

/** "Step 7" for the label "7"; labels that contain a name are unchanged: "train 7". */
export function stepName({ labels }: StepAxis, step: number): string {
  const label = (labels[step] ?? "").slice(0, 60);
  return /^\D/.test(label) && label.length > 1 ? label : `Step ${label}`;
}

/** Notes about a step, for its card. */
export function stepNotes({ isTruncated, outliers }: StepAxis, step: number): string[] {
  const reason = outliers?.[step] ?? "";
  return [
    ...(isTruncated[step] ? ["Not fully recorded: left out of averages."] : []),
    ...(reason === "" ? [] : [`Outlier: ${reason.slice(0, 400)}.`]),
  ];
}

/**
 * The steps `from` to `to` as about `most` columns at most. A column of several steps shows the one
 * with the largest total, so that no slow step is lost. Columns begin at multiples of their length,
 * so that they do not change while the view moves.
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

/** Possible ends of a percent axis: each can be divided into a few round parts. */
const PERCENT_TOPS = [1, 2, 4, 5, 10, 20, 40, 50, 100];
/** Free room above the highest column, as a part of its height. */
const MARGIN = 0.05;

/**
 * The vertical axis for the steps `from` to `to`: its unit, and the value at its upper edge. Percent
 * axes end at a tick, so that a line near the edge is readable.
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

/** The scale with the usual unit for `most`; columns of tables keep a smaller unit for longer. */
export function readingScale(most: number, quantity: Quantity): Scale {
  return columnScale(quantity, most * 10);
}
