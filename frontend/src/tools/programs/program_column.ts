/** Display names of programs, which include the id, since several may share a name. */
import { type DataTable, encodeTexts, textAt, texts } from "../../api/data_table";

export const PROGRAM = "program_label";

/** "jit_f(17)" per row; "" for rows without a program. `ids` is the column of program ids. */
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
