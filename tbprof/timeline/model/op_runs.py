"""Runs: consecutive pieces of the same work on a line, joined into one event."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tbprof.base.records import dataclass, replace
from tbprof.base.values import take_rows
from tbprof.kernels.timeline.track_layout import join_pieces, unite_spans

# A longer idle time ends a run: what follows is another run of the same work.
LONGEST_GAP_PS = 1_000_000_000
FOREVER_PS = 2**62


@dataclass(frozen=True, slots=True)
class KeyedSpans:
    """Pieces of work [n] by (line, start).

    `key` is the work of each, -1 if unknown; `part` separates pieces that never form one run,
    such as those of two steps.
    """

    line: NDArray[np.int64]
    start_ps: NDArray[np.int64]
    end_ps: NDArray[np.int64]
    part: NDArray[np.int64]
    key: NDArray[np.int64]


def join_runs(pieces: KeyedSpans, longest_gap_ps: int = LONGEST_GAP_PS) -> KeyedSpans:
    """The runs of pieces with one key, on their lines: from the first start to the last end.

    A run ends with another key, part or line, and after its line is idle for longer than that
    gap. Pieces without a key end runs and belong to none.

        pieces   |aa.a.bb.a   bb......b        the last gap is long
        runs     |aaaa.bb.a   bb......b
    """
    size = pieces.key.size
    first = np.empty(size, np.int64)
    start, end = np.empty(size, np.int64), np.empty(size, np.int64)
    columns = pieces.line, pieces.start_ps, pieces.end_ps, pieces.part, pieces.key
    count = join_pieces(*columns, longest_gap_ps, first, start, end)
    first = first[:count]
    return KeyedSpans(
        pieces.line[first],
        start[:count].copy(),
        end[:count].copy(),
        pieces.part[first],
        pieces.key[first],
    )


def unite_runs(runs: KeyedSpans) -> KeyedSpans:
    """The runs of several lines together: those of one key that overlap are one.

    Ordered by (start, longest first).
    """
    ordered = take_rows(runs, np.lexsort((runs.start_ps, runs.key)))
    first, end = np.empty(runs.key.size, np.int64), np.empty(runs.key.size, np.int64)
    count = unite_spans(ordered.start_ps, ordered.end_ps, ordered.key, first, end)
    united_runs = take_rows(ordered, first[:count])
    united = replace(united_runs, end_ps=end[:count].copy())
    return take_rows(united, np.lexsort((-united.end_ps, united.start_ps)))
