/** What a host's timeline holds, before any event of it: the answer of `timeline`. */
import { PayloadError } from "../../api/errors";
import { parseWarnings, type Warning } from "../../api/types";
import { count, integers, list, number, numbers, record, records, text } from "./json";

/** What the file holds; and what was worked out of it, which may come later. */
export type Part = "events" | "derived";

export const PARTS: readonly Part[] = ["events", "derived"];

/** All times are ps since `originNs`. */
export interface TimelineIndex {
  readonly version: string;
  readonly host: string;
  readonly part: Part;
  /** Since 1970; 0n where the file does not say. */
  readonly originNs: bigint;
  readonly beginPs: number;
  readonly endPs: number;
  readonly eventsInFile: number;
  readonly events: number;
  /** Aggregated events, which have no place in time. */
  readonly unplaced: number;
  readonly warnings: readonly Warning[];
  /** The level at which the whole span is one tile. */
  readonly maxLevel: number;
  readonly sections: readonly Section[];
  readonly tracks: readonly Track[];
  readonly counters: readonly Counter[];
  readonly categories: readonly Category[];
  /** Where to begin reading, null where the part does not know. */
  readonly home: Home | null;
}

export interface Section {
  readonly id: number;
  readonly name: string;
  readonly label: string;
  /** "device", "host" or "other". */
  readonly kind: string;
  /** Ids, in the order in which they are shown. */
  readonly tracks: readonly number[];
  readonly events: number;
  readonly busyPs: number;
}

export interface Track {
  readonly id: number;
  readonly section: number;
  readonly name: string;
  /** steps, modules, ops, xla_ops, scopes, source, stream, thread, async, other. */
  readonly kind: string;
  /** Rows [row, row + rows) are its depths. */
  readonly row: number;
  readonly rows: number;
  readonly events: number;
  readonly busyPs: number;
  readonly beginPs: number;
  readonly endPs: number;
  readonly isDerived: boolean;
}

export interface Counter {
  readonly id: number;
  readonly section: number;
  readonly name: string;
  readonly unit: string;
  readonly points: number;
}

export interface Category {
  readonly name: string;
  /** A colour of styles/tokens.css without "--c-", "" where it has none. */
  readonly meaning: string;
}

export interface Home {
  readonly fromPs: number;
  readonly toPs: number;
  readonly label: string;
}

/** Throws PayloadError. */
export function parseTimeline(json: unknown): TimelineIndex {
  const index = record(json, "the timeline");
  const beginPs = number(index.begin_ps);
  const endPs = number(index.end_ps);
  if (text(index.version) === "") throw new PayloadError("the timeline has no version");
  if (!Number.isFinite(beginPs) || !(endPs >= beginPs))
    throw new PayloadError("the timeline has no span");
  return {
    version: text(index.version),
    host: text(index.host),
    part: index.part === "derived" ? "derived" : "events",
    originNs: nanoseconds(index.origin_ns),
    beginPs,
    endPs,
    eventsInFile: count(index.events_in_file),
    events: count(index.events),
    unplaced: count(index.unplaced),
    warnings: parseWarnings(index.warnings),
    maxLevel: count(index.max_level),
    sections: byId(records(index.sections).map(parseSection), "sections"),
    tracks: byId(records(index.tracks).map(parseTrack), "tracks"),
    counters: byId(records(index.counters).map(parseCounter), "counters"),
    categories: records(index.categories).map((category) => ({
      name: text(category.name),
      meaning: text(category.meaning),
    })),
    home: parseHome(index.home),
  };
}

/** The values of each counter, per bucket: its extremes and its last. */
export interface CounterPoints {
  readonly timePs: Float64Array;
  readonly min: Float64Array;
  readonly max: Float64Array;
  readonly last: Float64Array;
}

/** By the counter's id. */
export function parseCounters(json: unknown): ReadonlyMap<number, CounterPoints> {
  const counters = record(record(json, "the counters").counters, "the counters");
  return new Map(
    Object.entries(counters).map(([id, value]) => {
      const points = record(value, "a counter");
      const timePs = numbers(points.time_ps);
      const columns = [points.min, points.max, points.last].map(numbers);
      if (columns.some((column) => column.length !== timePs.length))
        throw new PayloadError("the columns of a counter differ in length");
      return [Number(id), { timePs, min: columns[0], max: columns[1], last: columns[2] }];
    }),
  );
}

/** Busy shares 0–1 per bucket, by the section's id. */
export function parseBusy(json: unknown): ReadonlyMap<number, Float32Array> {
  const sections = record(record(json, "busy shares").sections, "busy shares");
  return new Map(
    Object.entries(sections).map(([id, shares]) => [
      Number(id),
      Float32Array.from(list(shares), (share) => count(share)),
    ]),
  );
}

function parseSection(section: Readonly<Record<string, unknown>>): Section {
  const name = text(section.name);
  return {
    id: number(section.id),
    name,
    label: text(section.label) || name,
    kind: text(section.kind) || "other",
    tracks: integers(section.tracks),
    events: count(section.events),
    busyPs: number(section.busy_ps),
  };
}

function parseTrack(track: Readonly<Record<string, unknown>>): Track {
  return {
    id: number(track.id),
    section: number(track.section),
    name: text(track.name),
    kind: text(track.kind) || "other",
    row: count(track.row),
    rows: Math.max(count(track.rows, 1), 1),
    events: count(track.events),
    busyPs: number(track.busy_ps),
    beginPs: number(track.begin_ps),
    endPs: number(track.end_ps),
    isDerived: track.derived === true,
  };
}

function parseCounter(counter: Readonly<Record<string, unknown>>): Counter {
  return {
    id: number(counter.id),
    section: number(counter.section),
    name: text(counter.name),
    unit: text(counter.unit),
    points: count(counter.points),
  };
}

function parseHome(json: unknown): Home | null {
  if (json === null || json === undefined) return null;
  const home = record(json, "the home view");
  const [fromPs, toPs] = [number(home.from_ps), number(home.to_ps)];
  return toPs > fromPs ? { fromPs, toPs, label: text(home.label) } : null;
}

/** `items`, of which each lies at the place that its id says. */
function byId<T extends { readonly id: number }>(items: readonly T[], what: string): readonly T[] {
  if (items.some((item, at) => item.id !== at))
    throw new PayloadError(`${what} are not numbered in order`);
  return items;
}

function nanoseconds(value: unknown): bigint {
  return typeof value === "string" && /^\d{1,19}$/.test(value) ? BigInt(value) : 0n;
}
