/** Small tables for tests. */
import { parseTable } from "../../api/data_table";
import { type ColumnSpec, resolveColumns, type TableColumn } from "./columns";

type Cells = readonly (string | number | boolean | null)[];

/** One column per entry, its type by its first cell that is not null. */
export function sampleTable(cells: Readonly<Record<string, Cells>>) {
  const entries = Object.entries(cells);
  return parseTable({
    cols: entries.map(([id, values]) => ({ id, label: id, type: typeOf(values) })),
    columns: entries.map(([, values]) => values),
  });
}

export function sampleColumns(
  cells: Readonly<Record<string, Cells>>,
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

function typeOf(values: Cells): string {
  const first = values.find((value) => value !== null);
  return typeof first === "number" ? "number" : typeof first === "boolean" ? "boolean" : "string";
}
