"""Turns unlaid tracks into timelines: laid out in rows, with levels of detail."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import groupby

import numpy as np

from tbprof.base.errors import Notice
from tbprof.base.process.parallel import in_parallel
from tbprof.base.values import joined
from tbprof.events.space import Space
from tbprof.kernels.codes import MOST_DEPTHS
from tbprof.timeline.build.busy import find_busy
from tbprof.timeline.build.counters import join_series, plan_counters
from tbprof.timeline.model.layout import Layout, by_row, lay_out, types_by_row
from tbprof.timeline.model.levels import PIECE, find_levels
from tbprof.timeline.model.store import Timeline, Track
from tbprof.timeline.model.unlaid_tracks import UnlaidEvents, UnlaidTrack, UnlaidTracks

# Tracks that are laid out together: so that none is too short to be worth a call.
_MOST_TRACKS = 4096


def build_timeline(space: Space, unlaid: UnlaidTracks, *, has_counters: bool = True) -> Timeline:
    """The timeline of tracks, which are consumed: columns are freed once they are in rows.

    Without `has_counters` it has none. Tracks stay in the order of `unlaid`.
    """
    find_counters = plan_counters(space, unlaid) if has_counters else partial(join_series, [])
    busy = find_busy(unlaid)
    heads = [
        (
            track.section,
            track.name,
            track.kind,
            track.plane,
            track.line_id,
            track.events,
            track.is_derived,
        )
        for track in unlaid.tracks
    ]
    batches = _batches(unlaid)
    sizes = [sum(track.events for track in batch) for batch in batches]
    firsts = np.cumsum([0, *sizes]).tolist()
    total = firsts[-1]
    columns = UnlaidEvents(
        np.empty(total, np.int64),
        np.empty(total, np.int64),
        np.empty(total, np.int32),
        np.empty(total, np.int64),
    )
    # Stats of counters are read while tracks are laid out. Long batches come first, so that threads
    # finish at about the same time.
    order = sorted(range(len(batches)), key=lambda number: -sizes[number])
    laid_out: list[Layout | None] = [None] * len(batches)

    def place(number: int) -> None:
        batch, batches[number] = batches[number], []
        laid_out[number] = _place(batch, columns, slice(firsts[number], firsts[number + 1]))

    with ThreadPoolExecutor(1) as aside:
        counting = aside.submit(find_counters)
        in_parallel(place, order)
        counters = counting.result()
    layout = _join([laid for laid in laid_out if laid is not None], firsts)
    row_first = layout.row_first
    start_ps, duration_ps, type_ = columns.start_ps, columns.duration_ps, columns.type
    begin_ps = int(start_ps[row_first[:-1]].min()) if total else 0
    return Timeline(
        sections=unlaid.sections,
        tracks=_tracks(heads, layout),
        types=unlaid.types,
        row_first=row_first,
        start_ps=start_ps,
        duration_ps=duration_ps,
        type=type_,
        source=columns.source,
        levels=find_levels(row_first, begin_ps, start_ps, duration_ps, type_),
        counters=counters.counters,
        counter_time_ps=counters.time_ps,
        counter_value=counters.value,
        counter_low=counters.low,
        counter_high=counters.high,
        busy_first=busy.first,
        busy_start_ps=busy.start_ps,
        busy_end_ps=busy.end_ps,
        busy_before_ps=busy.before_ps,
        begin_ps=begin_ps,
        end_ps=int(layout.end_ps.max()) if total else 0,
        origin_ns=space.start_ns,
        in_file=unlaid.in_file,
        counted=unlaid.counted,
        unplaced=unlaid.unplaced,
        initial_window=unlaid.initial_window,
        notices=_too_deep(heads, layout),
    )


# A track without its columns: section, name, kind, plane, line_id, events, is_derived.
_Head = tuple[int, str, str, int, int, int, bool]


def _batches(unlaid: UnlaidTracks) -> list[list[UnlaidTrack]]:
    """Neighbouring tracks with the same columns and types, many short ones together.

    They are removed from `unlaid`, so columns live as long as the batches that are laid out.
    """
    batches: list[list[UnlaidTrack]] = []
    for _, tracks in groupby(unlaid.tracks, lambda track: (id(track.columns), id(track.type_of))):
        batch: list[UnlaidTrack] = []
        events = 0
        for track in tracks:
            if batch and (events + track.events > PIECE or len(batch) == _MOST_TRACKS):
                batches.append(batch)
                batch, events = [], 0
            batch.append(track)
            events += track.events
        batches.append(batch)
    unlaid.tracks.clear()
    return batches


def _place(batch: list[UnlaidTrack], ordered: UnlaidEvents, part: slice) -> Layout:
    """The layout of a batch, which is consumed; its rows are that `part` of `ordered`.

    Column by column: each can be freed once it is in rows.
    """
    begins = np.array([track.first for track in batch], np.int64)
    ends = np.array([track.last for track in batch], np.int64)
    columns, type_of = batch[0].columns, batch[0].type_of
    batch.clear()
    start, duration, type_, source = (
        columns.start_ps,
        columns.duration_ps,
        columns.type,
        columns.source,
    )
    del columns
    layout = lay_out(begins, ends, start, duration)
    by_row(layout, begins, ends, start, ordered.start_ps[part])
    del start
    by_row(layout, begins, ends, duration, ordered.duration_ps[part])
    del duration
    by_row(layout, begins, ends, source, ordered.source[part])
    del source
    types_by_row(layout, begins, ends, type_, type_of, ordered.type[part])
    return layout


def _join(layouts: list[Layout], firsts: list[int]) -> Layout:
    """The layouts of all batches as one, without depths; batch i begins at event `firsts[i]`."""
    rows = [layout.row_first[1:] + first for layout, first in zip(layouts, firsts, strict=False)]
    return Layout(
        joined(layout.rows for layout in layouts).astype(np.int32),
        joined(layout.busy_ps for layout in layouts),
        joined(layout.end_ps for layout in layouts),
        joined(layout.too_deep for layout in layouts),
        np.concatenate([np.zeros(1, np.int64), *rows]),
        np.empty(0, np.uint16),
    )


def _tracks(heads: list[_Head], layout: Layout) -> list[Track]:
    first_row = np.cumsum(layout.rows) - layout.rows
    columns = (first_row.tolist(), layout.rows.tolist(), layout.busy_ps.tolist())
    return [
        Track(*head[:5], row, rows, *head[5:], busy_ps)
        for head, row, rows, busy_ps in zip(heads, *columns, strict=True)
    ]


def _too_deep(heads: list[_Head], layout: Layout) -> tuple[Notice, ...]:
    """Which tracks have more events at once than rows."""
    return tuple(
        Notice(
            "too_deep",
            f"line {heads[track][1][:80]!r}: more than {MOST_DEPTHS:,} events overlap; "
            f"{layout.too_deep[track]:,} lie on the last row and may cover each other",
        )
        for track in np.flatnonzero(layout.too_deep).tolist()
    )
