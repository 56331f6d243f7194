/** Fetches tables that the server sends in batches of rows, and joins the batches. */
import { type DataRequest, fetchData } from "./client";
import { PayloadError } from "./errors";
import { fields, isRecord, type Json, list } from "./json";

/**
 * A payload whose first table comes in batches. `show` gets what there is of it after the first one,
 * if there are more; the table then says in `all_rows` how many rows it will have.
 */
export async function fetchInBatches(
  request: DataRequest,
  signal: AbortSignal,
  show: (json: unknown) => Promise<void>,
): Promise<unknown> {
  const batches: Batch[] = [];
  let rows = 0;
  for (;;) {
    const options = { ...request.options, first_row: String(rows) };
    const batch = readBatch(await fetchData({ ...request, options }, signal));
    batches.push(batch);
    rows += batch.rows;
    if (rows >= batch.allRows || batch.rows === 0) return joined(batches);
    if (batches.length === 1) await show(batch.json);
  }
}

interface Batch {
  /** The payload, with the columns as they are without batches. */
  readonly json: unknown;
  readonly columns: readonly (readonly unknown[])[];
  readonly rows: number;
  readonly allRows: number;
}

function readBatch(json: unknown): Batch {
  const table = fields(tableOf(json));
  const heads = list(table.cols);
  const columns: (readonly unknown[])[] = [];
  for (const column of list(table.columns)) {
    columns.push(
      isRecord(column) && "same_as" in column
        ? (columns[heads.findIndex((head) => fields(head).id === column.same_as)] ?? [])
        : valuesOf(column),
    );
  }
  const rows = columns[0]?.length ?? 0;
  const allRows = typeof table.all_rows === "number" ? table.all_rows : rows;
  return { json: withTable(json, { ...table, columns }), columns, rows, allRows };
}

/** The values of a column whose texts may be there once. */
function valuesOf(column: unknown): readonly unknown[] {
  if (!isRecord(column)) return list(column);
  const texts = list(column.texts);
  return list(column.codes).map((code) => texts[Number(code)] ?? null);
}

function joined(batches: readonly Batch[]): unknown {
  const [first] = batches;
  if (batches.length === 1) return first.json;
  const columns = first.columns.map((_, index) =>
    batches.flatMap(({ columns }) => {
      if (columns.length !== first.columns.length)
        throw new PayloadError("batches of a table differ in their columns");
      return columns[index];
    }),
  );
  return withTable(first.json, { ...fields(tableOf(first.json)), columns });
}

function tableOf(json: unknown): unknown {
  return Array.isArray(json) ? json[0] : json;
}

function withTable(json: unknown, table: Json): unknown {
  return Array.isArray(json) ? [table, ...json.slice(1)] : table;
}
