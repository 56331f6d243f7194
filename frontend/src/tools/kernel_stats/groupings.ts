/** By what the kernel table can be grouped, and usually is. */
import type { TableColumn } from "../../widgets/table/columns";
import type { Grouping } from "../../widgets/table/group";

export const KERNEL_GROUPINGS: readonly Grouping[] = [
  by("kernel_name", "Kernel name"),
  by("op_name", "Op"),
];

/** By name, where kernels have several rows: one per op and launch configuration. */
export function usualKernelGrouping(
  columns: readonly TableColumn[],
  rows: Uint32Array,
): string | null {
  const { id, keys } = KERNEL_GROUPINGS[0];
  const codes = keys(columns)?.codes;
  return codes && new Set(Array.from(rows, (row) => codes[row])).size < rows.length ? id : null;
}

function by(id: string, label: string): Grouping {
  return {
    id: id.replace("_name", ""),
    label,
    keys: (columns) => {
      const data = columns.find((column) => column.id === id)?.data;
      return data?.kind === "text" ? data : undefined;
    },
  };
}
