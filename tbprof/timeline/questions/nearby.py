"""The events around an event on its track: the enclosing ones, the enclosed ones, its children.

Of the events of a track, ordered by (start, longest first), an event is enclosed by those before it
that are in progress when it starts and contain all of it; the last of these is its parent.
"""

from __future__ import annotations

import numpy as np

from tbprof.base.records import dataclass
from tbprof.kernels.timeline.event_children import walk_children
from tbprof.timeline.model.open_timeline import OpenTimeline
from tbprof.timeline.questions.interval_aggregation import event_rows, row_heads

# In a row with overlapping events: how many before an event may enclose it.
_MOST_BACK = 1 << 14


@dataclass(frozen=True, slots=True)
class Children:
    """The direct children of an event: the first one's id, -1 for none, and the covered time."""

    first: int
    count: int
    covered_ps: int


def enclosing(open_timeline: OpenTimeline, event: int) -> list[int]:
    """The ids of the events that enclose an event, outermost first."""
    columns = open_timeline.columns
    row = open_timeline.row(event)
    start = int(columns.start_ps[event])
    end = start + int(columns.duration_ps[event])
    rows: list[int] = []
    for above in range(open_timeline.track(row).first_row, row + 1):
        first = int(columns.row_first[above])
        last = int(columns.row_first[above + 1])
        if above == row:
            if not columns.crowded[row]:
                break
            last = event
        position = first + int(np.searchsorted(columns.start_ps[first:last], start, "right"))
        begin = max(first, position - (_MOST_BACK if columns.crowded[above] else 1))
        starts = columns.start_ps[begin:position]
        ends = starts + columns.duration_ps[begin:position]
        holds = (ends >= end) & (ends > start)
        rows += (np.flatnonzero(holds) + begin).tolist()
    length = columns.duration_ps
    rows.sort(
        key=lambda candidate: (int(columns.start_ps[candidate]), -int(length[candidate]), candidate)
    )
    return rows


def enclosed(open_timeline: OpenTimeline, event: int) -> list[tuple[int, int]]:
    """Ranges [first, last) of the ids on deeper rows of the events that lie within an event.

    Rows on which events overlap are left out.
    """
    columns = open_timeline.columns
    row = open_timeline.row(event)
    track = open_timeline.track(row)
    start = int(columns.start_ps[event])
    end = start + int(columns.duration_ps[event])
    ranges = []
    for below in range(row + 1, track.first_row + track.rows):
        if columns.crowded[below]:
            continue
        first, last = int(columns.row_first[below]), int(columns.row_first[below + 1])
        starts = columns.start_ps[first:last]
        low = first + int(np.searchsorted(starts, start, "left"))
        high = first + int(np.searchsorted(starts, end, "left"))
        if high > low and columns.start_ps[high - 1] + columns.duration_ps[high - 1] > end:
            high -= 1
        if high > low:
            ranges.append((low, high))
    return ranges


def children(open_timeline: OpenTimeline, event: int) -> Children:
    """The direct children of an event, in time proportional to their number."""
    columns = open_timeline.columns
    row = open_timeline.row(event)
    track = open_timeline.track(row)
    triple = np.array([-1, 0, 0], np.int64)
    walk_children(
        event_rows(columns), event, row, track.first_row, track.first_row + track.rows,
        row_heads(), triple,
    )  # fmt: skip
    return Children(*triple.tolist())
