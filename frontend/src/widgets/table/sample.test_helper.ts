/** Small tables for tests. */
import { parseTable } from "../../api/data_table";
import type { Cell } from "../../base/csv";
import { type ColumnSpec, resolveColumns, type TableColumn } from "./columns";

type CellsById = Readonly<Record<string, readonly Cell[]>>;

/**
 * A table as the server sends it, one column per entry, its type by its first cell that is not null;
 * `p` are its properties.
 */
export function tableJson(cells: CellsById, p: Readonly<Record<string, string>> = {}) {
  const entries = Object.entries(cells);
  return {
    cols: entries.map(([id, values]) => ({ id, label: id, type: typeOf(values) })),
    columns: entries.map(([, values]) => values),
    p,
  };
}

/** The same row by row; `ids` of the columns have blanks between them, missing cells are null. */
export function rowsJson(
  ids: string,
  rows: readonly (readonly Cell[])[],
  p?: Readonly<Record<string, string>>,
) {
  const columns = ids.split(" ").map((id, at) => [id, rows.map((row) => row[at] ?? null)]);
  return tableJson(Object.fromEntries(columns), p);
}

export function sampleTable(cells: CellsById) {
  return parseTable(tableJson(cells));
}

export function sampleColumns(
  cells: CellsById,
  specs: Readonly<Record<string, Partial<ColumnSpec>>> = {},
): TableColumn[] {
  return resolveColumns(
    sampleTable(cells),
    Object.keys(cells).map((id) => ({
      id,
      title: id,
      width: 100,
      isShown: true,
      group: { how: "none" },
      ...specs[id],
    })),
  );
}

function typeOf(values: readonly Cell[]): string {
  const first = values.find((value) => value !== null);
  return typeof first === "number" ? "number" : typeof first === "boolean" ? "boolean" : "string";
}
