"""Sums over a range of rows."""

import cython
from cython.cimports.tbprof.kernels.codes import LEAST
from cython.cimports.tbprof.kernels.timeline.row_heaps import EventRows, RowHeads, sink
from cython.cimports.tbprof.kernels.timeline.track_rows import TrackBounds, open_rows, pass_event
from cython.cimports.tbprof.kernels.types import Int32s, Ints, OutInts, OutIntTable, i64


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
    begin_ps=OutInts,
    covered=i64,
    end_ps=OutInts,
    event=i64,
    from_ps=i64,
    group=i64,
    head=OutInts,
    head_end=OutInts,
    head_start=OutInts,
    heap=OutInts,
    index=i64,
    inside_from=i64,
    inside_to=i64,
    length=i64,
    own=OutInts,
    place=i64,
    row=i64,
    size=i64,
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

    The rows of a track are merged with a heap of their next events, so that parents come before
    their children. A stack holds the events around the current one: end, covered time, self time,
    group.
    """
    own = sums.own
    begin_ps, end_ps = unions.begin_ps, unions.end_ps
    heap, head, head_start, head_end = heads.heap, heads.head, heads.start, heads.end
    with cython.nogil:
        for index in range(tracks.shape[0]):
            track = tracks[index]
            size = open_rows(rows, bounds, track, begin, heap, head, head_start, head_end)
            top = 0
            place = unions.room[track]
            while size > 0:
                row = heap[0]
                event = head[row]
                from_ps = head_start[row]
                to_ps = head_end[row]
                size = pass_event(
                    rows, bounds, track, begin, size, heap, head, head_start, head_end
                )
                # An event that ends before this one cannot contain a later one that this one does
                # not contain.
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
@cython.locals(covered=i64, index=i64, list_=i64, size=i64, span=i64, until=i64)
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
        for list_ in range(first.shape[0]):
            if first[list_] < last[list_]:
                head[list_] = first[list_]
                head_ps[list_] = begin_ps[first[list_]]
                heap[size] = list_
                size += 1
        for index in range(size // 2 - 1, -1, -1):
            sink(heap, size, index, head_ps, head)
        covered = 0
        until = LEAST
        while size > 0:
            list_ = heap[0]
            span = head[list_]
            if end_ps[span] > until:
                covered += end_ps[span] - max(begin_ps[span], until)
                until = end_ps[span]
            head[list_] += 1
            if head[list_] < last[list_]:
                head_ps[list_] = begin_ps[head[list_]]
            else:
                size -= 1
                heap[0] = heap[size]
            if size > 0:
                sink(heap, size, 0, head_ps, head)
        return covered
