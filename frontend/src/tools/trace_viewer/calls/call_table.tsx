/** The call tree as a table. */
import { useSignal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { formatCount, type Scale } from "../../../base/format";
import { foldNames, readableName } from "../../../base/names";
import { type RowColumn, RowList, type RowSort } from "../../../widgets/row_list/row_list";
import {
  nameColumn,
  shareColumn,
  type TreeOfRows,
  timeCell,
  timeScale,
  treeLevels,
} from "../../../widgets/row_list/tree_columns";
import { type CallTree, callName } from "../call_tree/call_tree";
import { type CallSearch, MATCHES } from "../call_tree/search_calls";
import { type CallSort, callRows } from "./call_rows";

interface CallTableProps {
  readonly tree: CallTree;
  readonly search: CallSearch | null;
  /** -1 for none. */
  readonly selected: number;
  readonly select: (node: number) => void;
}

export function CallTable({ tree, search, selected, select }: CallTableProps) {
  const turned = useSignal<ReadonlySet<string>>(new Set());
  const sort = useSignal<RowSort | null>(null);
  const weight = tree.order === "top_down" ? "total" : "self";
  const by = sort.value ?? { id: weight, isDescending: true };
  const rows = useMemo(() => {
    const { depth, childFirst } = tree;
    const shown = callRows(tree, {
      turned: turned.value,
      search,
      sort: by.id as CallSort,
      isDescending: by.isDescending,
    });
    return { ...shown, depth, childFirst };
  }, [tree, search, turned.value, by.id, by.isDescending]);
  const turn = (row: number) => {
    const next = new Set(turned.peek());
    if (!next.delete(rows.keys[row])) next.add(rows.keys[row]);
    turned.value = next;
  };
  const columns = useMemo(() => callColumns(tree, rows, search, turn), [tree, rows, search]);
  return (
    <RowList
      label={tree.order === "top_down" ? "Calls, top down" : "Calls, bottom up"}
      columns={columns}
      length={rows.nodes.length}
      sort={by}
      onSort={(id) => {
        sort.value =
          by.id === id
            ? { id, isDescending: !by.isDescending }
            : { id, isDescending: id !== "name" };
      }}
      selected={rows.nodes.indexOf(selected)}
      choose={(row) => select(rows.nodes[row])}
      levels={treeLevels(rows, turn)}
      empty={search ? "No call has this name." : "There are no events in this range."}
      of={`${tree.order} ${search === null}`}
    />
  );
}

function callColumns(
  tree: CallTree,
  rows: TreeOfRows,
  search: CallSearch | null,
  turn: (row: number) => void,
): RowColumn[] {
  const { nodes } = rows;
  // Names that fold to the same text are kept distinguishable.
  const folded = foldNames(tree.names.map(({ text }) => readableName(text)));
  const nameOf = (node: number) => {
    const name = callName(tree, node);
    return { name, text: folded[tree.name[node]] || name };
  };
  const isFound = (node: number) => search !== null && (search.marks[node] & MATCHES) !== 0;
  // A common unit, so that they can be compared.
  const scale = timeScale(tree.totalPs);
  const share = tree.order === "top_down" ? "Share of total" : "Share of self";
  return [
    nameColumn(rows, nameOf, turn, isFound),
    timeColumn("total", "Total", (row) => tree.totalPs[nodes[row]], scale),
    shareColumn(rows, tree.weightPs, tree.totalPs[0], share, 108),
    timeColumn("self", "Self", (row) => tree.selfPs[nodes[row]], scale),
    {
      id: "count",
      title: "Calls",
      width: 92,
      isNumber: true,
      isSortable: true,
      cell: (row) => formatCount(tree.count[nodes[row]]),
    },
    timeColumn(
      "longest",
      "Longest",
      (row) => tree.longestPs[nodes[row]],
      timeScale(tree.longestPs),
    ),
  ];
}

function timeColumn(
  id: CallSort,
  title: string,
  ps: (row: number) => number,
  scale: Scale,
): RowColumn {
  return {
    id,
    title: `${title} (${scale.unit})`,
    width: 108,
    isNumber: true,
    isSortable: true,
    cell: (row) => timeCell(ps(row), scale, "Unknown: calls may be nested in each other"),
  };
}
