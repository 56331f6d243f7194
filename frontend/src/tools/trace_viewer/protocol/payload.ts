/** The index of a host's timeline, without its events: the response of `timeline`. */
import { PayloadError } from "../../../api/errors";
import {
  count,
  integers,
  type Json,
  list,
  number,
  numbers,
  record,
  records,
  text,
  texts,
} from "../../../api/json";
import { parseWarnings } from "../../../api/types";

/** Recorded events, and events derived from them, which may arrive later. */
export type Part = "events" | "derived";

export const PARTS: readonly Part[] = ["events", "derived"];

/** All times are ps since `originNs`. */
export type TimelineIndex = Readonly<ReturnType<typeof parseTimeline>>;
export type Section = Readonly<ReturnType<typeof parseSection>>;

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

export type Counter = Readonly<ReturnType<typeof parseCounter>>;
export type Category = Readonly<ReturnType<typeof parseCategory>>;

interface InitialWindow {
  readonly fromPs: number;
  readonly toPs: number;
  readonly label: string;
}

/** Throws PayloadError. */
export function parseTimeline(json: unknown) {
  const index = record(json, "the timeline");
  const part: Part = index.part === "derived" ? "derived" : "events";
  const beginPs = number(index.begin_ps);
  const endPs = number(index.end_ps);
  if (text(index.version) === "") throw new PayloadError("the timeline has no version");
  if (!Number.isFinite(beginPs) || !(endPs >= beginPs))
    throw new PayloadError("the timeline has no span");
  const sections = byId(records(index.sections).map(parseSection), "sections");
  return {
    version: text(index.version),
    host: text(index.host),
    part,
    /** Since 1970; 0n if the file does not say. */
    originNs: nanoseconds(index.origin_ns),
    beginPs,
    endPs,
    eventsInFile: count(index.events_in_file),
    events: count(index.events),
    /** Aggregated events, which have no position in time. */
    unplaced: count(index.unplaced),
    warnings: parseWarnings(index.warnings),
    /** The level at which one tile covers the whole span. */
    maxLevel: count(index.max_level),
    sections,
    tracks: parseTracks(index.tracks, sections),
    counters: byId(records(index.counters).map(parseCounter), "counters"),
    categories: records(index.categories).map(parseCategory),
    /** The initial view, or null if the part does not know one. */
    initialWindow: parseInitialWindow(index.home),
  };
}

/** The values of each counter per bucket: minimum, maximum and last. */
export interface CounterPoints {
  readonly timePs: Float64Array;
  readonly min: Float64Array;
  readonly max: Float64Array;
  readonly last: Float64Array;
}

/** By counter id. */
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

/** Busy shares 0–1 per bucket, by section id. */
export function parseBusy(json: unknown): ReadonlyMap<number, Float32Array> {
  const sections = record(record(json, "busy shares").sections, "busy shares");
  return new Map(
    Object.entries(sections).map(([id, shares]) => [
      Number(id),
      Float32Array.from(list(shares), (share) => count(share)),
    ]),
  );
}

/** The tracks and counters that have something to show in a span. */
export type InUse = Readonly<ReturnType<typeof parseInUse>>;

export function parseInUse(json: unknown) {
  const used = record(json, "tracks in use");
  return { tracks: new Set(numbers(used.tracks)), counters: new Set(numbers(used.counters)) };
}

function parseSection(section: Json) {
  const name = text(section.name);
  const first = count(section.first_track);
  const tracks = Math.max(count(section.last_track) - first, 0);
  return {
    id: number(section.id),
    name,
    label: text(section.label) || name,
    /** "device", "host" or "other". */
    kind: text(section.kind) || "other",
    /** Ids in display order. */
    tracks: Array.from({ length: tracks }, (_, index) => first + index),
    events: count(section.events),
    busyPs: number(section.busy_ps),
  };
}

/** Tracks as columns, since there may be 100,000. Rows are numbered track by track. */
function parseTracks(json: unknown, sections: readonly Section[]): readonly Track[] {
  const columns = record(json, "the tracks");
  const names = texts(columns.name);
  const kinds = texts(columns.kinds);
  const [kind, rows, events, busy, begin, end] = TRACK_NUMBERS.map((key) => numbers(columns[key]));
  for (const column of [kind, rows, events, busy, begin, end])
    if (column.length !== names.length)
      throw new PayloadError("the columns of the tracks differ in length");
  const unitPs = number(columns.unit_ps);
  const derived = new Set(integers(columns.derived));
  const sectionOf = new Int32Array(names.length).fill(-1);
  for (const { id, tracks } of sections) for (const track of tracks) sectionOf[track] = id;
  let row = 0;
  return names.map((name, id) => {
    const track = {
      id,
      section: sectionOf[id],
      name,
      kind: kinds[kind[id]] || "other",
      row,
      rows: Math.max(count(rows[id], 1), 1),
      events: count(events[id]),
      busyPs: busy[id] * unitPs,
      beginPs: begin[id] * unitPs,
      endPs: end[id] * unitPs,
      isDerived: derived.has(id),
    };
    row += track.rows;
    return track;
  });
}

const TRACK_NUMBERS = ["kind", "rows", "events", "busy", "begin", "end"] as const;

function parseCategory(category: Json) {
  return {
    name: text(category.name),
    /** A color of styles/tokens.css without "--c-", or "". */
    meaning: text(category.meaning),
  };
}

function parseCounter(counter: Json) {
  return {
    id: number(counter.id),
    section: number(counter.section),
    name: text(counter.name),
    unit: text(counter.unit),
    points: count(counter.points),
  };
}

function parseInitialWindow(json: unknown): InitialWindow | null {
  if (json === null || json === undefined) return null;
  const home = record(json, "the initial window");
  const [fromPs, toPs] = [number(home.from_ps), number(home.to_ps)];
  return toPs > fromPs ? { fromPs, toPs, label: text(home.label) } : null;
}

/** Returns `items` after checking that the id of each is its index. */
function byId<T extends { readonly id: number }>(items: readonly T[], what: string): readonly T[] {
  if (items.some((item, index) => item.id !== index))
    throw new PayloadError(`${what} are not numbered in order`);
  return items;
}

function nanoseconds(value: unknown): bigint {
  return typeof value === "string" && /^\d{1,19}$/.test(value) ? BigInt(value) : 0n;
}
