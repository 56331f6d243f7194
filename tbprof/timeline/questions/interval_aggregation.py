"""One pass over the events of tracks, in the order of time: nesting, self times, sums, unions."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tbprof.base.records import dataclass
from tbprof.kernels.codes import MOST_DEPTHS
from tbprof.kernels.timeline.row_heaps import EventRows, RowHeads
from tbprof.kernels.timeline.row_sums import GroupSums, TrackSpans, add_tracks, merge_spans
from tbprof.kernels.timeline.track_rows import TrackBounds, bound_rows
from tbprof.timeline.model.open_timeline import OpenTimeline, TimelineColumns

# Deeper events are treated as outermost ones: the layout has no more rows, either.
_MOST_NESTED = 1 << 14


@dataclass(frozen=True, slots=True)
class Bounds:
    """The events of some tracks [t] that may overlap a range, and the space for their unions.

    Track i has the rows `first_row[i]:last_row[i]`; on row r these are events
    `low[k]:high[k]`, k counting the rows of all the tracks from `first[i]` on. The `spans[i]` spans
    of time in which the track was busy are written into `begin_ps` and `end_ps`, which have room
    for `events[i]` of them from `room[i]` on.
    """

    first_row: NDArray[np.int64]
    last_row: NDArray[np.int64]
    first: NDArray[np.int64]
    low: NDArray[np.int64]
    high: NDArray[np.int64]
    events: NDArray[np.int64]
    room: NDArray[np.int64]
    spans: NDArray[np.int64]
    begin_ps: NDArray[np.int64]
    end_ps: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class IntervalSums:
    """By group: events, their time within the range, and the least and the greatest per event.

    `self_ps` is the part of the time that no child covers.
    """

    count: NDArray[np.int64]
    total_ps: NDArray[np.int64]
    self_ps: NDArray[np.int64]
    least_ps: NDArray[np.int64]
    most_ps: NDArray[np.int64]

    def add(self, other: IntervalSums) -> None:
        """Adds the sums over other events."""
        self.count[:] += other.count
        self.total_ps[:] += other.total_ps
        self.self_ps[:] += other.self_ps
        np.minimum(self.least_ps, other.least_ps, out=self.least_ps)
        np.maximum(self.most_ps, other.most_ps, out=self.most_ps)


def find_bounds(
    open_timeline: OpenTimeline, tracks: NDArray[np.int64], begin: int, end: int
) -> Bounds:
    """The ranges of events that overlap [begin, end); takes time per row, not per event."""
    columns = open_timeline.columns
    first_row = columns.first_row[tracks]
    last_row = columns.first_row[tracks + 1]
    first = np.append(0, np.cumsum(last_row - first_row)).astype(np.int64)
    low = np.empty(int(first[-1]), np.int64)
    high = np.empty_like(low)
    events = np.zeros(tracks.size, np.int64)
    bounds = TrackBounds(first_row, last_row, first, low, high, events)
    bound_rows(event_rows(columns), begin, end, bounds)
    room = np.append(0, np.cumsum(events)).astype(np.int64)
    # Memory that is not written costs nothing: most events are nested in others.
    spans = (np.empty(int(room[-1]), np.int64), np.empty(int(room[-1]), np.int64))
    count = np.zeros(tracks.size, np.int64)
    return Bounds(first_row, last_row, first, low, high, events, room, count, *spans)


def sum_tracks(
    columns: TimelineColumns,
    bounds: Bounds,
    tracks: NDArray[np.int64],
    of_type: NDArray[np.int32],
    groups: int,
    begin: int,
    end: int,
) -> IntervalSums:
    """IntervalSums over some of the tracks of `bounds` (rows of it), whose spans are filled in.

    The group of an event is `of_type` [types + 1] of its type, or its track if that is empty.
    """
    sums = IntervalSums(
        np.zeros(groups, np.int64),
        np.zeros(groups, np.int64),
        np.zeros(groups, np.int64),
        np.full(groups, np.iinfo(np.int64).max),
        np.full(groups, np.iinfo(np.int64).min),
    )
    add_tracks(
        event_rows(columns), tracks, begin, end,
        TrackBounds(
            bounds.first_row, bounds.last_row, bounds.first, bounds.low, bounds.high, bounds.events
        ),
        TrackSpans(bounds.room, bounds.spans, bounds.begin_ps, bounds.end_ps),
        GroupSums(
            of_type, sums.count, sums.total_ps, sums.self_ps, sums.least_ps, sums.most_ps,
        ),
        row_heads(), np.empty((_MOST_NESTED, 4), np.int64),
    )  # fmt: skip
    return sums


def union_ps(bounds: Bounds) -> int:
    """How long any of the tracks was busy, from the spans of each."""
    tracks = bounds.spans.size
    heap, head, head_ps = (np.empty(tracks, np.int64) for _ in range(3))
    first = bounds.room[:-1]
    return int(
        merge_spans(
            first, first + bounds.spans, bounds.begin_ps, bounds.end_ps, heap, head, head_ps
        )
    )


def event_rows(columns: TimelineColumns) -> EventRows:
    """The columns for kernels."""
    return EventRows(
        columns.row_first, columns.start_ps, columns.duration_ps, columns.type, columns.crowded
    )


def row_heads() -> RowHeads:
    """Room for the next event of each row of a track."""
    return RowHeads(*np.empty((4, MOST_DEPTHS), np.int64))
