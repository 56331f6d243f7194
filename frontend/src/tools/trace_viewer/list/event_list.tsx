/** The events of one track, or search hits, as a table for keyboards and screen readers. */
import { useSignal, useSignalEffect } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { describeProblem } from "../../../api/errors";
import { plural } from "../../../base/format";
import { bindKeys } from "../../../base/keys";
import { foldName, readableName } from "../../../base/names";
import { SmallButton } from "../../../widgets/controls/buttons";
import type { Option } from "../../../widgets/overlays/listbox";
import { Picker } from "../../../widgets/overlays/picker";
import { type RowColumn, RowList } from "../../../widgets/row_list/row_list";
import { Name } from "../../../widgets/text/name";
import type { HostGroup } from "../model/lanes/groups";
import type { TimelineModel } from "../model/model";
import { formatInstant, formatPs } from "../model/time";
import type { Span } from "../model/types";
import { indexOf, type Page } from "../page/page";
import { choose } from "../page/selection/selected_event";
import { createActions } from "../pointer/actions";
import { listKeys } from "../pointer/keys";
import type { Direction } from "../pointer/motion";
import { isStale } from "../protocol/api";
import type { Category } from "../protocol/payload";
import { HitsPane } from "../search/results_pane";
import type { SearchResults } from "../search/search_results";
import { listStage, turned } from "./list_stage";
import { type ListedEvent, type ListedTrack, listEvents } from "./listed_events";

const SETTLE_MS = 150;
const HITS = "hits";
const MOST_DRAWN = 2000;

export function EventList({ page, hits }: { page: Page; hits: SearchResults }) {
  const { model, listed } = page;
  const groups = model.groups.value;
  const { hidden } = model.arrangement.value;
  const tracks = useMemo(() => listedTracks(groups, hidden), [groups, hidden]);
  const search = model.search.value;
  // A track with events here; it does not change when the view moves.
  const first = useMemo(() => firstIn(tracks, model.view.peek()), [tracks]);
  const lane = chooseLane(page, tracks, first);
  const title = lane ? lane.item.track.name || "(no name)" : "Search hits";
  const place = lane ? placeOf(lane, model) : "";
  useEffect(() => bindKeys(listKeys(createActions(listStage(model)))), [model]);
  const { hits: loaded, count } = hits.state.value;
  useEffect(() => {
    if (lane === null) model.drawn.value = { entries: loaded.length, events: count, strips: 0 };
  }, [model, lane === null, loaded, count]);
  return (
    <section class="trace-list" aria-label="Events as a table">
      <header class="trace-list-head">
        <Picker
          value={
            <>
              {title.slice(0, 120)}
              {place === "" ? null : <span class="muted"> · {place}</span>}
            </>
          }
          title={`Listed: ${title.slice(0, 120)}${place === "" ? "" : `, ${place}`}`}
          label="Tracks"
          placeholder="Search tracks"
          options={() => trackOptions(tracks, lane, search !== null, model)}
          choose={(key) => {
            listed.value = key;
          }}
          width={460}
        />
        <ViewButtons model={model} />
      </header>
      {lane ? (
        <TrackEvents key={lane.key} page={page} lane={lane} />
      ) : (
        <HitsPane page={page} hits={hits} />
      )}
    </section>
  );
}

/** All visible tracks with events, including those in collapsed sections. */
function listedTracks(
  groups: readonly HostGroup[],
  hidden: ReadonlySet<string>,
): readonly ListedTrack[] {
  return groups
    .filter((group) => !hidden.has(group.key))
    .flatMap(({ host, sections }) =>
      sections
        .filter((section) => !hidden.has(section.key))
        .flatMap((section) =>
          section.tracks
            .filter(({ key, track }) => track.events > 0 && !hidden.has(key))
            .map((item) => ({ key: item.key, host, section, item })),
        ),
    );
}

/** The section of a track, and its host if there are several. */
function placeOf({ section, host }: ListedTrack, { hosts }: TimelineModel): string {
  return hosts.value.length === 1 ? section.label : `${section.label} · ${host.host}`;
}

/** The first track with events in the view, judged by its first and last event. */
function firstIn(tracks: readonly ListedTrack[], { from, to }: Span): ListedTrack | null {
  const isIn = ({ host, item }: ListedTrack) =>
    item.track.beginPs + host.offsetPs < to && item.track.endPs + host.offsetPs > from;
  return tracks.find(isIn) ?? tracks[0] ?? null;
}

/** The chosen track; else that of the selected event, the search hits (null), or `first`. */
function chooseLane(
  { model, listed }: Page,
  tracks: readonly ListedTrack[],
  first: ListedTrack | null,
): ListedTrack | null {
  const search = model.search.value;
  if (listed.value === HITS && search !== null) return null;
  const chosen = tracks.find((lane) => lane.key === listed.value);
  if (chosen) return chosen;
  const place = model.selection.value?.place;
  const { host, part } = model.selection.value ?? {};
  const selected =
    place &&
    tracks.find(
      ({ host: of, item }) =>
        of.at === host &&
        item.part === part &&
        place.row >= item.track.row &&
        place.row < item.track.row + item.track.rows,
    );
  return selected ?? (search === null ? first : null);
}

