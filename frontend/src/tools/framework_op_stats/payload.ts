/** The tables of framework_op_stats: ops with and without idle time, and calls of programs. */
import { type DataTable, parseTable, type TextColumn, texts } from "../../api/data_table";
import { PayloadError } from "../../api/errors";
import type { RowTest } from "../../widgets/table/filter";

export interface OpStats {
  readonly withIdle: DataTable;
  readonly withoutIdle: DataTable;
  /** What the program called and annotated, null where it did neither. */
  readonly calls: DataTable | null;
  /** Names of all ops, each once. */
  readonly operations: readonly string[];
}

export type Side = "Device" | "SparseCore" | "Host";

/** Kept by the server for scripts; the same column as the one in lower case. */
const OLD_ID = "Host_cumulative_total_self_time_percent";

export function parseOpStats(json: unknown): OpStats {
  if (!Array.isArray(json) || json.length < 2) {
    throw new PayloadError("TensorFlow stats are two tables, with and without idle time");
  }
  const withIdle = dropOldColumn(parseTable(json[0]));
  const calls = json.length > 2 ? parseTable(json[2]) : null;
  return {
    withIdle,
    withoutIdle: dropOldColumn(parseTable(json[1])),
    calls: calls !== null && calls.length > 0 ? calls : null,
    operations: texts(withIdle, "operation")?.strings ?? [],
  };
}

/** The rows of one side, null where there is none. */
export function sideRows(table: DataTable, side: Side): RowTest | null {
  const column: TextColumn | undefined = texts(table, "host_or_device");
  const code = column?.strings.indexOf(side) ?? -1;
  return code < 0 ? null : (row) => column!.codes[row] === code;
}

function dropOldColumn(table: DataTable): DataTable {
  const id = OLD_ID.toLowerCase();
  const hasNew = table.columns.some((column) => column.id === id);
  const columns = table.columns
    .filter((column) => column.id !== OLD_ID || !hasNew)
    .map((column) => (column.id === OLD_ID ? { ...column, id } : column));
  return { ...table, columns };
}
