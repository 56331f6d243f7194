/** The tree of ops as a table, most wasted time first. */
import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import { formatCount } from "../../../base/format";
import { cut, readableName } from "../../../base/names";
import { type RowColumn, RowList } from "../../../widgets/row_list/row_list";
import {
  nameColumn,
  shareColumn,
  type TreeOfRows,
  timeCell,
  timeScale,
  treeLevels,
} from "../../../widgets/row_list/tree_columns";
import type { Select } from "../../tool";
import { formatShare } from "./node_facts";
import type { OpTree } from "./op_tree";
import { nodeKey, type OpSort, treeRows } from "./tree_rows";

interface TreeTableProps {
  readonly tree: OpTree;
  /** -1 for none. */
  readonly selected: number;
  readonly choose: (node: number) => void;
  /** "wasted", or "-name" for the opposite of its usual direction. */
  readonly sort: string;
  readonly select: Select;
}

const SORTS: readonly OpSort[] = ["name", "time", "wasted", "flops", "hbm", "occurrences"];
/** Names and texts in traces may be long. */
const MOST_NAME = 300;

export function TreeTable({ tree, selected, choose, sort, select }: TreeTableProps) {
  const turned = useSignal<ReadonlySet<string>>(new Set());
  const named = SORTS.find((column) => column === sort.replace(/^-/, ""));
  // Without known peaks, wasted time is unknown.
  const id = named ?? (tree.wastedPs[0] >= 0 ? "wasted" : "time");
  const isDescending = (id === "name") === sort.startsWith("-");
  const rows = useMemo(() => {
    const { depth, childFirst } = tree;
    return {
      ...treeRows(tree, { turned: turned.value, sort: id, isDescending }),
      depth,
      childFirst,
    };
  }, [tree, turned.value, id, isDescending]);
  const turn = (row: number) => {
    const key = nodeKey(tree, rows.nodes[row]);
    const next = new Set(turned.peek());
    if (!next.delete(key)) next.add(key);
    turned.value = next;
  };
  const columns = useMemo(() => treeColumns(tree, rows, turn), [tree, rows]);
  return (
    <RowList
      label="Ops"
      columns={columns}
      length={rows.nodes.length}
      sort={{ id, isDescending }}
      onSort={(next) => {
        const turns = next === id && !sort.startsWith("-");
        select({ sort: `${turns ? "-" : ""}${next}` });
      }}
      selected={rows.nodes.indexOf(selected)}
      choose={(row) => choose(rows.nodes[row])}
      levels={treeLevels(rows, turn)}
      empty="Nothing ran."
      of={tree.label.length}
    />
  );
}

function treeColumns(tree: OpTree, rows: TreeOfRows, turn: (row: number) => void): RowColumn[] {
  const scale = timeScale(tree.weightPs);
  const time = (ps: number) => timeCell(ps, scale, "Unknown: see the details of the op");
  const of = (
    id: OpSort,
    title: string,
    width: number,
    cell: (node: number) => ComponentChildren,
  ): RowColumn => ({
    id,
    title,
    width,
    isNumber: true,
    isSortable: true,
    cell: (row) => cell(rows.nodes[row]),
  });
  const nameOf = (node: number) => {
    const name = tree.label[node];
    const text = tree.kind[node] === "kernel" ? readableName(name) : name;
    return { name, text: cut(text, MOST_NAME) };
  };
  const isKnown = (values: Float64Array) => values.some((value) => !Number.isNaN(value));
  // Without peaks, as for CPUs, these columns would contain only dashes.
  const shown = (values: Float64Array, column: RowColumn) => (isKnown(values) ? [column] : []);
  return [
    nameColumn(rows, nameOf, turn),
    of("time", `Time (${scale.unit})`, 96, (node) => time(tree.weightPs[node])),
    shareColumn(rows, tree.weightPs, tree.weightPs[0], "Share", 84),
    ...shown(
      tree.wastedPs,
      of("wasted", `Wasted (${scale.unit})`, 116, (node) => time(tree.wastedPs[node])),
    ),
    ...shown(
      tree.flopShare,
      of("flops", "FLOPs / peak", 108, (node) => formatShare(tree.flopShare[node])),
    ),
    ...shown(
      tree.hbmShare,
      of("hbm", "HBM / peak", 100, (node) => formatShare(tree.hbmShare[node])),
    ),
    of("occurrences", "Executions", 96, (node) =>
      tree.occurrences[node] > 0 ? formatCount(tree.occurrences[node]) : "",
    ),
  ];
}
