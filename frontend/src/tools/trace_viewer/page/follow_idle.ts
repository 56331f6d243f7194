/** Which tracks have nothing to show in the view: asked for whenever the view has come to rest. */
import { effect } from "@preact/signals";
import { counterKey, trackKey } from "../model/groups";
import { lanesInView } from "../model/lane_layout";
import type { TimelineModel } from "../model/model";
import { selectedTrack } from "../model/selected_track";
import type { HostTimeline, Span } from "../model/types";
import { fetchInUse, isStale } from "../protocol/api";
import { PARTS, type Part } from "../protocol/payload";
import { indexOf, type Page, partOf } from "./page";

/** The view rests when it has not moved for this time: lanes do not come and go on the way. */
const REST_MS = 300;

/** Keeps `model.idle` equal to the view; `known` is called with every answer. Returns what ends that. */
export function followIdle(page: Page, known: () => void): () => void {
  const { model } = page;
  let shown: readonly HostTimeline[] = [];
  return effect(() => {
    const hosts = model.hosts.value;
    const view = model.view.value;
    if (hosts.length === 0) return;
    const aborted = new AbortController();
    // Where the page or a link has put the view, it rests from the beginning.
    const isNew = hosts !== shown;
    const ask = async () => {
      try {
        const idle = await findIdle(page, hosts, view, aborted.signal);
        if (!aborted.signal.aborted) replaceIdle(model, idle);
      } catch (error) {
        if (aborted.signal.aborted) return;
        // All tracks have their lanes then.
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

/** The keys of the tracks and counters of one part that have nothing to show in the view. */
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

/** What is on the screen stays in place; the selected event keeps its track. */
function replaceIdle(model: TimelineModel, found: ReadonlySet<string>): void {
  const selected = selectedKey(model);
  const idle = new Set([...found].filter((key) => key !== selected));
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

/** The key of the track on which the selected event is, "" where there is none. */
function selectedKey(model: TimelineModel): string {
  const selected = selectedTrack(model);
  if (!selected) return "";
  const { source, track } = selected;
  return trackKey(source.host.host, source.part, track.id);
}
