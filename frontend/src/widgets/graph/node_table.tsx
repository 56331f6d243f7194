/** All nodes of a graph as a table, one row per node. */
import { useMemo } from "preact/hooks";
import { type DataTable, encodeTexts, numberColumn, tableOf } from "../../api/data_table";
import { LocalTable } from "../grid/local_table";
import type { ColumnSpec } from "../table/columns";
import { numberSpec, textSpec } from "../table/specs";

/** A column and the value of a node in it: a number if the column has a quantity. */
export interface NodeColumn<N> {
  readonly spec: ColumnSpec;
  readonly value: (node: N) => string | number;
}

export function nodeText<N>(
  id: string,
  title: string,
  width: number,
  value: (node: N) => string,
  more: Partial<ColumnSpec> = {},
): NodeColumn<N> {
  return { spec: { ...textSpec(id, title, width, true), ...more }, value };
}

export function nodeNumber<N>(
  id: string,
  title: string,
  quantity: ColumnSpec["quantity"],
  width: number,
  value: (node: N) => number,
  more: Partial<ColumnSpec> = {},
): NodeColumn<N> {
  return { spec: { ...numberSpec(id, title, quantity, width, "none"), ...more }, value };
}

/** CSS pixels of the table with its head and foot. */
const LEAST = 240;
const FRAME = 70;
const ROW = 28;

interface NodeTableProps<N> {
  readonly label: string;
  readonly nodes: readonly N[];
  readonly columns: readonly NodeColumn<N>[];
  /** The number by which rows are ranked. */
  readonly rankBy: string;
  readonly noun: string;
  /** CSS pixels: how high the table may become. */
  readonly most: number;
  readonly toTimeline: (row: number) => void;
}

export function NodeTable<N>(props: NodeTableProps<N>) {
  const { nodes, columns, most } = props;
  const table = useMemo(() => nodeTable(nodes, columns), [nodes, columns]);
  const specs = useMemo(() => columns.map(({ spec }) => spec), [columns]);
  return (
    <LocalTable
      label={props.label}
      table={table}
      specs={specs}
      rankBy={props.rankBy}
      noun={props.noun}
      height={Math.max(LEAST, Math.min(FRAME + nodes.length * ROW, most))}
      toTimeline={props.toTimeline}
    />
  );
}

function nodeTable<N>(nodes: readonly N[], columns: readonly NodeColumn<N>[]): DataTable {
  return tableOf(
    columns.map(({ spec: { id, quantity }, value }) =>
      quantity === undefined
        ? encodeTexts(id, id, nodes.map(value))
        : numberColumn(
            id,
            id,
            Float64Array.from(nodes, (node) => Number(value(node))),
          ),
    ),
  );
}
