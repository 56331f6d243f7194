/** Texts about nodes of a call tree. */
import { formatRatio, plural } from "../../../base/format";
import { ratio } from "../../../base/units";
import { formatPs } from "../model/time";
import { type CallTree, callName } from "./call_tree";

/** "a: total 8.00 ms (57.1 %), self 5.00 ms, 2 calls" */
export function callFacts(tree: CallTree, node: number): string {
  const { totalPs, selfPs, count } = tree;
  const calls = plural(count[node], tree.name[node] < 0 ? "event" : "call");
  const total = Number.isNaN(totalPs[node])
    ? []
    : [`total ${formatPs(totalPs[node])} (${shareOf(tree, totalPs[node])})`];
  const self = `self ${formatPs(selfPs[node])} (${shareOf(tree, selfPs[node])})`;
  return `${callName(tree, node)}: ${[...total, self, calls].join(", ")}`;
}

/** "57.1 %" of the total time of all calls. */
export function shareOf({ totalPs }: CallTree, ps: number): string {
  return formatRatio(ratio(totalPs[0] > 0 ? ps / totalPs[0] : 0));
}
