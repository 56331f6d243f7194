"""The events of one plane as Chrome trace JSON, batch by batch of lines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from tbprof.base import names
from tbprof.base.records import dataclass
from tbprof.events.space import Events, Plane, Space
from tbprof.kernels.export.event_json import EventColumns, Tracks, TypeTexts, write_events
from tbprof.kernels.export.stat_json import StatColumns, StatNames
from tbprof.kernels.xplane.passes import Writing
from tbprof.timeline.build.device_times import on_device_clock
from tbprof.timeline.build.lanes import count_lanes, find_lanes
from tbprof.timeline.export.chrome_tracks import ProcessThreads
from tbprof.timeline.export.event_tables import stat_columns, stat_names, type_texts
from tbprof.timeline.export.event_text import WORDS

# How many events have their stats read at a time, and how many bytes are written at a time: both
# stay in the processor's cache.
_PIECE = 1 << 13
_ROOM = 1 << 20
# Lines are read in groups with about this many events.
_EVENTS_AT_ONCE = 1 << 18
_LINES_AT_ONCE = 4096

_FLOW = "flow"
_BOTH = 3  # directions


@dataclass(frozen=True, slots=True)
class TimeRange:
    """The time from `from_ps` to `to_ps`, both included, on the document's axis."""

    from_ps: int
    to_ps: int


def event_pieces(
    events: Events, span: TimeRange | None, offset_ps: int
) -> Iterator[NDArray[np.int64]]:
    """The rows of the events that overlap the span after a shift by `offset_ps`, some at a time."""
    for begin in range(0, len(events), _PIECE):
        rows = np.arange(begin, min(begin + _PIECE, len(events)))
        if span is not None:
            start = events.start_ps[rows] + offset_ps
            rows = rows[overlaps(start, events.duration_ps[rows], span)]
        if rows.size:
            yield rows


def overlaps(
    start: NDArray[np.int64], duration: NDArray[np.int64], span: TimeRange | None
) -> NDArray[np.bool_]:
    """[n] whether an event overlaps the span; all do without a span."""
    if span is None:
        return np.ones(start.size, np.bool_)
    return (start <= span.to_ps) & (start + duration >= span.from_ps)


def batches(plane: Plane) -> Iterator[tuple[range, Events]]:
    """The lines of a plane by row, and their events: many small lines at a time.

    All at once on TPUs, whose lines share a clock.
    """
    if plane.name.startswith(names.TPU_PREFIX):
        yield range(plane.lines.id.size), on_device_clock(plane.events())
    else:
        yield from _by_lines(plane)


def has_events(space: Space) -> bool:
    """Whether there is any event with a position; stops reading as soon as one is found."""
    return any(len(events) for plane in space.planes for _, events in _by_lines(plane))


def _by_lines(plane: Plane) -> Iterator[tuple[range, Events]]:
    lines = plane.lines.id.size
    begin, size = 0, 1
    while begin < lines:
        rows = range(begin, min(begin + size, lines))
        events = plane.events(rows)
        yield rows, events
        begin = rows.stop
        if len(events) > _EVENTS_AT_ONCE:
            size = max(1, size // 2)
        elif 2 * len(events) < _EVENTS_AT_ONCE:
            size = min(2 * size, _LINES_AT_ONCE)


class EventWriter:
    """Writes events of one plane or timeline. `scope` separates its flows from other hosts'."""

    def __init__(self, scope: int, names_: StatNames, types: TypeTexts) -> None:
        self._scope = scope
        self._names = names_
        self._types = types
        self._stamps = np.zeros(names_.purpose.size, np.int64)
        self._progress = Writing()
        self._out = np.empty(_ROOM, np.uint8)

    def write(
        self, events: EventColumns, stats: StatColumns, tracks: Tracks
    ) -> Iterator[tuple[bytes, int]]:
        """(text, number of events): each event preceded by a comma."""
        progress = self._progress
        progress.at = 0
        while progress.at < events.type.size:
            before = progress.at
            write_events(
                progress, self._out, self._scope, events, stats, self._names, self._types, tracks,
                WORDS, self._stamps,
            )  # fmt: skip
            if progress.written:
                yield self._out[: progress.written].tobytes(), progress.at - before
            if progress.needed > self._out.size:  # an event with names of megabytes
                self._out = np.empty(progress.needed, np.uint8)


class Process:
    """Writes the events of one plane.

    `links` are additional purposes of stats. Times are shifted by `offset_ps`.
    """

    def __init__(
        self,
        plane: Plane,
        threads: ProcessThreads,
        scope: int,
        links: Mapping[str, int],
        offset_ps: int,
    ) -> None:
        self._plane = plane
        self._threads = threads
        self._offset_ps = offset_ps
        stats = plane.types.stat_rows()
        keys = stat_names(plane.strings, stats.names, links)
        self._writer = EventWriter(scope, keys, type_texts(plane, stats, keys))

    def write(
        self, lines: range, events: Events, span: TimeRange | None
    ) -> Iterator[tuple[bytes, int]]:
        """(text, number of events) for the events of `lines` that overlap the span.

        Each event, and the metadata of each thread, is preceded by a comma.
        """
        lane = find_lanes(events)
        lanes = count_lanes(events, lane)
        if (lanes > 1).any():
            lane = find_lanes(events, self._is_apart(events, lanes))
            lanes = count_lanes(events, lane)
        threads = self._threads.of_lines(lines, events.lines, lanes)
        first = np.cumsum(lanes) - lanes

        def track(rows: NDArray[np.int64]) -> NDArray[np.int64]:
            line = np.searchsorted(events.first_event, rows, side="right") - 1
            return first[line] + lane[rows]

        used = np.zeros(len(threads.thread), np.bool_)
        for rows in event_pieces(events, span, self._offset_ps):
            used[track(rows)] = True
        yield as_items(threads.events(used)), 0
        for rows in event_pieces(events, span, self._offset_ps):
            columns = EventColumns(
                events.type[rows],
                events.start_ps[rows] + self._offset_ps,
                events.duration_ps[rows],
                track(rows),
            )
            stats = stat_columns(self._plane.stat_rows(events.source[rows]))
            yield from self._writer.write(columns, stats, threads.tracks)

    def _is_apart(self, events: Events, lanes: NDArray[np.int64]) -> NDArray[np.bool_]:
        """[n] whether an event is asynchronous, for lines that need several lanes.

        Events marked as asynchronous, with an id, need no lane: they are written as such.
        """
        apart = np.zeros(len(events), np.bool_)
        if names.ASYNC not in self._plane.stat_names or _FLOW not in self._plane.stat_names:
            return apart
        rows = np.flatnonzero(np.repeat(lanes > 1, np.diff(events.first_event)))
        flow_stats = self._plane.event_stats(events.source[rows], [names.ASYNC, _FLOW])
        is_both = (flow_stats[_FLOW].integers() & _BOTH) == _BOTH
        apart[rows] = is_both & (flow_stats[names.ASYNC].integers() != 0)
        return apart


def as_items(events: Iterable[bytes]) -> bytes:
    """The events as text, each preceded by a comma."""
    return b"".join(b",\n" + event for event in events)
