"""Derived tracks, as threads of a Chrome trace beside those of the file."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from tbprof.events.strings import Strings
from tbprof.kernels.export.event_json import EventColumns
from tbprof.timeline.export.chrome_process import EventWriter, TimeRange, as_items, overlaps
from tbprof.timeline.export.chrome_tracks import ProcessThreads
from tbprof.timeline.export.event_tables import named_texts, no_stats, stat_columns, stat_names
from tbprof.timeline.model.store import Timeline, Track


def derived_text(
    timeline: Timeline,
    threads_of: Callable[[str], ProcessThreads],
    span: TimeRange | None,
    offset_ps: int,
) -> Iterator[tuple[bytes, int]]:
    """(text, number of events) for the events that overlap the span.

    `threads_of` returns the threads of a section by its name, and is only called for sections with
    an event. Times are shifted by `offset_ps`.
    """
    writer = EventWriter(
        0, stat_names(Strings(), np.zeros(0, np.int32), {}), named_texts(timeline.types)
    )
    for section, timeline_section in enumerate(timeline.sections):
        tracks = [track for track in timeline.tracks if track.section == section]
        of_section = [
            _events(timeline, track, index, span, offset_ps) for index, track in enumerate(tracks)
        ]
        if not any(events.type.size for events in of_section):
            continue
        threads = threads_of(timeline_section.name).of_tracks(tracks)
        yield as_items(threads.events(np.array([events.type.size > 0 for events in of_section]))), 0
        for events in of_section:
            stats = stat_columns(no_stats(events.type.size))
            yield from writer.write(events, stats, threads.tracks)


def _events(
    timeline: Timeline, track: Track, number: int, span: TimeRange | None, offset_ps: int
) -> EventColumns:
    """The events of a track: outer ones before inner ones, each depth in order of time."""
    rows = timeline.row_first[[track.first_row, track.first_row + track.rows]]
    part = slice(int(rows[0]), int(rows[1]))
    start = timeline.start_ps[part] + offset_ps
    duration = np.asarray(timeline.duration_ps[part])
    chosen = np.flatnonzero(overlaps(start, duration, span))
    return EventColumns(
        np.asarray(timeline.type[part])[chosen],
        start[chosen],
        duration[chosen],
        np.full(chosen.size, number, np.int64),
    )
