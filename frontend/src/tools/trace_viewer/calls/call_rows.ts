/** The visible rows of a call tree, in order. */
import { childrenOf } from "../../../widgets/icicle/weighted_tree";
import { type CallTree, callName, keyPart } from "../call_tree/call_tree";
import { type CallSearch, LEADS_TO_MATCH, MATCHES } from "../call_tree/search_calls";

export type CallSort = "name" | "total" | "self" | "count" | "longest";

interface CallRows {
  readonly nodes: Int32Array;
  /** The keys of rows, as of `pathKey`. */
  readonly keys: readonly string[];
  readonly isOpen: Uint8Array;
}

interface CallRowOptions {
  /** Keys of nodes that are expanded or collapsed contrary to the default. */
  readonly turned: ReadonlySet<string>;
  readonly search: CallSearch | null;
  readonly sort: CallSort;
  readonly isDescending: boolean;
}

/** Top down, nodes with this share of the time are expanded by default. */
const OPEN_FROM = 0.1;

/** With a search: the matches, their descendants and their ancestors. */
export function callRows(
  tree: CallTree,
  { turned, search, sort, isDescending }: CallRowOptions,
): CallRows {
  const nodes: number[] = [];
  const keys: string[] = [];
  const isOpen: number[] = [];
  const compare = compareBy(tree, sort, isDescending);
  const least = tree.order === "top_down" ? OPEN_FROM * tree.weightPs[0] : Number.POSITIVE_INFINITY;
  const isUsuallyOpen = (node: number) =>
    search === null ? tree.weightPs[node] >= least : (search.marks[node] & LEADS_TO_MATCH) !== 0;
  // A stack of nodes to list, since trees may be too deep for recursion.
  const waiting: [node: number, key: string, isWithinMatch: boolean][] = [];
  const open = (node: number, key: string, isAll: boolean) => {
    const shown = [...childrenOf(tree, node)].filter(
      (child) => isAll || search === null || search.marks[child] !== 0,
    );
    if (compare) shown.sort(compare);
    for (const child of shown.reverse()) {
      const part = keyPart(tree, child);
      const isMatch = search !== null && (search.marks[child] & MATCHES) !== 0;
      waiting.push([child, node === 0 ? part : `${key}\n${part}`, isAll || isMatch]);
    }
  };
  open(0, "", false);
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const [node, key, isWithinMatch] = next;
    const hasChildren = tree.childFirst[node + 1] > tree.childFirst[node];
    const shows = hasChildren && isUsuallyOpen(node) !== turned.has(key);
    nodes.push(node);
    keys.push(key);
    isOpen.push(shows ? 1 : 0);
    if (shows) open(node, key, isWithinMatch);
  }
  return { nodes: Int32Array.from(nodes), keys, isOpen: Uint8Array.from(isOpen) };
}

/** null for the order of the tree. */
function compareBy(
  tree: CallTree,
  sort: CallSort,
  isDescending: boolean,
): ((a: number, b: number) => number) | null {
  const sign = isDescending ? -1 : 1;
  if (sort === "name")
    return (a, b) => sign * callName(tree, a).localeCompare(callName(tree, b)) || a - b;
  const values = {
    total: tree.totalPs,
    self: tree.selfPs,
    count: tree.count,
    longest: tree.longestPs,
  }[sort];
  if (values === tree.weightPs && isDescending) return null;
  // NaN, which means unknown, comes last.
  const key = (node: number) =>
    Number.isNaN(values[node]) ? Number.POSITIVE_INFINITY : sign * values[node];
  return (a, b) => key(a) - key(b) || a - b;
}
