/** The tables of tf_data_bottleneck_analysis. Contract: docs/http_api.md. */
import { type DataTable, parseTables, type Row, readRows } from "../../api/data_table";
import { fields, parseJson } from "../../api/json";
import { microseconds } from "../../base/units";
import { readSeverity } from "../../widgets/text/finding_list";

export type TfData = Readonly<ReturnType<typeof parseTfData>>;

export interface CallGraph {
  readonly host: string;
  readonly pipeline: string;
  /** Rank of the execution by duration, the longest first, from 0. */
  readonly rank: number;
  /** Callers before the iterators that they call, as ordered by the server. */
  readonly nodes: readonly IteratorNode[];
}

type NodeKind = "other" | "critical" | "bottleneck";

export interface IteratorNode extends NodeCalls {
  /** Index of the iterator that calls this one; -1 for none. */
  readonly parent: number;
}

type NodeCalls = Readonly<ReturnType<typeof toNode>>;

export interface Parameter {
  readonly name: string;
  readonly value: string;
}

export type Pipeline = Readonly<ReturnType<typeof toPipeline>>;
export type Bottleneck = Readonly<ReturnType<typeof toBottleneck>>;
export type TfDataAdvice = Readonly<ReturnType<typeof toAdvice>>;
export type Execution = Readonly<ReturnType<typeof toExecution>>;

/** Calls that take longer are slow. Source: the profiler's user guide. */
export const SLOW_US = 50;

const GRAPH = 0;
const SUMMARY = 1;
const BOTTLENECKS = 2;
const ADVICE = 3;
const EXECUTIONS = 4;
const KINDS: readonly NodeKind[] = ["other", "critical", "bottleneck"];

/** Throws PayloadError. */
export function parseTfData(json: unknown) {
  const { table, warnings } = parseTables(json, 3, "the analysis of tf.data");
  const verdict = table(BOTTLENECKS).properties;
  return {
    /** One execution of one pipeline. */
    graph: readGraph(table(GRAPH)),
    pipelines: readRows(table(SUMMARY), toPipeline),
    /** [bins + 1] µs, shared by the pipelines' histograms. */
    edges: readNumbers(table(SUMMARY).properties.histogram_edges_us),
    /** The bottleneck of each analyzed pipeline, the slowest pipeline first. */
    bottlenecks: readRows(table(BOTTLENECKS), toBottleneck),
    /** Advice per pipeline, in the order in which to try it. */
    advice: readAdvice(table(ADVICE)),
    /** Executions of the graph's pipeline, the slowest first; not all if there are many. */
    executions: readRows(table(EXECUTIONS), toExecution),
    isInputBound: verdict.is_input_bound === "true",
    /** How much the program is held up; "low" if the server does not report it. */
    severity: readSeverity(verdict.severity),
    message: verdict.summary_message ?? "",
    warnings,
  };
}

/** Reads the rows of the first execution; others are ignored. */
function readGraph(table: DataTable): CallGraph {
  const rows = readRows(table, toGraphRow);
  const { host = "", pipeline = "", rank = 0 } = rows[0] ?? {};
  const own = rows.filter(
    (row) => row.host === host && row.pipeline === pipeline && row.rank === rank,
  );
  const places = new Map<string, number>();
  own.forEach(({ node: { id } }, index) => {
    if (!places.has(id)) places.set(id, index);
  });
  const nodes = own.map(({ node, parentId }, index) => {
    const parent = parentId === "" ? -1 : (places.get(parentId) ?? -1);
    return { ...node, parent: parent === index ? -1 : parent };
  });
  return { host, pipeline, rank, nodes: withoutLoops(nodes) };
}

function toGraphRow(row: Row) {
  return {
    host: row.text("host"),
    pipeline: row.text("input_pipeline"),
    rank: row.number("rank"),
    parentId: row.text("parent"),
    node: toNode(row),
  };
}

function toNode(row: Row) {
  return {
    /** An unsigned 64-bit number. */
    id: row.text("name"),
    kind: KINDS[row.number("type")] ?? "other",
    /** "ParallelMapV2", as recorded. */
    type: row.text("iterator") || lastPart(row.text("long_name")) || row.text("name"),
    /** Without the indices of copies. */
    longName: row.text("long_name"),
    /** Since the recording began. */
    start: microseconds(row.number("start_us")),
    total: microseconds(row.number("total_us")),
    self: microseconds(row.number("self_us")),
    calls: row.number("calls"),
    /** The time of its own threads during the execution; NaN if unknown. */
    worker: microseconds(row.number("worker_us")),
    /** The part of the self time spent waiting for them; NaN if unknown. */
    wait: microseconds(row.number("wait_us")),
    /** The part of it in which its functions waited for a thread of their pool; NaN if unknown. */
    queue: microseconds(row.number("queue_us")),
    /** How long it held up the execution: `held_us` in docs/http_api.md; NaN if unknown. */
    held: microseconds(row.number("held_us")),
    /** The number of copies of the stage that are combined. */
    iterators: row.number("iterators"),
    parameters: readParameters(row.text("parameters")),
  };
}

