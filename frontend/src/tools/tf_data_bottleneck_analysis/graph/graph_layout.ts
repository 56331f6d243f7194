/** Where iterators are drawn: sources at the left, what the program calls at the right. */
import { Graph, layout } from "@dagrejs/dagre";
import type { GraphTree, Shown } from "./graph_tree";

export interface GraphBox {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

interface NodeBox extends GraphBox {
  readonly node: number;
}

interface StubBox extends GraphBox {
  /** Place in `Shown.stubs`. */
  readonly stub: number;
}

interface Edge {
  /** From who makes an element to who asks for it: "M 0 0 Q …". */
  readonly path: string;
  readonly isCritical: boolean;
  /** One of many that end at the same node. */
  readonly isOfMany: boolean;
}

export interface GraphLayout {
  readonly width: number;
  readonly height: number;
  /** From the left to the right. */
  readonly nodes: readonly NodeBox[];
  readonly stubs: readonly StubBox[];
  readonly edges: readonly Edge[];
}

/** CSS pixels at a scale of 1. */
export const NODE = { width: 172, height: 142 };
export const STUB = { width: NODE.width, height: 44 };
const GAPS = { ranksep: 34, nodesep: 16, marginx: 12, marginy: 12 };
/** Beyond, the best ranks take seconds; in trees the quick ones are as good. */
const CAREFUL = 120;
/** Edges beyond this would be a stripe. */
const MANY = 16;

export function layGraph(tree: GraphTree, shown: Shown): GraphLayout {
  const isLarge = shown.nodes.length + shown.stubs.length > CAREFUL;
  const graph = new Graph()
    .setGraph({ rankdir: "LR", ranker: isLarge ? "longest-path" : "network-simplex", ...GAPS })
    .setDefaultEdgeLabel(() => ({}));
  const drawn = new Set(shown.nodes);
  // Columns keep this order: the longest at the top.
  for (const at of fromTheRoots(tree, drawn)) graph.setNode(String(at), { ...NODE });
  for (const [at] of shown.stubs.entries()) graph.setNode(`stub ${at}`, { ...STUB });
  for (const at of shown.nodes) {
    const { parent, kind } = tree.nodes[at];
    if (drawn.has(parent))
      graph.setEdge(String(at), String(parent), { weight: kind === "other" ? 1 : 4 });
  }
  shown.stubs.forEach(({ parent }, at) => {
    graph.setEdge(`stub ${at}`, String(parent), { weight: 1 });
  });
  layout(graph);
  const boxOf = (name: string): GraphBox => {
    const { x, y, width, height } = graph.node(name) as GraphBox;
    return { x: x - width / 2, y: y - height / 2, width, height };
  };
  const { width = 0, height = 0 } = graph.graph() as Partial<GraphBox>;
  return {
    width: Number.isFinite(width) ? width : 0,
    height: Number.isFinite(height) ? height : 0,
    nodes: shown.nodes
      .map((node) => ({ node, ...boxOf(String(node)) }))
      .sort((a, b) => a.x - b.x || a.y - b.y),
    stubs: shown.stubs.map((_, stub) => ({ stub, ...boxOf(`stub ${stub}`) })),
    edges: graph.edges().map(({ v, w }) => {
      const kinds = [v, w].map((name) => tree.nodes[Number(name)]?.kind ?? "other");
      return {
        path: pathBetween(boxOf(v), boxOf(w)),
        isCritical: !kinds.includes("other"),
        isOfMany: (graph.inEdges(w)?.length ?? 0) > MANY,
      };
    }),
  };
}

/** [drawn] each node before those that it asks, and these with all below them one by one. */
function fromTheRoots({ nodes, children }: GraphTree, drawn: ReadonlySet<number>): number[] {
  const order: number[] = [];
  const waiting = [...drawn].filter((at) => !drawn.has(nodes[at].parent)).reverse();
  while (waiting.length > 0) {
    const at = waiting.pop()!;
    order.push(at);
    waiting.push(...children[at].filter((child) => drawn.has(child)).reverse());
  }
  return order;
}

/** A curve from the middle of the right side to the middle of the left one. */
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
