/** The layout of instructions in layers; expanded computations have frames of their own. */
import { layLayers } from "../../../widgets/graph/layered";
import type { GraphBox, NodeBox, PlacedGraph } from "../../../widgets/graph/shapes";
import type { GraphEdge, ProgramGraph } from "../payload";

interface ClusterBox extends GraphBox {
  /** Index of the cluster. */
  readonly cluster: number;
}

interface DrawnEdge {
  readonly path: string;
  readonly edge: GraphEdge;
}

/** Nodes are identified by their ids, and ordered from top to bottom. */
export interface ProgramLayout extends PlacedGraph {
  /** Outer clusters first, without the outermost, which has no frame. */
  readonly clusters: readonly ClusterBox[];
  readonly edges: readonly DrawnEdge[];
}

/** CSS pixels at a scale of 1. */
export const NODE = { width: 196, height: 78 };
const MARGIN = 12;
const INSET = { side: 12, top: 28, bottom: 12 };

interface Point {
  readonly x: number;
  readonly y: number;
}

/** A node, or a cluster with its content, at a position within its parent. */
interface Item {
  x: number;
  y: number;
  width: number;
  height: number;
}

export function layProgram(graph: ProgramGraph): ProgramLayout {
  const { nodes, clusters, edges } = graph;
  const clusterOf = new Map(nodes.map(({ id, cluster }) => [id, cluster]));
  const nodeItems = new Map<number, Item>();
  const clusterItems: Item[] = clusters.map(() => ({ x: 0, y: 0, width: 0, height: 0 }));
  const bends = new Map<GraphEdge, { cluster: number; points: readonly Point[] }>();
  /** From the outermost. */
  const pathOf = (cluster: number): number[] => {
    const path: number[] = [];
    for (let at = cluster; at >= 0; at = clusters[at].parent) path.unshift(at);
    return path;
  };
  const paths = clusters.map((_, at) => pathOf(at));
  const homes = edges.map(({ from, to }) =>
    commonOf(paths[clusterOf.get(from)!], paths[clusterOf.get(to)!]),
  );
  // Inner clusters come after those that contain them.
  for (let at = clusters.length - 1; at >= 0; at--) {
    const inner = clusters.flatMap(({ parent }, other) => (parent === at ? [other] : []));
    const own = nodes.filter(({ cluster }) => cluster === at);
    const items: Item[] = [
      ...own.map(({ id }) => {
        const item = { x: 0, y: 0, ...NODE };
        nodeItems.set(id, item);
        return item;
      }),
      ...inner.map((other) => clusterItems[other]),
    ];
    const place = new Map(own.map(({ id }, index) => [id, index]));
    const itemOf = (id: number) => {
      const path = paths[clusterOf.get(id)!];
      const child = path[path.indexOf(at) + 1];
      return child === undefined ? place.get(id)! : own.length + inner.indexOf(child);
    };
    const here = edges.filter((_, index) => homes[index] === at);
    const laid = layLayers(
      items,
      here.map(({ from, to }) => ({ from: itemOf(from), to: itemOf(to) })),
    );
    const inset = at === 0 ? { side: MARGIN, top: MARGIN, bottom: MARGIN } : INSET;
    items.forEach((item, index) => {
      item.x = laid.x[index] + inset.side;
      item.y = laid.y[index] + inset.top;
    });
    here.forEach((edge, index) => {
      const points = laid.bends[index].map(({ x, y }) => ({
        x: x + inset.side,
        y: y + inset.top,
      }));
      bends.set(edge, { cluster: at, points });
    });
    clusterItems[at].width = laid.width + 2 * inset.side;
    clusterItems[at].height = laid.height + inset.top + inset.bottom;
  }
  const origin = clusters.map(() => ({ x: 0, y: 0 }));
  clusters.forEach(({ parent }, at) => {
    if (parent >= 0)
      origin[at] = {
        x: origin[parent].x + clusterItems[at].x,
        y: origin[parent].y + clusterItems[at].y,
      };
  });
  const boxOf = (id: number): GraphBox => {
    const { x, y, width, height } = nodeItems.get(id)!;
    const from = origin[clusterOf.get(id)!];
    return { x: round(x + from.x), y: round(y + from.y), width, height };
  };
  const boxes = new Map(nodes.map(({ id }) => [id, boxOf(id)]));
  const ports = portsOf(edges);
  return {
    width: clusterItems[0]?.width ?? 0,
    height: clusterItems[0]?.height ?? 0,
    nodes: nodes
      .map(({ id }): NodeBox => ({ node: id, ...boxes.get(id)! }))
      .sort((a, b) => a.y - b.y || a.x - b.x),
    clusters: clusters.flatMap(({ parent }, cluster) => {
      const { width, height } = clusterItems[cluster];
      return parent < 0 ? [] : [{ cluster, ...origin[cluster], width, height }];
    }),
    edges: edges.map((edge) => {
      const { cluster, points } = bends.get(edge)!;
      const [from, to] = [boxes.get(edge.from)!, boxes.get(edge.to)!];
      const { x, y } = origin[cluster];
      return {
        edge,
        path: pathThrough([
          { x: from.x + from.width / 2, y: from.y + from.height },
          ...points.map((point) => ({ x: point.x + x, y: point.y + y })),
          { x: to.x + to.width * ports.get(edge)!, y: to.y },
        ]),
      };
    }),
  };
}

/** The innermost cluster that contains both. */
function commonOf(one: readonly number[], other: readonly number[]): number {
  let at = 0;
  while (at + 1 < one.length && one[at + 1] === other[at + 1]) at++;
  return one[at];
}

/** The position, 0–1, at which each edge enters its node: operands from left to right. */
function portsOf(edges: readonly GraphEdge[]): Map<GraphEdge, number> {
  const ends = new Map<number, GraphEdge[]>();
  for (const edge of edges) ends.set(edge.to, [...(ends.get(edge.to) ?? []), edge]);
  const ports = new Map<GraphEdge, number>();
  for (const list of ends.values()) {
    list.sort((a, b) => a.operand - b.operand);
    list.forEach((edge, index) => {
      ports.set(edge, (index + 1) / (list.length + 1));
    });
  }
  return ports;
}

/** A curve through points, vertical in each of them. */
function pathThrough(points: readonly Point[]): string {
  const [first, ...rest] = points.map(({ x, y }) => ({ x: round(x), y: round(y) }));
  let last = first;
  let path = `M ${first.x} ${first.y}`;
  for (const point of rest) {
    const bend = round((point.y - last.y) / 2);
    path += ` C ${last.x} ${round(last.y + bend)} ${point.x} ${round(point.y - bend)} ${point.x} ${point.y}`;
    last = point;
  }
  return path;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
