/** Client of the timeline routes for one run. Each call can be aborted by its signal. */
import { getBytes, getJson } from "../../../api/client";
import { ApiError } from "../../../api/errors";
import {
  type AggregateAnswer,
  type AggregateBy,
  type EventDetails,
  type Flows,
  parseAggregate,
  parseEvent,
  parseFlows,
  parseMatchOverview,
  parseSearch,
  type SearchAnswer,
} from "./answers";
import {
  type CounterPoints,
  type InUse,
  type Part,
  parseBusy,
  parseCounters,
  parseInUse,
  parseTimeline,
  type TimelineIndex,
} from "./payload";
import type { EventFilter, Move, Search } from "./questions";

/** One part of one host's timeline, in the version of the index. */
export interface PartOf {
  readonly run: string;
  readonly host: string;
  readonly part: Part;
  readonly version: string;
}

/** A span in host time. */
export interface SpanPs {
  readonly fromPs: number;
  readonly toPs: number;
}

/** Buckets of 2^level ps, or tiles of 512 of them: [from, to). */
interface LevelSpan {
  readonly level: number;
  readonly from: number;
  readonly to: number;
}

type TimelineParameter = readonly [name: string, value: string | number];

export async function fetchTimeline(
  run: string,
  host: string,
  part: Part,
  signal: AbortSignal,
): Promise<TimelineIndex> {
  return parseTimeline(await getJson("timeline", Object.entries({ run, host, part }), signal));
}

/** Encoded tiles. */
export function fetchTiles(
  of: PartOf,
  tiles: LevelSpan,
  rows: readonly number[],
  filter: EventFilter,
  signal: AbortSignal,
): Promise<ArrayBuffer> {
  const { name, isRegex, isCase, categories, minPs } = filter;
  const more: TimelineParameter[] = [...atLevel(tiles), ["rows", formatRanges(rows)]];
  if (name !== "") more.push(["name", name], ...flags(isRegex, isCase));
  if (categories.length > 0) more.push(["category", categories.join()]);
  if (minPs > 0) more.push(["min_ps", Math.ceil(minPs)]);
  return getBytes("timeline_tiles", parameters(of, more), signal);
}

/** Busy shares of `buckets` equal parts of the span. */
export async function fetchBusy(
  of: PartOf,
  span: SpanPs,
  buckets: number,
  sections: readonly number[],
  signal: AbortSignal,
): Promise<ReadonlyMap<number, Float32Array>> {
  const more: TimelineParameter[] = [
    ...within(span),
    ["buckets", buckets],
    ["sections", sections.join()],
  ];
  return parseBusy(await ask("timeline_busy", of, more, signal));
}

export async function fetchCounters(
  of: PartOf,
  span: LevelSpan,
  counters: readonly number[],
  signal: AbortSignal,
): Promise<ReadonlyMap<number, CounterPoints>> {
  const more: TimelineParameter[] = [...atLevel(span), ["counters", counters.join()]];
  return parseCounters(await ask("timeline_counters", of, more, signal));
}

/** The tracks and counters that have something to show in the span. */
export async function fetchInUse(of: PartOf, span: SpanPs, signal: AbortSignal): Promise<InUse> {
  return parseInUse(await ask("timeline_in_use", of, within(span), signal));
}

interface SearchPage {
  readonly limit: number;
  /** "" for the first page. */
  readonly after?: string;
  readonly span?: SpanPs;
}

export async function fetchSearch(
  of: PartOf,
  search: Search,
  { limit, after = "", span }: SearchPage,
  signal: AbortSignal,
): Promise<SearchAnswer> {
  const more: TimelineParameter[] = [...asked(search), ["limit", limit]];
  if (after !== "") more.push(["after", after]);
  if (span) more.push(...within(span));
  return parseSearch(await ask("timeline_search", of, more, signal));
}

export async function fetchMatchOverview(
  of: PartOf,
  search: Search,
  span: LevelSpan,
  rows: readonly number[],
  signal: AbortSignal,
): Promise<ReadonlyMap<number, Float64Array>> {
  const more: TimelineParameter[] = [
    ...asked(search),
    ...atLevel(span),
    ["rows", formatRanges(rows)],
  ];
  return parseMatchOverview(await ask("timeline_marks", of, more, signal));
}

/** Details of event `id`, or of the event that `move` leads to; null if there is none. */
export async function fetchEvent(
  of: PartOf,
  id: number,
  move: Move | null,
  signal: AbortSignal,
): Promise<EventDetails | null> {
  const more: TimelineParameter[] = [["id", id]];
  if (move !== null) more.push(["move", move]);
  const json = await ask("timeline_event", of, more, signal);
  return json === null ? null : parseEvent(json);
}

export async function fetchFlows(of: PartOf, id: number, signal: AbortSignal): Promise<Flows> {
  return parseFlows(await ask("timeline_flows", of, [["id", id]], signal));
}

export async function fetchAggregate(
  of: PartOf,
  span: SpanPs,
  tracks: readonly number[],
  by: AggregateBy,
  signal: AbortSignal,
): Promise<AggregateAnswer> {
  const more: TimelineParameter[] = [...within(span), ["tracks", formatRanges(tracks)], ["by", by]];
  return parseAggregate(await ask("timeline_aggregate", of, more, signal));
}

/** Whether the file has changed since the index was read, so the index must be requested again. */
export function isStale(error: unknown): boolean {
  return error instanceof ApiError && error.code === "stale";
}

/** "0-45,60": ascending numbers, with consecutive ones as ranges. */
export function formatRanges(ascending: readonly number[]): string {
  const ranges: string[] = [];
  for (let at = 0; at < ascending.length; ) {
    const first = ascending[at];
    let last = first;
    while (ascending[at + 1] === last + 1) last = ascending[++at];
    at++;
    ranges.push(first === last ? `${first}` : `${first}-${last}`);
  }
  return ranges.join();
}

/** The answer of a route about a part. */
export function ask(
  route: string,
  of: PartOf,
  more: readonly TimelineParameter[],
  signal: AbortSignal,
): Promise<unknown> {
  return getJson(route, parameters(of, more), signal);
}

function parameters(of: PartOf, more: readonly TimelineParameter[]): (readonly [string, string])[] {
  const { run, host, part, version } = of;
  return [
    ...Object.entries({ run, host, part, version }),
    ...more.map(([name, value]) => [name, String(value)] as const),
  ];
}

function asked({ text, isRegex, isCase }: Search): TimelineParameter[] {
  return [["q", text], ...flags(isRegex, isCase)];
}

function flags(isRegex: boolean, isCase: boolean): TimelineParameter[] {
  return [...(isRegex ? [["regex", 1] as const] : []), ...(isCase ? [["case", 1] as const] : [])];
}

export function within({ fromPs, toPs }: SpanPs): TimelineParameter[] {
  return [
    ["from_ps", Math.floor(fromPs)],
    ["to_ps", Math.ceil(toPs)],
  ];
}

function atLevel({ level, from, to }: LevelSpan): TimelineParameter[] {
  return [
    ["level", level],
    ["from", from],
    ["to", to],
  ];
}
