/** Requests that depend on the view. */
import type { ViewApi } from "../model/types";
import {
  fetchBusy,
  fetchCounters,
  fetchEvent,
  fetchMatchOverview,
  fetchTiles,
} from "../protocol/api";

export function createViewApi(run: string): ViewApi {
  return {
    tiles: ({ level, from, to, ...part }, rows, filter, signal) =>
      fetchTiles({ run, ...part }, { level, from, to }, rows, filter, signal),
    counters: ({ level, from, to, ...part }, counters, signal) =>
      fetchCounters({ run, ...part }, { level, from, to }, counters, signal),
    busy: (part, fromPs, toPs, buckets, sections, signal) =>
      fetchBusy({ run, ...part }, { fromPs, toPs }, buckets, sections, signal),
    matchOverview: ({ level, from, to, ...part }, rows, search, signal) =>
      fetchMatchOverview({ run, ...part }, search, { level, from, to }, rows, signal),
    place: async (part, id, move, signal) => {
      const event = await fetchEvent({ run, ...part }, id, move, signal);
      if (event === null) return null;
      const { row, startPs, durationPs, name } = event;
      return { id: event.id, place: { row, startPs, durationPs, name } };
    },
  };
}
