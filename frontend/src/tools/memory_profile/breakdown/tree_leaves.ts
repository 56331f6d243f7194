/** What the tiles of the treemap stand for: rows or groups of the table, the largest first. */
import { formatCount } from "../../../base/format";
import type { TableColumn } from "../../../widgets/table/columns";
import type { TableModel } from "../../../widgets/table/model";

export interface Leaf {
  readonly key: string;
  readonly label: string;
  /** Bytes. */
  readonly size: number;
  /** As the table says it, "" where there are several. */
  readonly age: string;
  /** What the table can be filtered by to keep it; null for several small ones together. */
  readonly filter: { readonly id: string; readonly text: string } | null;
}

/** More cannot be told apart; the rest is one tile. */
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
      label: label || "no op was recorded",
      size: size(row),
      age: textOf(shown, "age", row),
      filter: label && label !== "(none)" ? { id: by, text: `=${label}` } : null,
    };
  });
  const rest = sorted.slice(MOST);
  if (rest.length > 0)
    leaves.push({
      key: "rest",
      label: `${formatCount(rest.length)} smaller ones`,
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
