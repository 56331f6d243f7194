"""Runs: what was done without a break on one line, piece by piece, as one event."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tbprof.base.jit import kernel

# A line that idles longer has ended a run: what follows is another turn of the same.
LONGEST_GAP_PS = 1_000_000_000
FOREVER_PS = 2**62


@dataclass(frozen=True, slots=True)
class Spans:
    """Pieces of work [n] by (line, start).

    `key` is what each was, -1 for nothing known; `part` tells pieces apart that never make one run,
    such as those of two steps.
    """

    line: NDArray[np.int64]
    start_ps: NDArray[np.int64]
    end_ps: NDArray[np.int64]
    part: NDArray[np.int64]
    key: NDArray[np.int64]

    def take(self, rows: NDArray[np.int64] | NDArray[np.bool_]) -> "Spans":
        """The pieces `rows`."""
        columns = (self.line, self.start_ps, self.end_ps, self.part, self.key)
        return Spans(*(column[rows] for column in columns))


@kernel
def _join(line, start, end, part, key, longest_gap, out, out_start, out_end):  # type: ignore[no-untyped-def]
    """Writes the first piece, start and end of each run; returns how many there are."""
    runs = 0
    for row in range(line.size):
        before = row - 1
        goes_on = (
            row > 0
            and key[row] >= 0
            and key[row] == key[before]
            and line[row] == line[before]
            and part[row] == part[before]
            and start[row] - out_end[runs - 1] <= longest_gap
        )
        if goes_on:
            out_end[runs - 1] = max(out_end[runs - 1], end[row])
        elif key[row] >= 0:
            out[runs] = row
            out_start[runs] = start[row]
            out_end[runs] = end[row]
            runs += 1
    return runs


@kernel
def _unite(start, end, key, out, out_end):  # type: ignore[no-untyped-def]
    """Of spans by (key, start): writes the first of each that overlap, and their last end."""
    spans = 0
    for row in range(start.size):
        if spans > 0 and key[row] == key[row - 1] and start[row] < out_end[spans - 1]:
            out_end[spans - 1] = max(out_end[spans - 1], end[row])
        else:
            out[spans] = row
            out_end[spans] = end[row]
            spans += 1
    return spans


def join_runs(pieces: Spans, longest_gap_ps: int = LONGEST_GAP_PS) -> Spans:
    """The runs of pieces of one key, on their lines: from the first's start to the last's end.

    A run ends with another key, part or line, and where its line does nothing for longer than that
    gap. Pieces of no key end runs and belong to none.

        pieces   |aa.a.bb.a   bb......b        the last gap is long
        runs     |aaaa.bb.a   bb......b
    """
    size = pieces.key.size
    first = np.empty(size, np.int64)
    start, end = np.empty(size, np.int64), np.empty(size, np.int64)
    columns = pieces.line, pieces.start_ps, pieces.end_ps, pieces.part, pieces.key
    count = _join(*columns, np.int64(longest_gap_ps), first, start, end)
    first = first[:count]
    return Spans(
        pieces.line[first],
        start[:count].copy(),
        end[:count].copy(),
        pieces.part[first],
        pieces.key[first],
    )


def unite_runs(runs: Spans) -> Spans:
    """The runs of several lines together: those of one key that overlap are one.

    Ordered by (start, longest first).
    """
    ordered = runs.take(np.lexsort((runs.start_ps, runs.key)))
    first, end = np.empty(runs.key.size, np.int64), np.empty(runs.key.size, np.int64)
    count = _unite(ordered.start_ps, ordered.end_ps, ordered.key, first, end)
    kept = ordered.take(first[:count])
    united = Spans(kept.line, kept.start_ps, end[:count].copy(), kept.part, kept.key)
    return united.take(np.lexsort((-united.end_ps, united.start_ps)))
