"""The children of an event."""

import cython
from cython.cimports.tbprof.kernels.searches import first_not_below
from cython.cimports.tbprof.kernels.timeline.row_heaps import EventRows, RowHeads, sink_row
from cython.cimports.tbprof.kernels.types import Ints, OutInts, i64


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def is_within(event: i64, start: Ints, duration: Ints, until: i64) -> cython.bint:
    """Whether an event that starts within another one ends at or before its end, `until`."""
    return start[event] < until and start[event] + duration[event] <= until


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
@cython.locals(middle=i64, step=i64)
def skip_within(
    event: i64, last: i64, start: Ints, duration: Ints, crowded: cython.bint, until: i64
) -> i64:
    """The first of the events [event, last) of a row that does not end by `until`."""
    if crowded:
        while event < last and is_within(event, start, duration, until):
            event += 1
        return event
    step = 1
    while event + step < last and is_within(event + step, start, duration, until):
        event += step
        step *= 2
    last = min(last, event + step)
    while event < last:
        middle = (event + last) >> 1
        if is_within(middle, start, duration, until):
            event = middle + 1
        else:
            last = middle
    return event


@cython.ccall
@cython.exceptval(check=False)
@cython.locals(
    above=i64,
    after=i64,
    at=i64,
    before=i64,
    begin=i64,
    below=i64,
    duration=Ints,
    end=i64,
    first=i64,
    from_ps=i64,
    head=OutInts,
    head_end=OutInts,
    head_start=OutInts,
    heap=OutInts,
    last=i64,
    size=i64,
    start=Ints,
    to_ps=i64,
    until=i64,
)
def walk_children(
    rows: EventRows,
    event: i64,
    row: i64,
    first_row: i64,
    last_row: i64,
    heads: RowHeads,
    found: OutInts,
) -> cython.void:
    """Finds the first child, the number of children, and how long any child is in progress.

    The event is on `row`, one of its track's `first_row:last_row`. An event that ends before a
    child does is no child and hides none, so rows skip it.
    """
    start, duration = rows.start, rows.duration
    heap, head, head_start, head_end = heads.heap, heads.head, heads.start, heads.end
    with cython.nogil:
        begin = start[event]
        end = begin + duration[event]
        # An event that starts later on a row above and extends beyond the end contains what
        # follows.
        before = end
        for above in range(first_row, row):
            first = first_not_below(start, rows.first[above], rows.first[above + 1], begin + 1)
            if first < rows.first[above + 1]:
                before = min(before, start[first])
        size = 0
        for below in range(row, last_row):
            at = below - row
            last = rows.first[below + 1]
            if below > row:
                first = first_not_below(start, rows.first[below], last, begin)
            elif rows.crowded[row]:
                first = event + 1
            else:
                continue
            if first < last:
                head[at] = first
                head_start[at] = start[first]
                head_end[at] = start[first] + duration[first]
                heap[size] = at
                size += 1
        for at in range(size // 2 - 1, -1, -1):
            sink_row(heap, size, at, head_start, head_end)
        until = begin
        while size > 0:
            at = heap[0]
            from_ps = head_start[at]
            to_ps = head_end[at]
            if from_ps >= before or to_ps > end:  # here, too
                break
            if to_ps > until or from_ps >= until:  # no earlier child contains it
                if found[1] == 0:
                    found[0] = head[at]
                found[1] += 1
                found[2] += to_ps - max(until, from_ps)
                until = to_ps
            below = row + at
            after = skip_within(
                head[at] + 1, rows.first[below + 1], start, duration, rows.crowded[below], until
            )
            if after < rows.first[below + 1]:
                head[at] = after
                head_start[at] = start[after]
                head_end[at] = start[after] + duration[after]
            else:
                size -= 1
                heap[0] = heap[size]
            if size > 1:
                sink_row(heap, size, 0, head_start, head_end)
