/** The tables of roofline_model: records of one kind, and the peaks that they are compared with. */
import {
  type Column,
  type DataTable,
  numbers,
  parseTables,
  type Row,
  readRows,
  texts,
} from "../../api/data_table";
import { programColumn } from "../programs/program_column";

export type Roofline = Readonly<ReturnType<typeof parseRoofline>>;

export interface RooflinePeak {
  readonly kind: "compute" | "memory";
  /** An element type, or a memory. */
  readonly name: string;
  /** 10⁹ operations or bytes per second. */
  readonly peak: number;
  readonly source: string;
}

export function parseRoofline(json: unknown) {
  const tables = parseTables(json, 3, "the roofline");
  const records = tables.table(0);
  const whole = readRows(records, (row) => row)[0] ?? NOTHING;
  const table = withoutFirst(records);
  const { properties } = records;
  return {
    /** The records: instructions, programs or steps, without the row for all of them. */
    table: { ...table, columns: [...table.columns, programColumn(table, "hlo_module_id")] },
    /** The row for all of them, by column id. */
    whole,
    peaks: readRows(
      tables.table(2),
      (row): RooflinePeak => ({
        kind: row.text("kind") === "memory" ? "memory" : "compute",
        name: row.text("name"),
        peak: row.number("peak"),
        source: row.text("source"),
      }),
    ),
    /** Why there are no records of steps, or "". */
    noSteps:
      records.columns.length > 0
        ? ""
        : (readRows(tables.table(1), (row) => row.text("message"))[0] ?? ""),
    deviceType: properties.program_device ?? "",
    deviceName: properties.device_type ?? "",
    hasFeeds: Number(properties.feed_ops) > 0,
    names: texts(table, "operation")?.strings ?? [],
    warnings: tables.warnings,
  };
}

const NOTHING: Row = { text: () => "", number: () => Number.NaN, flag: () => false };

/** The table without the row of rank 0, which includes the others. */
function withoutFirst(records: DataTable): DataTable {
  const first = numbers(records, "rank")?.[0] === 0 ? 1 : 0;
  if (first === 0) return records;
  const { expected, length } = records;
  return {
    ...records,
    columns: records.columns.map(cut),
    length: length - 1,
    ...(expected && { expected: expected - 1 }),
  };
}

function cut(column: Column): Column {
  if (column.kind === "text") return { ...column, codes: column.codes.subarray(1) };
  if (column.kind === "flag") return { ...column, values: column.values.subarray(1) };
  return { ...column, values: column.values.subarray(1) };
}
