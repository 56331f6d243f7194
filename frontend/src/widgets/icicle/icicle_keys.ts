/** Arrow key navigation in an icicle chart. */
import type { IcicleLayout } from "./icicle_layout";
import { childrenOf, type WeightedTree } from "./weighted_tree";

/** The parent, the largest child, or a neighbor in the row; null for other keys. */
export function icicleStep(
  tree: WeightedTree,
  layout: IcicleLayout,
  node: number,
  key: string,
): number | null {
  if (key === "Home") return 0;
  if (key === "ArrowUp") return Math.max(tree.parent[node], 0);
  if (key === "ArrowDown") {
    const below = childrenOf(tree, node).find((child) => layout.width[child] > 0);
    return below ?? node;
  }
  const step = key === "ArrowRight" ? 1 : key === "ArrowLeft" ? -1 : 0;
  if (step === 0) return null;
  const { row, rowFirst } = layout;
  const first = rowFirst[tree.depth[node]];
  const last = rowFirst[tree.depth[node] + 1];
  const index = row.subarray(first, last).indexOf(node);
  return index < 0
    ? node
    : (row[Math.max(first, Math.min(first + index + step, last - 1))] ?? node);
}
