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
before: any other level is then made of at most three times as many entries as it has.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tbprof.base.jit import kernel
from tbprof.timeline.store import Levels

# Times of a trace lie within 2^59 ps of each other.
MOST_SHIFT = 62
_SHRINKS = 0.35
# Rows with fewer entries are read as they are.
FEWEST = 64
_HALVES = (32, 16, 8, 4, 2, 1)
_FIRST = 255  # an event that has no neighbour before it


@dataclass(frozen=True, slots=True)
class Plan:
    """Which levels of some rows are worth keeping.

    `merges` [n] is the level from which on an event is one entry with its neighbour before it,
    `kept` [rows] has a bit per level that is kept, and `entries` [rows] says how many these have.
    """

    merges: NDArray[np.uint8]
    kept: NDArray[np.int64]
    entries: NDArray[np.int64]

    @property
    def levels(self) -> NDArray[np.int64]:
        """[rows] how many levels of each row are kept."""
        found = np.zeros(self.kept.size, np.int64)
        for shift in range(MOST_SHIFT + 1):
            found += (self.kept >> shift) & 1
        return found


def plan_levels(
    row_first: NDArray[np.int64],
    begin_ps: int,
    start_ps: NDArray[np.int64],
    duration_ps: NDArray[np.int64],
    *,
    fewest: int = FEWEST,
) -> Plan:
    """The levels to keep of rows, whose events are `row_first[r]:row_first[r + 1]` of [n].

    What has less than `fewest` entries is not made coarser.
    """
    plan = Plan(
        np.empty(start_ps.size, np.uint8),
        np.zeros(row_first.size - 1, np.int64),
        np.zeros(row_first.size - 1, np.int64),
    )
    merged = np.empty(MOST_SHIFT + 2, np.int64)
    _plan(
        row_first, begin_ps, fewest, start_ps, duration_ps, merged, plan.merges, plan.kept,
        plan.entries,
    )  # fmt: skip
    return plan


def make_levels(
    plan: Plan,
    row_first: NDArray[np.int64],
    ids: NDArray[np.uint32],
    start_ps: NDArray[np.int64],
    duration_ps: NDArray[np.int64],
    type_: NDArray[np.int32],
) -> Levels:
    """The planned levels of rows; `ids` [n] are the events that the columns tell of."""
    levels = plan.levels
    entries = int(plan.entries.sum())
    found = Levels(
        np.concatenate(([0], np.cumsum(levels))).astype(np.int64),
        np.empty(int(levels.sum()), np.uint8),
        np.zeros(int(levels.sum()) + 1, np.int64),
        np.empty(entries, np.int64),
        np.empty(entries, np.int64),
        np.empty(entries, np.int64),
        np.empty(entries, np.uint32),
        np.empty(entries, np.int32),
        np.empty(entries, np.uint32),
    )
    _make(
        row_first, plan.merges, plan.kept, ids, start_ps, duration_ps, type_,
        found.shift, found.first, found.start_ps, found.extent_ps, found.longest_ps, found.event,
        found.type, found.count,
    )  # fmt: skip
    return found


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
    row_first, merges, kept, ids, start, duration, type_,
    shifts, firsts, to_start, to_extent, to_longest, to_event, to_type, to_count,
):  # fmt: skip
    at = 0  # entries so far
    level = 0  # levels so far
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
                    number = ids[event]
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
