"""The depth of every event on its track, and the events of a track in the order of its rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tbprof.base.columns import empty_column
from tbprof.base.records import dataclass
from tbprof.kernels.codes import DEPTH_BLOCK, MOST_DEPTHS
from tbprof.kernels.timeline.track_layout import (
    OpenDepths,
    TrackFacts,
    count_depths,
    find_depths,
    scatter_column,
    scatter_types,
)


@dataclass(frozen=True, slots=True)
class Layout:
    """The rows of the events of some tracks.

    By track, `rows` is the number of its rows, `busy_ps` how long at least one of its events is in
    progress, `end_ps` when the last ends, and `too_deep` how many events are on the last row
    without a deeper one. `row_first` [all rows + 1] are the events of each row. `depth` [n] is by
    track and time.
    """

    rows: NDArray[np.int32]
    busy_ps: NDArray[np.int64]
    end_ps: NDArray[np.int64]
    too_deep: NDArray[np.int64]
    row_first: NDArray[np.int64]
    depth: NDArray[np.uint16]


def lay_out(
    begins: NDArray[np.int64],
    ends: NDArray[np.int64],
    start_ps: NDArray[np.int64],
    duration_ps: NDArray[np.int64],
) -> Layout:
    """The depths of the events of some tracks: `begins[t]:ends[t]` of the columns, by start.

    Of equal starts the longest comes first. An event is on the first depth that is free when it
    starts, below the deepest event that is in progress and contains it, ends included. So
    rows nest, and events of one row never overlap, even where a line's events overlap in part:

        |aaaaaaaa.dd        depth 0: a, d      b and a overlap in part: b goes where there is room
        |..bbbbbbbb    ->   depth 1: b         c lies within both of them, so below both
        |..ccc              depth 2: c         d starts when a has ended, while b goes on

    Events without a duration take no room. There are at most `MOST_DEPTHS` rows: deeper events
    overlap on the last one.
    """
    total = int((ends - begins).sum())
    rows = np.empty(begins.size, np.int32)
    busy_ps, end_ps, too_deep = np.empty((3, begins.size), np.int64)
    depth = empty_column(total, np.uint16)
    blocks = np.empty((2, MOST_DEPTHS // DEPTH_BLOCK), np.int64)
    open_timeline = OpenDepths(np.empty(MOST_DEPTHS, np.int64), *blocks)
    facts = TrackFacts(rows, busy_ps, end_ps, too_deep)
    find_depths(begins, ends, start_ps, duration_ps, depth, facts, open_timeline)
    row_first = np.zeros(int(rows.sum()) + 1, np.int64)
    count_depths(begins, ends, rows, depth, row_first)
    return Layout(rows, busy_ps, end_ps, too_deep, np.cumsum(row_first), depth)


def by_row(
    layout: Layout,
    begins: NDArray[np.int64],
    ends: NDArray[np.int64],
    column: NDArray[np.int64],
    ordered: NDArray[np.int64],
) -> None:
    """Fills `ordered` with a column of the events, by row and time.

    `begins` and `ends` are indices into `column`, as for `lay_out`. One column at a time, so that
    each can be freed before the next one takes memory.
    """
    place = layout.row_first[:-1].copy()
    scatter_column(begins, ends, layout.rows, layout.depth, place, column, ordered)


def types_by_row(
    layout: Layout,
    begins: NDArray[np.int64],
    ends: NDArray[np.int64],
    type_: NDArray[np.int32],
    type_of: NDArray[np.int32],
    ordered: NDArray[np.int32],
) -> None:
    """As `by_row` with `type_of` [types + 1] of the types: those of the timeline, last none."""
    place = layout.row_first[:-1].copy()
    scatter_types(begins, ends, layout.rows, layout.depth, place, type_, type_of, ordered)
