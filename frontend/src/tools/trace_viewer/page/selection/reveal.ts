/** Scrolls to an event, opening whatever hides it, and selects it. */
import { batch } from "@preact/signals";
import { sectionKey, trackKey } from "../../model/lanes/groups";
import { ROW_HEIGHT } from "../../model/lanes/lane_layout";
import type { TimelineModel } from "../../model/model";
import type { EventKey, EventPlace } from "../../model/types";
import { bringIntoView, zoomInto } from "../../model/view/view_math";
import type { Track } from "../../protocol/payload";
import { indexOf } from "../page";

/** `isZoomed`: zooms until the event is wide enough to read. */
export function goTo(
  model: TimelineModel,
  key: EventKey,
  place: EventPlace,
  isZoomed = false,
): void {
  const host = model.hosts.peek()[key.host];
  if (!host) return;
  const { host: at, part, id } = key;
  const { row, startPs, durationPs, name } = place;
  const from = startPs + host.offsetPs;
  batch(() => {
    model.selection.value = { host: at, part, id, place: { row, startPs, durationPs, name } };
    const bring = isZoomed ? zoomInto : bringIntoView;
    const span = { from, to: from + durationPs };
    model.view.value = bring(model.view.peek(), span, model.extent.peek());
    revealRow(model, key, row);
  });
}

/** Opens and scrolls the lanes so that `row` is on the screen. */
export function revealRow(model: TimelineModel, key: Omit<EventKey, "id">, row: number): void {
  const top = openRow(model, key, row);
  if (top !== null) scrollTo(model, top);
}

/** Opens what hides a row. Returns its top among the scrolled lanes, or null if it is pinned. */
function openRow(model: TimelineModel, key: Omit<EventKey, "id">, row: number): number | null {
  const host = model.hosts.peek()[key.host];
  const index = indexOf(host, key.part);
  const track = index && trackOfRow(index.tracks, row);
  if (!host || !index || !track) return null;
  const lane = trackKey(host.host, key.part, track.id);
  const section = index.sections[track.section];
  const { pinned, trackFilter, collapsed, hidden } = model.arrangement.peek();
  if (pinned.includes(lane)) return null;
  wake(model, lane);
  const above = [`h@${host.host}`, sectionKey(host.host, section?.name ?? "")];
  const isFiltered =
    trackFilter !== "" && !track.name.toLowerCase().includes(trackFilter.trim().toLowerCase());
  const isFolded = above.some((key) => collapsed.has(key));
  const isHidden = [...above, lane].some((key) => hidden.has(key));
  if (isFiltered || isFolded || isHidden) {
    model.arrangement.value = {
      ...model.arrangement.peek(),
      collapsed: without(collapsed, above),
      hidden: without(hidden, [...above, lane]),
      trackFilter: isFiltered ? "" : trackFilter,
    };
  }
  const shown = model.lanes.value.byKey.get(lane);
  if (!shown) return null;
  return shown.top + (shown.kind === "track" ? (row - track.row) * shown.rowHeight : 0);
}

/** Gives a track its own lane, even if it has no events in the view. */
function wake(model: TimelineModel, key: string): void {
  model.idle.value = without(model.idle.peek(), [key]);
}

/**
 * Keeps the selected row on the screen when the timeline shrinks. Returns a function that ends it.
 */
export function keepSelectionInSight(model: TimelineModel): () => void {
  let before = model.height.peek();
  return model.height.subscribe((height) => {
    const was = before;
    before = height;
    const row = height < was ? selectedTop(model) : null;
    if (row === null) return;
    const { pinnedHeight } = model.lanes.peek();
    const y = row - model.scrollTop.peek();
    if (y >= 0 && y <= was - pinnedHeight) scrollTo(model, row);
  });
}

/** The top of the selected row among the scrolled lanes, or null if it is not one of them. */
function selectedTop(model: TimelineModel): number | null {
  const selection = model.selection.peek();
  const host = selection ? model.hosts.peek()[selection.host] : undefined;
  const tracks = (selection && indexOf(host, selection.part)?.tracks) ?? [];
  const track = selection?.place ? trackOfRow(tracks, selection.place.row) : null;
  if (!selection?.place || !host || !track) return null;
  const lane = model.lanes.peek().byKey.get(trackKey(host.host, selection.part, track.id));
  if (lane?.kind !== "track") return null;
  return lane.top + (selection.place.row - track.row) * lane.rowHeight;
}

/** The share of the height kept above a linked row, so that its neighbors are visible too. */
const ABOVE = 1 / 3;

/** Opens what hides these rows, and scrolls the first into the upper half of the screen. */
export function revealRows(
  model: TimelineModel,
  rows: readonly (Omit<EventKey, "id"> & { readonly row: number })[],
): void {
  batch(() => {
    for (const place of rows) openRow(model, place, place.row);
    const top = rows.length > 0 ? openRow(model, rows[0], rows[0].row) : null;
    if (top === null) return;
    const room = model.height.peek() - model.lanes.peek().pinnedHeight;
    const at = top - model.scrollTop.peek();
    if (at < 0 || at > room / 2) model.scrollTop.value = Math.max(top - room * ABOVE, 0);
  });
}

/** Opens the sections that contain a track or counter, and scrolls to it. */
export function revealLane(model: TimelineModel, key: string): void {
  for (const group of model.groups.peek()) {
    for (const section of group.sections) {
      if (![...section.tracks, ...section.counters].some((item) => item.key === key)) continue;
      const above = [group.key, section.key];
      wake(model, key);
      const { collapsed, hidden } = model.arrangement.peek();
      model.arrangement.value = {
        ...model.arrangement.peek(),
        collapsed: without(collapsed, above),
        hidden: without(hidden, [...above, key]),
      };
      const lane = model.lanes.value.byKey.get(key);
      if (lane) scrollTo(model, lane.top);
      return;
    }
  }
}

/** Scrolls no further than needed to show a row whose top is at `top` of the scrolled lanes. */
export function scrollTo(model: TimelineModel, top: number, height = ROW_HEIGHT): void {
  const { pinnedHeight } = model.lanes.peek();
  const room = model.height.peek() - pinnedHeight;
  const current = model.scrollTop.peek();
  if (top < current) model.scrollTop.value = Math.max(top - ROW_HEIGHT, 0);
  else if (top + height > current + room)
    model.scrollTop.value = Math.max(top + height - room + ROW_HEIGHT, 0);
}

/** The track that contains `row`. Tracks are in order of their rows. */
export function trackOfRow(tracks: readonly Track[], row: number): Track | null {
  let low = 0;
  let high = tracks.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (tracks[middle].row + tracks[middle].rows <= row) low = middle + 1;
    else high = middle;
  }
  const track = tracks[low];
  return track && row >= track.row ? track : null;
}

function without(set: ReadonlySet<string>, keys: readonly string[]): ReadonlySet<string> {
  return keys.some((key) => set.has(key))
    ? new Set([...set].filter((key) => !keys.includes(key)))
    : set;
}
