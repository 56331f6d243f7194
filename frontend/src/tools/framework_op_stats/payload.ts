/** The tables of framework_op_stats: ops with and without idle time, and calls of programs. */
import {
  type DataTable,
  numbers,
  parseTable,
  type TextColumn,
  textAt,
  texts,
} from "../../api/data_table";
import { PayloadError } from "../../api/errors";
import type { RowTest } from "../../widgets/table/filter";

export type OpStats = Readonly<ReturnType<typeof parseOpStats>>;

export type Side = "Device" | "SparseCore" | "Host";

/** Shares of the self time of all ops on the row's side; missing for SparseCores. */
export const SHARE = "self_share";
export const CUMULATIVE = "cumulative_share";

/** An old id of the column in lower case, which the server keeps for scripts. */
const OLD_ID = "Host_cumulative_total_self_time_percent";

export function parseOpStats(json: unknown) {
  if (!Array.isArray(json) || json.length < 2) {
    throw new PayloadError("op stats must be two tables, with and without idle time");
  }
  const withIdle = readOps(json[0]);
  const calls = json.length > 2 ? parseTable(json[2]) : null;
  return {
    withIdle,
    withoutIdle: readOps(json[1]),
    /** The program's calls and annotations; null if there are none. */
    calls: calls !== null && calls.length > 0 ? calls : null,
    /** The distinct names of all ops. */
    operations: texts(withIdle, "operation")?.strings ?? [],
    /** Whether there are TensorFlow ops; the page then also shows its name in TensorFlow's guide. */
    isTensorFlow: texts(withIdle, "type")?.strings.some(isTensorFlowType) ?? false,
  };
}

/** Whether it is a type such as "MatMul"; JAX and XLA have "dot_general" and "fusion". */
function isTensorFlowType(type: string): boolean {
  return (
    /^[A-Z][A-Za-z0-9]+$/.test(type) && !/^(?:Dataset|IDLE|Unknown|Mem(?:cpy|set).*)$/.test(type)
  );
}

/** The rows of one side; null if there are none. */
export function sideRows(table: DataTable, side: Side): RowTest | null {
  const column: TextColumn | undefined = texts(table, "host_or_device");
  const code = column?.strings.indexOf(side) ?? -1;
  return code < 0 ? null : (row) => column!.codes[row] === code;
}

/** The table with two more columns: the shares on each row's side. */
function readOps(json: unknown): DataTable {
  const table = dropOldColumn(parseTable(json));
  const sides = texts(table, "host_or_device");
  const own = (id: string, label: string, name: string) => {
    const of: Readonly<Record<string, Float64Array | undefined>> = {
      Device: numbers(table, `device_${name}`),
      Host: numbers(table, `host_${name}`),
    };
    const values = Float64Array.from(
      { length: table.length },
      (_, row) => of[textAt(sides, row)]?.[row] ?? Number.NaN,
    );
    return { kind: "number", id, label, isRatio: true, values } as const;
  };
  const shares = [
    own(SHARE, "Share", "total_self_time_percent"),
    own(CUMULATIVE, "Cumulative", "cumulative_total_self_time_percent"),
  ];
  return { ...table, columns: [...table.columns, ...shares] };
}

function dropOldColumn(table: DataTable): DataTable {
  const id = OLD_ID.toLowerCase();
  const hasNew = table.columns.some((column) => column.id === id);
  const columns = table.columns
    .filter((column) => column.id !== OLD_ID || !hasNew)
    .map((column) => (column.id === OLD_ID ? { ...column, id } : column));
  return { ...table, columns };
}
