/** The layout of lanes from top to bottom. */
import type { Part, Track } from "../../protocol/payload";
import type { Arrangement, HostTimeline } from "../types";
import {
  type CounterItem,
  type HostGroup,
  idleKey,
  type SectionGroup,
  type TrackItem,
  trackKey,
} from "./groups";

export const ROW_HEIGHT = 18;
export const HEADER_HEIGHT = 24;
const COUNTER_HEIGHT = 40;
/** Free pixels below the rows of a track. */
export const TRACK_GAP = 4;
/** The maximum number of rows of a collapsed track; deeper ones are left out. */
const LEAST_ROW_HEIGHT = 2;

interface LaneBase {
  readonly key: string;
  /** The keys that are collapsed or expanded with it: its own, or those of its idle tracks. */
  readonly foldKey: string;
  /** CSS pixels: the distance from the top of its list, and its height. */
  readonly top: number;
  readonly height: number;
  /** The indentation of its label: 0, 1 or 2. */
  readonly indent: number;
  readonly group: HostGroup;
  readonly host: HostTimeline;
  readonly isPinned: boolean;
  readonly isCollapsed: boolean;
}

/** The header of a host if there are several; with a busy strip when collapsed. */
interface HostLane extends LaneBase {
  readonly kind: "host";
}

interface SectionLane extends LaneBase {
  readonly kind: "section";
  readonly section: SectionGroup;
  /** Whether none of its tracks has anything to show in the view. */
  readonly isIdle: boolean;
}

/** The line for the tracks of a section that have nothing to show in the view. */
interface IdleLane extends LaneBase {
  readonly kind: "idle";
  readonly section: SectionGroup;
  readonly items: readonly (TrackItem | CounterItem)[];
}

export interface TrackLane extends LaneBase {
  readonly kind: "track";
  readonly section: SectionGroup;
  readonly item: TrackItem;
  /** The distance between its rows: less than ROW_HEIGHT when collapsed. */
  readonly rowHeight: number;
  /** The number of depths with a row: all, unless it is collapsed and very deep. */
  readonly shownRows: number;
}

interface CounterLane extends LaneBase {
  readonly kind: "counter";
  readonly section: SectionGroup;
  readonly item: CounterItem;
}

export type Lane = HostLane | SectionLane | IdleLane | TrackLane | CounterLane;

export interface LaneList {
  /** Pinned lanes, always at the top of the canvas. */
  readonly pinned: readonly Lane[];
  readonly pinnedHeight: number;
  /** Lanes that scroll below the pinned ones; tops are relative to this list. */
  readonly scrolled: readonly Lane[];
  readonly scrolledHeight: number;
  /** The scrolled lanes by key. */
  readonly byKey: ReadonlyMap<string, Lane>;
}

/**
 * Pinned tracks keep their original lanes, too. Tracks in `idle` are folded into one line at the end
 * of their section, or into its header if it has no other tracks.
 */
