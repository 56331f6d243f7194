/** The state of the viewer, shared by the canvas and the panes around it. */
import { computed, signal } from "@preact/signals";
import { NO_FILTER, type Search } from "../protocol/questions";
import { groupHosts } from "./lanes/groups";
import { layOutLanes } from "./lanes/lane_layout";
import {
  type ColorBy,
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

export type TimelineModel = Readonly<ReturnType<typeof createModel>>;

export function createModel(api: ViewApi) {
  const hosts = signal<readonly HostTimeline[]>([]);
  const arrangement = signal(NO_ARRANGEMENT);
  const groups = computed(() => groupHosts(hosts.value));
  const idle = signal<ReadonlySet<string>>(new Set());
  return {
    api,
    hosts,
    groups,
    /** The whole time range of all hosts. */
    extent: computed(() => findExtent(hosts.value)),
    /** The time of the common axis that is shown as 0, as on all other pages. */
    zero: computed(() => recordingStart(hosts.value)),
    view: signal<Span>({ from: 0, to: 1 }),
    /** Size of the canvas in CSS pixels, without the axis. */
    width: signal(0),
    height: signal(0),
    arrangement,
    /** Keys of tracks and counters that have nothing to show in the view. */
    idle,
    lanes: computed(() => layOutLanes(groups.value, arrangement.value, idle.value)),
    /** CSS pixels of the lanes that are not pinned. */
    scrollTop: signal(0),
    tool: signal<PointerTool>("select"),
    color: signal<ColorBy>("name"),
    filter: signal(NO_FILTER),
    search: signal<Search | null>(null),
    selection: signal<EventSelection | null>(null),
    range: signal<TimeRange | null>(null),
    marks: signal<readonly Mark[]>([]),
    /** Views that came to rest, the latest last. */
    places: signal<readonly ViewPlace[]>([]),
    flows: signal<readonly FlowArrow[]>([]),
    hover: signal<Hover | null>(null),
    hoverValue: signal<HoverValue | null>(null),
    /**
     * By lane key, for visible lanes: the busy share of collapsed lanes in the view, 0–1, and the value
     * at the top of counters.
     */
    figures: signal<ReadonlyMap<string, number>>(new Map()),
    drawn: signal({ entries: 0, events: 0, strips: 0 }),
    /** Whether data in view is still loading: at once, and delayed for display. */
    isWaiting: signal(true),
    isLoading: signal(false),
    /** The error of the last request for data in view; null if it succeeded. */
    error: signal<unknown>(null),
    /** Why the server rejects the filter; null if it accepts it. */
    filterError: signal<unknown>(null),
    /** Incremented when the file has changed since the index was read; the page then reloads it. */
    stale: signal(0),
    /** Incremented by the key "/", which focuses the search box. */
    searchAsked: signal(0),
    /** Incremented with every range that the user draws; its statistics are then requested. */
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
