"""Levels of detail: neighbours of a row that merge."""

import cython
from cython.cimports.tbprof.kernels.codes import (
    FIRST_OF_ROW,
    LEVEL_SHRINKS,
    MOST_SHIFT,
)
from cython.cimports.tbprof.kernels.types import (
    Bytes,
    Int32s,
    Ints,
    OutBytes,
    OutInt32s,
    OutInts,
    OutUint32s,
    Uint32s,
    i64,
)


@cython.ccall
@cython.exceptval(check=False)
@cython.locals(
    before=i64,
    event=i64,
    first=i64,
    last=i64,
    level=i64,
    remain=i64,
    rest=i64,
    row=i64,
    shift=i64,
    step=i64,
)
def plan_levels(
    row_first: Ints,
    begin_ps: i64,
    fewest: i64,
    start: Ints,
    duration: Ints,
    merged: OutInts,
    merges: OutBytes,
    kept: OutInts,
    entries: OutInts,
) -> cython.void:
    """Fills in at which level each event merges with the one before, and which levels to keep."""
    with cython.nogil:
        for row in range(row_first.shape[0] - 1):
            first = row_first[row]
            last = row_first[row + 1]
            if first == last:
                continue
            for shift in range(merged.shape[0]):
                merged[shift] = 0
            merges[first] = FIRST_OF_ROW
            for event in range(first + 1, last):
                # One entry where both are shorter than a bucket and start in the same: the level is
                # that of the highest bit in either duration, or in which their starts differ.
                rest = duration[event - 1] | duration[event]
                rest |= (start[event - 1] - begin_ps) ^ (start[event] - begin_ps)
                level = 0
                step = 32
                while step > 0:
                    if rest >> step:
                        rest >>= step
                        level += step
                    step >>= 1
                level += rest
                merges[event] = level
                merged[level] += 1
            remain = last - first
            before = remain
            for shift in range(MOST_SHIFT + 1):
                remain -= merged[shift]
                if before < fewest:
                    break
                if remain <= before * LEVEL_SHRINKS:
                    kept[row] |= cython.cast(i64, 1) << shift
                    entries[row] += remain
                    before = remain


@cython.ccall
@cython.exceptval(check=False)
@cython.locals(
    begin=i64,
    count=i64,
    event=i64,
    extent=i64,
    kind=i64,
    last=i64,
    longest=i64,
    number=cython.uint,
    one=i64,
    ps=i64,
    row=i64,
    shift=i64,
    source=i64,
)
def make_levels(
    row_first: Ints,
    merges: Bytes,
    kept: Ints,
    ids: Uint32s,
    start: Ints,
    duration: Ints,
    type_: Int32s,
    level: i64,
    at: i64,
    shifts: OutBytes,
    firsts: OutInts,
    to_start: OutInts,
    to_extent: OutInts,
    to_longest: OutInts,
    to_event: OutUint32s,
    to_type: OutInt32s,
    to_count: OutUint32s,
) -> cython.void:
    """Writes the entries of the levels that are kept."""
    with cython.nogil:
        # `level` and `at` are how many levels and entries there are before these rows.
        for row in range(row_first.shape[0] - 1):
            source = -1  # where the entries of the level before begin, -1: the events
            for shift in range(MOST_SHIFT + 1):
                if not (kept[row] >> shift) & 1:
                    continue
                begin = at
                event = row_first[row]  # the first of the events that the next entry stands for
                last = row_first[row + 1]
                while event < last:
                    if source < 0:
                        ps = start[event]
                        extent = duration[event]
                        longest = extent
                        number = ids[event] if ids.shape[0] else cython.cast(cython.uint, event)
                        kind = type_[event]
                        count = 1
                    else:
                        ps = to_start[source]
                        extent = to_extent[source]
                        longest = to_longest[source]
                        number = to_event[source]
                        kind = to_type[source]
                        count = cython.cast(i64, to_count[source])
                        source += 1
                    if merges[event] <= shift:
                        one = at - 1
                        to_extent[one] = max(to_extent[one], ps + extent - to_start[one])
                        to_count[one] += count
                        if longest > to_longest[one]:
                            to_longest[one] = longest
                            to_event[one] = number
                            to_type[one] = kind
                    else:
                        to_start[at] = ps
                        to_extent[at] = extent
                        to_longest[at] = longest
                        to_event[at] = number
                        to_type[at] = kind
                        to_count[at] = count
                        at += 1
                    event += count
                source = begin
                shifts[level] = shift
                level += 1
                firsts[level] = at
