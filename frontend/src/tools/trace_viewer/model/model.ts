/** The state of the viewer, shared by the canvas and the panes around it. */
import { computed, type ReadonlySignal, type Signal, signal } from "@preact/signals";
import { type EventFilter, NO_FILTER, type Search } from "../protocol/questions";
import { groupHosts, type HostGroup } from "./lanes/groups";
import { type LaneList, layOutLanes } from "./lanes/lane_layout";
import {
  type Arrangement,
  type ColorBy,
  type DrawnCounts,
  type EventSelection,
  type FlowArrow,
  type HostTimeline,
  type Hover,
  type HoverValue,
  type Mark,
  NO_ARRANGEMENT,
  type PointerTool,
  type Span,
  type TimeRange,
  type ViewApi,
  type ViewPlace,
} from "./types";

export interface TimelineModel {
  readonly api: ViewApi;
  readonly hosts: Signal<readonly HostTimeline[]>;
  readonly groups: ReadonlySignal<readonly HostGroup[]>;
  /** The whole time range of all hosts. */
  readonly extent: ReadonlySignal<Span>;
  /** The time of the common axis that is shown as 0, as on all other pages. */
  readonly zero: ReadonlySignal<number>;
  readonly view: Signal<Span>;
  /** Size of the canvas in CSS pixels, without the axis. */
  readonly width: Signal<number>;
  readonly height: Signal<number>;
  readonly arrangement: Signal<Arrangement>;
  /** Keys of tracks and counters that have nothing to show in the view. */
  readonly idle: Signal<ReadonlySet<string>>;
  readonly lanes: ReadonlySignal<LaneList>;
  /** CSS pixels of the lanes that are not pinned. */
  readonly scrollTop: Signal<number>;
  readonly tool: Signal<PointerTool>;
  readonly color: Signal<ColorBy>;
  readonly filter: Signal<EventFilter>;
  readonly search: Signal<Search | null>;
  readonly selection: Signal<EventSelection | null>;
  readonly range: Signal<TimeRange | null>;
  readonly marks: Signal<readonly Mark[]>;
  /** Views that came to rest, the latest last. */
  readonly places: Signal<readonly ViewPlace[]>;
  readonly flows: Signal<readonly FlowArrow[]>;
  readonly hover: Signal<Hover | null>;
  readonly hoverValue: Signal<HoverValue | null>;
  /**
   * By lane key, for visible lanes: the busy share of collapsed lanes in the view, 0–1, and the value
   * at the top of counters.
   */
  readonly figures: Signal<ReadonlyMap<string, number>>;
  readonly drawn: Signal<DrawnCounts>;
  /** Whether data in view is still loading: at once, and delayed for display. */
  readonly isWaiting: Signal<boolean>;
  readonly isLoading: Signal<boolean>;
  /** The error of the last request for data in view; null if it succeeded. */
  readonly error: Signal<unknown>;
  /** Why the server rejects the filter; null if it accepts it. */
  readonly filterError: Signal<unknown>;
  /** Incremented when the file has changed since the index was read; the page then reloads it. */
  readonly stale: Signal<number>;
  /** Incremented by the key "/", which focuses the search box. */
  readonly searchAsked: Signal<number>;
  /** Incremented with every range that the user draws; its statistics are then requested. */
  readonly rangeDrawn: Signal<number>;
}

export function createModel(api: ViewApi): TimelineModel {
  const hosts = signal<readonly HostTimeline[]>([]);
  const arrangement = signal(NO_ARRANGEMENT);
  const groups = computed(() => groupHosts(hosts.value));
  const idle = signal<ReadonlySet<string>>(new Set());
  return {
    api,
    hosts,
    groups,
    extent: computed(() => findExtent(hosts.value)),
    zero: computed(() => recordingStart(hosts.value)),
    view: signal<Span>({ from: 0, to: 1 }),
    width: signal(0),
    height: signal(0),
    arrangement,
    idle,
    lanes: computed(() => layOutLanes(groups.value, arrangement.value, idle.value)),
    scrollTop: signal(0),
    tool: signal<PointerTool>("select"),
    color: signal<ColorBy>("name"),
    filter: signal(NO_FILTER),
    search: signal<Search | null>(null),
    selection: signal<EventSelection | null>(null),
    range: signal<TimeRange | null>(null),
    marks: signal<readonly Mark[]>([]),
    places: signal<readonly ViewPlace[]>([]),
    flows: signal<readonly FlowArrow[]>([]),
    hover: signal<Hover | null>(null),
    hoverValue: signal<HoverValue | null>(null),
    figures: signal<ReadonlyMap<string, number>>(new Map()),
    drawn: signal({ entries: 0, events: 0, strips: 0 }),
    isWaiting: signal(true),
    isLoading: signal(false),
    error: signal<unknown>(null),
    filterError: signal<unknown>(null),
    stale: signal(0),
    searchAsked: signal(0),
    rangeDrawn: signal(0),
  };
}

/** The time of the common axis at which the recording of the earliest host began. */
function recordingStart(hosts: readonly HostTimeline[]): number {
  const known = hosts.filter(({ events }) => events.originNs > 0n);
  const first = known.reduce<HostTimeline | undefined>(
    (least, host) => (least && least.events.originNs <= host.events.originNs ? least : host),
    undefined,
  );
  return (first ?? hosts[0])?.offsetPs ?? 0;
}

function findExtent(hosts: readonly HostTimeline[]): Span {
  const indexes = hosts.flatMap(({ events, derived, offsetPs }) =>
    // The time span of a part without events is meaningless.
    [events, ...(derived && derived.events > 0 ? [derived] : [])].map(({ beginPs, endPs }) => ({
      from: beginPs + offsetPs,
      to: endPs + offsetPs,
    })),
  );
  if (indexes.length === 0) return { from: 0, to: 1 };
  const from = Math.min(...indexes.map((span) => span.from));
  return { from, to: Math.max(from + 1, ...indexes.map((span) => span.to)) };
}
