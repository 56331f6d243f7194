/** Who asks whom for elements in one execution, and which of many iterators are worth drawing. */
import type { CallGraph, GraphNode } from "../payload";

export interface GraphTree {
  readonly nodes: readonly GraphNode[];
  /** Per node the places of those that it asks, the longest first. */
  readonly children: readonly (readonly number[])[];
  /** Of the node without a caller; NaN without nodes. */
  readonly duration: number;
  /** All that held the execution up: more than its duration where some of it was ahead of that. */
  readonly held: number;
  /** Place of the bottleneck, -1 where none is named. */
  readonly bottleneck: number;
}

/** What is not drawn below a node, which stands for it. */
export interface Stub {
  readonly parent: number;
  readonly count: number;
  /** Their self time together, µs. */
  readonly self: number;
}

export interface Shown {
  /** Places, callers first. */
  readonly nodes: readonly number[];
  readonly stubs: readonly Stub[];
}

/** Most that are drawn unasked, and in all. */
export const FEW = 120;
export const MOST = 600;
/** How many more a click on a stub shows. */
export const MORE = 60;
/** Most that are drawn beside each other below one node, unless there are hardly more. */
export const BESIDE = 8;
const HARDLY_MORE = 11;

export function makeTree({ nodes }: CallGraph): GraphTree {
  const children: number[][] = nodes.map(() => []);
  nodes.forEach(({ parent }, at) => {
    if (parent >= 0) children[parent].push(at);
  });
  for (const list of children) list.sort((a, b) => nodes[b].total - nodes[a].total || a - b);
  const duration = nodes.find(({ parent }) => parent < 0)?.total ?? Number.NaN;
  const held = nodes.reduce(
    (sum, node) => sum + (node.kind === "other" ? 0 : heldBy(node) || 0),
    0,
  );
  return {
    nodes,
    children,
    duration,
    held: Math.max(duration, held),
    bottleneck: nodes.findIndex(({ kind }) => kind === "bottleneck"),
  };
}

/** 0–1 and more, for threads that work side by side; NaN where it is not known. */
export function shareOf(tree: GraphTree, us: number): number {
  return tree.duration > 0 ? us / tree.duration : Number.NaN;
}

/** How long a node held the execution up: its self time, where the server does not say. */
export function heldBy({ held, self }: GraphNode): GraphNode["held"] {
  return Number.isNaN(held) ? self : held;
}

/** 0–1 of all that held the execution up; NaN where it is not known. */
export function heldShare(tree: GraphTree, node: GraphNode): number {
  return tree.held > 0 ? heldBy(node) / tree.held : Number.NaN;
}

/**
 * All nodes where there are few. Of many, and of many below one node: the bottleneck, the critical
 * path by self time, then others by their time, each with its callers; and below nodes that were
 * opened their next children (one entry of `opened` per click).
 */
export function chooseShown(tree: GraphTree, opened: readonly string[], few = FEW): Shown {
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
  // Chains of thousands: then the first of them.
  if (tree.bottleneck >= 0) add(tree.bottleneck, MOST);
  for (const at of byWorth(nodes)) {
    if (shown.size >= few) break;
    add(at, few, true);
  }
  for (const id of opened) openBelow(tree, id, shown, add);
  const drawn = [...shown].sort((a, b) => a - b);
  return { nodes: drawn, stubs: drawn.flatMap((at) => stubOf(tree, at, shown, children)) };
}

function byWorth(nodes: readonly GraphNode[]): number[] {
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
  add: (at: number, limit: number) => boolean,
): void {
  const at = nodes.findIndex((node) => node.id === id);
  // A chain has one child after the other: what is below those counts, too.
  let left = MORE;
  const waiting = at < 0 || !shown.has(at) ? [] : [at];
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
