/** Requests which tracks have nothing to show in the view, whenever the view comes to rest. */
import { effect } from "@preact/signals";
import { counterKey, trackKey } from "../model/lanes/groups";
import { lanesInView } from "../model/lanes/lane_layout";
import type { TimelineModel } from "../model/model";
import { selectedTrack } from "../model/selected_track";
import type { HostTimeline, Span } from "../model/types";
import { fetchInUse, isStale } from "../protocol/api";
import { PARTS, type Part } from "../protocol/payload";
import { indexOf, type Page, partOf } from "./page";

/** The view rests when it has not moved for this time; lanes must not change while it moves. */
const REST_MS = 300;

/** Keeps `model.idle` up to date; `known` is called with every response. Returns a stop function. */
export function followIdle(page: Page, known: () => void): () => void {
  const { model } = page;
  let shown: readonly HostTimeline[] = [];
  return effect(() => {
    const hosts = model.hosts.value;
    const view = model.view.value;
    if (hosts.length === 0) return;
    const aborted = new AbortController();
    // A view set by the page or by a link rests from the start.
    const isNew = hosts !== shown;
    const ask = async () => {
      try {
        const idle = await findIdle(page, hosts, view, aborted.signal);
        if (!aborted.signal.aborted) replaceIdle(model, idle);
      } catch (error) {
        if (aborted.signal.aborted) return;
        // On failure, all tracks have their own lanes.
        if (isStale(error)) model.stale.value++;
        replaceIdle(model, new Set());
      }
      shown = hosts;
      known();
    };
    const timer = setTimeout(() => void ask(), isNew ? 0 : REST_MS);
    return () => {
      clearTimeout(timer);
      aborted.abort();
    };
  });
}

async function findIdle(
  page: Page,
  hosts: readonly HostTimeline[],
  view: Span,
  signal: AbortSignal,
): Promise<ReadonlySet<string>> {
  const parts = hosts.flatMap((host) =>
    PARTS.map((part) => idleOf(page, host, part, view, signal)),
  );
  return new Set((await Promise.all(parts)).flat());
}

/** The keys of tracks and counters of one part that have nothing to show in the view. */
async function idleOf(
  page: Page,
  host: HostTimeline,
  part: Part,
  view: Span,
  signal: AbortSignal,
): Promise<string[]> {
  const index = indexOf(host, part);
  const of = partOf(page.run, host, part);
  if (!index || !of) return [];
  const span = { fromPs: view.from - host.offsetPs, toPs: view.to - host.offsetPs };
  const { tracks, counters } = await fetchInUse(of, span, signal);
  return [
    ...index.tracks
      .filter(({ id }) => !tracks.has(id))
      .map(({ id }) => trackKey(host.host, part, id)),
    ...index.counters
      .filter(({ id }) => !counters.has(id))
      .map(({ id }) => counterKey(host.host, part, id)),
  ];
}

/** Visible lanes keep their position; the track of the selected event stays. */
function replaceIdle(model: TimelineModel, keys: ReadonlySet<string>): void {
  const selected = selectedKey(model);
  const idle = new Set([...keys].filter((key) => key !== selected));
  const before = model.idle.peek();
  if (idle.size === before.size && [...idle].every((key) => before.has(key))) return;
  const onScreen = lanesInView(
    model.lanes.peek(),
    model.scrollTop.peek(),
    model.height.peek(),
  ).filter(({ lane }) => !lane.isPinned);
  model.idle.value = idle;
  if (model.scrollTop.peek() === 0) return;
  const { byKey, pinnedHeight } = model.lanes.peek();
  const anchor =
    onScreen.find(({ lane }) => lane.key === selected && byKey.has(lane.key)) ??
    onScreen.find(({ lane }) => byKey.has(lane.key));
  if (!anchor) return;
  const { top } = byKey.get(anchor.lane.key)!;
  model.scrollTop.value = Math.max(top + pinnedHeight - anchor.y, 0);
}

/** The key of the selected event's track, or "". */
function selectedKey(model: TimelineModel): string {
  const selected = selectedTrack(model);
  if (!selected) return "";
  const { source, track } = selected;
  return trackKey(source.host.host, source.part, track.id);
}
