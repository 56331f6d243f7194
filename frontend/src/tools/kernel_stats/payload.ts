/** The table of kernel_stats, and the facts that are read off it. */
import { type DataTable, findColumn, numbers, parseTable, texts } from "../../api/data_table";
import { type Microseconds, microseconds, type Ratio, ratio } from "../../base/units";

export interface KernelStats {
  readonly table: DataTable;
  readonly facts: KernelFacts;
  /** Names of all kernels, each once. */
  readonly kernels: readonly string[];
}

export interface KernelFacts {
  readonly total: Microseconds;
  readonly launches: number;
  /** null where no row says whether its kernel uses Tensor Cores. */
  readonly tensorCoreShare: Ratio | null;
  readonly kernels: number;
}

/** Older servers wrap the table in a list. */
export function parseKernelStats(json: unknown): KernelStats {
  const table = parseTable(Array.isArray(json) ? json[0] : json);
  return { table, facts: findFacts(table), kernels: texts(table, "kernel_name")?.strings ?? [] };
}

export function findFacts(table: DataTable): KernelFacts {
  const totals = numbers(table, "total_duration_us") ?? new Float64Array(0);
  const occurrences = numbers(table, "occurrences") ?? new Float64Array(0);
  const flags = findColumn(table, "is_kernel_using_tensor_core");
  let total = 0;
  let launches = 0;
  let judged = 0;
  let tensorCore = 0;
  for (let row = 0; row < table.length; row++) {
    const duration = totals[row] || 0;
    const flag = flags?.kind === "flag" ? flags.values[row] : -1;
    total += duration;
    launches += occurrences[row] || 0;
    if (flag >= 0) judged += duration;
    if (flag === 1) tensorCore += duration;
  }
  return {
    total: microseconds(total),
    launches,
    tensorCoreShare: judged > 0 ? ratio(tensorCore / judged) : null,
    kernels: new Set(texts(table, "kernel_name")?.codes).size,
  };
}
