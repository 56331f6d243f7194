/** The compact payload of memory_viewer: programs, and the heap and memory content of one of them. */
import { encodeTexts, numberColumn, tableOf } from "../../api/data_table";
import { PayloadError } from "../../api/errors";
import {
  columnOf,
  count,
  fields,
  flag,
  isRecord,
  type Json,
  list,
  number,
  numbers,
  records,
  text,
} from "../../api/json";
import { parseMemoryFinding } from "../../widgets/memory_chart/memory_findings";

export type Heap = Readonly<ReturnType<typeof parseHeap>>;
export type Program = Readonly<ReturnType<typeof parsePrograms>[number]>;
export type HeapBars = Readonly<ReturnType<typeof parseBars>>;
export type HeapTimeline = Readonly<ReturnType<typeof parseHeapTimeline>>;

const LIVE_TEXTS = [
  ["purpose", "Purpose"],
  ["shape", "Shape"],
  ["opcode", "Opcode"],
  ["op", "Op name"],
  ["source", "Source"],
] as const;

/** Sizes are bytes; unknown values are NaN. Throws PayloadError. */
export function parseHeap(json: unknown) {
  if (!isRecord(json) || !isRecord(json.programs))
    throw new PayloadError("the list of programs is missing");
  const programs = parsePrograms(json.programs);
  const texts = list(json.texts).map(text);
  const chosen = typeof json.chosen === "number" ? json.chosen : -1;
  return {
    programs,
    /** The chosen program; null if the address names one that does not exist. */
    program: programs[chosen] ?? null,
    /** Why there is nothing to show, or "". */
    reason: text(json.reason),
    space: number(json.space),
    spaces: records(json.spaces).map((space) => ({
      space: number(space.space),
      label: text(space.label),
      peak: number(space.peak_bytes),
    })),
    figures: parseFigures(fields(json.figures)),
    timeline: parseHeapTimeline(fields(json.timeline), texts),
    bars: parseBars(fields(json.bars), texts),
    live: parseLive(fields(json.live), texts),
    findings: records(json.findings).map(parseMemoryFinding),
  };
}

function parsePrograms(json: Json) {
  const [ran, reasons, hosts] = [list(json.has_run), list(json.reason), list(json.host)];
  const [ids, peaks, counts] = [list(json.program_id), list(json.peak_bytes), list(json.hosts)];
  return list(json.name).map((name, index) => ({
    id: text(ids[index]),
    title: `${text(name)}(${text(ids[index])})`,
    /** null if no event names its program. */
    hasRun: typeof ran[index] === "boolean" ? ran[index] : null,
    peak: number(peaks[index]),
    reason: text(reasons[index]),
    /** "" if all hosts have it. */
    host: text(hosts[index]),
    hosts: count(counts[index]),
  }));
}

function parseFigures(json: Json) {
  return {
    peak: number(json.peak_bytes),
    peakEvent: count(json.peak_event, -1),
    peakInstruction: text(json.peak_instruction),
    events: count(json.events),
    padding: number(json.padding_bytes),
    parameters: number(json.parameter_bytes),
    outputs: number(json.output_bytes),
    donated: number(json.donated_bytes),
    constants: number(json.constant_bytes),
    temporaries: number(json.temporary_bytes),
    threadLocal: number(json.thread_local_bytes),
    reserved: number(json.reserved_bytes),
    holes: number(json.hole_bytes),
    untraced: number(json.untraced_bytes),
    scoped: number(json.scoped_bytes),
    scopedInstruction: text(json.scoped_instruction),
  };
}

function parseHeapTimeline(json: Json, texts: readonly string[]) {
  const event = numbers(json.event);
  const inUse = columnOf(json.in_use_bytes, event.length);
  const names = list(json.instruction);
  return {
    from: count(json.from_event),
    to: count(json.to_event),
    isSampled: flag(json.is_sampled),
    length: event.length,
    /** Ascending; values hold until the next event. */
    event,
    inUse,
    hasPadding: Array.isArray(json.unpadded_bytes),
    unpadded: Array.isArray(json.unpadded_bytes)
      ? columnOf(json.unpadded_bytes, event.length)
      : inUse,
    instruction: Array.from({ length: event.length }, (_, index) => textOf(names[index], texts)),
  };
}

function parseBars(json: Json, texts: readonly string[]) {
  const start = numbers(json.start);
  const { length } = start;
  const [names, parts] = [list(json.instruction), list(json.part)];
  const [shapes, purposes] = [list(json.shape), list(json.purpose)];
  const at = <T>(read: (row: number) => T) => Array.from({ length }, (_, row) => read(row));
  return {
    length,
    start,
    end: columnOf(json.end, length),
    offset: columnOf(json.offset_bytes, length),
    size: columnOf(json.size_bytes, length),
    unpadded: columnOf(json.unpadded_bytes, length),
    name: at((row) => textOf(names[row], texts) + textOf(parts[row], texts)),
    shape: at((row) => textOf(shapes[row], texts)),
    purpose: at((row) => textOf(purposes[row], texts)),
    total: count(json.total_bytes),
    leftOut: count(json.left_out),
    leftOutBytes: count(json.left_out_bytes),
  };
}

function parseLive(json: Json, texts: readonly string[]) {
  const size = numbers(json.size_bytes);
  const { length } = size;
  const unpadded = columnOf(json.unpadded_bytes, length);
  const named = (row: number, id: string) => textOf(list(json[id])[row], texts);
  const donated = list(json.is_donated);
  const names = Array.from({ length }, (_, row) => named(row, "instruction") + named(row, "part"));
  const columnTexts = (id: string) =>
    Array.from({ length }, (_, row) => {
      const name = named(row, id) || null;
      return id === "purpose" && flag(donated[row]) ? "Parameter, donated" : name;
    });
  return {
    event: count(json.event, -1),
    isPeak: flag(json.is_peak),
    isAll: flag(json.is_all),
    inUse: number(json.in_use_bytes),
    /** The instruction at which the event occurs. */
    at: textOf(json.at, texts),
    /** Names of instructions without tuple indices. */
    instruction: Array.from({ length }, (_, row) => named(row, "instruction")),
    table: tableOf([
      encodeTexts("instruction", "Instruction", names),
      numberColumn("size_bytes", "Size", size),
      numberColumn("unpadded_bytes", "Unpadded size", unpadded),
      numberColumn(
        "padding_bytes",
        "Padding",
        size.map((value, row) => value - unpadded[row]),
      ),
      ...LIVE_TEXTS.map(([id, label]) => encodeTexts(id, label, columnTexts(id))),
      numberColumn("start", "Since", columnOf(json.start, length)),
      numberColumn("instants", "Events", columnOf(json.instants, length)),
    ]),
  };
}

function textOf(value: unknown, texts: readonly string[]): string {
  return typeof value === "number" ? (texts[value] ?? "") : "";
}
