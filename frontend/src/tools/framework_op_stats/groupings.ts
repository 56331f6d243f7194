/** By what the op table can be grouped. */
import { encodeTexts, type TextColumn } from "../../api/data_table";
import { nameScope } from "../../base/names";
import type { TableColumn } from "../../widgets/table/columns";
import type { Grouping } from "../../widgets/table/group";

export const OP_GROUPINGS: readonly Grouping[] = [
  { id: "type", label: "Op type", keys: (columns) => textColumn(columns, "type") },
  { id: "scope1", label: "Name scope, first part", keys: byScope(1) },
  { id: "scope2", label: "Name scope, two parts", keys: byScope(2) },
  { id: "scope", label: "Name scope, whole", keys: byScope(Number.POSITIVE_INFINITY) },
  { id: "side", label: "Host or device", keys: (columns) => textColumn(columns, "host_or_device") },
];

function byScope(levels: number): Grouping["keys"] {
  return (columns) => {
    const operation = textColumn(columns, "operation");
    if (!operation) return undefined;
    const scopes = encodeTexts(
      "scope",
      "Scope",
      operation.strings.map((name) => nameScope(name, levels)),
    );
    return {
      ...scopes,
      codes: operation.codes.map((code) => (code < 0 ? -1 : scopes.codes[code])),
    };
  };
}

function textColumn(columns: readonly TableColumn[], id: string): TextColumn | undefined {
  const data = columns.find((column) => column.id === id)?.data;
  return data?.kind === "text" ? data : undefined;
}
