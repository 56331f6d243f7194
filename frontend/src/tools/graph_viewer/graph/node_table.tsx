/** The instructions of the graph as a table. */
import { useMemo } from "preact/hooks";
import { type DataTable, encodeTexts, numberColumn } from "../../../api/data_table";
import { type Cell, toCsv } from "../../../base/csv";
import { saveFile } from "../../../base/save";
import { LocalTable } from "../../../widgets/grid/local_table";
import type { ColumnSpec } from "../../../widgets/table/columns";
import type { GraphNode } from "../payload";

interface NodeTableProps {
  readonly nodes: readonly GraphNode[];
  readonly toTimeline: (node: GraphNode) => void;
}

const text = (id: string, title: string, width: number): ColumnSpec => ({
  id,
  title,
  width,
  isShown: true,
  group: { how: "same" },
});
const amount = (id: string, title: string, quantity: ColumnSpec["quantity"]): ColumnSpec => ({
  id,
  title,
  quantity,
  width: 110,
  isShown: true,
  group: { how: "none" },
});

const SPECS: readonly ColumnSpec[] = [
  { ...text("name", "Instruction", 240), isSticky: true },
  text("opcode", "Opcode", 120),
  text("shape", "Shape", 220),
  amount("hops", "Hops", "count"),
  { ...amount("self", "Self time", "time"), hasBar: true },
  amount("total", "Total time", "time"),
  amount("occurrences", "Executions", "count"),
  amount("flops", "FLOPs", "count"),
  amount("bytes", "Bytes", "bytes"),
  { ...text("opName", "Op name", 260), isName: true },
  text("source", "Source", 220),
];

/** CSS pixels of the table with its head and foot. */
const LEAST = 240;
const MOST = 620;
const FRAME = 70;
const ROW = 28;

export function NodeTable({ nodes, toTimeline }: NodeTableProps) {
  const table = useMemo(() => nodeTable(nodes), [nodes]);
  return (
    <LocalTable
      label="Instructions of the graph"
      table={table}
      specs={SPECS}
      rankBy="self"
      noun="instruction"
      height={Math.max(LEAST, Math.min(FRAME + nodes.length * ROW, MOST))}
      toTimeline={(row) => toTimeline(nodes[row])}
    />
  );
}

function nodeTable(nodes: readonly GraphNode[]): DataTable {
  const number = (id: string, value: (node: GraphNode) => number) =>
    numberColumn(id, id, Float64Array.from(nodes, value));
  const texts = (id: string, value: (node: GraphNode) => string) =>
    encodeTexts(id, id, nodes.map(value));
  return {
    columns: [
      texts("name", ({ name }) => name),
      texts("opcode", ({ opcode }) => opcode),
      texts("shape", ({ shape }) => shape),
      number("hops", ({ hops }) => hops),
      number("self", ({ self }) => self),
      number("total", ({ total }) => total),
      number("occurrences", ({ occurrences }) => occurrences),
      number("flops", ({ flops }) => flops),
      number("bytes", ({ bytes }) => bytes),
      texts("opName", ({ opName }) => opName),
      texts("source", ({ source }) => source),
    ],
    length: nodes.length,
    properties: {},
    warnings: [],
  };
}

export function saveNodes(fileName: string, nodes: readonly GraphNode[]): void {
  function* lines(): Generator<Cell[]> {
    yield ["Instruction", "Opcode", "Shape", "Hops", "Self time (µs)", "Total time (µs)"].concat([
      "Executions",
      "FLOPs per execution",
      "Bytes per execution",
      "Op name",
      "Source",
    ]);
    for (const node of nodes) {
      const { name, opcode, shape, hops, self, total, occurrences } = node;
      yield [name, opcode, shape, hops, self, total, occurrences, node.flops, node.bytes].concat([
        node.opName,
        node.source,
      ]);
    }
  }
  saveFile(`${fileName}.csv`, new Blob([toCsv(lines())], { type: "text/csv" }));
}
