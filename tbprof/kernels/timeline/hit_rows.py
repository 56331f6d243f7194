"""Search results: events by type and by time, over all rows in order of time."""

import cython
from cython.cimports.tbprof.kernels.searches import first_chosen
from cython.cimports.tbprof.kernels.timeline.row_heaps import sink
from cython.cimports.tbprof.kernels.types import (
    Bytes,
    Flags,
    Int32s,
    Ints,
    OutFlags,
    OutInts,
    OutIntTable,
    OutUint32s,
    Uint32s,
    i64,
)


@cython.ccall
@cython.exceptval(check=False)
@cython.locals(count=i64, event=i64)
def count_wanted(type_: Int32s, wanted: Flags, begin: i64, end: i64) -> i64:
    """The number of events [begin, end) with a wanted type."""
    with cython.nogil:
        count = 0
        for event in range(begin, end):
            count += wanted[type_[event]]
        return count


@cython.ccall
@cython.exceptval(check=False)
@cython.locals(at=i64, event=i64)
def gather_wanted(
    type_: Int32s, wanted: Flags, begin: i64, end: i64, out: OutUint32s
) -> cython.void:
    """Writes the ids of the events [begin, end) that have a wanted type."""
    with cython.nogil:
        at = 0
        for event in range(begin, end):
            if wanted[type_[event]]:
                out[at] = event
                at += 1


@cython.ccall
@cython.exceptval(check=False)
@cython.locals(index=i64)
def mark_names(event: Uint32s, type_: Int32s, name_of: Int32s, seen: OutFlags) -> cython.void:
    """Marks the names of events; events without a type mark the last name."""
    with cython.nogil:
        for index in range(event.shape[0]):
            seen[name_of[type_[event[index]]]] = True


@cython.ccall
@cython.exceptval(check=False)
@cython.locals(count=i64, first=i64, id_=cython.uint, index=i64)
def keep_in_range(
    event: Uint32s, start: Ints, duration: Ints, begin: i64, end: i64, out: OutUint32s
) -> i64:
    """Writes the ids that overlap [begin, end), and returns their number."""
    with cython.nogil:
        count = 0
        for index in range(event.shape[0]):
            id_ = event[index]
            first = start[id_]
            if first < end and (first >= begin or first + duration[id_] > begin):
                out[count] = id_
                count += 1
        return count


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
@cython.locals(first=i64, middle=i64)
def _first_after(event: Uint32s, low: i64, high: i64, start: Ints, at_ps: i64, at_id: i64) -> i64:
    """The first of the hits [low, high) of a row that comes after (at_ps, at_id)."""
    while low < high:
        middle = (low + high) >> 1
        first = start[event[middle]]
        if first < at_ps or (first == at_ps and event[middle] <= at_id):
            low = middle + 1
        else:
            high = middle
    return low


