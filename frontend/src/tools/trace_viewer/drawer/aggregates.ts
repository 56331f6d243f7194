/** Sums of the events in a range, over any number of hosts and parts. */
import { type SectionGroup, trackKey } from "../model/lanes/groups";
import type { HostTimeline, Span, TimeRange } from "../model/types";
import { type Page, partOf } from "../page/page";
import type { AggregateAnswer, AggregateBy } from "../protocol/answers";
import { fetchAggregate } from "../protocol/api";
import { PARTS, type Part, type Track } from "../protocol/payload";

/** Tracks of one part of one host. */
export interface TrackSet {
  readonly host: HostTimeline;
  readonly part: Part;
  /** Ids, ascending. */
  readonly tracks: readonly number[];
}

/** Kinds of tracks whose events repeat the work of other tracks in the section. */
const REPEATING = ["steps", "modules", "scopes", "source"];
/** Kinds of tracks that framework ops are derived from. */
const WORKING = ["stream", "xla_ops"];

/** Tracks to be added up. */
interface ChosenTracks {
  readonly sets: readonly TrackSet[];
  /** The number of tracks left out because they repeat the work of others. */
  readonly excluded: number;
}

/** The sets of `chooseTracks`. */
export function trackSets(page: Page, keys: TimeRange["tracks"]): readonly TrackSet[] {
  return chooseTracks(page, keys).sets;
}

/**
 * The tracks of a box; for a ruler or the view (`keys` null), all tracks that are not hidden. Tracks
 * that repeat the work of others are left out, so that it is not counted twice, unless a box has no
 * others.
 */
export function chooseTracks(page: Page, keys: TimeRange["tracks"]): ChosenTracks {
  const wanted = keys && new Set(keys);
  const { hidden } = page.model.arrangement.value;
  const isChosen = (key: string) => (wanted ? wanted.has(key) : !hidden.has(key));
  const work: TrackSet[] = [];
  const all: TrackSet[] = [];
  for (const group of page.model.groups.value) {
    if (!wanted && hidden.has(group.key)) continue;
    const working: number[] = [];
    const chosen: Record<Part, number[]> = { events: [], derived: [] };
    for (const section of group.sections) {
      if (!wanted && hidden.has(section.key)) continue;
      const isRepeating = repeatingIn(section);
      for (const { key, part, track } of section.tracks) {
        if (!isChosen(key)) continue;
        chosen[part].push(track.id);
        if (part === "events" && !isRepeating(track)) working.push(track.id);
      }
    }
    add(work, group.host, "events", working);
    for (const part of PARTS) add(all, group.host, part, chosen[part]);
  }
  const sets = work.length > 0 || !wanted ? work : all;
  return { sets, excluded: countTracks(all) - countTracks(sets) };
}

export function countTracks(sets: readonly TrackSet[]): number {
  return sets.reduce((sum, { tracks }) => sum + tracks.length, 0);
}

/** Whether a track repeats the work of other tracks in the section. */
function repeatingIn({ tracks }: SectionGroup): (track: Track) => boolean {
  const hasWork = tracks.some(({ track }) => WORKING.includes(track.kind));
  return ({ kind }) => REPEATING.includes(kind) || (kind === "ops" && hasWork);
}

function add(sets: TrackSet[], host: HostTimeline, part: Part, ids: number[]): void {
  if (ids.length > 0) sets.push({ host, part, tracks: ids.sort((a, b) => a - b) });
}

/** Sums with the keys of lanes, if each row is a track. */
export interface AggregateSums extends AggregateAnswer {
  readonly lanes: readonly string[];
}

/** The sums of all `sets` within `span`; null if there is nothing to sum. */
export async function aggregate(
  page: Page,
  span: Span,
  sets: readonly TrackSet[],
  by: AggregateBy,
  signal: AbortSignal,
): Promise<AggregateSums | null> {
  const isSingle = page.model.hosts.peek().length === 1;
  const answers = await Promise.all(
    sets.map(async ({ host, part, tracks }) => {
      const within = { fromPs: span.from - host.offsetPs, toPs: span.to - host.offsetPs };
      const answer = await fetchAggregate(
        partOf(page.run, host, part)!,
        within,
        tracks,
        by,
        signal,
      );
      const lanes = answer.track.map((track) => trackKey(host.host, part, track));
      const key =
        by === "track" && !isSingle
          ? answer.key.map((name) => `${name} · ${host.host}`)
          : answer.key;
      return { ...answer, key, lanes };
    }),
  );
  return answers.length === 0 ? null : mergeSums(answers);
}

/** Merges equal keys, ordered by descending self time. Busy and idle times add up over hosts. */
export function mergeSums(parts: readonly AggregateSums[]): AggregateSums {
  if (parts.length === 1) return parts[0];
  const rows = new Map<string, [part: AggregateSums, row: number][]>();
  for (const part of parts) {
    part.key.forEach((key, row) => {
      const id = part.lanes[row] ?? `${key}\0${part.category[row]}`;
      const known = rows.get(id);
      if (known) known.push([part, row]);
      else rows.set(id, [[part, row]]);
    });
  }
  const sum = (members: [AggregateSums, number][], read: (part: AggregateSums) => Float64Array) =>
    members.reduce((total, [part, row]) => total + read(part)[row], 0);
  const all = [...rows.values()].map((members) => {
    const [[first, at]] = members;
    return {
      key: first.key[at],
      category: first.category[at],
      lane: first.lanes[at],
      track: first.track[at],
      count: sum(members, (part) => part.count),
      totalPs: sum(members, (part) => part.totalPs),
      selfPs: sum(members, (part) => part.selfPs),
      minPs: Math.min(...members.map(([part, row]) => part.minPs[row])),
      maxPs: Math.max(...members.map(([part, row]) => part.maxPs[row])),
    };
  });
  all.sort((a, b) => b.selfPs - a.selfPs);
  const whole = all.reduce((total, row) => total + row.selfPs, 0);
  const column = (read: (row: (typeof all)[number]) => number) => Float64Array.from(all, read);
  const isByTrack = all.some((row) => row.lane !== undefined);
  return {
    events: parts.reduce((total, part) => total + part.events, 0),
    busyPs: parts.reduce((total, part) => total + part.busyPs, 0),
    idlePs: parts.reduce((total, part) => total + part.idlePs, 0),
    key: all.map((row) => row.key),
    category: all.map((row) => row.category),
    track: isByTrack ? all.map((row) => row.track) : [],
    lanes: isByTrack ? all.map((row) => row.lane) : [],
    count: column((row) => row.count),
    totalPs: column((row) => row.totalPs),
    selfPs: column((row) => row.selfPs),
    meanPs: column((row) => row.totalPs / row.count),
    minPs: column((row) => row.minPs),
    maxPs: column((row) => row.maxPs),
    share: column((row) => (whole > 0 ? row.selfPs / whole : Number.NaN)),
  };
}
