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

export interface OpStats {
  readonly withIdle: DataTable;
  readonly withoutIdle: DataTable;
  /** What the program called and annotated, null where it did neither. */
  readonly calls: DataTable | null;
  /** Names of all ops, each once. */
  readonly operations: readonly string[];
  /** Some op is TensorFlow's, so that its guide's name for the page is said. */
  readonly isTensorFlow: boolean;
}

export type Side = "Device" | "SparseCore" | "Host";

/** Of the self time of all ops on the row's own side; there is none for SparseCores. */
export const SHARE = "self_share";
export const CUMULATIVE = "cumulative_share";

/** Kept by the server for scripts; the same column as the one in lower case. */
const OLD_ID = "Host_cumulative_total_self_time_percent";

export function parseOpStats(json: unknown): OpStats {
  if (!Array.isArray(json) || json.length < 2) {
    throw new PayloadError("op stats are two tables, with and without idle time");
  }
  const withIdle = readOps(json[0]);
  const calls = json.length > 2 ? parseTable(json[2]) : null;
  return {
    withIdle,
    withoutIdle: readOps(json[1]),
    calls: calls !== null && calls.length > 0 ? calls : null,
    operations: texts(withIdle, "operation")?.strings ?? [],
    isTensorFlow: texts(withIdle, "type")?.strings.some(isTensorFlowType) ?? false,
  };
}

/** "MatMul", as TensorFlow names types of ops; JAX and XLA write "dot_general" and "fusion". */
function isTensorFlowType(type: string): boolean {
  return (
    /^[A-Z][A-Za-z0-9]+$/.test(type) && !/^(?:Dataset|IDLE|Unknown|Mem(?:cpy|set).*)$/.test(type)
  );
}

/** The rows of one side, null where there is none. */
export function sideRows(table: DataTable, side: Side): RowTest | null {
  const column: TextColumn | undefined = texts(table, "host_or_device");
  const code = column?.strings.indexOf(side) ?? -1;
  return code < 0 ? null : (row) => column!.codes[row] === code;
}

/** The table with the shares of a row's own side as columns of their own. */
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
