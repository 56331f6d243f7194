/** A tree of calls as columns: what the server answers, with the children of each node. */

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

export interface CallTree extends CallColumns {
  readonly order: CallOrder;
  /** What a node is drawn wide by: its time top down, its self time bottom up. */
  readonly weightPs: Float64Array;
  readonly depth: Int32Array;
  readonly deepest: number;
  /** Children of node i: `child[childFirst[i]]` and on, the largest first, the unlisted last. */
  readonly childFirst: Int32Array;
  readonly child: Int32Array;
  /** Time of events that is left out since an earlier event of the track has it. */
  readonly overlapPs: number;
}

export function makeCallTree(columns: CallColumns, order: CallOrder, overlapPs: number): CallTree {
  const { parent, name } = columns;
  const length = parent.length;
  const weightPs = order === "top_down" ? columns.totalPs : columns.selfPs;
  const depth = new Int32Array(length);
  const childFirst = new Int32Array(length + 1);
  let deepest = 0;
  for (let at = 1; at < length; at++) {
    depth[at] = depth[parent[at]] + 1;
    deepest = Math.max(deepest, depth[at]);
    childFirst[parent[at] + 1]++;
  }
  for (let at = 0; at < length; at++) childFirst[at + 1] += childFirst[at];
  const child = Int32Array.from({ length: Math.max(length - 1, 0) }, (_, at) => at + 1);
  child.sort(
    (a, b) =>
      parent[a] - parent[b] ||
      Number(name[a] < 0) - Number(name[b] < 0) ||
      weightPs[b] - weightPs[a] ||
      a - b,
  );
  return { ...columns, order, weightPs, depth, deepest, childFirst, child, overlapPs };
}

/** The children of a node in order. */
export function childrenOf({ child, childFirst }: CallTree, node: number): Int32Array {
  return child.subarray(childFirst[node], childFirst[node + 1]);
}

/** What a node is called in tables, texts and search. */
export function callName(tree: CallTree, node: number): string {
  if (node === 0) return "All calls";
  const name = tree.name[node];
  return name < 0 ? "Other calls" : tree.names[name].text || "(no name)";
}

/** The node and those above it, the root first. */
export function pathTo({ parent }: CallTree, node: number): number[] {
  const path = [];
  for (let at = node; at >= 0; at = parent[at]) path.push(at);
  return path.reverse();
}

/** The same for the node of another tree that has the same names around it. */
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
