"""The length of unions of intervals."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.spans.layers import unite_lines


def busy_time(
    first_event: NDArray[np.int64], start_ps: NDArray[np.int64], duration_ps: NDArray[np.int64]
) -> tuple[int, int]:
    """(busy, window) in ps: the union of all events, and from the first start to the last end.

    Events are ordered by (line, start). Overlaps within and between lines count once; (0, 0)
    without events.
    """
    if start_ps.size == 0:
        return 0, 0
    end_ps = start_ps + duration_ps
    window = int(end_ps.max() - start_ps.min())
    # Each line is united first, so that only a few spans are sorted, not all events.
    begin, end = unite_lines(first_event, start_ps, end_ps)
    return united_time(begin, end), window


def united_time(begin: NDArray[np.int64], end: NDArray[np.int64]) -> int:
    """The length of the union of spans in any order, none of them empty; sorts both in place."""
    if not begin.size:
        return 0
    # There is a gap where as many spans have ended as have begun, so starts and ends can be sorted
    # separately, in place, without copies. A stable sort is fast on the ascending runs of lines.
    begin.sort(kind="stable")
    end.sort(kind="stable")
    gaps = begin[1:] - end[:-1]
    return int(end[-1] - begin[0] - gaps[gaps > 0].sum())
