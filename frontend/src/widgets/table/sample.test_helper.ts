/** Small tables for tests. */
import { parseTable } from "../../api/data_table";
import type { Cell } from "../../base/csv";
import { type ColumnSpec, resolveColumns, type TableColumn } from "./columns";

/** One column per entry, its type by its first cell that is not null. */
export function sampleTable(cells: Readonly<Record<string, readonly Cell[]>>) {
  const entries = Object.entries(cells);
  return parseTable({
    cols: entries.map(([id, values]) => ({ id, label: id, type: typeOf(values) })),
    columns: entries.map(([, values]) => values),
  });
}

export function sampleColumns(
  cells: Readonly<Record<string, readonly Cell[]>>,
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
