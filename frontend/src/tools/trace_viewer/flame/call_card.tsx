/** The card of the node under the pointer. */
import { plural } from "../../../base/format";
import { cut, foldName, readableName } from "../../../base/names";
import { shareOf } from "../call_tree/call_facts";
import { type CallTree, callName } from "../call_tree/call_tree";
import { formatPs } from "../model/time";

interface CallCardProps {
  readonly tree: CallTree;
  readonly node: number;
}

export function CallCard({ tree, node }: CallCardProps) {
  const { totalPs, selfPs, count, longestPs, name, names } = tree;
  const category = name[node] < 0 ? "" : names[name[node]].category;
  return (
    <>
      <div class="trace-hover-name">{cut(foldName(readableName(callName(tree, node))), 300)}</div>
      {Number.isNaN(totalPs[node]) ? null : (
        <div>
          <b>{formatPs(totalPs[node])}</b> total, {shareOf(tree, totalPs[node])}
        </div>
      )}
      <div>
        <b>{formatPs(selfPs[node])}</b> self, {shareOf(tree, selfPs[node])}
      </div>
      <div>
        {plural(count[node], name[node] < 0 ? "event" : "call")}
        {longestPs[node] >= 0 ? `, the longest ${formatPs(longestPs[node])}` : ""}
      </div>
      {category === "" ? null : <div class="muted">{category}</div>}
    </>
  );
}