function TrackEvents({ page, lane }: { page: Page; lane: ListedTrack }) {
  const { model } = page;
  const { host, item } = lane;
  const events = useSignal<readonly ListedEvent[] | null>(null);
  const error = useSignal<unknown>(null);
  const { key } = lane;
  const wanted = useSignal(lane);
  // The file may have changed; a different track is a different table.
  if (wanted.peek().host !== host) wanted.value = lane;
  useSignalEffect(() => {
    const view = model.view.value;
    const of = wanted.value;
    model.filter.value;
    const abort = new AbortController();
    const timer = setTimeout(
      () =>
        listEvents(model, of, view, abort.signal).then(
          (listed) => {
            if (abort.signal.aborted) return;
            events.value = listed;
            model.drawn.value = {
              entries: listed.length,
              events: listed.reduce((sum, event) => sum + event.count, 0),
              strips: 0,
            };
            error.value = null;
          },
          (caught: unknown) => {
            if (abort.signal.aborted) return;
            if (isStale(caught)) model.stale.value++;
            error.value = caught;
          },
        ),
      SETTLE_MS,
    );
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  });
  const list = events.value ?? [];
  const zero = model.zero.value;
  const selection = model.selection.value;
  const selected =
    selection?.host === host.at && selection.part === item.part
      ? list.findIndex((event) => event.id === selection.id)
      : -1;
  const columns = useMemo(
    () => eventColumns(list, lane, zero, indexOf(host, item.part)?.categories ?? []),
    [list, lane, zero],
  );
  if (error.value !== null) {
    const { message, hint } = describeProblem(error.value);
    return (
      <p class="trace-note trace-error" role="alert">
        {message} {hint}
      </p>
    );
  }
  const total = list.reduce((sum, event) => sum + event.count, 0);
  return (
    <>
      <p class="trace-note" role="status">
        {events.value === null
          ? "Loading events"
          : `${plural(total, "event")} in view${
              total > list.length
                ? `, in ${plural(list.length, "row")}: zoom in to list them apart`
                : ""
            }`}
      </p>
      <RowList
        label={`Events of ${item.track.name}`}
        columns={columns}
        length={list.length}
        selected={selected}
        choose={(row) => {
          const event = list[row];
          page.tab.value = "event";
          choose(page, { host: host.at, part: item.part, id: event.id }, event);
        }}
        empty={
          events.value === null
            ? "Loading events"
            : "The track has no events in this part of the trace."
        }
        of={key}
        hasFocus={page.listed.value !== ""}
      />
    </>
  );
}

function eventColumns(
  list: readonly ListedEvent[],
  { host, item }: ListedTrack,
  zero: number,
  categories: readonly Category[],
): RowColumn[] {
  return [
    {
      id: "at",
      title: "At",
      width: 160,
      isNumber: true,
      cell: (row) => {
        const { startPs, roundingPs } = list[row];
        return formatInstant(Math.round(startPs) + host.offsetPs - zero, roundingPs);
      },
    },
    {
      id: "name",
      title: "Name",
      cell: (row) => {
        const { name, count } = list[row];
        const text = foldName(readableName(name)) || "(no name)";
        return count > 1 ? (
          <span class="trace-several">
            {plural(count, "event")}, the longest: <Name text={text} full={name} />
          </span>
        ) : (
          <Name text={text} full={name} />
        );
      },
    },
    {
      id: "duration",
      title: "Duration",
      width: 110,
      isNumber: true,
      cell: (row) => {
        const { durationPs, roundingPs } = list[row];
        return durationPs < roundingPs ? `< ${formatPs(roundingPs)}` : formatPs(durationPs);
      },
    },
    {
      id: "depth",
      title: "Depth",
      width: 70,
      isNumber: true,
      cell: (row) => String(list[row].row - item.track.row + 1),
    },
    {
      id: "category",
      title: "Category",
      width: 160,
      cell: (row) => categories[list[row].category]?.name ?? "",
    },
  ];
}

function trackOptions(
  tracks: readonly ListedTrack[],
  lane: ListedTrack | null,
  hasSearch: boolean,
  model: TimelineModel,
): Option[] {
  const isLong = tracks.length > MOST_DRAWN;
  const options = tracks.map((track) => ({
    id: track.key,
    text: `${track.item.track.name} ${track.section.label} ${track.host.host}`,
    isSelected: track === lane,
    // With very many tracks, most are never seen.
    content: isLong ? undefined : (
      <>
        <span class="option-main">{track.item.track.name.slice(0, 200) || "(no name)"}</span>
        <span class="option-note">
          {placeOf(track, model)} · {plural(track.item.track.events, "event")}
        </span>
      </>
    ),
  }));
  const hits = { id: HITS, text: "Search hits", isSelected: lane === null };
  return hasSearch ? [hits, ...options] : options;
}

const TURNS: readonly (readonly [direction: Direction, label: string, key: string])[] = [
  ["left", "◂ Earlier", "A"],
  ["right", "Later ▸", "D"],
  ["in", "Zoom in", "W"],
  ["out", "Zoom out", "S"],
];

/** Buttons that move and zoom the view, which determines the listed part of the track. */
function ViewButtons({ model }: { model: TimelineModel }) {
  const { from, to } = model.view.value;
  return (
    <>
      <span class="joined">
        {TURNS.map(([direction, label, key]) => (
          <SmallButton
            key={direction}
            title={`${label.replace(/ ?[◂▸] ?/, "")} (${key})`}
            aria-keyshortcuts={key}
            onClick={() => {
              model.view.value = turned(model, direction);
            }}
          >
            {label}
          </SmallButton>
        ))}
      </span>
      <span class="muted">
        {formatPs(to - from)} from {formatInstant(Math.round(from - model.zero.value))}
      </span>
    </>
  );
}
