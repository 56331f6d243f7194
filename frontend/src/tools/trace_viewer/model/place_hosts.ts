/** Places the hosts of a view on a common time axis. */
import type { TimelineIndex } from "../protocol/payload";
import type { HostTimeline } from "./types";

/**
 * The common axis begins at the earliest event, which preserves numeric precision even if the
 * recording began much earlier. Hosts without a clock all start at the same time.
 */
export function placeHosts(
  indexes: readonly { readonly events: TimelineIndex; readonly derived: TimelineIndex | null }[],
): HostTimeline[] {
  const known = indexes.map(({ events }) => events.originNs).filter((origin) => origin > 0n);
  const [first] = known.sort((a, b) => (a < b ? -1 : 1));
  const placed = indexes.map(({ events, derived }, index) => ({
    host: events.host,
    at: index,
    offsetPs: events.originNs > 0n ? Number(events.originNs - first) * 1000 : 0,
    events,
    derived,
  }));
  // The earliest event is at 0.
  const begin = Math.min(...placed.map(({ events, offsetPs }) => events.beginPs + offsetPs));
  return placed.map((host) => ({ ...host, offsetPs: host.offsetPs - begin }));
}
