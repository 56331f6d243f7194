/** The instructions of a profile as a tree, in which times of children add up to their parent's. */
import { arrangeTree } from "../../../widgets/icicle/weighted_tree";
import { type Profile, textOf } from "../payload";
import { scopeParts } from "./scope_parts";

export type TreeGrouping = "program" | "category" | "scope" | "source";
export const GROUPINGS: readonly TreeGrouping[] = ["program", "category", "scope", "source"];

export type OpNodeKind =
  | "root"
  | "program"
  | "category"
  | "scope"
  | "file"
  | "line"
  | "group"
  | "op"
  | "kernel"
  /** Instructions that are not loaded yet, or kernels that the server does not send. */
  | "rest"
  | "idle";

/** [n] nodes, parents before their children. Times are self times; for kernels, device times. */
export type OpTree = Readonly<ReturnType<typeof finish>>;

/** Sums that are accumulated while the tree is built. */
interface Growing {
  readonly parent: number[];
  readonly kind: OpNodeKind[];
  readonly label: string[];
  readonly place: number[];
  readonly time: number[];
  readonly wasted: number[];
  readonly unknown: number[];
  readonly atPeak: number[];
  readonly flopSpan: number[];
  readonly hbm: number[];
  readonly hbmSpan: number[];
  readonly occurrences: number[];
  readonly count: number[];
}

type Level = readonly [kind: OpNodeKind, key: string, label: string];

export function makeOpTree(profile: Profile, grouping: TreeGrouping, hasIdle: boolean): OpTree {
  const { rows } = profile;
  const tree: Growing = {
    parent: [],
    kind: [],
    label: [],
    place: [],
    time: [],
    wasted: [],
    unknown: [],
    atPeak: [],
    flopSpan: [],
    hbm: [],
    hbmSpan: [],
    occurrences: [],
    count: [],
  };
  const numbers = new Map<string, number>();
  const add = (parent: number, [kind, key, label]: Level, place = -1) => {
    const id = `${parent}\0${kind}\0${key}`;
    const known = numbers.get(id);
    if (known !== undefined) return known;
    const at = tree.parent.length;
    numbers.set(id, at);
    tree.parent.push(parent);
    tree.kind.push(kind);
    tree.label.push(label);
    tree.place.push(place);
    for (const sums of [tree.time, tree.unknown, tree.occurrences, tree.count]) sums.push(0);
    for (const sums of [tree.wasted, tree.atPeak, tree.flopSpan, tree.hbm, tree.hbmSpan])
      sums.push(Number.NaN);
    return at;
  };
  const root = add(-1, ["root", "", "All programs"]);
  const levels = levelsOf(profile, grouping);
  const kernels = kernelsByPlace(profile);
  for (let place = 0; place < rows.length; place++) {
    let at = root;
    const path = [root];
    for (const level of levels(place)) {
      at = add(at, level);
      path.push(at);
    }
    const isRest = rows.row[place] < 0;
    const name = textOf(profile, rows.name[place]);
    const label = isRest ? `${rows.count[place]} shorter ops` : name || "(no name)";
    at = add(at, [isRest ? "rest" : "op", String(place), label], place);
    path.push(at);
    for (const node of path) addRow(tree, node, profile, place);
    addKernels(tree, at, profile, place, kernels.get(place) ?? [], add);
  }
  if (hasIdle && profile.idlePs > 0) {
    const idle = add(root, ["idle", "", "Idle"]);
    tree.time[idle] = profile.idlePs;
    tree.time[root] += profile.idlePs;
  }
  return finish(tree, profile);
}

function addRow(tree: Growing, node: number, { rows }: Profile, place: number): void {
  tree.time[node] += rows.selfPs[place];
  tree.count[node] += rows.count[place];
  const wasted = rows.wastedPs[place];
  if (Number.isNaN(wasted)) tree.unknown[node] += rows.selfPs[place];
  else addTo(tree.wasted, node, wasted);
  if (tree.kind[node] === "op") tree.occurrences[node] += rows.occurrences[place];
  // The work of an op that contains other ops is theirs.
  if (rows.hasInner[place]) return;
  const span = rows.spanPs[place];
  if (rows.atPeakPs[place] >= 0) {
    addTo(tree.atPeak, node, rows.atPeakPs[place]);
    addTo(tree.flopSpan, node, span);
  }
  if (rows.hbmBytes[place] >= 0) {
    addTo(tree.hbm, node, rows.hbmBytes[place]);
    addTo(tree.hbmSpan, node, span);
  }
}

function addTo(sums: number[], node: number, value: number): void {
  sums[node] = (Number.isNaN(sums[node]) ? 0 : sums[node]) + value;
}

function addKernels(
  tree: Growing,
  op: number,
  { kernels, rows, texts }: Profile,
  place: number,
  listed: readonly number[],
  add: (parent: number, level: Level, place?: number) => number,
): void {
  let rest = rows.selfPs[place];
  for (const kernel of listed) {
    const name = texts[kernels.name[kernel]] || "(no name)";
    const node = add(op, ["kernel", String(kernel), name], place);
    tree.time[node] = kernels.totalPs[kernel];
    tree.occurrences[node] = kernels.occurrences[kernel];
    rest -= kernels.totalPs[kernel];
  }
  if (listed.length > 0 && rest > 0)
    tree.time[add(op, ["rest", "kernels", "Shorter kernels"], place)] = rest;
}

