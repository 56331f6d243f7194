/** Events that mark the steps of a trace, or could mark them. */
import { type DataTable, readRows } from "../../api/data_table";

export type Marker = Readonly<ReturnType<typeof readMarkers>[number]>;

export function readMarkers(table: DataTable) {
  return readRows(table, (row) => ({
    name: row.text("name"),
    line: row.text("line"),
    count: row.number("count"),
    medianMs: row.number("median_ms"),
    isCurrent: row.flag("is_current"),
  }));
}
