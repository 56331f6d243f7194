/** A tree of calls as columns: what the server answers, with the children of each node. */
import {
  arrangeTree,
  childrenOf,
  pathTo,
  type WeightedTree,
} from "../../../widgets/icicle/weighted_tree";

/** Where the rows of a tree begin, or, bottom up, which name they are traced back from. */
export type CallOrder = "top_down" | "bottom_up";

export interface CallName {
  readonly text: string;
  readonly category: string;
  /** Whether it is a track instead of events. */
  readonly isTrack: boolean;
}

/** Nodes [n], each before its children, the root first. */
export interface CallColumns {
  readonly names: readonly CallName[];
  /** -1 for the root. */
  readonly parent: Int32Array;
  /** Rows of `names`; -1 for the root, and for calls that are not listed by themselves. */
  readonly name: Int32Array;
  readonly count: Float64Array;
  /** NaN where it is not known. */
  readonly totalPs: Float64Array;
  readonly selfPs: Float64Array;
  /** Ids of events, -1 where they are not known. */
  readonly longest: Float64Array;
  readonly longestPs: Float64Array;
  /** Places among the hosts of the page, of the longest calls. */
  readonly host: Int32Array;
}

/** A node is drawn wide by its time top down, by its self time bottom up. */
export interface CallTree extends CallColumns, WeightedTree {
  readonly parent: Int32Array;
  readonly order: CallOrder;
  /** Time of events that is left out since an earlier event of the track has it. */
  readonly overlapPs: number;
}

/** Children are the largest first, the unlisted last. */
export function makeCallTree(columns: CallColumns, order: CallOrder, overlapPs: number): CallTree {
  const { parent, name } = columns;
  const weightPs = order === "top_down" ? columns.totalPs : columns.selfPs;
  const unlistedLast = (a: number, b: number) => Number(name[a] < 0) - Number(name[b] < 0);
  return { ...columns, ...arrangeTree(parent, weightPs, unlistedLast), order, overlapPs };
}

/** What a node is called in tables, texts and search. */
export function callName(tree: CallTree, node: number): string {
  if (node === 0) return "All calls";
  const name = tree.name[node];
  return name < 0 ? "Other calls" : tree.names[name].text || "(no name)";
}

/** Stands for a node, also in another tree that has the same names around it. */
export function pathKey(tree: CallTree, node: number): string {
  return pathTo(tree, node)
    .slice(1)
    .map((at) => keyPart(tree, at))
    .join("\n");
}

/** What tells a node from its siblings. */
export function keyPart({ name, names }: CallColumns, node: number): string {
  if (name[node] < 0) return "";
  const { text, category } = names[name[node]];
  return `${category}\t${text}`;
}

/** The node with such a key, -1 where the tree has none. */
export function findPath(tree: CallTree, key: string): number {
  if (key === "") return 0;
  let at = 0;
  for (const part of key.split("\n")) {
    const next = childrenOf(tree, at).find((node) => keyPart(tree, node) === part);
    if (next === undefined) return -1;
    at = next;
  }
  return at;
}
