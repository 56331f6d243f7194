/** The presentation of table columns: title, unit, visibility, and aggregation in groups. */
import type { Column, DataTable, TextColumn } from "../../api/data_table";
import {
  columnScale,
  formatBytes,
  formatTime,
  NOT_MEASURED,
  type Quantity,
  type Scale,
} from "../../base/format";
import { foldName, foldNames, readableName } from "../../base/names";
import { bytes, microseconds } from "../../base/units";

/** "How is this computed?" */
export interface Explanation {
  readonly formula: string;
  readonly unit: string;
  readonly source: string;
}

/** How the rows of a group are aggregated. Other columns are referred to by id. */
type Aggregate =
  | { readonly how: "sum" | "min" | "max" | "same" | "none" | "rank" | "label" }
  | { readonly how: "quotient"; readonly of: string; readonly by: string }
  | { readonly how: "mean"; readonly weight: string }
  | { readonly how: "running"; readonly of: string };

export interface ColumnSpec {
  readonly id: string;
  readonly title: string;
  /** Only for numbers. */
  readonly quantity?: Quantity;
  /** Only for the quantity "number". */
  readonly unit?: string;
  /** The text is the name of an op or kernel: monospace and folded; copying yields the raw name. */
  readonly isName?: boolean;
  /** Pixels; name columns also take the remaining room. */
  readonly width: number;
  readonly isShown: boolean;
  readonly isSticky?: boolean;
  readonly hasBar?: boolean;
  readonly group: Aggregate;
  /** The noun that counts different values in a group: "op" for "194 ops". */
  readonly noun?: string;
  /** The sum over all rows is meaningless. */
  readonly hasNoTotal?: boolean;
  readonly explanation?: Explanation;
}

export interface TableColumn extends ColumnSpec {
  readonly data: Column;
  /** null unless the column has numbers. */
  readonly scale: Scale | null;
  readonly max: number;
  readonly names: NameTexts | null;
}

/** The columns of `table` in the order of `specs`, followed by columns without a spec, hidden. */
export function resolveColumns(table: DataTable, specs: readonly ColumnSpec[]): TableColumn[] {
  const known = specs.flatMap((spec) => {
    const data = table.columns.find((column) => column.id === spec.id);
    return data ? [bindColumn(spec, data)] : [];
  });
  const rest = table.columns.filter((column) => !specs.some((spec) => spec.id === column.id));
  return [...known, ...rest.map((data) => bindColumn(unknownSpec(data), data))];
}

/** `spec` bound to `data`, with the scale that suits its largest value. */
export function bindColumn(spec: ColumnSpec, data: Column): TableColumn {
  if (data.kind !== "number") {
    const names = spec.isName && data.kind === "text" ? new NameTexts(data) : null;
    return { ...spec, data, scale: null, max: 0, names };
  }
  let max = 0;
  for (const value of data.values) {
    const size = Math.abs(value);
    if (size > max && size < Number.POSITIVE_INFINITY) max = size;
  }
  const quantity = quantityOf(spec, data.isRatio);
  return {
    ...spec,
    quantity,
    data,
    scale: columnScale(quantity, max, spec.unit, data.values),
    max,
    names: null,
  };
}

/** The header as text, with its unit: "Total time (ms)". */
export function headerText(column: TableColumn): string {
  return column.scale?.unit ? `${column.title} (${column.scale.unit})` : column.title;
}

/** A cell in the unit of `column`; `data` may be another table's column of the same kind. */
export function cellText(column: TableColumn, row: number, data: Column = column.data): string {
  switch (data.kind) {
    case "number": {
      const value = data.values[row];
      return Number.isNaN(value) || !column.scale ? NOT_MEASURED : column.scale.format(value);
    }
    case "flag":
      return data.values[row] < 0 ? NOT_MEASURED : data.values[row] === 1 ? "yes" : "no";
    case "text": {
      const code = data.codes[row];
      return code < 0 ? NOT_MEASURED : data.strings[code];
    }
  }
}

/** A cell with its own unit, independent of the column's. */
export function valueText(column: TableColumn, row: number): string {
  const { data, quantity } = column;
  const value = data.kind === "number" ? data.values[row] : Number.NaN;
  if (!Number.isNaN(value) && quantity === "time") return formatTime(microseconds(value));
  if (!Number.isNaN(value) && quantity === "bytes") return formatBytes(bytes(value));
  const text = cellText(column, row);
  return column.scale?.unit && text !== NOT_MEASURED ? `${text} ${column.scale.unit}` : text;
}

/** Readable and folded forms of the names in a column, computed lazily. */
class NameTexts {
  private readonly readables: (string | undefined)[] = [];
  private foldeds: (string | undefined)[] | null = null;

  constructor(private readonly column: TextColumn) {}

  /** Demangled if it is mangled. */
  readable(code: number): string {
    this.readables[code] ??= readableName(this.column.strings[code]);
    return this.readables[code];
  }

  /** Short enough for a cell. */
  folded(code: number): string {
    this.foldeds ??=
      this.column.strings.length > MOST_COMPARED
        ? []
        : foldNames(this.column.strings.map((_, index) => this.readable(index)));
    this.foldeds[code] ??= foldName(this.readable(code));
    return this.foldeds[code];
  }
}

/** With more names, each is folded independently of the others. */
const MOST_COMPARED = 5000;

function quantityOf(spec: ColumnSpec, isRatio: boolean): Quantity {
  if (spec.quantity === undefined) return isRatio ? "ratio" : "number";
  if (spec.quantity === "ratio" || spec.quantity === "percent")
    return isRatio ? "ratio" : spec.quantity;
  return spec.quantity;
}

function unknownSpec(data: Column): ColumnSpec {
  return {
    id: data.id,
    title: data.label.replace(/ \(%\)$/, ""),
    width: data.kind === "number" ? 110 : 160,
    isShown: false,
    group: { how: data.kind === "number" ? "none" : "same" },
  };
}
