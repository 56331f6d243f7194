/** Texts about nodes of the tree. */
import { formatCount, formatRatio, formatTime, NOT_MEASURED, plural } from "../../../base/format";
import { microseconds, ratio } from "../../../base/units";
import { type OpTree, usedShare } from "./op_tree";

const PS_PER_US = 1e6;

export function formatPicoseconds(ps: number): string {
  return Number.isNaN(ps) ? NOT_MEASURED : formatTime(microseconds(ps / PS_PER_US));
}

/** "57.1 %" of the total time, including idle time if that is shown. */
export function shareOfAll(tree: OpTree, ps: number): string {
  return formatRatio(ratio(tree.weightPs[0] > 0 ? ps / tree.weightPs[0] : 0));
}

/** A share of a peak, which may exceed it. */
export function formatShare(share: number): string {
  return Number.isNaN(share) ? NOT_MEASURED : formatRatio(ratio(share));
}

/** "loop fusion: 8.00 ms (57.1 %), 3.00 ms wasted, 12 ops" */
export function nodeFacts(tree: OpTree, node: number): string {
  const parts = [
    `${formatPicoseconds(tree.weightPs[node])} (${shareOfAll(tree, tree.weightPs[node])})`,
  ];
  if (tree.wastedPs[node] >= 0) parts.push(`${formatPicoseconds(tree.wastedPs[node])} wasted`);
  const used = usedShare(tree, node);
  if (!Number.isNaN(used)) parts.push(`${formatShare(used)} of a peak`);
  if (tree.kind[node] === "op") parts.push(plural(tree.occurrences[node], "execution"));
  else if (tree.kind[node] === "kernel")
    parts.push(plural(tree.occurrences[node], "launch", "launches"));
  else if (tree.count[node] > 1) parts.push(`${formatCount(tree.count[node])} ops`);
  return `${tree.label[node]}: ${parts.join(", ")}`;
}
