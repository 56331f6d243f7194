/** The layout of an icicle chart: each node is as wide as its time, below its parent. */
import { childrenOf, pathTo, type WeightedTree } from "./weighted_tree";

export interface IcicleLayout {
  /** Left edge and width as parts of the chart's width; nodes that are not drawn have width 0. */
  readonly left: Float64Array;
  readonly width: Float64Array;
  /** Nodes by depth, from left to right: depth d starts at `row[rowFirst[d]]`. */
  readonly row: Int32Array;
  readonly rowFirst: Int32Array;
}

/** `focus` and its ancestors take the whole width. */
export function layOutIcicle(tree: WeightedTree, focus: number): IcicleLayout {
  const { weightPs, deepest, parent } = tree;
  const left = new Float64Array(parent.length);
  const width = new Float64Array(parent.length);
  const onPath = new Set(pathTo(tree, focus));
  for (const node of onPath) width[node] = 1;
  const row: number[] = [];
  const rowFirst = new Int32Array(deepest + 2);
  let level = [0];
  for (let index = 0; index <= deepest; index++) {
    rowFirst[index] = row.length;
    for (const node of level) row.push(node);
    const next: number[] = [];
    for (const node of level) {
      const isAbove = onPath.has(node) && node !== focus;
      let from = left[node];
      for (const child of childrenOf(tree, node)) {
        if (isAbove) {
          if (onPath.has(child)) next.push(child);
          continue;
        }
        if (!(weightPs[child] > 0) || !(weightPs[node] > 0)) continue;
        left[child] = from;
        width[child] = (width[node] * weightPs[child]) / weightPs[node];
        from += width[child];
        next.push(child);
      }
    }
    level = next;
  }
  rowFirst[deepest + 1] = row.length;
  return { left, width, row: Int32Array.from(row), rowFirst };
}

/** The node at a depth and a horizontal position, 0–1; -1 for none. */
export function nodeAt(layout: IcicleLayout, depth: number, part: number): number {
  const { row, rowFirst, left, width } = layout;
  if (depth < 0 || depth + 1 >= rowFirst.length) return -1;
  let low = rowFirst[depth];
  let high = rowFirst[depth + 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (left[row[middle]] <= part) low = middle + 1;
    else high = middle;
  }
  const node = row[low - 1];
  return low > rowFirst[depth] && part < left[node] + width[node] ? node : -1;
}
