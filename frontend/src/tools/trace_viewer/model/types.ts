/** What the page knows and shows, as plain types. */
import type { CounterPoints, Part, TimelineIndex } from "../protocol/payload";
import type { EventFilter, Move, Search, TileQuery } from "../protocol/questions";

export interface CounterValue {
  readonly last: number;
  /** What it went through in the bucket of the instant; both `last` where it held that. */
  readonly min: number;
  readonly max: number;
}

/** One host of the view. */
export interface HostTimeline {
  readonly host: string;
  /** Its place among the hosts of the view. */
  readonly at: number;
  /** A time of the host + this = a time of the common axis. */
  readonly offsetPs: number;
  readonly events: TimelineIndex;
  /** null until it is loaded, and where there is nothing to derive. */
  readonly derived: TimelineIndex | null;
}

/** ps on the common axis, which begins where the earliest host's events do. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

export interface EventKey {
  /** Place among the hosts of the view. */
  readonly host: number;
  readonly part: Part;
  readonly id: number;
}

/** Where an event is, in times of its host. */
export interface EventPlace {
  readonly row: number;
  readonly startPs: number;
  readonly durationPs: number;
  readonly name: string;
}

/** `place` as soon as it is known: a click knows it at once, an address does not. */
export interface EventSelection extends EventKey {
  readonly place: EventPlace | null;
}

export interface Hover extends EventKey, EventPlace {
  readonly category: number;
  /**
   * How many events the bucket stands for (the place is then their first begin and last end); 1
   * for an event of its own.
   */
  readonly count: number;
  /** Times may be too small by this much, as the picture rounds them; 0 where they are exact. */
  readonly roundingPs: number;
  /** The event itself, of a bucket the longest, once the pointer has rested; null until then. */
  readonly event: EventPlace | null;
  /** Where the pointer is: CSS pixels from the top left of the canvas, its time axis included. */
  readonly x: number;
  readonly y: number;
}

/** A counter under the pointer. */
export interface HoverValue {
  readonly host: number;
  readonly name: string;
  readonly unit: string;
  /** Of the common axis. */
  readonly at: number;
  readonly value: CounterValue;
  /** As of Hover. */
  readonly x: number;
  readonly y: number;
}

/** A part of the axis: `tracks` null for the timing tool, else the keys of the lanes in the box. */
export interface TimeRange extends Span {
  readonly tracks: readonly string[] | null;
}

/** An instant (from = to) or a part of the axis with a text of the user's. */
export interface Mark extends Span {
  readonly label: string;
}

export interface FlowEnd {
  readonly id: number;
  readonly row: number;
  readonly startPs: number;
  readonly durationPs: number;
}

/** Between two events of the selection's host and part. */
export interface FlowArrow {
  readonly kind: string;
  readonly from: FlowEnd;
  readonly to: FlowEnd;
}

export type PointerTool = "select" | "pan" | "zoom" | "timing";

export const COLORS = ["name", "category", "step", "group"] as const;
export type ColorBy = (typeof COLORS)[number];

/** How lanes are arranged: keys of groups.ts. */
export interface Arrangement {
  readonly collapsed: ReadonlySet<string>;
  readonly hidden: ReadonlySet<string>;
  /** Tracks and counters above all others, in this order. */
  readonly pinned: readonly string[];
  /** Of what shares a parent, these come first, in this order. */
  readonly order: readonly string[];
  /** Tracks whose name has this text, in any case. */
  readonly trackFilter: string;
  /** Whether tracks without events in the view have lanes of their own. */
  readonly isIdleShown: boolean;
}

export const NO_ARRANGEMENT: Arrangement = {
  collapsed: new Set(),
  hidden: new Set(),
  pinned: [],
  order: [],
  trackFilter: "",
  isIdleShown: false,
};

/** In the picture now. */
export interface Drawn {
  /** Rectangles: events of their own, and buckets. */
  readonly entries: number;
  /** Events that they stand for. */
  readonly events: number;
  /** Hosts and sections that are folded into a strip of their busy share. */
  readonly strips: number;
}

/** The routes that follow the view. Errors as of api/errors.ts, "stale" among them. */
export interface ViewApi {
  readonly tiles: (
    query: TileQuery,
    /** Ascending. */
    rows: readonly number[],
    filter: EventFilter,
    signal: AbortSignal,
  ) => Promise<ArrayBuffer>;
  readonly counters: (
    query: TileQuery,
    counters: readonly number[],
    signal: AbortSignal,
  ) => Promise<ReadonlyMap<number, CounterPoints>>;
  readonly busy: (
    query: Omit<TileQuery, "level" | "from" | "to">,
    fromPs: number,
    toPs: number,
    buckets: number,
    sections: readonly number[],
    signal: AbortSignal,
  ) => Promise<ReadonlyMap<number, Float32Array>>;
  /** Per row, begin and end in turns, in order. */
  readonly matchOverview: (
    query: TileQuery,
    rows: readonly number[],
    search: Search,
    signal: AbortSignal,
  ) => Promise<ReadonlyMap<number, Float64Array>>;
  /** `id` itself where `move` is null; null where there is no such event. */
  readonly place: (
    source: Omit<TileQuery, "level" | "from" | "to">,
    id: number,
    move: Move | null,
    signal: AbortSignal,
  ) => Promise<{ readonly id: number; readonly place: EventPlace } | null>;
}

/** Least and largest value that a counter has shown so far. */
export interface CounterScale {
  readonly least: number;
  readonly most: number;
}

/** A view that came to rest, with the range that was chosen then. */
export interface Place {
  readonly view: Span;
  readonly range: TimeRange | null;
}
