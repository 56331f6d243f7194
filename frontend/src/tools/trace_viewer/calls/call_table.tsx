/** The tree of calls as a table. */
import { useSignal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import {
  columnScale,
  formatCount,
  formatRatio,
  NOT_MEASURED,
  type Scale,
} from "../../../base/format";
import { foldNames, readableName } from "../../../base/names";
import { ratio } from "../../../base/units";
import { LevelName } from "../../../widgets/row_list/level_name";
import { type RowColumn, RowList, type RowSort } from "../../../widgets/row_list/row_list";
import { type CallTree, callName } from "../call_tree/call_tree";
import { type CallSearch, MATCHES } from "../call_tree/search_calls";
import { type CallRows, type CallSort, callRows } from "./call_rows";

interface CallTableProps {
  readonly tree: CallTree;
  readonly search: CallSearch | null;
  /** -1 for none. */
  readonly selected: number;
  readonly select: (node: number) => void;
}

const PS_PER_US = 1e6;

export function CallTable({ tree, search, selected, select }: CallTableProps) {
  const turned = useSignal<ReadonlySet<string>>(new Set());
  const sort = useSignal<RowSort | null>(null);
  const weight = tree.order === "top_down" ? "total" : "self";
  const by = sort.value ?? { id: weight, isDescending: true };
  const rows = useMemo(
    () =>
      callRows(tree, {
        turned: turned.value,
        search,
        sort: by.id as CallSort,
        isDescending: by.isDescending,
      }),
    [tree, search, turned.value, by.id, by.isDescending],
  );
  const turn = (row: number) => {
    const next = new Set(turned.peek());
    if (!next.delete(rows.keys[row])) next.add(rows.keys[row]);
    turned.value = next;
  };
  const columns = useMemo(() => callColumns(tree, rows, search, turn), [tree, rows, search]);
  const isOpen = (row: number) =>
    tree.childFirst[rows.nodes[row] + 1] > tree.childFirst[rows.nodes[row]]
      ? rows.isOpen[row] === 1
      : null;
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
      levels={{ level: (row) => tree.depth[rows.nodes[row]], isOpen, turn }}
      empty={search ? "No call has this name." : "There is no event in this range."}
      of={`${tree.order} ${search === null}`}
    />
  );
}

function callColumns(
  tree: CallTree,
  rows: CallRows,
  search: CallSearch | null,
  turn: (row: number) => void,
): RowColumn[] {
  const { nodes } = rows;
  // Names that fold to the same text are told apart.
  const folded = foldNames(tree.names.map(({ text }) => readableName(text)));
  // The same unit, so that they can be compared.
  const scale = timeScale(tree.totalPs);
  return [
    {
      id: "name",
      title: "Name",
      isSortable: true,
      cell: (row) => {
        const node = nodes[row];
        const name = callName(tree, node);
        const hasChildren = tree.childFirst[node + 1] > tree.childFirst[node];
        return (
          <LevelName
            name={name}
            text={folded[tree.name[node]] || name}
            depth={tree.depth[node]}
            isFound={search !== null && (search.marks[node] & MATCHES) !== 0}
            isOpen={hasChildren ? rows.isOpen[row] === 1 : null}
            turn={() => turn(row)}
          />
        );
      },
    },
    timeColumn("total", "Total", (row) => tree.totalPs[nodes[row]], scale),
    {
      id: "share",
      title: tree.order === "top_down" ? "Share of total" : "Share of self",
      width: 108,
      isNumber: true,
      cell: (row) => {
        const share = tree.totalPs[0] > 0 ? tree.weightPs[nodes[row]] / tree.totalPs[0] : 0;
        return (
          <>
            <span class="share-bar" style={{ width: `${Math.min(share, 1) * 100}%` }} />
            <span class="bar-text">{formatRatio(ratio(share))}</span>
          </>
        );
      },
    },
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
    cell: (row) => {
      const value = ps(row);
      if (value >= 0) return scale.format(value / PS_PER_US);
      return <span title="Not known: calls may be nested in each other">{NOT_MEASURED}</span>;
    },
  };
}

/** Of all nodes but the root, whose time is in no row. */
function timeScale(ps: Float64Array): Scale {
  const values = ps.subarray(1).map((value) => Math.max(value, 0) / PS_PER_US || 0);
  return columnScale(
    "time",
    values.reduce((most, value) => Math.max(most, value), 0),
    "",
    values,
  );
}
