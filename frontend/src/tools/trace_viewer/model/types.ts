/** The types of the viewer's state. */
import type { CounterPoints, Part, TimelineIndex } from "../protocol/payload";
import type { EventFilter, Move, Search, TileQuery } from "../protocol/questions";

export interface CounterValue {
  readonly last: number;
  /** The range of its values in the bucket at the instant; both equal `last` if it was constant. */
  readonly min: number;
  readonly max: number;
}

/** One host of the view. */
export interface HostTimeline {
  readonly host: string;
  /** Its index among the hosts of the view. */
  readonly at: number;
  /** A time of the host + this = a time of the common axis. */
  readonly offsetPs: number;
  readonly events: TimelineIndex;
  /** null until it is loaded, or if nothing is derived. */
  readonly derived: TimelineIndex | null;
}

/** ps on the common axis, which starts at the earliest event of all hosts. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

export interface EventKey {
  /** Index among the hosts of the view. */
  readonly host: number;
  readonly part: Part;
  readonly id: number;
}

/** The position of an event, in times of its host. */
export interface EventPlace {
  readonly row: number;
  readonly startPs: number;
  readonly durationPs: number;
  readonly name: string;
}

/** `place` is known at once after a click, but not after opening an address. */
export interface EventSelection extends EventKey {
  readonly place: EventPlace | null;
}

export interface Hover extends EventKey, EventPlace {
  readonly category: number;
  /**
   * The number of events in the bucket, whose place is from the start of the first to the end of the
   * last; 1 for a single event.
   */
  readonly count: number;
  /** Times may be too small by this much, since the picture rounds them; 0 if they are exact. */
  readonly roundingPs: number;
  /** The event, or the longest of a bucket, after the pointer has rested; null until then. */
  readonly event: EventPlace | null;
  /** The pointer in CSS pixels from the top left of the canvas, which includes the time axis. */
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

/** A range of the axis: `tracks` is null for the timing tool, else the lane keys in the box. */
export interface TimeRange extends Span {
  readonly tracks: readonly string[] | null;
}

/** An instant (from = to) or a range of the axis with a label by the user. */
export interface Mark extends Span {
  readonly label: string;
}

export interface FlowEnd {
  readonly id: number;
  readonly row: number;
  readonly startPs: number;
  readonly durationPs: number;
}

/** A flow between two events of the selection's host and part. */
export interface FlowArrow {
  readonly kind: string;
  readonly from: FlowEnd;
  readonly to: FlowEnd;
}

export type PointerTool = "select" | "pan" | "zoom" | "timing";

export const COLORS = ["name", "category", "step", "group"] as const;
export type ColorBy = (typeof COLORS)[number];

/** The arrangement of lanes, by keys of groups.ts. */
export interface Arrangement {
  readonly collapsed: ReadonlySet<string>;
  readonly hidden: ReadonlySet<string>;
  /** Tracks and counters above all others, in this order. */
  readonly pinned: readonly string[];
  /** Among lanes with the same parent, these come first, in this order. */
  readonly order: readonly string[];
  /** Only tracks whose name contains this text, ignoring case. */
  readonly trackFilter: string;
  /** Whether tracks without events in the view have their own lanes. */
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

/** Counts of what is drawn. */
export interface DrawnCounts {
  /** Rectangles: single events and buckets. */
  readonly entries: number;
  /** Events that they represent. */
  readonly events: number;
  /** Hosts and sections that are drawn as busy strips. */
  readonly strips: number;
}

/** Requests that depend on the view. Errors as in api/errors.ts, including "stale". */
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
  /** Per row, alternating starts and ends, in order. */
  readonly matchOverview: (
    query: TileQuery,
    rows: readonly number[],
    search: Search,
    signal: AbortSignal,
  ) => Promise<ReadonlyMap<number, Float64Array>>;
  /** The event `id` if `move` is null; null if there is no such event. */
  readonly place: (
    source: Omit<TileQuery, "level" | "from" | "to">,
    id: number,
    move: Move | null,
    signal: AbortSignal,
  ) => Promise<{ readonly id: number; readonly place: EventPlace } | null>;
}

/** The range of a counter's values seen so far. */
export interface CounterScale {
  readonly least: number;
  readonly most: number;
}

/** A view that came to rest, with the range selected at that time. */
export interface ViewPlace {
  readonly view: Span;
  readonly range: TimeRange | null;
}
