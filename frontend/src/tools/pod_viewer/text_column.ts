/** A text column in tables of workers. */
import type { ColumnSpec } from "../../widgets/table/columns";

export function textColumn(id: string, title: string, width: number, isSticky = false): ColumnSpec {
  return { id, title, width, isShown: true, isSticky, group: { how: "same" } };
}
