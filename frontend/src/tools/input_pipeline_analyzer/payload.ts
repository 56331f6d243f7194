/** The tables of input_pipeline_analyzer. Contract: docs/http_api.md. */
import {
  type Column,
  type DataTable,
  numbers,
  parseTables,
  type Row,
  readRows,
} from "../../api/data_table";
import { microseconds } from "../../base/units";
import type { StepSeries } from "../../widgets/step_chart/steps";
import { readDiagnostics } from "../../widgets/text/diagnostics";
import { readMarkers } from "../steps/markers";
import { readStepTable, waitingRange } from "../steps/step_table";
import { findStatistic } from "./statistic";

export type InputPipeline = Readonly<ReturnType<typeof parseInputPipeline>>;

export interface WaitingCore {
  readonly step: string;
  readonly core: string;
}

export type HostWork = Readonly<ReturnType<typeof readHostWork>>;
export type InputAdvice = Readonly<ReturnType<typeof toAdvice>>;
export type Activity = Readonly<ReturnType<typeof toActivity>>;

const CORES = 0;
const STEPS = 1;
const OPS = 2;
const DIAGNOSTICS = 4;
const ADVICE = 5;
const ACTIVITIES = 6;
const MARKERS = 8;

/** Categories of work on the host in stacking order: property without "_us", label, color. */
const PARTS: readonly (readonly [id: string, label: string, color: string])[] = [
  ["demanded_file_read", "Reading files on demand", "input"],
  ["advanced_file_read", "Reading files in advance", "output"],
  ["preprocessing", "Preprocessing", "host"],
  ["enqueue", "Enqueuing data for the device", "copy"],
  ["unclassified_nonequeue", "Other", "idle"],
];

/** Columns of the op table that are in ms. */
const OP_TIMES = ["timeInMs", "selfTimeInMs", "waitTimeInMs", "workTimeInMs"];
const US_PER_MS = 1000;

/** Throws PayloadError. */
export function parseInputPipeline(json: unknown) {
  const { table, warnings } = parseTables(json, 3, "the input pipeline");
  const steps = readStepTable(table(STEPS));
  const given = (name: string) => Number.parseFloat(steps.property(name));
  const shares = numbers(steps.table, "waitingPercentAverage") ?? new Float64Array(0);
  const range = waitingRange(steps);
  const share = findStatistic(shares, steps.isLeftOut);
  return {
    steps,
    /** One line: the percentage of each step that waits, with its range over the workers. */
    waiting: waitingSeries(steps.table, shares),
    stepTime: findStatistic(steps.total, steps.isLeftOut),
    /**
     * Percent of the step. The server's own figures are preferred: they cover the time of all workers,
     * as its verdict does.
     */
    waitingShare: {
      average: firstKnown(given("waiting_percent"), share.average),
      deviation: share.deviation,
      median: share.median,
      least: firstKnown(range[0], share.least),
      most: firstKnown(range[1], share.most),
      count: share.count,
    },
    /** Where the bottleneck is: "host", "both", "device" or "unknown". */
    level: steps.property("input_bottleneck") || "unknown",
    /** For TPUs, the core that waited longest in each step. */
    cores: readCores(table(CORES)),
    /** Times in µs. */
    ops: inMicroseconds(table(OPS)),
    host: readHostWork(table(OPS)),
    advice: readRows(table(ADVICE), toAdvice),
    activities: readRows(table(ACTIVITIES), toActivity),
    markers: readMarkers(table(MARKERS)),
    diagnostics: readDiagnostics(table(DIAGNOSTICS)),
    warnings,
  };
}

function waitingSeries(table: DataTable, values: Float64Array): StepSeries[] {
  return [
    {
      id: "waiting",
      label: "Waiting for input",
      color: "var(--c-input)",
      values,
      low: numbers(table, "waitingPercentMin"),
      high: numbers(table, "waitingPercentMax"),
    },
  ];
}

/** The table has one column per step, and a row for the step number and one for the core. */
function readCores(table: DataTable): WaitingCore[] {
  if (table.length < 2) return [];
  return table.columns.flatMap((column): WaitingCore[] => {
    if (column.kind !== "text" || column.id === "index") return [];
    const [step, core] = [0, 1].map((row) => column.strings[column.codes[row]] ?? "");
    return [{ step, core }];
  });
}

function inMicroseconds(table: DataTable): DataTable {
  const columns = table.columns.map(
    (column): Column =>
      column.kind === "number" && OP_TIMES.includes(column.id)
        ? { ...column, values: column.values.map((value) => value * US_PER_MS) }
        : column,
  );
  return { ...table, columns };
}

function readHostWork({ properties }: DataTable) {
  const time = (name: string) => microseconds(Number.parseFloat(properties[name]) || 0);
  const parts = PARTS.map(([id, label, color]) => ({
    id,
    label,
    color: `var(--c-${color})`,
    time: time(`${id}_us`),
  }));
  return {
    parts,
    total: microseconds(parts.reduce((sum, part) => sum + part.time, 0)),
    /** Time that the pipeline's threads waited for each other, and the program for the pipeline. */
    waiting: time("waiting_us"),
    programWaiting: time("program_waiting_us"),
    /** Time in Python functions of the pipeline. */
    python: time("python_us"),
    slowestOp: properties.slowest_op ?? "",
    slowestTime: time("slowest_op_us"),
  };
}

function toAdvice(row: Row) {
  return {
    category: row.text("category"),
    label: row.text("label"),
    /** 0–1 of the work of all categories; NaN if there is no work. */
    share: row.number("share") / 100,
    isDominant: row.flag("is_dominant"),
    title: row.text("title"),
    text: row.text("advice"),
    guide: { title: row.text("guide_title"), url: row.text("guide_url") },
  };
}

function toActivity(row: Row) {
  return {
    name: row.text("name"),
    isWaiting: row.text("role") === "wait",
    count: row.number("count"),
    total: microseconds(row.number("total_ms") * US_PER_MS),
    self: microseconds(row.number("self_ms") * US_PER_MS),
    category: row.text("category"),
    thread: row.text("thread"),
    op: row.text("op"),
  };
}

function firstKnown(...values: number[]): number {
  return values.find((value) => !Number.isNaN(value)) ?? Number.NaN;
}
