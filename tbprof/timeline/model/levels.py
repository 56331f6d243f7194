"""Levels of detail: rows whose short events are merged, bucket by bucket.

At the level k buckets are 2^k ps wide and counted from the begin of the timeline. Neighbours on a
row are one entry if they start in the same bucket and are all shorter than it; an event that is
as long as a bucket stands alone. So nothing is left out at any level: an entry says how many events
it stands for, and these add up to those of the row. With buckets of 4:

    |a.b.|c..d|eeee|ee..|        a, b -> one entry from 0 to 3, which stands for 2
                                 c, d -> one entry from 4 to 8, which stands for 2
                                 e    -> an entry of its own, as it lasts 6

What is merged at a level is merged at every coarser one, whatever is between, so a level can be
made of any finer one. A level is stored if it has at most `_SHRINKS` of the entries of the stored
one before: any other level is then computed from at most five times as many entries as it has.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tbprof.base.process.parallel import in_parallel
from tbprof.kernels.codes import MOST_SHIFT
from tbprof.kernels.timeline.level_merging import LevelBuffers, RowEvents, make_levels, plan_levels
from tbprof.timeline.model.store import Levels

# Times of a trace lie within 2^59 ps of each other.
# Rows with fewer entries are read directly.
FEWEST = 64
# A thread processes this many events at a time.
PIECE = 1 << 18


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
    """The levels to store for rows with the events `row_first[r]:row_first[r + 1]` of [n].

    Buckets count from `begin_ps`. `ids` [n] are the events of the columns, by default they
    are numbered. Rows with fewer entries than `fewest` are not made coarser.
    """
    rows = row_first.size - 1
    merges = np.empty(start_ps.size, np.uint8)
    kept_entries, entries = np.zeros((2, rows), np.int64)
    numbers = np.empty(0, np.uint32) if ids is None else ids
    columns = (start_ps, duration_ps, type_)
    pieces = [
        (slice(begin, end), RowEvents(row_first[begin : end + 1], numbers, *columns))
        for begin, end in split_rows(row_first)
    ]

    def plan(piece: int) -> None:
        part, events = pieces[piece]
        merged = np.empty(MOST_SHIFT + 2, np.int64)
        plan_levels(events, begin_ps, fewest, merged, merges, kept_entries[part], entries[part])

    in_parallel(plan, range(len(pieces)))
    levels = sum(
        ((kept_entries >> shift) & 1 for shift in range(MOST_SHIFT + 1)), np.zeros(rows, np.int64)
    )
    row_level = np.concatenate(([0], np.cumsum(levels))).astype(np.int64)
    row_entry = np.concatenate(([0], np.cumsum(entries))).astype(np.int64)
    out = _empty_levels(row_level, int(row_entry[-1]))
    buffers = LevelBuffers(
        out.shift, out.first, out.start_ps, out.extent_ps, out.longest_ps, out.event,
        out.type, out.count,
    )  # fmt: skip

    def make(piece: int) -> None:
        part, events = pieces[piece]
        level, entry = row_level[part.start], row_entry[part.start]
        make_levels(events, merges, kept_entries[part], level, entry, buffers)

    in_parallel(make, range(len(pieces)))
    return out


def split_rows(row_first: NDArray[np.int64], events: int = PIECE) -> list[tuple[int, int]]:
    """Consecutive rows (begin, end) of about this many events, at least one row."""
    pieces = []
    begin, rows = 0, row_first.size - 1
    while begin < rows:
        end = int(np.searchsorted(row_first, row_first[begin] + events, "right")) - 1
        pieces.append((begin, max(begin + 1, end)))
        begin = pieces[-1][1]
    return pieces


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
