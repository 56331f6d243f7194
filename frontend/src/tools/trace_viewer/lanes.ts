/** What is drawn from top to bottom, and how high each of it is. */
import type { CounterItem, HostGroup, SectionGroup, TrackItem } from "./groups";
import type { Arrangement, HostTimeline } from "./model";

export const ROW_HEIGHT = 18;
export const HEADER_HEIGHT = 24;
export const COUNTER_HEIGHT = 40;
/** Free pixels below the rows of a track. */
export const TRACK_GAP = 4;

interface LaneBase {
  readonly key: string;
  /** CSS pixels: from the top of its list, and its whole height. */
  readonly top: number;
  readonly height: number;
  /** How far its label is indented: 0, 1, 2. */
  readonly indent: number;
  readonly host: HostTimeline;
  readonly isPinned: boolean;
  readonly isCollapsed: boolean;
}

/** The header of a host where there are several; with a strip of its busy share when collapsed. */
export interface HostLane extends LaneBase {
  readonly kind: "host";
  readonly group: HostGroup;
}

export interface SectionLane extends LaneBase {
  readonly kind: "section";
  readonly section: SectionGroup;
}

export interface TrackLane extends LaneBase {
  readonly kind: "track";
  readonly section: SectionGroup;
  readonly item: TrackItem;
  /** Distance of its rows: less than ROW_HEIGHT when collapsed. */
  readonly rowHeight: number;
}

export interface CounterLane extends LaneBase {
  readonly kind: "counter";
  readonly section: SectionGroup;
  readonly item: CounterItem;
}

export type Lane = HostLane | SectionLane | TrackLane | CounterLane;

export interface LaneList {
  /** Always at the top of the canvas. */
  readonly pinned: readonly Lane[];
  readonly pinnedHeight: number;
  /** Scrolled beneath the pinned; tops are from the top of this list. */
  readonly scrolled: readonly Lane[];
  readonly scrolledHeight: number;
  /** Every lane by key, and tracks by "part, host place, first row" for rows. */
  readonly byKey: ReadonlyMap<string, Lane>;
}

/** Pinned tracks also stay where they are otherwise. */
export function layOutLanes(groups: readonly HostGroup[], arrangement: Arrangement): LaneList {
  const { hidden, collapsed, trackFilter } = arrangement;
  const rank = new Map(arrangement.order.map((key, at) => [key, at]));
  const needle = trackFilter.trim().toLowerCase();
  const scrolled: Lane[] = [];
  const byKey = new Map<string, Lane>();
  const items = new Map<string, [HostGroup, SectionGroup, TrackItem | CounterItem]>();
  let top = 0;
  const add = <L extends Lane>(lane: L) => {
    scrolled.push(lane);
    byKey.set(lane.key, lane);
    top += lane.height;
  };
  const isSingle = groups.length === 1;
  for (const group of arranged(groups, rank)) {
    const { host } = group;
    for (const section of group.sections)
      for (const item of [...section.tracks, ...section.counters])
        if (arrangement.pinned.includes(item.key)) items.set(item.key, [group, section, item]);
    if (hidden.has(group.key)) continue;
    const isFolded = !isSingle && collapsed.has(group.key);
    if (!isSingle) {
      add({
        key: group.key,
        kind: "host",
        group,
        ...base(host, top, HEADER_HEIGHT, 0),
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
      add({
        key: section.key,
        kind: "section",
        section,
        ...base(host, top, HEADER_HEIGHT, indent),
        isCollapsed,
      });
      if (isCollapsed) continue;
      for (const item of arranged(kept, rank))
        add(itemLane(host, section, item, top, indent + 1, collapsed.has(item.key), false));
    }
  }
  const pinned: Lane[] = [];
  let pinnedHeight = 0;
  for (const key of arrangement.pinned) {
    const found = items.get(key);
    if (!found) continue;
    const [group, section, item] = found;
    const isCollapsed = collapsed.has(key);
    const lane = itemLane(group.host, section, item, pinnedHeight, 0, isCollapsed, true);
    pinned.push(lane);
    pinnedHeight += lane.height;
  }
  return { pinned, pinnedHeight, scrolled, scrolledHeight: top, byKey };
}

/** The first of `lanes` whose bottom is below `y`: binary search. */
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

function base(host: HostTimeline, top: number, height: number, indent: number) {
  return { host, top, height, indent, isPinned: false, isCollapsed: false };
}

function itemLane(
  host: HostTimeline,
  section: SectionGroup,
  item: TrackItem | CounterItem,
  top: number,
  indent: number,
  isCollapsed: boolean,
  isPinned: boolean,
): Lane {
  const { key } = item;
  if ("counter" in item) {
    const height = isCollapsed ? ROW_HEIGHT + TRACK_GAP : COUNTER_HEIGHT;
    const lane = { ...base(host, top, height, indent), isCollapsed, isPinned };
    return { key, kind: "counter", section, item, ...lane };
  }
  const { rows } = item.track;
  const isFolded = isCollapsed && rows > 1;
  const rowHeight = isFolded ? ROW_HEIGHT / rows : ROW_HEIGHT;
  const height = (isFolded ? ROW_HEIGHT : rows * ROW_HEIGHT) + TRACK_GAP;
  const lane = { ...base(host, top, height, indent), isCollapsed, isPinned };
  return { key, kind: "track", section, item, rowHeight, ...lane };
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
