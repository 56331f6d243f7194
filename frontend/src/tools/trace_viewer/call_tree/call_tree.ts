/** A call tree as columns: the server's response, with the children of each node. */
import {
  arrangeTree,
  childrenOf,
  pathTo,
  type WeightedTree,
} from "../../../widgets/icicle/weighted_tree";

/** Top down, roots are outermost calls; bottom up, they are names traced back to their callers. */
export type CallOrder = "top_down" | "bottom_up";

export interface CallName {
  readonly text: string;
  readonly category: string;
  /** Whether the name is that of a track. */
  readonly isTrack: boolean;
}

/** [n] nodes, parents before their children, the root first. */
export interface CallColumns {
  readonly names: readonly CallName[];
  /** -1 for the root. */
  readonly parent: Int32Array;
  /** Rows of `names`; -1 for the root, and for calls that are not listed individually. */
  readonly name: Int32Array;
  readonly count: Float64Array;
  /** NaN if unknown. */
  readonly totalPs: Float64Array;
  readonly selfPs: Float64Array;
  /** Ids of events; -1 if unknown. */
  readonly longest: Float64Array;
  readonly longestPs: Float64Array;
  /** Indices of the hosts of the longest calls. */
  readonly host: Int32Array;
}

/** The width of a node: top down its total time, bottom up its self time. */
export interface CallTree extends CallColumns, WeightedTree {
  readonly parent: Int32Array;
  readonly order: CallOrder;
  /** Time of events that is not counted because it overlaps an earlier event of the track. */
  readonly overlapPs: number;
}

/** Children are ordered by descending time; unlisted calls come last. */
export function makeCallTree(columns: CallColumns, order: CallOrder, overlapPs: number): CallTree {
  const { parent, name } = columns;
  const weightPs = order === "top_down" ? columns.totalPs : columns.selfPs;
  const unlistedLast = (a: number, b: number) => Number(name[a] < 0) - Number(name[b] < 0);
  return { ...columns, ...arrangeTree(parent, weightPs, unlistedLast), order, overlapPs };
}

/** The name of a node in tables, texts and search. */
export function callName(tree: CallTree, node: number): string {
  if (node === 0) return "All calls";
  const name = tree.name[node];
  return name < 0 ? "Other calls" : tree.names[name].text || "(no name)";
}

/** A key that identifies a node also in other trees with the same names. */
export function pathKey(tree: CallTree, node: number): string {
  return pathTo(tree, node)
    .slice(1)
    .map((at) => keyPart(tree, at))
    .join("\n");
}

/** The part of the key that distinguishes siblings. */
export function keyPart({ name, names }: CallColumns, node: number): string {
  if (name[node] < 0) return "";
  const { text, category } = names[name[node]];
  return `${category}\t${text}`;
}

/** The node with this key; -1 if the tree has none. */
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
