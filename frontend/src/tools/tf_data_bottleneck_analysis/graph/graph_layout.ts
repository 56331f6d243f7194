/** The layout of iterators: sources at the left, the iterator that the program calls at the right. */
import { hierarchy, tree as treeLayout } from "d3-hierarchy";
import type { GraphBox, PlacedGraph } from "../../../widgets/graph/shapes";
import type { GraphTree, ShownNodes } from "./graph_tree";

interface StubBox extends GraphBox {
  /** Index into `ShownNodes.stubs`. */
  readonly stub: number;
}

interface Edge {
  /** The path from the producer of elements to its caller: "M 0 0 Q …". */
  readonly path: string;
  readonly isCritical: boolean;
  /** Whether it is one of many that end at the same node. */
  readonly isOfMany: boolean;
}

/** Its nodes are ordered from left to right. */
export interface GraphLayout extends PlacedGraph {
  readonly stubs: readonly StubBox[];
  readonly edges: readonly Edge[];
}

/** CSS pixels at a scale of 1. */
export const NODE = { width: 172, height: 142 };
export const STUB = { width: NODE.width, height: 44 };
const GAPS = { across: 34, down: 16, margin: 12 };
/** More parallel edges would look like a stripe. */
const MANY = 16;

/** A node, a stub, or the common root of all nodes without a caller. */
interface NodeOrStub {
  readonly node: number;
  readonly stub: number;
}

const NONE: NodeOrStub = { node: -1, stub: -1 };

export function layGraph(tree: GraphTree, shown: ShownNodes): GraphLayout {
  const drawn = new Set(shown.nodes);
  const stubs = new Map(shown.stubs.map(({ parent }, stub) => [parent, { node: -1, stub }]));
  const roots = shown.nodes.filter((index) => !drawn.has(tree.nodes[index].parent));
  const asNode = (node: number): NodeOrStub => ({ node, stub: -1 });
  // Columns keep this order, the longest at the top.
  const below = ({ node, stub }: NodeOrStub): NodeOrStub[] => {
    if (stub >= 0) return [];
    if (node < 0) return roots.map(asNode);
    const rest = stubs.get(node);
    return [
      ...tree.children[node].filter((child) => drawn.has(child)).map(asNode),
      ...(rest ? [rest] : []),
    ];
  };
  const heightOf = ({ stub }: NodeOrStub) => (stub < 0 ? NODE : STUB).height;
  // The tree layout is vertical: its x is our y, and its depths are our columns from the right.
  const laid = treeLayout<NodeOrStub>()
    .nodeSize([1, 1])
    .separation((a, b) => (heightOf(a.data) + heightOf(b.data)) / 2 + GAPS.down)(
      hierarchy(NONE, below),
    )
    .descendants()
    .slice(1);
  if (laid.length === 0) return { width: 0, height: 0, nodes: [], stubs: [], edges: [] };
  const columns = Math.max(...laid.map(({ depth }) => depth));
  const top = Math.min(...laid.map(({ x, data }) => x - heightOf(data) / 2));
  const boxOf = ({ x, depth, data }: (typeof laid)[number]): GraphBox => ({
    x: (columns - depth) * (NODE.width + GAPS.across) + GAPS.margin,
    y: x - heightOf(data) / 2 - top + GAPS.margin,
    width: NODE.width,
    height: heightOf(data),
  });
  const boxes = laid.map((placed) => ({ ...placed.data, ...boxOf(placed) }));
  const kindOf = ({ node }: NodeOrStub) => tree.nodes[node]?.kind ?? "other";
  return {
    width: Math.max(...boxes.map(({ x }) => x)) + NODE.width + GAPS.margin,
    height: Math.max(...boxes.map(({ y, height }) => y + height)) + GAPS.margin,
    nodes: boxes
      .filter(({ node }) => node >= 0)
      .map(({ stub: _, ...box }) => box)
      .sort((a, b) => a.x - b.x || a.y - b.y),
    stubs: boxes
      .filter(({ stub }) => stub >= 0)
      .map(({ node: _, ...box }) => box)
      .sort((a, b) => a.stub - b.stub),
    edges: laid.flatMap((placed) =>
      placed.parent === null || placed.parent.data === NONE
        ? []
        : [
            {
              path: pathBetween(boxOf(placed), boxOf(placed.parent)),
              isCritical: kindOf(placed.data) !== "other" && kindOf(placed.parent.data) !== "other",
              isOfMany: (placed.parent.children?.length ?? 0) > MANY,
            },
          ],
    ),
  };
}

/** A curve from the middle of a right side to the middle of a left side. */
export function pathBetween(from: GraphBox, to: GraphBox): string {
  const [x, y] = [from.x + from.width, from.y + from.height / 2];
  const [right, down] = [to.x, to.y + to.height / 2];
  const bend = (right - x) / 2;
  const points = [x, y, x + bend, y, right - bend, down, right, down].map(round);
  return `M ${points.slice(0, 2).join(" ")} C ${points.slice(2).join(" ")}`;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
