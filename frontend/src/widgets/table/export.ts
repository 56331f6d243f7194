/** The displayed content of a table as CSV and text. */
import { type Cell, toCsv, toTsv } from "../../base/csv";
import { cellText, headerText, type TableColumn } from "./columns";
import type { TableModel } from "./model";

/** The displayed rows and columns as CSV, in full precision and base units. */
export function tableCsv(model: TableModel): string {
  return toCsv(lines(model, baseHeader, baseCell));
}

/** The same as tab-separated text, formatted as on the page. */
export function tableText(model: TableModel): string {
  return toTsv(lines(model, headerText, writtenCell));
}

function* lines(
  model: TableModel,
  header: (column: TableColumn) => string,
  cell: (column: TableColumn, row: number) => Cell,
): Iterable<readonly Cell[]> {
  yield model.visible.map(header);
  for (const row of model.order) yield model.visible.map((column) => cell(column, row));
}

function baseHeader(column: TableColumn): string {
  const unit = baseUnit(column);
  return unit === "" ? column.title : `${column.title} (${unit})`;
}

function baseUnit(column: TableColumn): string {
  switch (column.quantity) {
    case "time":
      return "µs";
    case "bytes":
      return "B";
    default:
      return column.scale?.unit ?? "";
  }
}

function baseCell({ data, quantity }: TableColumn, row: number): Cell {
  switch (data.kind) {
    case "number": {
      const value = data.values[row];
      if (Number.isNaN(value)) return null;
      // Twelve digits exceed the precision of measurements, and hide binary rounding errors.
      return Number((quantity === "ratio" ? value * 100 : value).toPrecision(12));
    }
    case "flag":
      return data.values[row] < 0 ? null : data.values[row] === 1;
    case "text":
      return data.codes[row] < 0 ? null : data.strings[data.codes[row]];
  }
}

function writtenCell(column: TableColumn, row: number): Cell {
  if (column.data.kind === "text") return baseCell(column, row);
  return cellText(column, row);
}
