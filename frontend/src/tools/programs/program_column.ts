/** Programs as pages name them: several may share a name, so that their ids belong to it. */
import { type DataTable, encodeTexts, textAt, texts } from "../../api/data_table";

export const PROGRAM = "program_label";

/** "jit_f(17)" per row; "" for what belongs to no program. `ids` is the column of their ids. */
export function programColumn(table: DataTable, ids: string) {
  const [names, numbers] = [texts(table, "program"), texts(table, ids)];
  return encodeTexts(
    PROGRAM,
    "Program",
    Array.from({ length: table.length }, (_, row) =>
      programLabel(textAt(names, row), textAt(numbers, row)),
    ),
  );
}

function programLabel(name: string, id: string): string {
  return id === "" ? name : `${name || "main"}(${id})`;
}
