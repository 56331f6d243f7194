/** memory_profile in its compact form: allocators, one of them over time, and what it held when. */
import { PayloadError } from "../../api/errors";
import { isRecord } from "../../api/types";
import { type Bytes, bytes } from "../../base/units";
import { type MemoryBreakdown, parseBreakdown } from "./breakdown/breakdown";
import { columnOf, flag, list, number, numbers, text } from "./json";

/** Times are picoseconds since the trace began; what was not recorded is NaN, or "" of texts. */
export interface Memory {
  readonly hosts: readonly string[];
  readonly allocators: readonly Allocator[];
  /** Index into the allocators; -1 without any. */
  readonly chosen: number;
  readonly begin: number;
  readonly end: number;
  readonly timeline: Timeline;
  readonly texts: readonly string[];
  readonly steps: MemorySteps;
  readonly breakdown: MemoryBreakdown;
  readonly findings: readonly MemoryFinding[];
  readonly leaks: readonly Leak[];
}

export interface Allocator {
  /** As the address and the server say it. */
  readonly id: string;
  readonly host: string;
  readonly name: string;
  readonly isDevice: boolean;
  /** Of its host's recording. */
  readonly begin: number;
  readonly end: number;
  readonly allocations: number;
  readonly deallocations: number;
  readonly capacity: Bytes;
  /** Largest use since the program began. */
  readonly lifetime: Bytes;
  readonly peak: Bytes;
  readonly peakAt: number;
  readonly peakStep: string;
  readonly peakStack: Bytes;
  readonly peakHeap: Bytes;
  readonly peakFree: Bytes;
  /** 0–1. */
  readonly peakFragmentation: number;
  /** In use after the last event. */
  readonly atEnd: Bytes;
  readonly unmatchedFrees: number;
  readonly reusedAddresses: number;
  /** Heap was not recorded, and is summed from the events. */
  readonly isSummed: boolean;
  readonly preview: { readonly time: Float64Array; readonly bytes: Float64Array };
}

/** Points in time order; each holds until the next one. */
export interface Timeline {
  readonly from: number;
  readonly to: number;
  /** Events within it, also those that are not drawn. */
  readonly events: number;
  readonly isSampled: boolean;
  readonly length: number;
  readonly time: Float64Array;
  readonly stack: Float64Array;
  readonly heap: Float64Array;
  readonly free: Float64Array;
  readonly fragmentation: Float64Array;
  /** 1 allocation, 0 deallocation, -1 no event: what was in use when the window begins. */
  readonly kind: Int8Array;
  /** Negative for deallocations. */
  readonly requested: Float64Array;
  readonly allocated: Float64Array;
  /** Index into the texts, -1 for none. */
  readonly op: Int32Array;
  readonly region: Int32Array;
  readonly dtype: Int32Array;
  readonly shape: Int32Array;
  /** Index into the steps, -1 for none. */
  readonly step: Int32Array;
}

interface MemorySteps {
  readonly labels: readonly string[];
  readonly begin: Float64Array;
  readonly end: Float64Array;
  readonly peak: Float64Array;
  readonly atEnd: Float64Array;
  /** Allocated in it and still in use at the end of the trace. */
  readonly kept: Float64Array;
}

interface MemoryFinding {
  readonly id: string;
  readonly severity: string;
  readonly title: string;
  readonly detail: string;
  readonly action: string;
  readonly bytes: Bytes;
  readonly share: number;
}

export interface Leak {
  readonly op: string;
  readonly region: string;
  readonly dtype: string;
  readonly shape: string;
  readonly bytesPerStep: Bytes;
  readonly occurrencesPerStep: number;
  readonly steps: number;
}

/** Throws PayloadError. */
export function parseMemory(json: unknown): Memory {
  if (!isRecord(json) || !Array.isArray(json.memory_ids))
    throw new PayloadError("there is no list of memory ids");
  const allocators = json.memory_ids.map(parseAllocator);
  const texts = list(json.texts).map(text);
  const steps = parseSteps(json.steps);
  const chosen = typeof json.chosen === "number" ? json.chosen : -1;
  if (allocators.length > 0 && !allocators[chosen])
    throw new PayloadError(`memory ${chosen} is chosen, of ${allocators.length}`);
  return {
    hosts: list(json.hosts).map(text),
    allocators,
    chosen,
    begin: number(json.begin_ps),
    end: number(json.end_ps),
    timeline: parseTimeline(json.timeline),
    texts,
    steps,
    breakdown: parseBreakdown(json.breakdown, texts, steps.labels),
    findings: list(json.findings).filter(isRecord).map(parseFinding),
    leaks: list(json.leaks)
      .filter(isRecord)
      .map((leak) => parseLeak(leak, texts)),
  };
}