/** Breaks loops of callers at one of their members. */
function withoutLoops(nodes: readonly IteratorNode[]): IteratorNode[] {
  const OPEN = 1;
  const DONE = 2;
  const state = new Uint8Array(nodes.length);
  const cut = new Set<number>();
  nodes.forEach((_, start) => {
    const path: number[] = [];
    let at = start;
    while (at >= 0 && state[at] === 0) {
      state[at] = OPEN;
      path.push(at);
      const { parent } = nodes[at];
      if (parent >= 0 && state[parent] === OPEN) cut.add(at);
      at = parent;
    }
    for (const node of path) state[node] = DONE;
  });
  return nodes.map((node, index) => (cut.has(index) ? { ...node, parent: -1 } : node));
}

/** "Shuffle" for "Iterator::Root::Shuffle". */
function lastPart(longName: string): string {
  return longName.split("::").at(-1) ?? "";
}

function readParameters(text: string): Parameter[] {
  return Object.entries(fields(parseJson(text))).map(([name, value]) => ({
    name,
    value: typeof value === "string" ? value : JSON.stringify(value),
  }));
}

function toPipeline(row: Row) {
  return {
    host: row.text("host"),
    name: row.text("input_pipeline"),
    calls: row.number("num_calls"),
    slowCalls: row.number("num_slow_calls"),
    min: microseconds(row.number("min")),
    mean: microseconds(row.number("mean")),
    p50: microseconds(row.number("p50")),
    p95: microseconds(row.number("p95")),
    max: microseconds(row.number("max")),
    total: microseconds(row.number("total_us")),
    isDevice: row.flag("is_device"),
    /** Its outermost iterator was not recorded. */
    isPartial: row.flag("is_partial"),
    /** The host pipeline that a device pipeline fetches from; "" if unknown. */
    drawsFrom: row.text("draws_from"),
    /** Calls per bin; empty if the server sends none. */
    histogram: readNumbers(row.text("histogram")),
  };
}

function toBottleneck(row: Row) {
  return {
    host: row.text("host"),
    pipeline: row.text("input_pipeline"),
    maxLatency: microseconds(row.number("max_latency")),
    type: row.text("bottleneck"),
    longName: row.text("long_name"),
    id: row.text("iterator_id"),
    /** Its execution: the slowest one for which it is known what it waited for. */
    rank: row.number("rank") || 0,
    /** The times of the bottleneck in that execution. */
    self: microseconds(row.number("self_us")),
    /** 0–1 of the time that the program spends in calls of the pipeline; NaN for a single call. */
    share: row.number("share"),
    /** The mean over all calls of the pipeline. */
    meanLatency: microseconds(row.number("mean_latency")),
    /** The bottleneck over all calls, which may be another one, and how long it holds up a call. */
    usual: {
      type: row.text("usual_bottleneck"),
      longName: row.text("usual_long_name"),
      held: microseconds(row.number("usual_held_us")),
    },
  };
}

/** Ordered by the server's own numbers. */
function readAdvice(table: DataTable): TfDataAdvice[] {
  return readRows(table, (row) => ({ order: row.number("rank_in_order"), advice: toAdvice(row) }))
    .sort((a, b) => a.order - b.order)
    .map(({ advice }) => advice);
}

function toAdvice(row: Row) {
  return {
    host: row.text("host"),
    pipeline: row.text("input_pipeline"),
    id: row.text("id"),
    severity: readSeverity(row.text("severity")),
    title: row.text("title"),
    detail: row.text("detail"),
    action: row.text("action"),
    /** The code to use in the program, or "". */
    code: row.text("code"),
    guideUrl: row.text("guide_url"),
    type: row.text("iterator"),
    longName: row.text("long_name"),
  };
}

function toExecution(row: Row) {
  return {
    rank: row.number("rank"),
    start: microseconds(row.number("start_us")),
    duration: microseconds(row.number("duration_us")),
    bottleneck: row.text("bottleneck"),
    /** It mostly waited for work begun before the recording, about which nothing is known. */
    isCut: row.flag("is_cut"),
  };
}

/** The numbers of a JSON list, which may be encoded as text; empty for anything else. */
function readNumbers(value: unknown): number[] {
  const json = typeof value === "string" ? parseJson(value) : value;
  return Array.isArray(json) && json.every((value) => typeof value === "number") ? json : [];
}
