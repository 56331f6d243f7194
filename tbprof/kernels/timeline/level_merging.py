"""Levels of detail: neighboring events of a row that merge."""

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


@cython.final
@cython.cclass
class RowEvents:
    """Events by row: row r has `first[r]:first[r + 1]`, by (start, longest first).

    With `ids`, these are rows of the columns, which are otherwise in the order of rows.
    """

    def __init__(
        self,
        first: Ints,
        ids: Uint32s,
        start: Ints,
        duration: Ints,
        type: Int32s,
    ) -> None:
        self.first = first
        self.ids = ids
        self.start = start
        self.duration = duration
        self.type = type


@cython.final
@cython.cclass
class LevelBuffers:
    """Buffers for levels [l] and their entries [n], see `timeline.model.store.Levels`."""

    shift: OutBytes
    first: OutInts
    start: OutInts
    extent: OutInts
    longest: OutInts
    event: OutUint32s
    type: OutInt32s
    count: OutUint32s

    def __init__(
        self, shift: OutBytes, first: OutInts, start: OutInts, extent: OutInts, longest: OutInts,
        event: OutUint32s, type: OutInt32s, count: OutUint32s,
    ) -> None:  # fmt: skip
        self.shift = shift
        self.first = first
        self.start = start
        self.extent = extent
        self.longest = longest
        self.event = event
        self.type = type
        self.count = count


@cython.ccall
@cython.exceptval(check=False)
@cython.locals(
    before=i64,
    duration=Ints,
    event=i64,
    first=i64,
    last=i64,
    latest=i64,
    level=i64,
    remain=i64,
    rest=i64,
    row=i64,
    shift=i64,
    start=Ints,
    step=i64,
)
def plan_levels(
    rows: RowEvents,
    begin_ps: i64,
    fewest: i64,
    merged: OutInts,
    merges: OutBytes,
    kept: OutInts,
    entries: OutInts,
) -> cython.void:
    """Fills in the level at which each event merges with the one before, and the levels to keep.

    `merged` [levels] is scratch.
    """
    start, duration = rows.start, rows.duration
    with cython.nogil:
        for row in range(rows.first.shape[0] - 1):
            first = rows.first[row]
            last = rows.first[row + 1]
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
    duration=Ints,
    event=i64,
    extent=i64,
    ids=Uint32s,
    kind=i64,
    last=i64,
    longest=i64,
    number=cython.uint,
    ps=i64,
    row=i64,
    shift=i64,
    source=i64,
    start=Ints,
    to_count=OutUint32s,
    to_event=OutUint32s,
    to_extent=OutInts,
    to_longest=OutInts,
    to_start=OutInts,
    to_type=OutInt32s,
    type_=Int32s,
)
def make_levels(
    rows: RowEvents, merges: Bytes, kept: Ints, level: i64, at: i64, into: LevelBuffers
) -> cython.void:
    """Writes the entries of the levels that are kept.

    `level` and `at` are the numbers of levels and entries before these rows.
    """
    start, duration, type_, ids = rows.start, rows.duration, rows.type, rows.ids
    to_start, to_extent, to_longest = into.start, into.extent, into.longest
    to_event, to_type, to_count = into.event, into.type, into.count
    with cython.nogil:
        for row in range(rows.first.shape[0] - 1):
            source = -1  # the first entry of the previous level, -1 for the events
            for shift in range(MOST_SHIFT + 1):
                if not (kept[row] >> shift) & 1:
                    continue
                begin = at
                event = rows.first[row]  # the first event that the next entry stands for
                last = rows.first[row + 1]
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
                        latest = at - 1
                        to_extent[latest] = max(to_extent[latest], ps + extent - to_start[latest])
                        to_count[latest] += count
                        if longest > to_longest[latest]:
                            to_longest[latest] = longest
                            to_event[latest] = number
                            to_type[latest] = kind
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
                into.shift[level] = shift
                level += 1
                into.first[level] = at
