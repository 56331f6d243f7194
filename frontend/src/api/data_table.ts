/** Google DataTable JSON as columns of typed arrays. */
import { PayloadError } from "./errors";
import { fields, isRecord, list } from "./json";
import { parseWarnings, type Warning } from "./types";

/** Dictionary-encoded texts: `codes` index `strings`; -1 if the cell is null. */
export interface TextColumn {
  readonly kind: "text";
  readonly id: string;
  readonly label: string;
  readonly codes: Int32Array;
  readonly strings: readonly string[];
}

/** NaN where the cell is null. `isRatio`: the values are fractions that read as percentages. */
export interface NumberColumn {
  readonly kind: "number";
  readonly id: string;
  readonly label: string;
  readonly isRatio: boolean;
  readonly values: Float64Array;
}

/** 1, 0, or -1 where the cell is null. */
interface FlagColumn {
  readonly kind: "flag";
  readonly id: string;
  readonly label: string;
  readonly values: Int8Array;
}

export type Column = TextColumn | NumberColumn | FlagColumn;

export interface DataTable {
  readonly columns: readonly Column[];
  readonly length: number;
  /** How many rows it will have, while they come in batches. */
  readonly expected?: number;
  readonly properties: Readonly<Record<string, string>>;
  readonly warnings: readonly Warning[];
}

const NO_TABLE = tableOf([]);

/** A payload that is a list of at least `least` tables. Throws PayloadError. */
export function parseTables(json: unknown, least: number, what: string) {
  if (list(json).length < least) throw new PayloadError(`${what} is not a list of tables`);
  // Tables without data may be empty objects.
  const tables = list(json).map((item) =>
    isRecord(item) && Array.isArray(item.cols) ? parseTable(item) : NO_TABLE,
  );
  const warnings = tables.flatMap((table) => table.warnings);
  return {
    table: (index: number) => tables[index] ?? NO_TABLE,
    /** Without duplicates. */
    warnings: [...new Map(warnings.map((item) => [JSON.stringify(item), item])).values()],
  };
}

/** The table of a payload, in either layout. Throws PayloadError on anything else. */
export function parseTable(json: unknown): DataTable {
  if (!isRecord(json) || !Array.isArray(json.cols))
    throw new PayloadError("a table has no columns");
  const heads = json.cols as unknown[];
  const byColumn = Array.isArray(json.columns)
    ? (json.columns as unknown[])
    : transpose(json.rows, heads.length);
  if (byColumn.length !== heads.length)
    throw new PayloadError("columns and headers differ in number");
  const length = byColumn.length > 0 ? cells(byColumn[0]).length : 0;
  const columns = heads.map((head, index) => {
    const values = cells(byColumn[index]);
    if (values.length !== length) throw new PayloadError("columns differ in length");
    return parseColumn(head, values);
  });
  return {
    columns,
    length,
    ...(Number(json.all_rows) > length && { expected: Number(json.all_rows) }),
    properties: fields(json.p) as Record<string, string>,
    warnings: parseWarnings(json.warnings),
  };
}

export function findColumn(table: DataTable, id: string): Column | undefined {
  return table.columns.find((column) => column.id === id);
}

export function numbers(table: DataTable, id: string): Float64Array | undefined {
  const column = findColumn(table, id);
  return column?.kind === "number" ? column.values : undefined;
}

/** Whether any number of a column is above 0. */
export function isMeasured(table: DataTable, id: string): boolean {
  return numbers(table, id)?.some((value) => value > 0) ?? false;
}

/** Whether any row has such a text. */
export function hasText(table: DataTable, id: string): boolean {
  return texts(table, id)?.strings.some((value) => value !== "") ?? false;
}

export function texts(table: DataTable, id: string): TextColumn | undefined {
  const column = findColumn(table, id);
  return column?.kind === "text" ? column : undefined;
}

/** The text of one cell, "" where it is null. */
export function textAt(column: TextColumn | undefined, row: number): string {
  const code = column?.codes[row] ?? -1;
  return code < 0 ? "" : column!.strings[code];
}

/** One row by column id; missing cells are "", NaN or false. */
export interface Row {
  readonly text: (id: string) => string;
  readonly number: (id: string) => number;
  readonly flag: (id: string) => boolean;
}

/** The rows of a small table as objects; large tables stay columns. */
export function readRows<T>(table: DataTable, read: (row: Row) => T): T[] {
  const columns = new Map(table.columns.map((column) => [column.id, column]));
  return Array.from({ length: table.length }, (_, index) =>
    read({
      text: (id) => {
        const column = columns.get(id);
        return column?.kind === "text" ? textAt(column, index) : "";
      },
      number: (id) => {
        const column = columns.get(id);
        return column?.kind === "number" ? column.values[index] : Number.NaN;
      },
      flag: (id) => {
        const column = columns.get(id);
        return column?.kind === "flag" && column.values[index] === 1;
      },
    }),
  );
}

export function numberColumn(id: string, label: string, values: Float64Array): NumberColumn {
  return { kind: "number", id, label, isRatio: false, values };
}

/** A table that does not come from the server. */
export function tableOf(columns: readonly Column[]): DataTable {
  const [first] = columns;
  const { length } = (first?.kind === "text" ? first.codes : first?.values) ?? [];
  return { columns, length, properties: {}, warnings: [] };
}

/** A text column of `values`; null stays null. */
export function encodeTexts(id: string, label: string, values: readonly unknown[]): TextColumn {
  const codes = new Int32Array(values.length);
  const strings: string[] = [];
  const known = new Map<string, number>();
  for (let row = 0; row < values.length; row++) {
    const value = values[row];
    if (value === null || value === undefined) {
      codes[row] = -1;
      continue;
    }
    const text = String(value);
    let code = known.get(text);
    if (code === undefined) {
      code = strings.length;
      known.set(text, code);
      strings.push(text);
    }
    codes[row] = code;
  }
  return { kind: "text", id, label, codes, strings };
}

function parseColumn(head: unknown, values: readonly unknown[]): Column {
  if (!isRecord(head) || typeof head.id !== "string") throw new PayloadError("a column has no id");
  const id = head.id;
  const label = typeof head.label === "string" && head.label !== "" ? head.label : id;
  if (head.type === "number") {
    const isRatio = typeof head.pattern === "string" && head.pattern.endsWith("%");
    return { kind: "number", id, label, isRatio, values: Float64Array.from(values, toNumber) };
  }
  if (head.type === "boolean") {
    return { kind: "flag", id, label, values: Int8Array.from(values, toFlag) };
  }
  return encodeTexts(id, label, values);
}

function toNumber(value: unknown): number {
  if (typeof value === "number") return value;
  return typeof value === "string" && value !== "" ? Number(value) : Number.NaN;
}

function toFlag(value: unknown): number {
  if (typeof value === "boolean") return value ? 1 : 0;
  return -1;
}

function cells(column: unknown): readonly unknown[] {
  if (!Array.isArray(column)) throw new PayloadError("a column is not a list");
  return column;
}

function transpose(rows: unknown, width: number): unknown[][] {
  if (!Array.isArray(rows)) throw new PayloadError("a table has no rows");
  return Array.from({ length: width }, (_, index) =>
    rows.map((row) => {
      return fields(list(fields(row).c)[index]).v ?? null;
    }),
  );
}
