/** The tree of ops as a table, most wasted time first. */
import { useSignal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { columnScale, formatCount, formatRatio, NOT_MEASURED } from "../../../base/format";
import { cut, readableName } from "../../../base/names";
import { ratio } from "../../../base/units";
import { LevelName } from "../../../widgets/row_list/level_name";
import { type RowColumn, RowList } from "../../../widgets/row_list/row_list";
import type { Select } from "../../tool";
import { formatShare } from "./node_facts";
import type { OpTree } from "./op_tree";
import { nodeKey, type OpSort, type TreeRows, treeRows } from "./tree_rows";

interface TreeTableProps {
  readonly tree: OpTree;
  /** -1 for none. */
  readonly selected: number;
  readonly choose: (node: number) => void;
  /** "wasted", or "-name" for the opposite of its usual direction. */
  readonly sort: string;
  readonly select: Select;
}

const PS_PER_US = 1e6;
const SORTS: readonly OpSort[] = ["name", "time", "wasted", "flops", "hbm", "occurrences"];
/** Names and texts of the trace may be long. */
const MOST_NAME = 300;

export function TreeTable({ tree, selected, choose, sort, select }: TreeTableProps) {
  const turned = useSignal<ReadonlySet<string>>(new Set());
  const named = SORTS.find((one) => one === sort.replace(/^-/, ""));
  // Where no peak is known, nothing is known to be wasted.
  const id = named ?? (tree.wastedPs[0] >= 0 ? "wasted" : "time");
  const isDescending = (id === "name") === sort.startsWith("-");
  const rows = useMemo(
    () => treeRows(tree, { turned: turned.value, sort: id, isDescending }),
    [tree, turned.value, id, isDescending],
  );
  const turn = (row: number) => {
    const key = nodeKey(tree, rows.nodes[row]);
    const next = new Set(turned.peek());
    if (!next.delete(key)) next.add(key);
    turned.value = next;
  };
  const columns = useMemo(() => treeColumns(tree, rows, turn), [tree, rows]);
  const isOpen = (row: number) => {
    const node = rows.nodes[row];
    return tree.childFirst[node + 1] > tree.childFirst[node] ? rows.isOpen[row] === 1 : null;
  };
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
      levels={{ level: (row) => tree.depth[rows.nodes[row]], isOpen, turn }}
      empty="Nothing ran."
      of={tree.label.length}
    />
  );
}

function treeColumns(tree: OpTree, rows: TreeRows, turn: (row: number) => void): RowColumn[] {
  const { nodes } = rows;
  const micros = [...tree.weightPs.subarray(1)].map((ps) => ps / PS_PER_US);
  const scale = columnScale(
    "time",
    micros.reduce((most, one) => Math.max(most, one), 0),
    "",
    micros,
  );
  const time = (ps: number) =>
    Number.isNaN(ps) ? (
      <span title="Unknown: see the details of the op">{NOT_MEASURED}</span>
    ) : (
      scale.format(ps / PS_PER_US)
    );
  const of = (id: OpSort, title: string, width: number, cell: (node: number) => unknown) => ({
    id,
    title,
    width,
    isNumber: true,
    isSortable: true,
    cell: (row: number) => cell(nodes[row]) as string,
  });
  return [
    {
      id: "name",
      title: "Name",
      isSortable: true,
      cell: (row) => {
        const node = nodes[row];
        const name = tree.label[node];
        const hasChildren = tree.childFirst[node + 1] > tree.childFirst[node];
        const text = tree.kind[node] === "kernel" ? readableName(name) : name;
        return (
          <LevelName
            name={name}
            text={cut(text, MOST_NAME)}
            depth={tree.depth[node]}
            isFound={false}
            isOpen={hasChildren ? rows.isOpen[row] === 1 : null}
            turn={() => turn(row)}
          />
        );
      },
    },
    of("time", `Time (${scale.unit})`, 96, (node) => time(tree.weightPs[node])),
    {
      id: "share",
      title: "Share",
      width: 84,
      isNumber: true,
      cell: (row) => {
        const share = tree.weightPs[0] > 0 ? tree.weightPs[nodes[row]] / tree.weightPs[0] : 0;
        return (
          <>
            <span class="share-bar" style={{ width: `${Math.min(share, 1) * 100}%` }} />
            <span class="bar-text">{formatRatio(ratio(share))}</span>
          </>
        );
      },
    },
    of("wasted", `Wasted (${scale.unit})`, 116, (node) => time(tree.wastedPs[node])),
    of("flops", "FLOPs / peak", 108, (node) => formatShare(tree.flopShare[node])),
    of("hbm", "HBM / peak", 100, (node) => formatShare(tree.hbmShare[node])),
    of("occurrences", "Executions", 96, (node) =>
      tree.occurrences[node] > 0 ? formatCount(tree.occurrences[node]) : "",
    ),
  ];
}
