/** The visible rows of the tree, in order. */
import { childrenOf } from "../../../widgets/icicle/weighted_tree";
import type { OpTree } from "./op_tree";

export type OpSort = "name" | "time" | "wasted" | "flops" | "hbm" | "occurrences";

interface TreeRows {
  readonly nodes: Int32Array;
  readonly isOpen: Uint8Array;
}

interface TreeRowOptions {
  /** Keys of nodes that are expanded or collapsed contrary to the default. */
  readonly turned: ReadonlySet<string>;
  readonly sort: OpSort;
  readonly isDescending: boolean;
}

/** By default, nodes other than ops are expanded if they have this share of the time. */
const OPEN_FROM = 0.2;

export function treeRows(tree: OpTree, { turned, sort, isDescending }: TreeRowOptions): TreeRows {
  const nodes: number[] = [];
  const isOpen: number[] = [];
  const compare = compareBy(tree, sort, isDescending);
  const waiting: number[] = [...childrenOf(tree, 0)].sort(compare).reverse();
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    const hasChildren = tree.childFirst[node + 1] > tree.childFirst[node];
    const shows = hasChildren && isUsuallyOpen(tree, node) !== turned.has(nodeKey(tree, node));
    nodes.push(node);
    isOpen.push(shows ? 1 : 0);
    if (shows) waiting.push(...[...childrenOf(tree, node)].sort(compare).reverse());
  }
  return { nodes: Int32Array.from(nodes), isOpen: Uint8Array.from(isOpen) };
}

function isUsuallyOpen(tree: OpTree, node: number): boolean {
  return tree.kind[node] !== "op" && tree.weightPs[node] >= OPEN_FROM * tree.weightPs[0];
}

/** A key that identifies a node also in the tree of other rows. */
export function nodeKey(tree: OpTree, node: number): string {
  const parts: string[] = [];
  for (let at = node; at > 0; at = tree.parent[at])
    parts.push(`${tree.kind[at]}\t${tree.label[at]}`);
  return parts.join("\n");
}

/** Unknown values come last, ordered by time; so do idle time and nodes that are not loaded. */
function compareBy(
  tree: OpTree,
  sort: OpSort,
  isDescending: boolean,
): (a: number, b: number) => number {
  const byTime = (a: number, b: number) => tree.weightPs[b] - tree.weightPs[a] || a - b;
  const isLast = (node: number) => Number(tree.kind[node] === "idle" || tree.kind[node] === "rest");
  const sign = isDescending ? -1 : 1;
  if (sort === "name")
    return (a, b) =>
      isLast(a) - isLast(b) || sign * tree.label[a].localeCompare(tree.label[b]) || byTime(a, b);
  const values = {
    time: (node: number) => tree.weightPs[node],
    wasted: (node: number) => tree.wastedPs[node],
    flops: (node: number) => tree.flopShare[node],
    hbm: (node: number) => tree.hbmShare[node],
    occurrences: (node: number) => tree.occurrences[node],
  }[sort];
  const key = (node: number) => {
    const value = values(node);
    return Number.isNaN(value) ? Number.POSITIVE_INFINITY : sign * value;
  };
  return (a, b) => isLast(a) - isLast(b) || compareKeys(key(a), key(b)) || byTime(a, b);
}

/** Infinities are equal to each other. */
function compareKeys(a: number, b: number): number {
  return a === b ? 0 : a - b;
}
