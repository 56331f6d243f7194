/** The step table, which the overview and the input pipeline page share. */
import { type DataTable, findColumn, numbers, textAt, texts } from "../../api/data_table";
import { foldName, readableName } from "../../base/names";
import { microseconds } from "../../base/units";
import type { StepSeries } from "../../widgets/step_chart/steps";
import type { Explanation } from "../../widgets/table/columns";
import { COMPUTE, PHASES, type PhaseSpec } from "./phases";

export type StepTable = Readonly<ReturnType<typeof readStepTable>>;

const US_PER_MS = 1000;

export function readStepTable(table: DataTable) {
  const count = table.length;
  const labels = texts(table, "stepnum");
  const isTruncated = readFlags(table, "isTruncated");
  const isUnrecorded = readFlags(table, "isUnrecorded");
  const total = inMicroseconds(numbers(table, "stepTimeMs"), count);
  const property = (name: string) => {
    const value: unknown = table.properties[name];
    return typeof value === "string" ? value : typeof value === "number" ? String(value) : "";
  };
  const reasons = texts(table, "outlierCause");
  const outliers = Array.from({ length: count }, (_, step) => textAt(reasons, step));
  const isTypical = property("steps_chosen") !== "all" && outliers.some((reason) => reason !== "");
  const isLeftOut = isTruncated.map(
    (isCut, step) => isCut || isUnrecorded[step] || (isTypical && outliers[step] !== ""),
  );
  return {
    table,
    count,
    /** [count] "" for steps that are not outliers. */
    outliers,
    /** Whether figures leave a step out: it is truncated, not recorded, or an outlier. */
    isLeftOut,
    /** Whether outliers are left out. */
    isTypical,
    marker: axisMarker(property("step_marker")),
    labels: Array.from({ length: count }, (_, step) => textAt(labels, step)),
    isTruncated,
    isUnrecorded,
    /** The phases of the steps in µs, the bottom of the stack first. */
    series: findSeries(table, isUnrecorded),
    /** [count] µs; the sum of the phases. */
    total,
    /**
     * Each step on its slowest worker: its start since that of the host's own trace and its duration
     * in µs, NaN if unknown, and its host, "" if unknown.
     */
    slowest: {
      start: inMicroseconds(numbers(table, "slowestStartMs"), count),
      total: inMicroseconds(numbers(table, "slowestMs"), count),
      host: Array.from({ length: count }, (_, step) => textAt(texts(table, "slowestHost"), step)),
    },
    /** The mean over the steps that are not left out; NaN if there are none. */
    average: microseconds(meanOf(total, isLeftOut)),
    /** A property of the table, or "". */
    property,
  };
}

/** The name of the marker; the device's line "Steps" has events that are steps. */
function axisMarker(name: string): string {
  return name === "Steps" ? "Step" : foldName(readableName(name));
}

/** The mean over the steps that are not left out; NaN if there are none. */
export function meanOf(values: Float64Array, isLeftOut: readonly boolean[]): number {
  const used = values.filter((value, step) => !isLeftOut[step] && !Number.isNaN(value));
  return used.reduce((sum, value) => sum + value, 0) / used.length;
}

/** The range over workers of the percentage of a step spent waiting for input; NaN if unknown. */
export function waitingRange(steps: StepTable): readonly [least: number, most: number] {
  const given = (name: string) => Number.parseFloat(steps.property(name));
  const used = (id: string) =>
    (numbers(steps.table, id) ?? new Float64Array(0)).filter(
      (value, step) => !steps.isLeftOut[step] && !Number.isNaN(value),
    );
  // The server's figures include all whole steps, so they do not suit typical steps.
  if (!steps.isTypical) return [given("infeed_percent_minimum"), given("infeed_percent_maximum")];
  const least = used("waitingPercentMin").reduce(
    (a, b) => Math.min(a, b),
    Number.POSITIVE_INFINITY,
  );
  const most = used("waitingPercentMax").reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY);
  return least <= most ? [least, most] : [Number.NaN, Number.NaN];
}

/** [steps] A column of flags; all false without it. */
function readFlags(table: DataTable, id: string): boolean[] {
  const flags = findColumn(table, id);
  return Array.from(
    { length: table.length },
    (_, step) => flags?.kind === "flag" && flags.values[step] === 1,
  );
}

function findSeries(table: DataTable, isUnrecorded: readonly boolean[]): StepSeries[] {
  const split = PHASES.filter(({ columns }) => columns.some((id) => numbers(table, id)));
  const hasPrecision = split.some(({ id }) => id.startsWith("compute_"));
  const specs =
    hasPrecision || !numbers(table, "deviceComputeTimeMs") ? split : [COMPUTE, ...split];
  return specs.map((spec) => toSeries(spec, table, isUnrecorded));
}

function toSeries(
  { id, label, color, columns }: PhaseSpec,
  table: DataTable,
  isUnrecorded: readonly boolean[],
): StepSeries {
  const values = Float64Array.from(isUnrecorded, (isLost) => (isLost ? Number.NaN : 0));
  for (const column of columns) {
    numbers(table, column)?.forEach((value, step) => {
      values[step] += (value || 0) * US_PER_MS;
    });
  }
  return { id, label, color, values };
}

function inMicroseconds(values: Float64Array | undefined, count: number): Float64Array {
  return values?.map((value) => value * US_PER_MS) ?? new Float64Array(count).fill(Number.NaN);
}

/** How step times are computed. */
export function explainStepTime(steps: StepTable): Explanation {
  return {
    formula:
      "A step lasts until the next one begins. Each instant belongs to one part: what the device does first, then what the host does, then all others.",
    unit: "time; the mean over the workers (devices, or the CPU) that took part in the step",
    source: steps.property("step_note") || "Device and host events within the step.",
  };
}
