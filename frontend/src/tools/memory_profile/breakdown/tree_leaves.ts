/** The tiles of the treemap: rows or groups of the table, the largest first. */
import { formatCount } from "../../../base/format";
import type { TableColumn } from "../../../widgets/table/columns";
import type { TableModel } from "../../../widgets/table/model";

export interface Leaf {
  readonly key: string;
  readonly label: string;
  /** Bytes. */
  readonly size: number;
  /** The label in the table; "" if there are several. */
  readonly age: string;
  /** The table filter that selects it; null for the tile of all smaller ones. */
  readonly filter: { readonly id: string; readonly text: string } | null;
}

/** The maximum number of tiles; the rest is one tile. */
const MOST = 200;

export function leavesOf({ shown, matched, groups, grouping }: TableModel): {
  readonly leaves: readonly Leaf[];
  readonly total: number;
} {
  const rows = groups ? [...groups.members.keys()] : Array.from(matched);
  const sizes = column(shown, "allocated_bytes");
  const size = (row: number) => (sizes?.data.kind === "number" ? sizes.data.values[row] || 0 : 0);
  const by = grouping?.id ?? "op";
  const sorted = rows.filter((row) => size(row) > 0).sort((a, b) => size(b) - size(a));
  const name = (row: number) => textOf(shown, groups ? "op" : by, row);
  const leaves = sorted.slice(0, MOST).map((row): Leaf => {
    const label = name(row);
    return {
      key: String(row),
      label: label || "op not recorded",
      size: size(row),
      age: textOf(shown, "age", row),
      filter: label && label !== "(none)" ? { id: by, text: `=${label}` } : null,
    };
  });
  const rest = sorted.slice(MOST);
  if (rest.length > 0)
    leaves.push({
      key: "rest",
      label: `${formatCount(rest.length)} smaller`,
      size: rest.reduce((sum, row) => sum + size(row), 0),
      age: "",
      filter: null,
    });
  return { leaves, total: sorted.reduce((sum, row) => sum + size(row), 0) };
}

function textOf(columns: readonly TableColumn[], id: string, row: number): string {
  const data = column(columns, id)?.data;
  return data?.kind === "text" && data.codes[row] >= 0 ? data.strings[data.codes[row]] : "";
}

function column(columns: readonly TableColumn[], id: string): TableColumn | undefined {
  return columns.find((candidate) => candidate.id === id);
}
