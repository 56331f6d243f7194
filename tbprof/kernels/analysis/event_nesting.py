"""The nesting of events, and what follows from it."""

import cython
from cython.cimports.tbprof.kernels.types import (
    Flags,
    Int32s,
    Ints,
    OutFlags,
    OutInt32s,
    OutInts,
    i64,
)


@cython.ccall
@cython.exceptval(check=False)
@cython.locals(above=i64, end=i64, line=i64, row=i64, top=i64)
def nest_events(
    first_event: Ints, start: Ints, duration: Ints, parent: OutInt32s, stack: OutInts
) -> cython.void:
    """Fills in the innermost enclosing event of each event, -1 for none."""
    with cython.nogil:
        for line in range(first_event.shape[0] - 1):
            top = 0
            for row in range(first_event[line], first_event[line + 1]):
                end = start[row] + duration[row]
                # An event that ends before this one cannot enclose a later one that this one does
                # not also enclose, so partial overlaps need no second pass.
                while top > 0:
                    above = stack[top - 1]
                    if start[above] + duration[above] >= end:
                        break
                    top -= 1
                parent[row] = stack[top - 1] if top > 0 else -1
                if top < stack.shape[0]:
                    stack[top] = row
                    top += 1


@cython.ccall
@cython.exceptval(check=False)
@cython.locals(above=i64, begin=i64, end=i64, row=i64)
def fill_self_times(
    parent: Int32s, start: Ints, duration: Ints, own: OutInts, covered: OutInts
) -> cython.void:
    """Fills in the self time of each event, which no child covers; `covered` is scratch."""
    with cython.nogil:
        for row in range(parent.shape[0]):
            own[row] = duration[row]
            covered[row] = start[row]
        for row in range(parent.shape[0]):
            above = parent[row]
            if above >= 0:
                end = start[row] + duration[row]
                begin = max(start[row], covered[above])
                if end > begin:
                    own[above] -= end - begin
                    covered[above] = end


@cython.ccall
@cython.exceptval(check=False)
@cython.locals(row=i64)
def inherit_values(parent: Int32s, value: OutInts) -> cython.void:
    """Gives events without a value (below 0) that of the nearest enclosing event."""
    with cython.nogil:
        for row in range(parent.shape[0]):
            if value[row] < 0 and parent[row] >= 0:
                value[row] = value[parent[row]]


@cython.ccall
@cython.exceptval(check=False)
@cython.locals(above=i64, row=i64)
def find_above(parent: Int32s, is_wanted: Flags, nearest: OutInt32s) -> cython.void:
    """Fills in the nearest wanted ancestor of each event, -1 for none."""
    with cython.nogil:
        for row in range(parent.shape[0]):
            above = parent[row]
            nearest[row] = above if above < 0 or is_wanted[above] else nearest[above]


@cython.ccall
@cython.exceptval(check=False)
@cython.locals(above=i64, row=i64)
def find_last_rows(parent: Int32s, offset: i64, last: OutInt32s) -> cython.void:
    """Fills in the last row that each event encloses, itself if none."""
    with cython.nogil:
        for row in range(parent.shape[0]):
            last[row] = row + offset
        for row in range(parent.shape[0] - 1, -1, -1):
            above = parent[row]
            if above >= 0 and last[row] > last[above]:
                last[above] = last[row]


@cython.ccall
@cython.exceptval(check=False)
@cython.locals(at=i64, row=i64)
def mark_ancestors(parent: Int32s, rows: Ints, is_marked: OutFlags) -> cython.void:
    """Marks rows and their ancestors."""
    with cython.nogil:
        for row in range(rows.shape[0]):
            at = rows[row]
            while at >= 0 and not is_marked[at]:
                is_marked[at] = True
                at = parent[at]


@cython.ccall
@cython.exceptval(check=False)
@cython.locals(
    above=i64,
    at=i64,
    end=i64,
    event=i64,
    is_event=cython.bint,
    line=i64,
    rows=i64,
    top=i64,
    until=i64,
)
def flatten_events(
    first_event: Ints,
    start: Ints,
    duration: Ints,
    out_start: OutInts,
    out_end: OutInts,
    out_row: OutInts,
    stack: OutInts,
) -> i64:
    """Writes the pieces of time in which each event is the innermost; returns their number."""
    with cython.nogil:
        rows = 0
        for line in range(first_event.shape[0] - 1):
            top = 0
            at = 0
            # An additional round ends the events that are still open.
            for event in range(first_event[line], first_event[line + 1] + 1):
                is_event = event < first_event[line + 1]
                while top > 0:
                    above = stack[top - 1]
                    end = start[above] + duration[above]
                    until = min(end, start[event]) if is_event else end
                    if until > at:
                        out_start[rows] = at
                        out_end[rows] = until
                        out_row[rows] = above
                        rows += 1
                        at = until
                    if is_event and end > start[event]:
                        break
                    top -= 1
                if is_event:
                    at = start[event]
                    stack[top] = event
                    top += 1
        return rows
