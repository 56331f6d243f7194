/** The tables of input_pipeline_analyzer. Contract: docs/tools.md. */
import {
  type Column,
  type DataTable,
  numbers,
  parseTable,
  type Row,
  readRows,
} from "../../api/data_table";
import { PayloadError } from "../../api/errors";
import { isRecord, type Warning } from "../../api/types";
import { type Microseconds, microseconds } from "../../base/units";
import type { StepSeries } from "../../widgets/step_chart/steps";
import type { Diagnostic } from "../../widgets/text/diagnostics";
import { type Marker, readMarkers } from "../steps/markers";
import { readStepTable, type StepTable, waitingRange } from "../steps/step_table";
import { findStatistic, type Statistic } from "./statistic";

export interface InputPipeline {
  readonly steps: StepTable;
  /** One line: the percentage of each step that waits, with its range over the workers. */
  readonly waiting: readonly StepSeries[];
  readonly stepTime: Statistic;
  /** Percent of the step. */
  readonly waitingShare: Statistic;
  /** "host", "both", "device" or "unknown": where the bottleneck of the input is. */
  readonly level: string;
  /** On TPUs, per step the core that waited longest. */
  readonly cores: readonly WaitingCore[];
  /** Times in µs. */
  readonly ops: DataTable;
  readonly host: HostWork;
  readonly advice: readonly InputAdvice[];
  readonly activities: readonly Activity[];
  readonly markers: readonly Marker[];
  readonly diagnostics: readonly Diagnostic[];
  readonly warnings: readonly Warning[];
}

export interface WaitingCore {
  readonly step: string;
  readonly core: string;
}

export interface HostWork {
  readonly parts: readonly WorkPart[];
  readonly total: Microseconds;
  /** Time in which threads of the pipeline waited for others, and the program for the pipeline. */
  readonly waiting: Microseconds;
  readonly programWaiting: Microseconds;
  /** In Python functions of the graph. */
  readonly python: Microseconds;
  readonly slowestOp: string;
  readonly slowestTime: Microseconds;
}

interface WorkPart {
  readonly id: string;
  readonly label: string;
  readonly color: string;
  readonly time: Microseconds;
}

export interface InputAdvice {
  readonly category: string;
  readonly label: string;
  /** 0–1 of the work of all categories; NaN without any. */
  readonly share: number;
  readonly isDominant: boolean;
  readonly title: string;
  readonly text: string;
  readonly guide: { readonly title: string; readonly url: string };
}

export interface Activity {
  readonly name: string;
  readonly isWaiting: boolean;
  readonly count: number;
  readonly total: Microseconds;
  readonly self: Microseconds;
  readonly category: string;
  readonly thread: string;
  readonly op: string;
}

const CORES = 0;
const STEPS = 1;
const OPS = 2;
const DIAGNOSTICS = 4;
const ADVICE = 5;
const ACTIVITIES = 6;
const MARKERS = 8;

/** Categories of work on the host: property without "_us", label, colour, in stacking order. */
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
export function parseInputPipeline(json: unknown): InputPipeline {
  if (!Array.isArray(json) || json.length < 3)
    throw new PayloadError("the input pipeline is not a list of tables");
  const tables = (json as unknown[]).map(tableOrNone);
  const table = (at: number) => tables[at] ?? NONE;
  const steps = readStepTable(table(STEPS));
  const given = (name: string) => Number.parseFloat(steps.property(name));
  const shares = numbers(steps.table, "waitingPercentAverage") ?? new Float64Array(0);
  const range = waitingRange(steps);
  const share = findStatistic(shares, steps.isLeftOut);
  return {
    steps,
    waiting: waitingSeries(steps.table, shares),
    stepTime: findStatistic(steps.total, steps.isLeftOut),
    // The server's own, where it says them: of all workers' time, as its verdict counts.
    waitingShare: {
      average: firstKnown(given("waiting_percent"), share.average),
      deviation: share.deviation,
      median: share.median,
      least: firstKnown(range[0], share.least),
      most: firstKnown(range[1], share.most),
      count: share.count,
    },
    level: steps.property("input_bottleneck") || "unknown",
    cores: readCores(table(CORES)),
    ops: inMicroseconds(table(OPS)),
    host: readHostWork(table(OPS)),
    advice: readRows(table(ADVICE), toAdvice),
    activities: readRows(table(ACTIVITIES), toActivity),
    markers: readMarkers(table(MARKERS)),
    diagnostics: readRows(table(DIAGNOSTICS), (row) => ({
      severity: row.text("severity"),
      message: row.text("message"),
    })).filter(({ message }) => message !== ""),
    warnings: distinct(tables.flatMap(({ warnings }) => warnings)),
  };
}

const NONE: DataTable = { columns: [], length: 0, properties: {}, warnings: [] };

/** Tables that a trace has nothing for may be empty objects. */
function tableOrNone(json: unknown): DataTable {
  return isRecord(json) && Array.isArray(json.cols) ? parseTable(json) : NONE;
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

/** The table has a column per step, named for its place, and a row for each of these. */
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

function readHostWork({ properties }: DataTable): HostWork {
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
    waiting: time("waiting_us"),
    programWaiting: time("program_waiting_us"),
    python: time("python_us"),
    slowestOp: properties.slowest_op ?? "",
    slowestTime: time("slowest_op_us"),
  };
}

function toAdvice(row: Row): InputAdvice {
  return {
    category: row.text("category"),
    label: row.text("label"),
    share: row.number("share") / 100,
    isDominant: row.flag("is_dominant"),
    title: row.text("title"),
    text: row.text("advice"),
    guide: { title: row.text("guide_title"), url: row.text("guide_url") },
  };
}

function toActivity(row: Row): Activity {
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

function distinct(warnings: readonly Warning[]): Warning[] {
  return [...new Map(warnings.map((warning) => [JSON.stringify(warning), warning])).values()];
}
