/** By what instructions can be grouped. */
import { encodeTexts, type TextColumn } from "../../api/data_table";
import { nameScope } from "../../base/names";
import type { TableColumn } from "../../widgets/table/columns";
import type { Grouping } from "../../widgets/table/group";
import { PROGRAM } from "../programs/program_column";

export const HLO_GROUPINGS: readonly Grouping[] = [
  by("category", "Category"),
  by(PROGRAM, "Program"),
  { id: "scope1", label: "Name scope, first part", keys: byScope(1) },
  { id: "scope2", label: "Name scope, two parts", keys: byScope(2) },
  { id: "scope3", label: "Name scope, three parts", keys: byScope(3) },
  by("tf_op_name", "Framework op"),
  by("source", "Source line"),
  by("dtype", "Element type"),
  by("bound_by", "Bound by"),
  by("replica_groups", "Replica groups"),
];

function by(id: string, label: string): Grouping {
  return { id, label, keys: (columns) => textColumn(columns, id) };
}

function byScope(levels: number): Grouping["keys"] {
  return (columns) => {
    const scope = textColumn(columns, "tf_op_name");
    if (!scope) return undefined;
    const scopes = encodeTexts(
      "scope",
      "Scope",
      scope.strings.map((name) => nameScope(name, levels)),
    );
    return { ...scopes, codes: scope.codes.map((code) => (code < 0 ? -1 : scopes.codes[code])) };
  };
}

function textColumn(columns: readonly TableColumn[], id: string): TextColumn | undefined {
  const data = columns.find((column) => column.id === id)?.data;
  return data?.kind === "text" ? data : undefined;
}
