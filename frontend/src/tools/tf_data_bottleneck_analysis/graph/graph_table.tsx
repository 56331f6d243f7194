/** The graph as a table: a row for each iterator, all of them. */
import { useMemo } from "preact/hooks";
import { type DataTable, encodeTexts, numberColumn } from "../../../api/data_table";
import { type Cell, toCsv } from "../../../base/csv";
import { saveFile } from "../../../base/save";
import { LocalTable } from "../../../widgets/grid/local_table";
import type { ColumnSpec } from "../../../widgets/table/columns";
import type { GraphNode, Parameter } from "../payload";
import { type GraphTree, shareOf } from "./graph_tree";

interface GraphTableProps {
  readonly tree: GraphTree;
  readonly toTimeline: (node: number) => void;
}

const PATHS: Readonly<Record<GraphNode["kind"], string>> = {
  bottleneck: "bottleneck",
  critical: "critical",
  other: "no",
};

const text = (id: string, title: string, width: number): ColumnSpec => ({
  id,
  title,
  width,
  isShown: true,
  group: { how: "same" },
});
const time = (id: string, title: string): ColumnSpec => ({
  id,
  title,
  quantity: "time",
  width: 116,
  isShown: true,
  group: { how: "none" },
});

const SPECS: readonly ColumnSpec[] = [
  { ...text("type", "Iterator", 190), isSticky: true },
  text("path", "Critical path", 100),
  // To the microsecond: what begins together differs in little.
  { ...time("start", "Start Time"), quantity: "number", unit: "µs", width: 130 },
  { ...time("total", "Total Duration"), width: 150 },
  { ...time("self", "Self Time"), hasBar: true },
  { ...time("share", "Self share"), quantity: "ratio", width: 110 },
  time("held", "Holds up"),
  time("wait", "Waiting"),
  { ...time("queue", "Waiting for a pool"), width: 150 },
  { ...time("worker", "Worker time"), width: 140 },
  { ...time("calls", "# Calls"), quantity: "count", width: 90 },
  text("parameters", "Parameters", 260),
  { ...text("longName", "Long name", 400), isName: true },
];

/** CSS pixels of the table with its head and foot. */
const LEAST = 240;
const MOST = 520;
const FRAME = 70;
const ROW = 28;

export function GraphTable({ tree, toTimeline }: GraphTableProps) {
  const table = useMemo(() => nodeTable(tree), [tree]);
  return (
    <LocalTable
      label="Iterators of the execution"
      table={table}
      specs={SPECS}
      rankBy="self"
      noun="iterator"
      height={Math.max(LEAST, Math.min(FRAME + tree.nodes.length * ROW, MOST))}
      toTimeline={toTimeline}
    />
  );
}

function nodeTable(tree: GraphTree): DataTable {
  const { nodes } = tree;
  const number = (id: string, value: (node: GraphNode) => number) =>
    numberColumn(id, id, Float64Array.from(nodes, value));
  const texts = (id: string, value: (node: GraphNode) => string) =>
    encodeTexts(id, id, nodes.map(value));
  return {
    columns: [
      texts("type", ({ type }) => type),
      texts("path", ({ kind }) => PATHS[kind]),
      number("start", ({ start }) => start),
      number("total", ({ total }) => total),
      number("self", ({ self }) => self),
      number("share", ({ self }) => shareOf(tree, self)),
      number("held", ({ held }) => held),
      number("wait", ({ wait }) => wait),
      number("queue", ({ queue }) => queue),
      number("worker", ({ worker }) => worker),
      number("calls", ({ calls }) => calls),
      texts("parameters", ({ parameters }) => parametersText(parameters)),
      texts("longName", ({ longName }) => longName),
    ],
    length: nodes.length,
    properties: {},
    warnings: [],
  };
}

export function saveNodes(fileName: string, { nodes }: GraphTree): void {
  function* lines(): Generator<Cell[]> {
    yield [
      "Iterator",
      "Id",
      "Id of the iterator that calls it",
      "Critical path",
      "Start Time (µs)",
    ].concat(
      ["Total Duration (µs)", "Self Time (µs)", "Waiting (µs)", "Worker time (µs)", "# Calls"],
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
  saveFile(`${fileName}.csv`, new Blob([toCsv(lines())], { type: "text/csv" }));
}

function parametersText(parameters: readonly Parameter[]): string {
  return parameters.map(({ name, value }) => `${name}=${value}`).join(", ");
}
