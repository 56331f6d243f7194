"""The length of unions of intervals."""

import numpy as np
from numpy.typing import NDArray

from tbprof.base.jit import kernel


@kernel
def _union(start, end):  # type: ignore[no-untyped-def]
    total = np.int64(0)
    if start.size == 0:
        return total
    until = start[0]
    for row in range(start.size):
        begin = max(start[row], until)
        if end[row] > begin:
            total += end[row] - begin
            until = end[row]
    return total


@kernel
def _merge(first, start, duration, out_start, out_end):  # type: ignore[no-untyped-def]
    rows = 0
    for line in range(first.size - 1):
        opened = False
        for row in range(first[line], first[line + 1]):
            end = start[row] + duration[row]
            if opened and start[row] <= out_end[rows - 1]:
                out_end[rows - 1] = max(out_end[rows - 1], end)
            else:
                out_start[rows] = start[row]
                out_end[rows] = end
                rows += 1
                opened = True
    return rows


def busy_time(
    first_event: NDArray[np.int64], start_ps: NDArray[np.int64], duration_ps: NDArray[np.int64]
) -> tuple[int, int]:
    """(busy, window) in ps: the union of all events, and from the first start to the last end.

    Events are ordered by (line, start). Overlaps within and between lines count once; (0, 0)
    without events.
    """
    if start_ps.size == 0:
        return 0, 0
    start = np.empty(start_ps.size, np.int64)
    end = np.empty(start_ps.size, np.int64)
    # Lines are merged to runs first: the sort is then over the few runs, not over the events.
    runs = _merge(first_event, start_ps, duration_ps, start, end)
    start, end = start[:runs], end[:runs]
    order = np.argsort(start, kind="stable")
    window = int(end.max() - start.min())
    return int(_union(start[order], end[order])), window
