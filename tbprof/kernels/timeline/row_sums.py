"""Sums over a range of rows."""

import cython
from cython.cimports.tbprof.kernels.codes import LEAST
from cython.cimports.tbprof.kernels.searches import first_not_below
from cython.cimports.tbprof.kernels.timeline.row_heaps import EventRows, RowHeads, sink, sink_row
from cython.cimports.tbprof.kernels.types import Int32s, Ints, OutInts, OutIntTable, i64


@cython.final
@cython.cclass
class TrackBounds:
    """Which events of tracks may overlap a window, and where their unions go.

    As timeline.sums.Bounds has them, of which `low`, `high` and `events` are filled in by
    `bound_rows`, `spans`, `begin_ps` and `end_ps` by `add_tracks`.
    """

    first_row: Ints
    last_row: Ints
    first: Ints
    low: OutInts
    high: OutInts
    events: OutInts

    def __init__(
        self, first_row: Ints, last_row: Ints, first: Ints, low: OutInts, high: OutInts,
        events: OutInts,
    ) -> None:  # fmt: skip
        self.first_row = first_row
        self.last_row = last_row
        self.first = first
        self.low = low
        self.high = high
        self.events = events


@cython.final
@cython.cclass
class TrackSpans:
    """The spans of time in which tracks were busy: `spans` of each, from `room` on."""

    room: Ints
    spans: OutInts
    begin_ps: OutInts
    end_ps: OutInts

    def __init__(self, room: Ints, spans: OutInts, begin_ps: OutInts, end_ps: OutInts) -> None:
        self.room = room
        self.spans = spans
        self.begin_ps = begin_ps
        self.end_ps = end_ps


@cython.final
@cython.cclass
class GroupSums:
    """The columns of `IntervalSums`; `of_type` is empty where groups are tracks."""

    of_type: Int32s
    count: OutInts
    total: OutInts
    own: OutInts
    least: OutInts
    most: OutInts

    def __init__(
        self, of_type: Int32s, count: OutInts, total: OutInts, own: OutInts, least: OutInts,
        most: OutInts,
    ) -> None:  # fmt: skip
        self.of_type = of_type
        self.count = count
        self.total = total
        self.own = own
        self.least = least
        self.most = most


@cython.ccall
@cython.exceptval(check=False)
@cython.locals(
    at=i64,
    duration=Ints,
    first=i64,
    middle=i64,
    row=i64,
    start=Ints,
    stop=i64,
    track=i64,
)
def bound_rows(rows: EventRows, begin: i64, end: i64, bounds: TrackBounds) -> cython.void:
    """Fills in which events of each row may overlap [begin, end), and how many each track has."""
    start, duration = rows.start, rows.duration
    with cython.nogil:
        at = 0
        for track in range(bounds.first_row.shape[0]):
            for row in range(bounds.first_row[track], bounds.last_row[track]):
                first = rows.first[row]
                stop = rows.first[row + 1]
                bounds.high[at] = first_not_below(start, first, stop, end)
                if not rows.crowded[row]:
                    stop = bounds.high[at]
                    while first < stop:  # the first that starts or goes on in the range
                        middle = (first + stop) >> 1
                        if start[middle] < begin and start[middle] + duration[middle] <= begin:
                            first = middle + 1
                        else:
                            stop = middle
                bounds.low[at] = first
                bounds.events[track] += bounds.high[at] - first
                at += 1


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def next_in_range(event: i64, stop: i64, start: Ints, duration: Ints, begin: i64) -> i64:
    """The first of the events from `event` on that does not end before the range."""
    while event < stop and start[event] < begin and start[event] + duration[event] <= begin:
        event += 1
    return event


