/** What is known of the node under the pointer. */
import { useLayoutEffect, useRef } from "preact/hooks";
import { plural } from "../../../base/format";
import { cut, foldName, readableName } from "../../../base/names";
import { shareOf } from "../call_tree/call_facts";
import { type CallTree, callName } from "../call_tree/call_tree";
import { formatPs } from "../model/time";

interface CallCardProps {
  readonly tree: CallTree;
  readonly node: number;
  /** Of the window. */
  readonly x: number;
  readonly y: number;
}

const BESIDE = 14;

export function CallCard({ tree, node, x, y }: CallCardProps) {
  const card = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const element = card.current;
    if (!element) return;
    const { offsetWidth: width, offsetHeight: height } = element;
    const left = x + BESIDE + width > innerWidth ? x - BESIDE - width : x + BESIDE;
    const top = y + BESIDE + height > innerHeight ? y - BESIDE - height : y + BESIDE;
    element.style.transform = `translate(${Math.max(left, 4)}px, ${Math.max(top, 4)}px)`;
  });
  const { totalPs, selfPs, count, longestPs, name, names } = tree;
  const category = name[node] < 0 ? "" : names[name[node]].category;
  return (
    <div class="trace-hover" ref={card} aria-hidden="true">
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
    </div>
  );
}
