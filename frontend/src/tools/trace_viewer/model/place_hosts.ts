/** The hosts of a view on one time axis. */
import type { TimelineIndex } from "../protocol/payload";
import type { HostTimeline } from "./types";

/**
 * The common axis begins with the earliest event, so that numbers tell times apart as well as they
 * can, however long before it a recording began. Times of hosts without a clock begin together.
 */
export function placeHosts(
  indexes: readonly { readonly events: TimelineIndex; readonly derived: TimelineIndex | null }[],
): HostTimeline[] {
  const known = indexes.map(({ events }) => events.originNs).filter((origin) => origin > 0n);
  const [first] = known.sort((a, b) => (a < b ? -1 : 1));
  const placed = indexes.map(({ events, derived }, at) => ({
    host: events.host,
    at,
    offsetPs: events.originNs > 0n ? Number(events.originNs - first) * 1000 : 0,
    events,
    derived,
  }));
  // The earliest event is at 0.
  const begin = Math.min(...placed.map(({ events, offsetPs }) => events.beginPs + offsetPs));
  return placed.map((host) => ({ ...host, offsetPs: host.offsetPs - begin }));
}
