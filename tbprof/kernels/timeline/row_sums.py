"""Sums over a range of rows."""

import cython
from cython.cimports.tbprof.kernels.codes import LEAST
from cython.cimports.tbprof.kernels.searches import first_not_below
from cython.cimports.tbprof.kernels.timeline.row_heaps import EventRows, RowHeads, sink, sink_row
from cython.cimports.tbprof.kernels.types import (
    Int32s,
    Ints,
    OutInt32s,
    OutInts,
    OutIntTable,
    i64,
)


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


@cython.final
@cython.cclass
class PathNodes:
    """The columns of `CallPaths` [room], and its hash table: `slots`, -1 for an empty one.

    `depth` and the other columns of the roots, which are the first `used`, are filled in.
    """

    parent: OutInts
    group: OutInts
    depth: OutInts
    count: OutInts
    total: OutInts
    longest: OutInts
    longest_ps: OutInts
    left_count: OutInts
    left_ps: OutInts
    slots: OutInt32s
    used = cython.declare(i64, visibility="readonly")
    overlap_ps = cython.declare(i64, visibility="readonly")

    def __init__(
        self, parent: OutInts, group: OutInts, depth: OutInts, count: OutInts, total: OutInts,
        longest: OutInts, longest_ps: OutInts, left_count: OutInts, left_ps: OutInts,
        slots: OutInt32s, used: i64,
    ) -> None:  # fmt: skip
        self.parent = parent
        self.group = group
        self.depth = depth
        self.count = count
        self.total = total
        self.longest = longest
        self.longest_ps = longest_ps
        self.left_count = left_count
        self.left_ps = left_ps
        self.slots = slots
        self.used = used
        self.overlap_ps = 0


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


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
@cython.locals(at=i64, event=i64, row=i64, size=i64)
def open_rows(
    rows: EventRows,
    bounds: TrackBounds,
    track: i64,
    begin: i64,
    heap: OutInts,
    head: OutInts,
    head_start: OutInts,
    head_end: OutInts,
) -> i64:
    """Fills the heap with the first event of each row of a track; how many rows have any."""
    size = 0
    for row in range(bounds.last_row[track] - bounds.first_row[track]):
        at = bounds.first[track] + row
        event = bounds.low[at]
        if rows.crowded[bounds.first_row[track] + row]:
            event = next_in_range(event, bounds.high[at], rows.start, rows.duration, begin)
        if event < bounds.high[at]:
            head[row] = event
            head_start[row] = rows.start[event]
            head_end[row] = rows.start[event] + rows.duration[event]
            heap[size] = row
            size += 1
    for at in range(size // 2 - 1, -1, -1):
        sink_row(heap, size, at, head_start, head_end)
    return size


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
@cython.locals(event=i64, row=i64, stop=i64)
def pass_event(
    rows: EventRows,
    bounds: TrackBounds,
    track: i64,
    begin: i64,
    size: i64,
    heap: OutInts,
    head: OutInts,
    head_start: OutInts,
    head_end: OutInts,
) -> i64:
    """Replaces the event on top of the heap by the next one of its row; how many rows are left."""
    row = heap[0]
    stop = bounds.high[bounds.first[track] + row]
    event = head[row] + 1
    if rows.crowded[bounds.first_row[track] + row]:
        event = next_in_range(event, stop, rows.start, rows.duration, begin)
    if event < stop:
        head[row] = event
        head_start[row] = rows.start[event]
        head_end[row] = rows.start[event] + rows.duration[event]
    else:
        size -= 1
        heap[0] = heap[size]
    if size > 1:
        sink_row(heap, size, 0, head_start, head_end)
    return size


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

    The rows of a track are merged by a heap of their next events, so that parents come before their
    children; a stack holds the events around the present one: end, what is covered of it so far,
    what is its own, group.
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


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
@cython.locals(mask=i64, node=i64, slot=i64)
def node_below(
    nodes: PathNodes, parent: i64, group: i64, parents: Ints, groups: Ints, slots: OutInt32s
) -> i64:
    """The node of a group below another node, made if it is new; -1 if there is no room."""
    mask = slots.shape[0] - 1
    # Within 63 bits for any two numbers of 31.
    slot = (((parent * 0x1E3779B1 + group * 0x2C1B3C6D) & 0x7FFFFFFF) * 0x7FEB352D >> 15) & mask
    while slots[slot] >= 0:
        node = slots[slot]
        if parents[node] == parent and groups[node] == group:
            return node
        slot = (slot + 1) & mask
    node = nodes.used
    if node >= parents.shape[0]:
        return -1
    slots[slot] = cython.cast(cython.int, node)
    nodes.parent[node] = parent
    nodes.group[node] = group
    nodes.depth[node] = nodes.depth[parent] + 1
    nodes.count[node] = nodes.total[node] = 0
    nodes.longest_ps[node] = -1
    nodes.left_count[node] = nodes.left_ps[node] = 0
    nodes.used = node + 1
    return node


@cython.ccall
@cython.exceptval(check=False)
@cython.locals(
    above=i64,
    count=OutInts,
    covered=i64,
    event=i64,
    from_ps=i64,
    groups=OutInts,
    head=OutInts,
    head_end=OutInts,
    head_start=OutInts,
    heap=OutInts,
    group=i64,
    inside_from=i64,
    inside_to=i64,
    length=i64,
    longest=OutInts,
    longest_ps=OutInts,
    node=i64,
    overlap_ps=i64,
    parents=OutInts,
    size=i64,
    slots=OutInt32s,
    to_ps=i64,
    top=i64,
    total=OutInts,
    track=i64,
)
def add_paths(
    rows: EventRows,
    of_type: Int32s,
    roots: Ints,
    begin: i64,
    end: i64,
    bounds: TrackBounds,
    nodes: PathNodes,
    heads: RowHeads,
    stack: OutIntTable,
) -> cython.void:
    """Adds the events of all tracks of `bounds` to the nodes of their paths below `roots` [tracks].

    As `add_tracks`, but what an earlier event covers of the part of its parent is not counted
    again. The stack holds the events around the present one: end, where the part that counts
    begins, what is covered of it so far, node; -1 - node for those that are left out below it.
    """
    count, total, longest, longest_ps = nodes.count, nodes.total, nodes.longest, nodes.longest_ps
    parents, groups, slots = nodes.parent, nodes.group, nodes.slots
    heap, head, head_start, head_end = heads.heap, heads.head, heads.start, heads.end
    with cython.nogil:
        overlap_ps = 0
        for track in range(roots.shape[0]):
            size = open_rows(rows, bounds, track, begin, heap, head, head_start, head_end)
            stack[0, 1] = stack[0, 2] = begin
            stack[0, 3] = roots[track]
            top = 1
            while size > 0:
                event = head[heap[0]]
                from_ps = head_start[heap[0]]
                to_ps = head_end[heap[0]]
                size = pass_event(
                    rows, bounds, track, begin, size, heap, head, head_start, head_end
                )
                while top > 1 and (stack[top - 1, 0] < to_ps or stack[top - 1, 0] <= from_ps):
                    top -= 1
                inside_from = max(from_ps, begin)
                inside_to = min(to_ps, end)
                covered = stack[top - 1, 2]
                length = max(inside_to - max(inside_from, covered), 0)
                overlap_ps += max(min(inside_to, covered) - max(inside_from, stack[top - 1, 1]), 0)
                stack[top - 1, 2] = max(covered, inside_to)
                above = stack[top - 1, 3]
                node = -1
                if above >= 0:
                    group = cython.cast(i64, of_type[rows.type[event]])
                    node = node_below(nodes, above, group, parents, groups, slots)
                    if top == 1:
                        total[above] += length
                if node >= 0:
                    count[node] += 1
                    total[node] += length
                    if inside_to - inside_from > longest_ps[node]:
                        longest[node] = event
                        longest_ps[node] = inside_to - inside_from
                else:
                    if above >= 0:
                        nodes.left_ps[above] += length
                        above = -1 - above
                    nodes.left_count[-1 - above] += 1
                    node = above
                count[roots[track]] += 1
                if top < stack.shape[0]:
                    stack[top, 0] = to_ps
                    stack[top, 1] = stack[top, 2] = max(inside_from, covered)
                    stack[top, 3] = node
                    top += 1
        nodes.overlap_ps += overlap_ps


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