export function layOutLanes(
  groups: readonly HostGroup[],
  arrangement: Arrangement,
  idle: ReadonlySet<string> = new Set(),
): LaneList {
  const { hidden, collapsed, trackFilter } = arrangement;
  const rank = new Map(arrangement.order.map((key, index) => [key, index]));
  const needle = trackFilter.trim().toLowerCase();
  const scrolled: Lane[] = [];
  const isPinned = new Set(arrangement.pinned);
  const items = new Map<string, [HostGroup, SectionGroup, TrackItem | CounterItem]>();
  let top = 0;
  const add = <L extends Lane>(lane: L) => {
    scrolled.push(lane);
    top += lane.height;
  };
  const isSingle = groups.length === 1;
  for (const group of arranged(groups, rank)) {
    for (const section of isPinned.size > 0 ? group.sections : [])
      for (const item of [...section.tracks, ...section.counters])
        if (isPinned.has(item.key)) items.set(item.key, [group, section, item]);
    if (hidden.has(group.key)) continue;
    const isFolded = !isSingle && collapsed.has(group.key);
    if (!isSingle) {
      add({
        kind: "host",
        ...base(group.key, group, top, HEADER_HEIGHT, 0),
        isCollapsed: isFolded,
      });
    }
    if (isFolded) continue;
    for (const section of arranged(group.sections, rank)) {
      if (hidden.has(section.key)) continue;
      const kept = keptItems(section, needle, hidden);
      if (needle !== "" && kept.length === 0) continue;
      const isCollapsed = collapsed.has(section.key);
      const indent = isSingle ? 0 : 1;
      const resting = arrangement.isIdleShown ? [] : kept.filter(({ key }) => idle.has(key));
      const isIdle = resting.length > 0 && resting.length === kept.length;
      const restingKey = idleKey(section.key);
      const isRestingFolded = resting.length > 0 && collapsed.has(restingKey);
      add({
        kind: "section",
        section,
        isIdle,
        ...base(section.key, group, top, HEADER_HEIGHT, indent),
        foldKey: isIdle && !isCollapsed ? restingKey : section.key,
        isCollapsed: isCollapsed || (isIdle && isRestingFolded),
      });
      if (isCollapsed || (isIdle && isRestingFolded)) continue;
      for (const item of arranged(kept, rank))
        if (!isRestingFolded || !idle.has(item.key))
          add(itemLane(group, section, item, top, indent + 1, collapsed.has(item.key), false));
      if (resting.length > 0 && !isIdle)
        add({
          kind: "idle",
          section,
          items: resting,
          ...base(restingKey, group, top, ROW_HEIGHT + TRACK_GAP, indent + 1),
          isCollapsed: isRestingFolded,
        });
    }
  }
  const pinned: Lane[] = [];
  let pinnedHeight = 0;
  for (const key of arrangement.pinned) {
    const pin = items.get(key);
    if (!pin) continue;
    const [group, section, item] = pin;
    const isCollapsed = collapsed.has(key);
    const lane = itemLane(group, section, item, pinnedHeight, 0, isCollapsed, true);
    pinned.push(lane);
    pinnedHeight += lane.height;
  }
  let byKey: ReadonlyMap<string, Lane> | null = null;
  return {
    pinned,
    pinnedHeight,
    scrolled,
    scrolledHeight: top,
    // Computed lazily: of very many lanes, few are looked up.
    get byKey() {
      byKey ??= new Map(scrolled.map((lane) => [lane.key, lane]));
      return byKey;
    },
  };
}

