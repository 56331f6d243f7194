/** The tree behind an icicle chart, as columns: nodes with weights. */

/** [n] nodes, parents before their children, the root first. */
export interface WeightedTree {
  /** -1 for the root. */
  readonly parent: Int32Array;
  /** The weight, to which the width is proportional. */
  readonly weightPs: Float64Array;
  readonly depth: Int32Array;
  readonly deepest: number;
  /** The ordered children of node i start at `child[childFirst[i]]`. */
  readonly childFirst: Int32Array;
  readonly child: Int32Array;
}

type NodeOrder = (a: number, b: number) => number;

/** The tree with these parents; children are ordered by `compare`, then by descending weight. */
export function arrangeTree(
  parent: Int32Array,
  weightPs: Float64Array,
  compare: NodeOrder = () => 0,
): WeightedTree {
  const length = parent.length;
  const depth = new Int32Array(length);
  const childFirst = new Int32Array(length + 1);
  let deepest = 0;
  for (let at = 1; at < length; at++) {
    depth[at] = depth[parent[at]] + 1;
    deepest = Math.max(deepest, depth[at]);
    childFirst[parent[at] + 1]++;
  }
  for (let at = 0; at < length; at++) childFirst[at + 1] += childFirst[at];
  const child = Int32Array.from({ length: Math.max(length - 1, 0) }, (_, index) => index + 1);
  child.sort(
    (a, b) => parent[a] - parent[b] || compare(a, b) || weightPs[b] - weightPs[a] || a - b,
  );
  return { parent, weightPs, depth, deepest, childFirst, child };
}

/** The ordered children of a node. */
export function childrenOf({ child, childFirst }: WeightedTree, node: number): Int32Array {
  return child.subarray(childFirst[node], childFirst[node + 1]);
}

/** The path from the root to a node. */
export function pathTo({ parent }: WeightedTree, node: number): number[] {
  const path = [];
  for (let at = node; at >= 0; at = parent[at]) path.push(at);
  return path.reverse();
}