function kernelsByPlace({ kernels }: Profile): ReadonlyMap<number, readonly number[]> {
  const kernelsOf = new Map<number, number[]>();
  kernels.place.forEach((place, kernel) => {
    const listed = kernelsOf.get(place);
    if (listed) listed.push(kernel);
    else kernelsOf.set(place, [kernel]);
  });
  return kernelsOf;
}

/** The levels above a row, without a group if the row is alone in it. */
function levelsOf(profile: Profile, grouping: TreeGrouping): (place: number) => Level[] {
  const { rows } = profile;
  const read = (at: number) => textOf(profile, at);
  const groupKey = (place: number) =>
    `${rows.program[place]}\0${rows.category[place]}\0${rows.group[place]}`;
  const sizes = new Map<string, number>();
  const names = new Map<string, string>();
  for (let place = 0; place < rows.length; place++) {
    if (rows.row[place] < 0) continue;
    const key = groupKey(place);
    sizes.set(key, (sizes.get(key) ?? 0) + 1);
    if (!names.has(key)) names.set(key, read(rows.name[place]));
  }
  const program = (place: number): Level => {
    const label = read(rows.program[place]);
    return ["program", label, label];
  };
  const category = (place: number): Level => {
    const label = read(rows.category[place]) || "(no category)";
    return ["category", label, label];
  };
  const group = (place: number): Level[] => {
    const key = groupKey(place);
    const size = sizes.get(key) ?? 0;
    if (rows.row[place] < 0 || size < 2) return [];
    return [["group", key, `${names.get(key)} and ${size - 1} identical`]];
  };
  switch (grouping) {
    case "program":
      return (place) => [program(place), category(place), ...group(place)];
    case "category":
      return (place) => [category(place), program(place), ...group(place)];
    case "scope":
      return (place) => [
        program(place),
        ...(rows.row[place] < 0 ? [] : scopeLevels(read(rows.scope[place]))),
      ];
    case "source":
      return (place) => sourceLevels(rows.row[place] < 0 ? "" : read(rows.source[place]));
  }
}

function scopeLevels(scope: string): Level[] {
  return scopeParts(scope).map((part) => ["scope", part, part]);
}

function sourceLevels(source: string): Level[] {
  if (source === "") return [["file", "", "No source line"]];
  const colon = source.lastIndexOf(":");
  const file = colon > 0 ? source.slice(0, colon) : source;
  const short = file.split(/[\\/]/).at(-1) || file;
  const line: Level = ["line", source, `${short}:${source.slice(colon + 1)}`];
  return colon > 0 ? [["file", file, file], line] : [["file", file, file]];
}

function finish(tree: Growing, profile: Profile) {
  const { rows } = profile;
  const parent = Int32Array.from(tree.parent);
  const weightPs = Float64Array.from(tree.time);
  const place = Int32Array.from(tree.place);
  const hbmPeak = profile.memoryPeaks.find((peak) => peak.of === "HBM")?.giga ?? Number.NaN;
  const isRow = (node: number) => tree.kind[node] === "op" && rows.row[place[node]] >= 0;
  const nodes = [...parent.keys()];
  return {
    ...arrangeTree(parent, weightPs),
    kind: tree.kind,
    label: tree.label,
    /** The row of the profile that an op, a kernel or a rest belongs to; -1 for others. */
    place,
    /** NaN if unknown for all of it. */
    wastedPs: Float64Array.from(tree.wasted),
    /** Self time of ops whose wasted time is unknown. */
    unknownPs: Float64Array.from(tree.unknown),
    // Ops have the server's shares, which are the same in all tables.
    flopShare: Float64Array.from(nodes, (node) =>
      isRow(node) ? rows.flopShare[place[node]] : tree.atPeak[node] / tree.flopSpan[node],
    ),
    // 10^9 bytes per second are one per 1,000 ps.
    hbmShare: Float64Array.from(nodes, (node) =>
      isRow(node)
        ? rows.hbmShare[place[node]]
        : (tree.hbm[node] * 1e3) / tree.hbmSpan[node] / hbmPeak,
    ),
    /** Executions of ops, launches of kernels. */
    occurrences: Float64Array.from(tree.occurrences),
    /** The number of instructions below. */
    count: Float64Array.from(tree.count),
  };
}

/** The node of an op, or of a program if `name` is ""; -1 if it is not in the tree. */
export function findOp(tree: OpTree, profile: Profile, programId: string, name: string): number {
  const { rows } = profile;
  const op = tree.kind.findIndex(
    (kind, node) =>
      kind === "op" &&
      (name === "" || textOf(profile, rows.name[tree.place[node]]) === name) &&
      textOf(profile, rows.programId[tree.place[node]]) === programId,
  );
  if (name !== "") return op;
  let node = op;
  while (node >= 0 && tree.kind[node] !== "program") node = tree.parent[node];
  return node;
}

/** The largest share of a peak that a node uses; NaN if unknown. */
export function usedShare(tree: OpTree, node: number): number {
  const shares = [tree.flopShare[node], tree.hbmShare[node]].filter((share) => share >= 0);
  return shares.length > 0 ? Math.max(...shares) : Number.NaN;
}
