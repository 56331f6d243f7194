/** Columns of lists that show trees: names of nodes, times and shares. */
import { columnScale, formatRatio, NOT_MEASURED, type Scale } from "../../base/format";
import { ratio } from "../../base/units";
import { LevelName } from "./level_name";
import type { RowColumn, RowLevels } from "./row_list";

/** A tree, and the nodes of it that are rows. */
export interface TreeOfRows {
  /** [rows] nodes. */
  readonly nodes: ArrayLike<number>;
  /** [rows] 1 if the children of the node are rows as well. */
  readonly isOpen: ArrayLike<number>;
  /** [nodes] */
  readonly depth: ArrayLike<number>;
  /** [nodes + 1] The index of each node's first child. */
  readonly childFirst: ArrayLike<number>;
}

const PS_PER_US = 1e6;

export function treeLevels(rows: TreeOfRows, turn: (row: number) => void): RowLevels {
  return {
    level: (row) => rows.depth[rows.nodes[row]],
    isOpen: (row) => isRowOpen(rows, row),
    turn,
  };
}

/** Whether a row is expanded; null if it has no children. */
function isRowOpen({ nodes, isOpen, childFirst }: TreeOfRows, row: number): boolean | null {
  return childFirst[nodes[row] + 1] > childFirst[nodes[row]] ? isOpen[row] === 1 : null;
}

export function nameColumn(
  rows: TreeOfRows,
  nameOf: (node: number) => { readonly name: string; readonly text: string },
  turn: (row: number) => void,
  isFound: (node: number) => boolean = () => false,
): RowColumn {
  return {
    id: "name",
    title: "Name",
    isSortable: true,
    cell: (row) => {
      const node = rows.nodes[row];
      return (
        <LevelName
          {...nameOf(node)}
          depth={rows.depth[node]}
          isFound={isFound(node)}
          isOpen={isRowOpen(rows, row)}
          turn={() => turn(row)}
        />
      );
    },
  };
}

/** Times of nodes as shares of the whole. */
export function shareColumn(
  { nodes }: TreeOfRows,
  ps: ArrayLike<number>,
  whole: number,
  title: string,
  width: number,
): RowColumn {
  return {
    id: "share",
    title,
    width,
    isNumber: true,
    cell: (row) => {
      const share = whole > 0 ? ps[nodes[row]] / whole : 0;
      return (
        <>
          <span class="share-bar" style={{ width: `${Math.min(share, 1) * 100}%` }} />
          <span class="bar-text">{formatRatio(ratio(share))}</span>
        </>
      );
    },
  };
}

/** A time, or a dash with the reason if it is unknown: NaN or negative. */
export function timeCell(ps: number, scale: Scale, unknown: string) {
  if (ps >= 0) return scale.format(ps / PS_PER_US);
  return <span title={unknown}>{NOT_MEASURED}</span>;
}

/** The scale of all nodes except the root, which is not a row. */
export function timeScale(ps: Float64Array): Scale {
  const values = ps.subarray(1).map((value) => Math.max(value, 0) / PS_PER_US || 0);
  return columnScale(
    "time",
    values.reduce((most, value) => Math.max(most, value), 0),
    "",
    values,
  );
}
