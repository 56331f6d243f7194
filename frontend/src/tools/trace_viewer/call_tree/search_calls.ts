/** Search for nodes by name. */
import { type CallTree, callName } from "./call_tree";

export interface CallSearch {
  /** [n] Bits: MATCHES; LEADS_TO_MATCH if a descendant matches. */
  readonly marks: Uint8Array;
  readonly matches: number;
  /** The total time of the outermost matches; bottom up, their self time. */
  readonly weightPs: number;
}

export const MATCHES = 1;
export const LEADS_TO_MATCH = 2;

/** null without a search. */
export function searchCalls(tree: CallTree, text: string): CallSearch | null {
  const wanted = text.trim().toLowerCase();
  if (wanted === "") return null;
  const { parent, name, names, weightPs } = tree;
  const isMatch = names.map((name) => name.text.toLowerCase().includes(wanted));
  const marks = new Uint8Array(parent.length);
  const isWithin = new Uint8Array(parent.length);
  let matches = 0;
  let total = 0;
  for (let at = 1; at < parent.length; at++) {
    isWithin[at] = isWithin[parent[at]];
    if (!(name[at] < 0 ? callName(tree, at).toLowerCase().includes(wanted) : isMatch[name[at]]))
      continue;
    marks[at] = MATCHES;
    matches++;
    if (isWithin[at] === 0) total += weightPs[at];
    isWithin[at] = 1;
  }
  for (let at = parent.length - 1; at > 0; at--)
    if (marks[at] !== 0) marks[parent[at]] |= LEADS_TO_MATCH;
  return { marks, matches, weightPs: total };
}
