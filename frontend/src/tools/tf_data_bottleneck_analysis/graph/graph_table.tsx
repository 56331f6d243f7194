/** All iterators of the graph as a table. */
import { useMemo } from "preact/hooks";
import type { Cell } from "../../../base/csv";
import { saveCsv } from "../../../base/save";
import {
  type NodeColumn,
  NodeTable,
  nodeNumber,
  nodeText,
} from "../../../widgets/graph/node_table";
import type { IteratorNode, Parameter } from "../payload";
import { type GraphTree, shareOf } from "./graph_tree";

interface GraphTableProps {
  readonly tree: GraphTree;
  readonly toTimeline: (node: number) => void;
}

const PATHS: Readonly<Record<IteratorNode["kind"], string>> = {
  bottleneck: "bottleneck",
  critical: "critical",
  other: "no",
};
const WIDTH = 116;
const HIGHEST = 520;

export function GraphTable({ tree, toTimeline }: GraphTableProps) {
  const columns = useMemo(() => columnsOf(tree), [tree]);
  return (
    <NodeTable
      label="Iterators of the execution"
      nodes={tree.nodes}
      columns={columns}
      rankBy="self"
      noun="iterator"
      most={HIGHEST}
      toTimeline={toTimeline}
    />
  );
}

function columnsOf(tree: GraphTree): NodeColumn<IteratorNode>[] {
  return [
    nodeText("type", "Iterator", 190, ({ type }) => type, { isSticky: true }),
    nodeText("path", "Critical path", 100, ({ kind }) => PATHS[kind]),
    // To the microsecond, since start times of one execution are close together.
    nodeNumber("start", "Start time", "number", 130, ({ start }) => start, { unit: "µs" }),
    nodeNumber("total", "Total duration", "time", 150, ({ total }) => total),
    nodeNumber("self", "Self time", "time", WIDTH, ({ self }) => self, { hasBar: true }),
    nodeNumber("share", "Self share", "ratio", 110, ({ self }) => shareOf(tree, self)),
    nodeNumber("held", "Holds up", "time", WIDTH, ({ held }) => held),
    nodeNumber("wait", "Waiting", "time", WIDTH, ({ wait }) => wait),
    nodeNumber("queue", "Waiting for a pool", "time", 150, ({ queue }) => queue),
    nodeNumber("worker", "Worker time", "time", 140, ({ worker }) => worker),
    nodeNumber("calls", "Calls", "count", 90, ({ calls }) => calls),
    nodeText("parameters", "Parameters", 260, ({ parameters }) => parametersText(parameters)),
    nodeText("longName", "Long name", 400, ({ longName }) => longName, { isName: true }),
  ];
}

export function saveNodes(fileName: string, { nodes }: GraphTree): void {
  function* lines(): Generator<Cell[]> {
    yield [
      "Iterator",
      "Id",
      "Id of the iterator that calls it",
      "Critical path",
      "Start time (µs)",
    ].concat(
      ["Total duration (µs)", "Self time (µs)", "Waiting (µs)", "Worker time (µs)", "Calls"],
      ["Parameters", "Long name", "Waiting for a pool (µs)", "Holds up (µs)"],
    );
    for (const { type, id, parent, kind, start, total, self, wait, worker, ...rest } of nodes) {
      const asker = parent < 0 ? "" : nodes[parent].id;
      yield [type, id, asker, PATHS[kind], start, total, self, wait, worker, rest.calls].concat(
        [parametersText(rest.parameters), rest.longName],
        [rest.queue, rest.held],
      );
    }
  }
  saveCsv(fileName, lines());
}

function parametersText(parameters: readonly Parameter[]): string {
  return parameters.map(({ name, value }) => `${name}=${value}`).join(", ");
}