@cython.ccall
@cython.exceptval(check=False)
@cython.locals(at=i64, count=i64, row=i64, size=i64)
def merge_hits(
    event: Uint32s,
    row_first: Ints,
    start: Ints,
    after_ps: i64,
    after_id: i64,
    heap: OutInts,
    head: OutInts,
    head_ps: OutInts,
    out: OutUint32s,
) -> i64:
    """Writes the first hits after (after_ps, after_id) by (start, id), and returns their number.

    `heap`, `head` and `head_ps` [rows] are scratch: rows with hits left, and the next hit of each.
    """
    with cython.nogil:
        size = 0
        for row in range(row_first.shape[0] - 1):
            at = _first_after(event, row_first[row], row_first[row + 1], start, after_ps, after_id)
            if at < row_first[row + 1]:
                head[row] = at
                head_ps[row] = start[event[at]]
                heap[size] = row
                size += 1
        for at in range(size // 2 - 1, -1, -1):
            sink(heap, size, at, head_ps, head)
        count = 0
        while count < out.shape[0] and size > 0:
            row = heap[0]
            out[count] = event[head[row]]
            count += 1
            head[row] += 1
            if head[row] < row_first[row + 1]:
                head_ps[row] = start[event[head[row]]]
            else:
                size -= 1
                heap[0] = heap[size]
            if size > 0:
                sink(heap, size, 0, head_ps, head)
        return count


@cython.ccall
@cython.exceptval(check=False)
@cython.locals(at=i64, best=i64, best_ps=i64, first=i64, id_=i64, row=i64)
def last_hit(event: Uint32s, row_first: Ints, start: Ints, before_ps: i64, before_id: i64) -> i64:
    """The last hit by (start, id) that comes before (before_ps, before_id), -1 for none."""
    with cython.nogil:
        best = -1
        best_ps = 0
        for row in range(row_first.shape[0] - 1):
            at = _first_after(
                event, row_first[row], row_first[row + 1], start, before_ps, before_id - 1
            )
            if at > row_first[row]:
                id_ = cython.cast(i64, event[at - 1])
                first = start[id_]
                if best < 0 or first > best_ps or (first == best_ps and id_ > best):
                    best = id_
                    best_ps = first
        return best


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
@cython.locals(id_=cython.uint, middle=i64)
def first_reaching(
    event: Uint32s, low: i64, high: i64, start: Ints, duration: Ints, begin: i64
) -> i64:
    """The first of the hits [low, high) of a row that ends after `begin`."""
    while low < high:
        middle = (low + high) >> 1
        id_ = event[middle]
        if start[id_] >= begin or start[id_] + duration[id_] > begin:
            high = middle
        else:
            low = middle + 1
    return low


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
@cython.locals(step=i64)
def first_from(event: Uint32s, low: i64, high: i64, start: Ints, begin: i64) -> i64:
    """The first of the hits [low, high) that starts at `begin` or later, searched from `low` on."""
    step = 1
    while low + step < high and start[event[low + step]] < begin:
        low += step
        step *= 2
    return first_chosen(event, low, min(high, low + step), start, begin)


@cython.ccall
@cython.exceptval(check=False)
@cython.locals(
    at=i64,
    begin=i64,
    end=i64,
    from_ps=i64,
    high=i64,
    index=i64,
    level=i64,
    limit=i64,
    origin=i64,
    place=i64,
    row=i64,
    to_ps=i64,
)
def find_spans(
    event: Uint32s,
    row_first: Ints,
    start: Ints,
    duration: Ints,
    crowded: Flags,
    rows: Ints,
    view: tuple,
    first: Ints,
    spans: OutIntTable,
    count: OutInts,
) -> cython.void:
    """Writes the spans of hits on `rows` from `first[i]` on, and their numbers.

    `view` is the origin of buckets, their level, and the window.
    """
    origin, level, begin, end = view
    with cython.nogil:
        for index in range(rows.shape[0]):
            row = rows[index]
            high = row_first[row + 1]
            at = row_first[row]
            if not crowded[row]:
                at = first_reaching(event, at, high, start, duration, begin)
            place = first[index]
            while at < high and start[event[at]] < end:
                from_ps = start[event[at]]
                to_ps = from_ps + duration[event[at]]
                if to_ps <= begin and from_ps < begin:  # an event that overlaps later ones
                    at += 1
                    continue
                at += 1
                while at < high:
                    limit = ((((to_ps - origin) >> level) + 1) << level) + origin
                    if start[event[at]] >= limit or start[event[at]] >= end:
                        break
                    if crowded[row]:
                        to_ps = max(to_ps, start[event[at]] + duration[event[at]])
                        at += 1
                    else:
                        at = first_from(event, at, high, start, min(limit, end))
                        to_ps = max(to_ps, start[event[at - 1]] + duration[event[at - 1]])
                spans[place, 0] = from_ps
                spans[place, 1] = to_ps
                place += 1
            count[index] = place - first[index]


@cython.ccall
@cython.exceptval(check=False)
@cython.locals(event=i64, name=i64, row=i64)
def sum_names(
    type_: Int32s,
    duration: Ints,
    name_of: Int32s,
    row_first: Ints,
    rows: Ints,
    count: OutInts,
    total: OutInts,
    least: OutInts,
    most: OutInts,
) -> cython.void:
    """Sums the events of some rows by name; events without a type are left out."""
    with cython.nogil:
        for index in range(rows.shape[0]):
            row = rows[index]
            for event in range(row_first[row], row_first[row + 1]):
                name = name_of[type_[event]]
                if name >= 0:
                    count[name] += 1
                    total[name] += duration[event]
                    least[name] = min(least[name], duration[event])
                    most[name] = max(most[name], duration[event])


@cython.ccall
@cython.exceptval(check=False)
@cython.locals(event=i64, is_named=cython.bint, kind=i64, row=i64)
def count_chosen(
    row_first: Ints, type_: Int32s, duration: Ints, wanted: Bytes, min_ps: i64, counted: OutInts
) -> cython.void:
    """Counts the chosen events of each row, in the entry after the row's."""
    with cython.nogil:
        for row in range(row_first.shape[0] - 1):
            for event in range(row_first[row], row_first[row + 1]):
                kind = type_[event]
                is_named = 0 <= kind < wanted.shape[0]
                if is_named and wanted[kind] and duration[event] >= min_ps:
                    counted[row + 1] += 1


@cython.ccall
@cython.exceptval(check=False)
@cython.locals(at=i64, event=i64, is_named=cython.bint, kind=i64, row=i64)
def gather_chosen(
    row_first: Ints, type_: Int32s, duration: Ints, wanted: Bytes, min_ps: i64, ids: OutUint32s
) -> cython.void:
    """Writes the ids of the chosen events, row by row."""
    with cython.nogil:
        at = 0
        for row in range(row_first.shape[0] - 1):
            for event in range(row_first[row], row_first[row + 1]):
                kind = type_[event]
                is_named = 0 <= kind < wanted.shape[0]
                if is_named and wanted[kind] and duration[event] >= min_ps:
                    ids[at] = event
                    at += 1