/** The index of the first of `lanes` whose bottom is below `y`, by binary search. */
export function firstLaneBelow(lanes: readonly Lane[], y: number): number {
  let low = 0;
  let high = lanes.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (lanes[middle].top + lanes[middle].height <= y) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** A lane and the position of its top on the canvas; above `clip`, pinned lanes hide it. */
export interface PlacedLane<L extends Lane = Lane> {
  readonly lane: L;
  readonly y: number;
  readonly clip: number;
}

/** The lanes visible on a canvas of `height` pixels, pinned lanes first. */
export function lanesInView(list: LaneList, scrollTop: number, height: number): PlacedLane[] {
  const placed: PlacedLane[] = [];
  for (const lane of list.pinned) {
    if (lane.top >= height) return placed;
    placed.push({ lane, y: lane.top, clip: 0 });
  }
  const clip = list.pinnedHeight;
  for (
    let index = firstLaneBelow(list.scrolled, scrollTop);
    index < list.scrolled.length;
    index++
  ) {
    const lane = list.scrolled[index];
    const y = clip + lane.top - scrollTop;
    if (y >= height) break;
    placed.push({ lane, y, clip });
  }
  return placed;
}

/** The depths [first, last) of a track that are visible on a canvas of `height` pixels. */
export function depthsInView(
  { lane, y, clip }: PlacedLane<TrackLane>,
  height: number,
): readonly [first: number, last: number] {
  const first = Math.max(Math.floor((clip - y) / lane.rowHeight), 0);
  const last = Math.min(Math.ceil((height - y) / lane.rowHeight), lane.shownRows);
  return [Math.min(first, lane.shownRows), Math.max(last, first)];
}

/** The maximum scroll offset. */
export function lastScrollTop(list: LaneList, height: number): number {
  return Math.max(list.scrolledHeight - Math.max(height - list.pinnedHeight, ROW_HEIGHT), 0);
}

interface FoundRow {
  readonly lane: Lane;
  /** The track's key; `lane` may be the lane into which the track is folded. */
  readonly key: string;
  readonly depth: number;
}

/**
 * The lane that shows a row; else the line or header into which it is folded; else, if these are
 * hidden, its pinned lane; else null.
 */
export function findRow(
  list: LaneList,
  groups: readonly HostGroup[],
  host: number,
  part: Part,
  row: number,
): FoundRow | null {
  const group = groups[host];
  const index = group?.host[part];
  const track = index ? trackOfRow(index.tracks, row) : null;
  if (!track) return null;
  const key = trackKey(group.host.host, part, track.id);
  const section = group.sections.find(({ ids }) => ids[part] === track.section);
  const places = section ? [key, idleKey(section.key), section.key, group.key] : [key, group.key];
  const shown = places.map((place) => list.byKey.get(place)).find((lane) => lane !== undefined);
  const lane = shown ?? list.pinned.find((candidate) => candidate.key === key);
  return lane ? { lane, key, depth: row - track.row } : null;
}

function trackOfRow(tracks: readonly Track[], row: number): Track | null {
  let low = 0;
  let high = tracks.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (tracks[middle].row <= row) low = middle + 1;
    else high = middle;
  }
  const track = tracks[low - 1];
  return track && row < track.row + track.rows ? track : null;
}

function base(key: string, group: HostGroup, top: number, height: number, indent: number) {
  const { host } = group;
  return {
    key,
    foldKey: key,
    group,
    host,
    top,
    height,
    indent,
    isPinned: false,
    isCollapsed: false,
  };
}

function itemLane(
  group: HostGroup,
  section: SectionGroup,
  item: TrackItem | CounterItem,
  top: number,
  indent: number,
  isCollapsed: boolean,
  isPinned: boolean,
): Lane {
  const { key } = item;
  const { host } = group;
  if ("counter" in item) {
    const height = isCollapsed ? ROW_HEIGHT + TRACK_GAP : COUNTER_HEIGHT;
    const lane = { ...base(key, group, top, height, indent), isCollapsed, isPinned };
    return { kind: "counter", section, item, ...lane };
  }
  const { rows } = item.track;
  const isFolded = isCollapsed && rows > 1;
  const shownRows = isFolded ? Math.min(rows, ROW_HEIGHT / LEAST_ROW_HEIGHT) : rows;
  const rowHeight = isFolded ? ROW_HEIGHT / shownRows : ROW_HEIGHT;
  const height = (isFolded ? ROW_HEIGHT : rows * ROW_HEIGHT) + TRACK_GAP;
  // Written out, since there may be 100,000 tracks, and composing objects takes ten times as long.
  return {
    kind: "track",
    key,
    foldKey: key,
    group,
    host,
    section,
    item,
    top,
    height,
    indent,
    rowHeight,
    shownRows,
    isPinned,
    isCollapsed,
  };
}

function keptItems(section: SectionGroup, needle: string, hidden: ReadonlySet<string>) {
  const isKept = (key: string, name: string) =>
    !hidden.has(key) && (needle === "" || name.toLowerCase().includes(needle));
  return [
    ...section.tracks.filter(({ key, track }) => isKept(key, track.name)),
    ...section.counters.filter(({ key, counter }) => isKept(key, counter.name)),
  ];
}

function arranged<T extends { readonly key: string }>(
  items: readonly T[],
  rank: ReadonlyMap<string, number>,
): readonly T[] {
  if (rank.size === 0) return items;
  const rankOf = (item: T) => rank.get(item.key) ?? rank.size;
  return [...items].sort((a, b) => rankOf(a) - rankOf(b));
}
