/** By what the kernel table can be grouped. */
import type { Grouping } from "../../widgets/table/group";

export const KERNEL_GROUPINGS: readonly Grouping[] = [
  by("kernel_name", "Kernel name"),
  by("op_name", "Op"),
];

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
