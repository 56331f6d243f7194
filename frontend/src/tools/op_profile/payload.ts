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

export type Profile = Readonly<ReturnType<typeof parseProfile>>;

/** Throws PayloadError. */
export function parseProfile(json: unknown) {
  const all = record(json, "the profile of programs");
  const rows = fields(all.rows);
  const length = list(rows.row).length;
  const known = texts(all.texts);
  /** [rows] Indices into the texts of the profile. */
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
    /** The number of instructions in the run; `rows` may have fewer at first. */
    instructions: count(all.instructions),
    texts: known,
    /** One row per instruction, longest self time first, then sums of those that are not loaded yet. */
    rows: {
      length,
      /** The server's number of the instruction; -1 for sums. */
      row: column("row"),
      /** The number of instructions in the row. */
      count: column("count"),
      programId: textColumn(rows.program_id),
      program: textColumn(rows.program),
      name: textColumn(rows.name),
      category: textColumn(rows.category),
      /** Ops of one program with the same group are identical. */
      group: textColumn(rows.group),
      scope: textColumn(rows.scope),
      source: textColumn(rows.source),
      dtype: textColumn(rows.dtype),
      /** The type whose peak applies to its operations. */
      roof: textColumn(rows.roof),
      boundBy: textColumn(rows.bound_by),
      /** Why it is slow; "" if the trace does not prove a cause. */
      cause: textColumn(rows.cause),
      /** Why its work is unknown, or why it exceeds a peak. */
      note: textColumn(rows.note),
      occurrences: column("occurrences"),
      totalPs: column("total_ps"),
      selfPs: column("self_ps"),
      /** The time over which its work was done. */
      spanPs: column("span_ps"),
      /** NaN if unknown, as in the following columns. */
      wastedPs: knownColumn("wasted_ps"),
      /** The maximum time that its cause costs. */
      couldSavePs: knownColumn("could_save_ps"),
      /** The time that its operations would take at the peak. */
      atPeakPs: knownColumn("at_peak_ps"),
      flops: knownColumn("flops"),
      bytes: knownColumn("bytes_accessed"),
      hbmBytes: knownColumn("hbm_bytes"),
      flopShare: column("flop_share"),
      hbmShare: column("hbm_share"),
      isComputed: checkLength(list(rows.is_computed), length).map(flag),
      hasInner: checkLength(list(rows.has_inner), length).map(flag),
    },
    /** The longest kernels of rows; those of one row are adjacent. */
    kernels: {
      /** The index of the row. */
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
export type OpDetails = Readonly<ReturnType<typeof parseDetails>>;

/** Throws PayloadError. */
export function parseDetails(json: unknown) {
  const all = record(json, "the op's details");
  return {
    result: text(all.result),
    operands: text(all.operands),
    /** One line per frame, the innermost first. */
    stack: text(all.stack),
    /** The number of distinct kernels that it launched. */
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
