/** The table of kernel_stats, and figures derived from it. */
import { type DataTable, numbers, parseTable, textAt, texts } from "../../api/data_table";
import { type Microseconds, microseconds, type Ratio, ratio } from "../../base/units";

export interface KernelStats {
  readonly table: DataTable;
  readonly facts: KernelFacts;
  /** The name of the GPUs' matrix units: "Tensor Cores", "Matrix Cores". */
  readonly unit: string;
  /** The distinct names of all kernels. */
  readonly kernels: readonly string[];
}

export interface KernelFacts {
  readonly total: Microseconds;
  readonly launches: number;
  /** Of the kernel time for which it is known; null if it is known for none. */
  readonly tensorCoreShare: Ratio | null;
  /** The part of the kernel time for which it is unknown. */
  readonly unknownShare: Ratio;
  readonly kernels: number;
}

/** Older servers wrap the table in a list. */
export function parseKernelStats(json: unknown): KernelStats {
  const table = parseTable(Array.isArray(json) ? json[0] : json);
  return {
    table,
    facts: findFacts(table),
    unit: table.properties.matrix_unit || "Tensor Cores",
    kernels: texts(table, "kernel_name")?.strings ?? [],
  };
}

function findFacts(table: DataTable): KernelFacts {
  const totals = numbers(table, "total_duration_us") ?? new Float64Array(0);
  const occurrences = numbers(table, "occurrences") ?? new Float64Array(0);
  const uses = texts(table, "tensor_core_use");
  let total = 0;
  let launches = 0;
  let judged = 0;
  let tensorCore = 0;
  for (let row = 0; row < table.length; row++) {
    const duration = totals[row] || 0;
    const use = textAt(uses, row);
    total += duration;
    launches += occurrences[row] || 0;
    if (use === "yes" || use === "no") judged += duration;
    if (use === "yes") tensorCore += duration;
  }
  return {
    total: microseconds(total),
    launches,
    tensorCoreShare: judged > 0 ? ratio(tensorCore / judged) : null,
    unknownShare: ratio(total > 0 ? 1 - judged / total : 0),
    kernels: new Set(texts(table, "kernel_name")?.codes).size,
  };
}
