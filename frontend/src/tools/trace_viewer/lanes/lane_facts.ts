/** Facts about a lane that are known without its events: busy share, event counts. */
import { formatBytes, formatCount, formatRatio, plural, significant } from "../../../base/format";
import { bytes, ratio } from "../../../base/units";
import type { CounterItem, HostGroup, SectionGroup, TrackItem } from "../model/lanes/groups";
import type { Lane } from "../model/lanes/lane_layout";
import type { HostTimeline } from "../model/types";

/** The label of a line that represents idle tracks. */
const MOST_NAMED = 20;

/** Pinned tracks have two lanes, so their ids differ. */
export function laneId(lane: Lane): string {
  return lane.isPinned ? `pin ${lane.key}` : lane.key;
}

export function laneName(lane: Lane): string {
  switch (lane.kind) {
    case "host":
      return lane.host.host;
    case "section":
      return lane.section.label;
    case "idle":
      return `${plural(lane.items.length, "track")} without events here`;
    case "track":
      return lane.item.track.name;
    case "counter":
      return lane.item.counter.name;
  }
}

function itemName(item: TrackItem | CounterItem): string {
  return "track" in item ? item.track.name : item.counter.name;
}

/** The origin of a pinned track, since others may have the same name; "" for other lanes. */
export function pinnedFrom(lane: Lane, isOneOfSeveral: boolean): string {
  if (!lane.isPinned || (lane.kind !== "track" && lane.kind !== "counter")) return "";
  const section = lane.section.label.replace(/^\/device:/, "").replace(/ \(.*\)$/, "");
  return isOneOfSeveral ? `${section} · ${lane.host.host}` : section;
}

/** 0–1 of the host's time; NaN if unknown. */
export function busyShare(lane: Lane): number {
  switch (lane.kind) {
    case "host":
      return hostShare(lane.group);
    case "section":
      return sectionShare(lane.section, lane.host);
    case "track":
      return lane.item.track.busyPs / spanOf(lane.host);
    case "idle":
    case "counter":
      return Number.NaN;
  }
}

/** The mean over the host's devices, or over its other sections if it has none. */
function hostShare({ sections, host }: HostGroup): number {
  const shares = busySections(sections).map((section) => sectionShare(section, host));
  return shares.reduce((sum, share) => sum + share, 0) / shares.length;
}

/** The sections that determine the busy share of a host. */
export function busySections(sections: readonly SectionGroup[]): readonly SectionGroup[] {
  const known = sections.filter((section) => section.ids.events >= 0 && section.events > 0);
  const devices = known.filter((section) => section.kind === "device");
  return devices.length > 0 ? devices : known;
}

export function formatShare(share: number): string {
  return Number.isFinite(share) ? formatRatio(ratio(Math.min(share, 1))) : "";
}

/** Formats a value of a counter: "13.1 GiB", "40.0 %", "1,200 items". */
export function formatValue(value: number, unit: string): string {
  if (unit === "bytes") return formatBytes(bytes(value));
  const text = Number.isInteger(value) ? formatCount(value) : significant(value);
  return unit === "" ? text : `${text} ${unit}`;
}

const KINDS: Readonly<Record<string, string>> = {
  steps: "steps",
  modules: "executions of programs",
  ops: "framework ops",
  xla_ops: "XLA ops",
  scopes: "name scopes",
  source: "source lines",
  stream: "GPU stream",
  thread: "thread",
  async: "asynchronous work",
};

/** One or two lines for tooltips and screen readers. */
export function describeLane(lane: Lane): string {
  const share = busyShare(lane);
  const busy = Number.isFinite(share) ? `busy ${formatShare(share)} of the trace` : "";
  switch (lane.kind) {
    case "host":
      return join([plural(lane.group.sections.length, "section"), busy]);
    case "section": {
      const { tracks, counters, events, name, label } = lane.section;
      const of = name === label ? "" : name;
      return join([
        of,
        plural(tracks.length + counters.length, "track"),
        plural(events, "event"),
        busy,
      ]);
    }
    case "idle":
      return lane.items.map(itemName).slice(0, MOST_NAMED).join(", ");
    case "track": {
      const { kind, events, isDerived } = lane.item.track;
      const origin = isDerived || lane.item.part === "derived" ? "derived from other events" : "";
      return join([KINDS[kind] ?? "", plural(events, "event"), busy, origin]);
    }
    case "counter": {
      const { unit, points } = lane.item.counter;
      return join([unit, `counter of ${plural(points, "value")}`]);
    }
  }
}

function sectionShare(section: SectionGroup, host: HostTimeline): number {
  return section.busyPs / spanOf(host);
}

function spanOf({ events }: HostTimeline): number {
  return events.endPs - events.beginPs;
}

function join(parts: readonly string[]): string {
  return parts.filter(Boolean).join(" · ");
}