@cython.ccall
@cython.exceptval(check=False)
@cython.locals(
    at=i64,
    begin_ps=OutInts,
    covered=i64,
    duration=Ints,
    end_ps=OutInts,
    event=i64,
    first_row=Ints,
    from_ps=i64,
    group=i64,
    head=OutInts,
    head_end=OutInts,
    head_start=OutInts,
    heap=OutInts,
    high=OutInts,
    index=i64,
    inside_from=i64,
    inside_to=i64,
    length=i64,
    own=OutInts,
    place=i64,
    row=i64,
    size=i64,
    start=Ints,
    to_ps=i64,
    top=i64,
    track=i64,
)
def add_tracks(
    rows: EventRows,
    tracks: Ints,
    begin: i64,
    end: i64,
    bounds: TrackBounds,
    unions: TrackSpans,
    sums: GroupSums,
    heads: RowHeads,
    stack: OutIntTable,
) -> cython.void:
    """Adds the events of `tracks` to the sums of their groups, and writes the spans of each track.

    The rows of a track are merged by a heap of their next events, so that parents come before their
    children; a stack holds the events around the present one: end, what is covered of it so far,
    what is its own, group.
    """
    start, duration = rows.start, rows.duration
    first_row, high, own = bounds.first_row, bounds.high, sums.own
    begin_ps, end_ps = unions.begin_ps, unions.end_ps
    heap, head, head_start, head_end = heads.heap, heads.head, heads.start, heads.end
    with cython.nogil:
        for index in range(tracks.shape[0]):
            track = tracks[index]
            size = 0
            for row in range(bounds.last_row[track] - first_row[track]):
                at = bounds.first[track] + row
                event = bounds.low[at]
                if rows.crowded[first_row[track] + row]:
                    event = next_in_range(event, high[at], start, duration, begin)
                if event < high[at]:
                    head[row] = event
                    head_start[row] = start[event]
                    head_end[row] = start[event] + duration[event]
                    heap[size] = row
                    size += 1
            for at in range(size // 2 - 1, -1, -1):
                sink_row(heap, size, at, head_start, head_end)
            top = 0
            place = unions.room[track]
            while size > 0:
                row = heap[0]
                event = head[row]
                from_ps = head_start[row]
                to_ps = head_end[row]
                at = event + 1
                if rows.crowded[first_row[track] + row]:
                    at = next_in_range(at, high[bounds.first[track] + row], start, duration, begin)
                if at < high[bounds.first[track] + row]:
                    head[row] = at
                    head_start[row] = start[at]
                    head_end[row] = start[at] + duration[at]
                else:
                    size -= 1
                    heap[0] = heap[size]
                if size > 1:
                    sink_row(heap, size, 0, head_start, head_end)
                # What ends before this event cannot hold a later one that this one does not hold.
                while top > 0 and (stack[top - 1, 0] < to_ps or stack[top - 1, 0] <= from_ps):
                    top -= 1
                    own[stack[top, 3]] += stack[top, 2]
                inside_from = max(from_ps, begin)
                inside_to = min(to_ps, end)
                length = inside_to - inside_from
                if top > 0:
                    covered = max(inside_from, stack[top - 1, 1])
                    if inside_to > covered:
                        stack[top - 1, 2] -= inside_to - covered
                        stack[top - 1, 1] = inside_to
                elif length > 0:
                    if place > unions.room[track] and inside_from <= end_ps[place - 1]:
                        end_ps[place - 1] = max(end_ps[place - 1], inside_to)
                    else:
                        begin_ps[place] = inside_from
                        end_ps[place] = inside_to
                        place += 1
                group = track
                if sums.of_type.shape[0] > 0:
                    group = cython.cast(i64, sums.of_type[rows.type[event]])
                sums.count[group] += 1
                sums.total[group] += length
                sums.least[group] = min(sums.least[group], length)
                sums.most[group] = max(sums.most[group], length)
                if top < stack.shape[0]:
                    stack[top, 0] = to_ps
                    stack[top, 1] = inside_from
                    stack[top, 2] = length
                    stack[top, 3] = group
                    top += 1
                else:
                    own[group] += length
            while top > 0:
                top -= 1
                own[stack[top, 3]] += stack[top, 2]
            unions.spans[track] = place - unions.room[track]


@cython.ccall
@cython.exceptval(check=False)
@cython.locals(at=i64, covered=i64, one=i64, size=i64, span=i64, until=i64)
def merge_spans(
    first: Ints,
    last: Ints,
    begin_ps: Ints,
    end_ps: Ints,
    heap: OutInts,
    head: OutInts,
    head_ps: OutInts,
) -> i64:
    """The time that spans of several lists cover; each list is disjoint and ascends."""
    with cython.nogil:
        size = 0
        for one in range(first.shape[0]):
            if first[one] < last[one]:
                head[one] = first[one]
                head_ps[one] = begin_ps[first[one]]
                heap[size] = one
                size += 1
        for at in range(size // 2 - 1, -1, -1):
            sink(heap, size, at, head_ps, head)
        covered = 0
        until = LEAST
        while size > 0:
            one = heap[0]
            span = head[one]
            if end_ps[span] > until:
                covered += end_ps[span] - max(begin_ps[span], until)
                until = end_ps[span]
            head[one] += 1
            if head[one] < last[one]:
                head_ps[one] = begin_ps[head[one]]
            else:
                size -= 1
                heap[0] = heap[size]
            if size > 0:
                sink(heap, size, 0, head_ps, head)
        return covered
