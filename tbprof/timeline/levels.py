"""Levels of detail: rows whose short events are merged, bucket by bucket.

At the level k buckets are 2^k ps wide and counted from where the timeline begins. Neighbours on a
row are one entry where they start in the same bucket and are all shorter than it; an event that is
as long as a bucket stands alone. So nothing is left out at any level: an entry says how many events
it stands for, and these add up to those of the row. With buckets of 4:

    |a.b.|c..d|eeee|ee..|        a, b -> one entry from 0 to 3, which stands for 2
                                 c, d -> one entry from 4 to 8, which stands for 2
                                 e    -> an entry of its own, as it lasts 6

What is merged at a level is merged at every coarser one, whatever lies between, so a level may be
made of any finer one. Those are kept that have at most `_SHRINKS` of the entries of the kept one
before: any other level is then made of at most five times as many entries as it has.
"""

import numpy as np
from numpy.typing import NDArray

from tbprof.base.jit import kernel
from tbprof.timeline.opened import in_parallel
from tbprof.timeline.store import Levels

# Times of a trace lie within 2^59 ps of each other.
MOST_SHIFT = 62
_SHRINKS = 0.2
# Rows with fewer entries are read as they are.
FEWEST = 64
# So many events are looked at by a thread at a time.
PIECE = 1 << 18
_HALVES = (32, 16, 8, 4, 2, 1)
_FIRST = 255  # an event that has no neighbour before it


def find_levels(
    row_first: NDArray[np.int64],
    begin_ps: int,
    start_ps: NDArray[np.int64],
    duration_ps: NDArray[np.int64],
    type_: NDArray[np.int32],
    *,
    ids: NDArray[np.uint32] | None = None,
    fewest: int = FEWEST,
) -> Levels:
    """The levels to keep of rows, whose events are `row_first[r]:row_first[r + 1]` of [n].

    Buckets count from `begin_ps`. `ids` [n] say which events the columns tell of, by default they
    are numbered. Rows with fewer entries than `fewest` are not made coarser.
    """
    rows = row_first.size - 1
    merges = np.empty(start_ps.size, np.uint8)
    kept, entries = np.zeros((2, rows), np.int64)
    pieces = split_rows(row_first)

    def plan(piece: int) -> None:
        begin, end = pieces[piece]
        _plan(
            row_first[begin : end + 1], begin_ps, fewest, start_ps, duration_ps,
            np.empty(MOST_SHIFT + 2, np.int64), merges, kept[begin:end], entries[begin:end],
        )  # fmt: skip

    in_parallel(plan, range(len(pieces)))
    levels = sum(((kept >> shift) & 1 for shift in range(MOST_SHIFT + 1)), np.zeros(rows, np.int64))
    row_level = np.concatenate(([0], np.cumsum(levels))).astype(np.int64)
    row_entry = np.concatenate(([0], np.cumsum(entries))).astype(np.int64)
    found = _empty_levels(row_level, int(row_entry[-1]))
    numbers = np.empty(0, np.uint32) if ids is None else ids

    def make(piece: int) -> None:
        begin, end = pieces[piece]
        _make(
            row_first[begin : end + 1], merges, kept[begin:end], numbers, start_ps, duration_ps,
            type_, row_level[begin], row_entry[begin], found.shift, found.first, found.start_ps,
            found.extent_ps, found.longest_ps, found.event, found.type, found.count,
        )  # fmt: skip

    in_parallel(make, range(len(pieces)))
    return found


def split_rows(row_first: NDArray[np.int64], events: int = PIECE) -> list[tuple[int, int]]:
    """Consecutive rows (begin, end) of about so many events together, a row at least."""
    found = []
    begin, rows = 0, row_first.size - 1
    while begin < rows:
        end = int(np.searchsorted(row_first, row_first[begin] + events, "right")) - 1
        found.append((begin, max(begin + 1, end)))
        begin = found[-1][1]
    return found


def _empty_levels(row_level: NDArray[np.int64], entries: int) -> Levels:
    levels = int(row_level[-1])
    return Levels(
        row_level,
        np.empty(levels, np.uint8),
        np.zeros(levels + 1, np.int64),
        np.empty(entries, np.int64),
        np.empty(entries, np.int64),
        np.empty(entries, np.int64),
        np.empty(entries, np.uint32),
        np.empty(entries, np.int32),
        np.empty(entries, np.uint32),
    )


@kernel
def _plan(  # type: ignore[no-untyped-def]
    row_first, begin_ps, fewest, start, duration, merged, merges, kept, entries
):
    for row in range(row_first.size - 1):
        first = row_first[row]
        last = row_first[row + 1]
        if first == last:
            continue
        for shift in range(merged.size):
            merged[shift] = 0
        merges[first] = _FIRST
        for event in range(first + 1, last):
            # One entry where both are shorter than a bucket and start in the same: the level is
            # that of the highest bit in either duration, or in which their starts differ.
            rest = duration[event - 1] | duration[event]
            rest |= (start[event - 1] - begin_ps) ^ (start[event] - begin_ps)
            level = 0
            for step in _HALVES:
                if rest >> step:
                    rest >>= step
                    level += step
            level += rest
            merges[event] = level
            merged[level] += 1
        remain = last - first
        before = remain
        for shift in range(MOST_SHIFT + 1):
            remain -= merged[shift]
            if before < fewest:
                break
            if remain <= before * _SHRINKS:
                kept[row] |= np.int64(1) << shift
                entries[row] += remain
                before = remain


@kernel
def _make(  # type: ignore[no-untyped-def]
    row_first, merges, kept, ids, start, duration, type_, level, at,
    shifts, firsts, to_start, to_extent, to_longest, to_event, to_type, to_count,
):  # fmt: skip
    # `level` and `at` are how many levels and entries there are before these rows.
    for row in range(row_first.size - 1):
        source = np.int64(-1)  # where the entries of the level before begin, -1: the events
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
                    number = ids[event] if ids.size else np.uint32(event)
                    kind = type_[event]
                    count = np.int64(1)
                else:
                    ps = to_start[source]
                    extent = to_extent[source]
                    longest = to_longest[source]
                    number = to_event[source]
                    kind = to_type[source]
                    count = np.int64(to_count[source])
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
