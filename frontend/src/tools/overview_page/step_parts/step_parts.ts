/** The parts of the average step or of one step: the rows of its table and the parts of its bar. */
import { type Microseconds, microseconds } from "../../../base/units";
import type { PartRow } from "../../../widgets/stacked_bar/part_table";
import { stepName } from "../../../widgets/step_chart/steps";
import { phaseColor } from "../../steps/phases";
import { meanOf, type StepTable } from "../../steps/step_table";
import type { IdlePart, StepBreakdown } from "../payload";

interface StepParts {
  readonly title: string;
  readonly total: Microseconds;
  readonly rows: readonly PartRow[];
}

const US_PER_MS = 1000;
const COMPUTE = "device_compute";

/** The name of the mean step: "typical" if outliers are left out. */
export function averageName({ isTypical }: Pick<StepTable, "isTypical">): string {
  return isTypical ? "Typical step" : "Average step";
}

/** The parts of the average step from the server's table, or computed from the steps without it. */
export function averageParts(steps: StepTable, breakdown: readonly StepBreakdown[]): StepParts {
  const title = averageName(steps);
  if (breakdown.length === 0) {
    const time = (values: Float64Array) => meanOf(values, steps.isLeftOut) || 0;
    return { title, total: steps.average, rows: ofSeries(steps, time, steps.average) };
  }
  const top = breakdown.filter(({ parent }) => parent === "");
  const total = top.reduce((sum, { ms }) => sum + (ms || 0), 0);
  const shown = breakdown.filter(({ parent, ms }) => parent === "" || ms > 0);
  const colorOf = (id: string) => {
    const parts = shown.filter(({ parent }) => parent === id);
    return onlyColor(parts.map((part) => ({ color: phaseColor(part.id) }))) ?? phaseColor(id);
  };
  const rows = shown.map(({ id, label, ms, deviationMs, parent }) => ({
    id,
    label,
    color: colorOf(id),
    time: microseconds((ms || 0) * US_PER_MS),
    share: total > 0 ? (ms || 0) / total : 0,
    deviation: Number.isNaN(deviationMs) ? null : microseconds(deviationMs * US_PER_MS),
    isPart: parent !== "",
  }));
  return { title, total: microseconds(total * US_PER_MS), rows };
}

export function partsOfStep(steps: StepTable, step: number): StepParts {
  const total = microseconds(steps.total[step]);
  return {
    title: stepName(steps, step),
    total,
    rows: ofSeries(steps, (values) => values[step], total),
  };
}

/** What threads did in "All others", as rows that add up to it. Shares are of the total. */
export function idleRows(parts: readonly IdlePart[]): StepParts {
  const top = parts.filter(({ parent }) => parent === "");
  const total = top.reduce((sum, { ms }) => sum + (ms || 0), 0);
  const rows = parts.map(({ id, label, ms, parent }) => ({
    id,
    label,
    color: IDLE_COLORS[parent || id] ?? "var(--c-idle)",
    time: microseconds((ms || 0) * US_PER_MS),
    share: total > 0 ? (ms || 0) / total : 0,
    deviation: null,
    isPart: parent !== "",
  }));
  return {
    title: "What threads did in “All others”",
    total: microseconds(total * US_PER_MS),
    rows,
  };
}

/** By kind; the same colors as elsewhere. */
const IDLE_COLORS: Readonly<Record<string, string>> = {
  python: "var(--c-host)",
  annotation: "var(--c-host)",
  compilation: "var(--c-compile)",
  tf_data_function: "var(--c-input)",
  tf_data: "var(--c-input)",
  transfer: "var(--c-copy)",
  ops: "var(--c-compute)",
  eager: "var(--c-launch)",
  runtime: "var(--c-launch)",
  garbage: "var(--c-host)",
  memory: "var(--c-host)",
  completion: "var(--c-wait)",
  unstarted: "var(--c-wait)",
  wait: "var(--c-wait)",
};

/** The parts of the bar: rows that are not split further. */
export function barParts(rows: readonly PartRow[]): PartRow[] {
  return rows.filter((row, index) => row.isPart || !rows[index + 1]?.isPart);
}

/** Rows from the top of the stack; compute by precision gets a row for its total. */
function ofSeries(
  steps: StepTable,
  timeOf: (values: Float64Array) => number,
  total: Microseconds,
): PartRow[] {
  const rows = steps.series.toReversed().map(({ id, label, color, values }): PartRow => {
    const time = microseconds(timeOf(values));
    const share = total > 0 ? time / total : 0;
    return { id, label, color, time, share, deviation: null, isPart: id.startsWith("compute_") };
  });
  const precisions = rows.filter(({ isPart, time }) => isPart && time > 0);
  const others = rows.filter(({ isPart }) => !isPart);
  if (precisions.length === 0 && others.some((row) => row.id === COMPUTE)) return others;
  const time = microseconds(precisions.reduce((sum, row) => sum + row.time, 0));
  const whole: PartRow = {
    id: COMPUTE,
    label: "Device compute",
    color: onlyColor(precisions) ?? phaseColor(COMPUTE),
    time,
    share: total > 0 ? time / total : 0,
    deviation: null,
    isPart: false,
  };
  const short = precisions.map((row) => ({ ...row, label: shortLabel(row.label) }));
  return [...others, whole, ...short];
}

/** The color of the parts if they all have the same one. */
function onlyColor(parts: readonly { readonly color: string }[]): string | undefined {
  return new Set(parts.map(({ color }) => color)).size === 1 ? parts[0].color : undefined;
}

function shortLabel(label: string): string {
  return label.replace(/^Device compute, /, "");
}
