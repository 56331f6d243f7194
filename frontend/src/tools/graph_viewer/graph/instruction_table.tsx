/** The instructions of the graph as a table. */
import type { Cell } from "../../../base/csv";
import { saveCsv } from "../../../base/save";
import {
  type NodeColumn,
  NodeTable,
  nodeNumber,
  nodeText,
} from "../../../widgets/graph/node_table";
import type { InstructionNode } from "../payload";

interface InstructionTableProps {
  readonly nodes: readonly InstructionNode[];
  readonly toTimeline: (node: InstructionNode) => void;
}

const WIDTH = 110;
const HIGHEST = 620;

const COLUMNS: readonly NodeColumn<InstructionNode>[] = [
  nodeText("name", "Instruction", 240, ({ name }) => name, { isSticky: true }),
  nodeText("opcode", "Opcode", 120, ({ opcode }) => opcode),
  nodeText("shape", "Shape", 220, ({ shape }) => shape),
  nodeNumber("hops", "Hops", "count", WIDTH, ({ hops }) => hops),
  nodeNumber("self", "Self time", "time", WIDTH, ({ self }) => self, { hasBar: true }),
  nodeNumber("total", "Total time", "time", WIDTH, ({ total }) => total),
  nodeNumber("occurrences", "Executions", "count", WIDTH, ({ occurrences }) => occurrences),
  nodeNumber("flops", "FLOPs", "count", WIDTH, ({ flops }) => flops),
  nodeNumber("bytes", "Bytes", "bytes", WIDTH, ({ bytes }) => bytes),
  nodeText("opName", "Op name", 260, ({ opName }) => opName, { isName: true }),
  nodeText("source", "Source", 220, ({ source }) => source),
];

export function InstructionTable({ nodes, toTimeline }: InstructionTableProps) {
  return (
    <NodeTable
      label="Instructions of the graph"
      nodes={nodes}
      columns={COLUMNS}
      rankBy="self"
      noun="instruction"
      most={HIGHEST}
      toTimeline={(row) => toTimeline(nodes[row])}
    />
  );
}

export function saveNodes(fileName: string, nodes: readonly InstructionNode[]): void {
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
  saveCsv(fileName, lines());
}
