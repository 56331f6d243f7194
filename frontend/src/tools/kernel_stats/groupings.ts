/** The groupings of the kernel table, and its default grouping. */
import type { TableColumn } from "../../widgets/table/columns";
import type { Grouping } from "../../widgets/table/group";
import { groupBy } from "../../widgets/table/specs";

export const KERNEL_GROUPINGS: readonly Grouping[] = [
  groupBy("kernel_name", "Kernel name", "kernel"),
  groupBy("op_name", "Op", "op"),
];

/** By name if kernels have several rows, one per op and launch configuration. */
export function defaultKernelGrouping(
  columns: readonly TableColumn[],
  rows: Uint32Array,
): string | null {
  const { id, keys } = KERNEL_GROUPINGS[0];
  const codes = keys(columns)?.codes;
  return codes && new Set(Array.from(rows, (row) => codes[row])).size < rows.length ? id : null;
}
