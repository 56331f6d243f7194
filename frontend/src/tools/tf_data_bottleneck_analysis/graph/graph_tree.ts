/** The tree of iterators of one execution, and the choice of those that are drawn. */
import type { CallGraph, IteratorNode } from "../payload";

export type GraphTree = Readonly<ReturnType<typeof makeTree>>;

/** The hidden iterators below a node, represented by one stub. */
export interface Stub {
  readonly parent: number;
  readonly count: number;
  /** The sum of their self times in µs. */
  readonly self: number;
}

export interface ShownNodes {
  /** Indices, callers first. */
  readonly nodes: readonly number[];
  readonly stubs: readonly Stub[];
}

/** The maximum number of nodes that are drawn by default, and in total. */
export const FEW = 120;
export const MOST = 600;
/** The number of nodes that a click on a stub adds. */
export const MORE = 60;
/** The maximum number of children drawn below one node, unless there are only a few more. */
export const BESIDE = 8;
const HARDLY_MORE = 11;

export function makeTree({ nodes }: CallGraph) {
  const children: number[][] = nodes.map(() => []);
  nodes.forEach(({ parent }, index) => {
    if (parent >= 0) children[parent].push(index);
  });
  for (const list of children) list.sort((a, b) => nodes[b].total - nodes[a].total || a - b);
  const duration = nodes.find(({ parent }) => parent < 0)?.total ?? Number.NaN;
  const held = nodes.reduce(
    (sum, node) => sum + (node.kind === "other" ? 0 : heldBy(node) || 0),
    0,
  );
  return {
    nodes,
    /** Per node, the indices of the iterators that it calls, the longest first. */
    children,
    /** The duration of the node without a caller; NaN without nodes. */
    duration,
    /** The time that holds up the execution; may exceed its duration if stages worked ahead. */
    held: Math.max(duration, held),
    /** Index of the bottleneck; -1 if there is none. */
    bottleneck: nodes.findIndex(({ kind }) => kind === "bottleneck"),
  };
}

/** 0–1, or more if threads work in parallel; NaN if unknown. */
export function shareOf(tree: GraphTree, us: number): number {
  return tree.duration > 0 ? us / tree.duration : Number.NaN;
}

/** How long a node held up the execution; its self time if the server does not report it. */
export function heldBy({ held, self }: IteratorNode): IteratorNode["held"] {
  return Number.isNaN(held) ? self : held;
}

/** 0–1 of the time that held up the execution; NaN if unknown. */
export function heldShare(tree: GraphTree, node: IteratorNode): number {
  return tree.held > 0 ? heldBy(node) / tree.held : Number.NaN;
}

/**
 * The nodes to draw: all of them if there are few. Otherwise the bottleneck, the critical path by
 * self time, and then others by time, each with its callers, plus the next children of expanded
 * nodes (one entry of `opened` per click).
 */
export function chooseShown(tree: GraphTree, opened: readonly string[], few = FEW): ShownNodes {
  const { nodes, children } = tree;
  const shown = new Set<number>();
  const beside = new Int32Array(nodes.length);
  const add = (at: number, limit: number, isFew = false) => {
    const missing: number[] = [];
    let ancestor = at;
    for (; ancestor >= 0 && !shown.has(ancestor); ancestor = nodes[ancestor].parent)
      missing.push(ancestor);
    if (shown.size + missing.length > limit) return false;
    if (
      isFew &&
      ancestor >= 0 &&
      children[ancestor].length > HARDLY_MORE &&
      beside[ancestor] >= BESIDE
    )
      return false;
    for (const added of missing) {
      shown.add(added);
      if (nodes[added].parent >= 0) beside[nodes[added].parent] += 1;
    }
    return true;
  };
  // In chains of thousands, the first nodes.
  if (tree.bottleneck >= 0) add(tree.bottleneck, MOST);
  for (const at of byWorth(nodes)) {
    if (shown.size >= few) break;
    add(at, few, true);
  }
  for (const id of opened) openBelow(tree, id, shown, add);
  const drawn = [...shown].sort((a, b) => a - b);
  return { nodes: drawn, stubs: drawn.flatMap((at) => stubOf(tree, at, shown, children)) };
}

function byWorth(nodes: readonly IteratorNode[]): number[] {
  const isCritical = (at: number) => nodes[at].kind !== "other";
  return [...nodes.keys()].sort((a, b) => {
    if (isCritical(a) !== isCritical(b)) return isCritical(a) ? -1 : 1;
    const [left, right] = isCritical(a)
      ? [nodes[a].self, nodes[b].self]
      : [nodes[a].total, nodes[b].total];
    return right - left || a - b;
  });
}

function openBelow(
  { nodes, children }: GraphTree,
  id: string,
  shown: ReadonlySet<number>,
  add: (index: number, limit: number) => boolean,
): void {
  const index = nodes.findIndex((node) => node.id === id);
  // In a chain, descendants count, too.
  let left = MORE;
  const waiting = index < 0 || !shown.has(index) ? [] : [index];
  while (waiting.length > 0 && left > 0) {
    for (const child of children[waiting.shift()!]) {
      if (left <= 0) return;
      if (!shown.has(child)) {
        if (!add(child, MOST)) return;
        left--;
      }
      waiting.push(child);
    }
  }
}

function stubOf(
  tree: GraphTree,
  at: number,
  shown: ReadonlySet<number>,
  children: GraphTree["children"],
): Stub[] {
  const waiting = children[at].filter((child) => !shown.has(child));
  if (waiting.length === 0) return [];
  let [count, self] = [0, 0];
  while (waiting.length > 0) {
    const node = waiting.pop()!;
    count += 1;
    self += tree.nodes[node].self || 0;
    waiting.push(...children[node]);
  }
  return [{ parent: at, count, self }];
}
