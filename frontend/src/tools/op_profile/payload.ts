/** The payload of op_profile: the instructions of a run as columns, and a table of texts. */
import {
  checkLength,
  columnOf,
  count,
  fields,
  flag,
  list,
  number,
  record,
  records,
  text,
  texts,
} from "../../api/json";

/** A peak rate of a device, and its source. */
export interface PeakRate {
  /** An element type, or a memory. */
  readonly of: string;
  /** 10^9 operations, or bytes, per second. */
  readonly giga: number;
  readonly source: string;
}

/** [rows] Indices into the texts of the profile. */
type TextIndices = Int32Array;

/** One row per instruction, longest self time first, then sums of those that are not loaded yet. */
interface ProfileRows {
  readonly length: number;
  /** The server's number of the instruction; -1 for sums. */
  readonly row: Float64Array;
  /** The number of instructions in the row. */
  readonly count: Float64Array;
  readonly programId: TextIndices;
  readonly program: TextIndices;
  readonly name: TextIndices;
  readonly category: TextIndices;
  /** Ops of one program with the same group are identical. */
  readonly group: TextIndices;
  readonly opcode: TextIndices;
  readonly scope: TextIndices;
  readonly source: TextIndices;
  readonly dtype: TextIndices;
  /** The type whose peak applies to its operations. */
  readonly roof: TextIndices;
  readonly boundBy: TextIndices;
  /** Why it is slow; "" if the trace does not prove a cause. */
  readonly cause: TextIndices;
  /** Why its work is unknown, or why it exceeds a peak. */
  readonly note: TextIndices;
  readonly occurrences: Float64Array;
  readonly kernels: Float64Array;
  readonly totalPs: Float64Array;
  readonly selfPs: Float64Array;
  /** The time over which its work was done. */
  readonly spanPs: Float64Array;
  /** NaN if unknown, as in the following columns. */
  readonly wastedPs: Float64Array;
  /** The maximum time that its cause costs. */
  readonly couldSavePs: Float64Array;
  /** The time that its operations would take at the peak. */
  readonly atPeakPs: Float64Array;
  readonly flops: Float64Array;
  readonly bytes: Float64Array;
  readonly hbmBytes: Float64Array;
  readonly flopShare: Float64Array;
  readonly hbmShare: Float64Array;
  /** The largest share of a peak. */
  readonly efficiency: Float64Array;
  readonly isComputed: readonly boolean[];
  readonly hasInner: readonly boolean[];
}

/** The longest kernels of rows; those of one row are adjacent. */
interface ProfileKernels {
  /** The index of the row. */
  readonly place: Float64Array;
  readonly name: TextIndices;
  readonly occurrences: Float64Array;
  readonly totalPs: Float64Array;
}

export interface Profile {
  readonly deviceType: string;
  readonly devices: number;
  readonly idlePs: number;
  readonly flopPeaks: readonly PeakRate[];
  readonly memoryPeaks: readonly PeakRate[];
  /** The number of instructions in the run; `rows` may have fewer at first. */
  readonly instructions: number;
  readonly texts: readonly string[];
  readonly rows: ProfileRows;
  readonly kernels: ProfileKernels;
}

/** Throws PayloadError. */
export function parseProfile(json: unknown): Profile {
  const all = record(json, "the profile of programs");
  const rows = fields(all.rows);
  const length = list(rows.row).length;
  const known = texts(all.texts);
  const textColumn = (value: unknown, size = length) =>
    Int32Array.from(checkLength(list(value), size), (item) => {
      const at = number(item);
      return Number.isInteger(at) && at >= 0 && at < known.length ? at : -1;
    });
  const column = (name: string) => columnOf(rows[name], length);
  const knownColumn = (name: string) =>
    column(name).map((value) => (value >= 0 ? value : Number.NaN));
  const kernels = fields(all.kernels);
  const kernelCount = list(kernels.place).length;
  return {
    deviceType: text(all.device_type),
    devices: count(all.devices),
    idlePs: count(all.idle_ps) + count(all.sparse_core_idle_ps),
    flopPeaks: records(fields(all.peaks).flops).map((peak) => ({
      of: text(peak.dtype),
      giga: number(peak.gflops),
      source: text(peak.source),
    })),
    memoryPeaks: records(fields(all.peaks).memories).map((peak) => ({
      of: text(peak.memory),
      giga: number(peak.gbytes),
      source: text(peak.source),
    })),
    instructions: count(all.instructions),
    texts: known,
    rows: {
      length,
      row: column("row"),
      count: column("count"),
      programId: textColumn(rows.program_id),
      program: textColumn(rows.program),
      name: textColumn(rows.name),
      category: textColumn(rows.category),
      group: textColumn(rows.group),
      opcode: textColumn(rows.opcode),
      scope: textColumn(rows.scope),
      source: textColumn(rows.source),
      dtype: textColumn(rows.dtype),
      roof: textColumn(rows.roof),
      boundBy: textColumn(rows.bound_by),
      cause: textColumn(rows.cause),
      note: textColumn(rows.note),
      occurrences: column("occurrences"),
      kernels: column("kernels"),
      totalPs: column("total_ps"),
      selfPs: column("self_ps"),
      spanPs: column("span_ps"),
      wastedPs: knownColumn("wasted_ps"),
      couldSavePs: knownColumn("could_save_ps"),
      atPeakPs: knownColumn("at_peak_ps"),
      flops: knownColumn("flops"),
      bytes: knownColumn("bytes_accessed"),
      hbmBytes: knownColumn("hbm_bytes"),
      flopShare: column("flop_share"),
      hbmShare: column("hbm_share"),
      efficiency: column("efficiency"),
      isComputed: checkLength(list(rows.is_computed), length).map(flag),
      hasInner: checkLength(list(rows.has_inner), length).map(flag),
    },
    kernels: {
      place: columnOf(kernels.place, kernelCount),
      name: textColumn(kernels.name, kernelCount),
      occurrences: columnOf(kernels.occurrences, kernelCount),
      totalPs: columnOf(kernels.total_ps, kernelCount),
    },
  };
}

/** A text of the profile, or "". */
export function textOf({ texts }: Profile, at: number): string {
  return texts[at] ?? "";
}

/** Further details of an instruction. */
export interface OpDetails {
  readonly name: string;
  readonly result: string;
  readonly operands: string;
  /** One line per frame, the innermost first. */
  readonly stack: string;
  /** The number of distinct kernels that it launched. */
  readonly kernelNames: number;
  readonly kernels: readonly { name: string; occurrences: number; totalPs: number }[];
}

/** Throws PayloadError. */
export function parseDetails(json: unknown): OpDetails {
  const all = record(json, "the op's details");
  return {
    name: text(all.name),
    result: text(all.result),
    operands: text(all.operands),
    stack: text(all.stack),
    kernelNames: count(all.kernel_names),
    kernels: records(all.kernels).map((kernel) => ({
      name: text(kernel.name),
      occurrences: count(kernel.occurrences),
      totalPs: count(kernel.total_ps),
    })),
  };
}

/** The peak of an element type or a memory; null if unknown. */
export function peakOf(peaks: readonly PeakRate[], of: string): PeakRate | null {
  return peaks.find((peak) => peak.of === of) ?? null;
}