/** What is in use at a point, NaN where neither part was recorded. */
export function inUse({ stack, heap }: Timeline, point: number): number {
  const [low, high] = [stack[point], heap[point]];
  return Number.isNaN(low) && Number.isNaN(high) ? Number.NaN : (low || 0) + (high || 0);
}

function parseAllocator(json: unknown): Allocator {
  if (!isRecord(json)) throw new PayloadError("a memory id is no object");
  const preview = isRecord(json.preview) ? json.preview : {};
  const time = numbers(preview.time_ps);
  return {
    id: text(json.id),
    host: text(json.host),
    name: text(json.name) || text(json.id),
    isDevice: json.kind === "device",
    begin: number(json.begin_ps),
    end: number(json.end_ps),
    allocations: number(json.allocations),
    deallocations: number(json.deallocations),
    capacity: bytes(number(json.capacity_bytes)),
    lifetime: bytes(number(json.lifetime_bytes)),
    peak: bytes(number(json.peak_bytes)),
    peakAt: number(json.peak_ps),
    peakStep: text(json.peak_step),
    peakStack: bytes(number(json.peak_stack_bytes)),
    peakHeap: bytes(number(json.peak_heap_bytes)),
    peakFree: bytes(number(json.peak_free_bytes)),
    peakFragmentation: number(json.peak_fragmentation),
    atEnd: bytes(number(json.end_bytes)),
    unmatchedFrees: number(json.unmatched_frees) || 0,
    reusedAddresses: number(json.reused_addresses) || 0,
    isSummed: flag(json.is_summed),
    preview: { time, bytes: columnOf(preview.bytes, time.length) },
  };
}

function parseTimeline(json: unknown): Timeline {
  const lines = isRecord(json) ? json : {};
  const time = numbers(lines.time_ps);
  const length = time.length;
  const amounts = (id: string) => columnOf(lines[id], length);
  const indices = (id: string) => Int32Array.from(amounts(id), (at) => (at >= 0 ? at : -1));
  const flags = list(lines.is_allocation);
  if (length > 0 && flags.length !== length)
    throw new PayloadError("the columns of the timeline differ in length");
  return {
    from: number(lines.from_ps),
    to: number(lines.to_ps),
    events: number(lines.events),
    isSampled: flag(lines.is_sampled),
    length,
    time,
    stack: amounts("stack_bytes").map(recorded),
    heap: amounts("heap_bytes").map(recorded),
    free: amounts("free_bytes").map(recorded),
    fragmentation: amounts("fragmentation").map(recorded),
    kind: Int8Array.from(flags, (one) => (typeof one === "boolean" ? Number(one) : oneOf(one))),
    requested: amounts("requested_bytes"),
    allocated: amounts("allocated_bytes"),
    op: indices("op"),
    region: indices("region"),
    dtype: indices("dtype"),
    shape: indices("shape"),
    step: indices("step"),
  };
}

/** Amounts are never negative: that stands for none. */
function recorded(value: number): number {
  return value >= 0 ? value : Number.NaN;
}

function oneOf(value: unknown): number {
  return value === 1 || value === 0 ? value : -1;
}

function parseSteps(json: unknown): MemorySteps {
  const steps = isRecord(json) ? json : {};
  const labels = list(steps.label).map(text);
  const column = (id: string) => columnOf(steps[id], labels.length);
  return {
    labels,
    begin: column("begin_ps"),
    end: column("end_ps"),
    peak: column("peak_bytes").map(recorded),
    atEnd: column("end_bytes").map(recorded),
    kept: column("kept_bytes").map(recorded),
  };
}

function parseFinding(json: Record<string, unknown>): MemoryFinding {
  return {
    id: text(json.id),
    severity: text(json.severity),
    title: text(json.title),
    detail: text(json.detail),
    action: text(json.action),
    bytes: bytes(number(json.bytes)),
    share: number(json.share),
  };
}

function parseLeak(json: Record<string, unknown>, texts: readonly string[]): Leak {
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
