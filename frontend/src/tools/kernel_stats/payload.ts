/** The table of kernel_stats, and figures derived from it. */
import { type DataTable, numbers, parseTable, textAt, texts } from "../../api/data_table";
import { microseconds, ratio } from "../../base/units";

export type KernelStats = Readonly<ReturnType<typeof parseKernelStats>>;

export type KernelFacts = Readonly<ReturnType<typeof findFacts>>;

/** Older servers wrap the table in a list. */
export function parseKernelStats(json: unknown) {
  const table = parseTable(Array.isArray(json) ? json[0] : json);
  return {
    table,
    facts: findFacts(table),
    /** The name of the GPUs' matrix units: "Tensor Cores", "Matrix Cores". */
    unit: table.properties.matrix_unit || "Tensor Cores",
    /** The distinct names of all kernels. */
    kernels: texts(table, "kernel_name")?.strings ?? [],
  };
}

function findFacts(table: DataTable) {
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
    /** Of the kernel time for which it is known; null if it is known for none. */
    tensorCoreShare: judged > 0 ? ratio(tensorCore / judged) : null,
    /** The part of the kernel time for which it is unknown. */
    unknownShare: ratio(total > 0 ? 1 - judged / total : 0),
    kernels: new Set(texts(table, "kernel_name")?.codes).size,
  };
}
