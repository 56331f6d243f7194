/** The compact payload of memory_profile: allocators, and the timeline of one of them. */
import { PayloadError } from "../../api/errors";
import {
  columnOf,
  fields,
  flag,
  isRecord,
  type Json,
  list,
  number,
  numbers,
  record,
  records,
  text,
} from "../../api/json";
import { bytes } from "../../base/units";
import { parseMemoryFinding } from "../../widgets/memory_chart/memory_findings";
import { parseBreakdown } from "./breakdown/breakdown";

/** Times are picoseconds since the start of the trace. Unrecorded values are NaN, texts "". */
export type Memory = Readonly<ReturnType<typeof parseMemory>>;
export type Allocator = Readonly<ReturnType<typeof parseAllocator>>;

/** Points in time order; each holds until the next one. */
export type Timeline = Readonly<ReturnType<typeof parseTimeline>>;
export type Leak = Readonly<ReturnType<typeof parseLeak>>;

/** Throws PayloadError. */
export function parseMemory(json: unknown) {
  if (!isRecord(json) || !Array.isArray(json.memory_ids))
    throw new PayloadError("the list of memory ids is missing");
  const allocators = json.memory_ids.map(parseAllocator);
  const texts = list(json.texts).map(text);
  const steps = parseSteps(json.steps);
  const chosen = typeof json.chosen === "number" ? json.chosen : -1;
  if (allocators.length > 0 && !allocators[chosen])
    throw new PayloadError(`the chosen memory is ${chosen}, but there are ${allocators.length}`);
  return {
    hosts: list(json.hosts).map(text),
    allocators,
    /** Index into the allocators; -1 if there are none. */
    chosen,
    /** The allocators with a preview, in display order. */
    pictured: [...numbers(json.pictured)].filter((index) => allocators[index] !== undefined),
    begin: number(json.begin_ps),
    end: number(json.end_ps),
    timeline: parseTimeline(json.timeline),
    texts,
    steps,
    breakdown: parseBreakdown(json.breakdown, texts, steps.labels),
    findings: records(json.findings).map(parseMemoryFinding),
    leaks: records(json.leaks).map((leak) => parseLeak(leak, texts)),
  };
}

/** The memory in use at a point; NaN if neither stack nor heap was recorded. */
export function inUse({ stack, heap }: Timeline, point: number): number {
  const [low, high] = [stack[point], heap[point]];
  return Number.isNaN(low) && Number.isNaN(high) ? Number.NaN : (low || 0) + (high || 0);
}

function parseAllocator(value: unknown) {
  const json = record(value, "a memory id");
  const preview = fields(json.preview);
  const time = numbers(preview.time_ps);
  return {
    /** The id in the address and on the server. */
    id: text(json.id),
    host: text(json.host),
    name: text(json.label) || text(json.name) || text(json.id),
    /** The name, with its host if there are several. */
    label: labelOf(text(json.id), text(json.name), text(json.label)),
    isDevice: json.kind === "device",
    /** The extent of its host's recording. */
    begin: number(json.begin_ps),
    end: number(json.end_ps),
    allocations: number(json.allocations),
    deallocations: number(json.deallocations),
    capacity: bytes(number(json.capacity_bytes)),
    /** The largest use since the start of the program. */
    lifetime: bytes(number(json.lifetime_bytes)),
    peak: bytes(number(json.peak_bytes)),
    peakAt: number(json.peak_ps),
    peakStep: text(json.peak_step),
    /** The program that the device ran then, such as "jit_f(7)"; "" if unknown. */
    peakProgram: text(json.peak_program),
    peakStack: bytes(number(json.peak_stack_bytes)),
    peakHeap: bytes(number(json.peak_heap_bytes)),
    peakFree: bytes(number(json.peak_free_bytes)),
    /** 0–1. */
    peakFragmentation: number(json.peak_fragmentation),
    /** In use after the last event. */
    atEnd: bytes(number(json.end_bytes)),
    unmatchedFrees: number(json.unmatched_frees) || 0,
    reusedAddresses: number(json.reused_addresses) || 0,
    /** The heap was not recorded, but summed from the events. */
    isSummed: flag(json.is_summed),
    preview: { time, bytes: columnOf(preview.bytes, time.length) },
  };
}

/** "h0: TPU:1 HBM" for the id "h0: 1". */
function labelOf(id: string, name: string, label: string): string {
  return label !== "" && id.endsWith(name) ? id.slice(0, id.length - name.length) + label : id;
}

function parseTimeline(json: unknown) {
  const lines = fields(json);
  const time = numbers(lines.time_ps);
  const length = time.length;
  const amounts = (id: string) => columnOf(lines[id], length);
  const indices = (id: string) => Int32Array.from(amounts(id), (at) => (at >= 0 ? at : -1));
  const flags = list(lines.is_allocation);
  if (length > 0 && flags.length !== length)
    throw new PayloadError("the columns of the timeline differ in length");
  return {
    /** The number of events in it, including those that are not drawn. */
    events: number(lines.events),
    isSampled: flag(lines.is_sampled),
    length,
    time,
    stack: amounts("stack_bytes").map(recorded),
    heap: amounts("heap_bytes").map(recorded),
    free: amounts("free_bytes").map(recorded),
    fragmentation: amounts("fragmentation").map(recorded),
    /** 1 allocation, 0 deallocation, -1 no event: the memory in use at the start of the window. */
    kind: Int8Array.from(flags, (flag) => (typeof flag === "boolean" ? Number(flag) : oneOf(flag))),
    /** Negative for deallocations. */
    requested: amounts("requested_bytes"),
    allocated: amounts("allocated_bytes"),
    /** Indices into the texts; -1 for none. */
    op: indices("op"),
    region: indices("region"),
    dtype: indices("dtype"),
    shape: indices("shape"),
    /** Indices into the steps; -1 for none. */
    step: indices("step"),
  };
}

/** Amounts are never negative; negative values mean none. */
function recorded(value: number): number {
  return value >= 0 ? value : Number.NaN;
}

function oneOf(value: unknown): number {
  return value === 1 || value === 0 ? value : -1;
}

function parseSteps(json: unknown) {
  const steps = fields(json);
  const labels = list(steps.label).map(text);
  const column = (id: string) => columnOf(steps[id], labels.length);
  return {
    labels,
    begin: column("begin_ps"),
    end: column("end_ps"),
    peak: column("peak_bytes").map(recorded),
    atEnd: column("end_bytes").map(recorded),
    /** Allocated in the step and still in use at the end of the trace. */
    kept: column("kept_bytes").map(recorded),
  };
}

function parseLeak(json: Json, texts: readonly string[]) {
  const name = (value: unknown) => (typeof value === "number" ? (texts[value] ?? "") : text(value));
  return {
    op: name(json.op),
    region: name(json.region),
    dtype: name(json.dtype),
    shape: name(json.shape),
    bytesPerStep: bytes(number(json.bytes_per_step)),
    occurrencesPerStep: number(json.occurrences_per_step),
    steps: number(json.steps),
  };
}
