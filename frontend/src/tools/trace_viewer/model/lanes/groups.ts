/** Hosts with their sections and tracks; merges the two parts of a timeline. */
import type { Counter, Part, Section, TimelineIndex, Track } from "../../protocol/payload";
import type { HostTimeline } from "../types";

export interface HostGroup {
  readonly key: string;
  readonly host: HostTimeline;
  readonly sections: readonly SectionGroup[];
}

/** A section; sections of both parts with the same name are merged. */
export interface SectionGroup {
  readonly key: string;
  readonly name: string;
  readonly label: string;
  readonly kind: string;
  /** Its id in each part; -1 if the part does not have it. */
  readonly ids: Readonly<Record<Part, number>>;
  readonly events: number;
  /** The busy share of the recording; NaN if unknown. */
  readonly busyPs: number;
  readonly tracks: readonly TrackItem[];
  readonly counters: readonly CounterItem[];
}

export interface TrackItem {
  readonly key: string;
  readonly part: Part;
  readonly track: Track;
}

export interface CounterItem {
  readonly key: string;
  readonly part: Part;
  readonly counter: Counter;
}

/** The kinds that come first in a section, in this order; others follow in the file's order. */
const FIRST_KINDS = ["steps", "modules", "scopes", "ops", "source", "xla_ops"];

export function groupHosts(hosts: readonly HostTimeline[]): HostGroup[] {
  return hosts.map((host) => ({
    key: `h@${host.host}`,
    host,
    sections: groupSections(host),
  }));
}

/** "e12@host", "d3@host": the key of a track in addresses. */
export function trackKey(host: string, part: Part, track: number): string {
  return `${part[0]}${track}@${host}`;
}

export function counterKey(host: string, part: Part, counter: number): string {
  return `c${part[0]}${counter}@${host}`;
}

export function sectionKey(host: string, name: string): string {
  return `s${name.slice(0, 200)}@${host}`;
}

/** The line that represents the idle tracks of a section. */
export function idleKey(section: string): string {
  return `i${section}`;
}

interface Building {
  readonly section: Section;
  readonly ids: Record<Part, number>;
  events: number;
  readonly tracks: TrackItem[];
  readonly counters: CounterItem[];
}

function groupSections({ host, events, derived }: HostTimeline): SectionGroup[] {
  const byName = new Map<string, Building>();
  for (const index of derived ? [events, derived] : [events]) addPart(byName, host, index);
  return [...byName.entries()].map(([name, { section, ids, events, tracks, counters }]) => ({
    key: sectionKey(host, name),
    name,
    label: section.label,
    kind: section.kind,
    ids,
    events,
    busyPs: section.busyPs,
    tracks: inOrder(tracks),
    counters,
  }));
}

function addPart(byName: Map<string, Building>, host: string, index: TimelineIndex): void {
  const { part } = index;
  const places = index.sections.map((section) => {
    let place = byName.get(section.name);
    if (!place) {
      place = { section, ids: { events: -1, derived: -1 }, events: 0, tracks: [], counters: [] };
      byName.set(section.name, place);
    }
    place.ids[part] = section.id;
    place.events += section.events;
    for (const id of section.tracks) {
      const track = index.tracks[id];
      if (track) place.tracks.push({ key: trackKey(host, part, id), part, track });
    }
    return place;
  });
  for (const counter of index.counters) {
    const key = counterKey(host, part, counter.id);
    places[counter.section]?.counters.push({ key, part, counter });
  }
}

/** Steps come first, then ops, then all others in their order. */
function inOrder(tracks: readonly TrackItem[]): TrackItem[] {
  const rank = ({ track }: TrackItem) => {
    const index = FIRST_KINDS.indexOf(track.kind);
    return index < 0 ? FIRST_KINDS.length : index;
  };
  return [...tracks].sort((a, b) => rank(a) - rank(b));
}
