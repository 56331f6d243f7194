/** Merges the hits of one search from several hosts and parts into one list in time order. */
import type { EventAt, SearchAnswer } from "../protocol/answers";
import { fetchSearch, type PartOf } from "../protocol/api";
import { PARTS, type Part } from "../protocol/payload";
import type { Search } from "../protocol/questions";

export interface Hit extends EventAt {
  /** Index of its host. */
  readonly host: number;
  readonly part: Part;
  /** On the common axis. */
  readonly from: number;
}

export interface HitSource {
  readonly of: PartOf;
  readonly host: number;
  readonly offsetPs: number;
  waiting: Hit[];
  cursor: string;
}

/** Hits per request. */
export const PAGE = 200;
/** Windows tried when looking for the previous hit; each is eight times as wide or narrow. */
const TRIES = 24;

interface Origin {
  readonly host: number;
  readonly part: Part;
  readonly id: number;
  readonly from: number;
}

interface Extent {
  readonly from: number;
  readonly to: number;
}

export async function firstAfter(
  source: HitSource,
  search: Search,
  origin: Origin,
  extent: Extent,
  aborted: AbortSignal,
): Promise<Hit | null> {
  const span = { fromPs: origin.from - source.offsetPs, toPs: extent.to + 1 - source.offsetPs };
  for (let after = ""; ; ) {
    const answer = await fetchSearch(source.of, search, { limit: PAGE, after, span }, aborted);
    const hit = place(source, answer).find((candidate) => compareHits(candidate, origin) > 0);
    if (hit || answer.cursor === "") return hit ?? null;
    after = answer.cursor;
  }
}

/** A hit, and the total duration of its track's hits in the requested span. */
interface MainHit {
  readonly hit: Hit;
  readonly coveredPs: number;
}

/** The first hit of the track whose hits take the most of a span of the common axis, or null. */
export async function mainWithin(
  source: HitSource,
  search: Search,
  { from, to }: Extent,
  aborted: AbortSignal,
): Promise<MainHit | null> {
  const span = { fromPs: from - source.offsetPs, toPs: to - source.offsetPs };
  const answer = await fetchSearch(source.of, search, { limit: PAGE, span }, aborted);
  const tracks = new Map<number, MainHit>();
  for (const hit of place(source, answer)) {
    const coveredPs = Math.min(hit.from + hit.durationPs, to) - Math.max(hit.from, from);
    const known = tracks.get(hit.track);
    tracks.set(hit.track, {
      hit: known?.hit ?? hit,
      coveredPs: (known?.coveredPs ?? 0) + coveredPs,
    });
  }
  return [...tracks.values()].sort((a, b) => b.coveredPs - a.coveredPs)[0] ?? null;
}

/** Finds the last hit before a time with windows that end there, since pages list hits forwards. */
export async function lastBefore(
  source: HitSource,
  search: Search,
  origin: Origin,
  extent: Extent,
  aborted: AbortSignal,
): Promise<Hit | null> {
  let width = (extent.to - extent.from) / 64;
  for (let tried = 0; tried < TRIES; tried++) {
    const from = Math.max(origin.from - width, extent.from);
    const span = { fromPs: from - source.offsetPs, toPs: origin.from + 1 - source.offsetPs };
    const answer = await fetchSearch(source.of, search, { limit: PAGE, span }, aborted);
    const hit = place(source, answer).findLast((candidate) => compareHits(candidate, origin) < 0);
    if (answer.cursor === "") {
      if (hit || from <= extent.from) return hit ?? null;
      width *= 8;
    } else if (width < 8 || tried === TRIES - 1) return hit ?? null;
    else width /= 8;
  }
  return null;
}

export function receive(source: HitSource, answer: SearchAnswer): void {
  source.waiting.push(...place(source, answer));
  source.cursor = answer.cursor;
}

function place({ host, of, offsetPs }: HitSource, answer: SearchAnswer): Hit[] {
  return answer.hits.map((hit) => ({ ...hit, host, part: of.part, from: hit.startPs + offsetPs }));
}

/** The hits in time order, up to where a source with more pages could still add one. */
export function takeInOrder(sources: readonly HitSource[]): Hit[] {
  const taken: Hit[] = [];
  for (;;) {
    let first: HitSource | null = null;
    for (const source of sources) {
      if (source.waiting.length === 0) {
        if (source.cursor !== "") return finish();
      } else if (!first || compareHits(source.waiting[0], first.waiting[0]) < 0) first = source;
    }
    if (!first) return finish();
    taken.push(first.waiting[0]);
    first.waiting = first.waiting.slice(1);
  }

  function finish(): Hit[] {
    return taken;
  }
}

export function compareHits(a: Origin, b: Origin): number {
  return a.from - b.from || a.host - b.host || order(a.part) - order(b.part) || a.id - b.id;
}

function order(part: Part): number {
  return PARTS.indexOf(part);
}
