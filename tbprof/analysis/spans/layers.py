"""Time split among layers of intervals: each instant belongs to the first layer that covers it."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tbprof.kernels.analysis.span_sweep import measure_windows, merge_layers, unite_by_line

_FEW = 1 << 12

Spans = tuple[NDArray[np.int64], NDArray[np.int64]]


def unite(start: NDArray[np.int64], end: NDArray[np.int64]) -> Spans:
    """The union of intervals in any order as disjoint spans, ascending; empty ones are dropped."""
    start, end = _ascending(start, end)
    return unite_lines(np.array([0, start.size], np.int64), start, end)


def _ascending(start: NDArray[np.int64], end: NDArray[np.int64]) -> Spans:
    if start.size > 1 and not (start[1:] >= start[:-1]).all():
        order = np.argsort(start, kind="stable")
        start, end = start[order], end[order]
    return start, end


def _added(covered: Spans, start: NDArray[np.int64], end: NDArray[np.int64]) -> Spans:
    """The union of disjoint, ascending spans and of intervals in any order."""
    start, end = _ascending(start, end)
    size = covered[0].size + start.size
    out_start, out_end = np.empty(size, np.int64), np.empty(size, np.int64)
    rows = merge_layers(*covered, start, end, out_start, out_end)
    return out_start[:rows], out_end[:rows]


def unite_lines(
    first: NDArray[np.int64], start: NDArray[np.int64], end: NDArray[np.int64]
) -> Spans:
    """The union on each line: rows `first[i]:first[i + 1]` are those of line i, by start."""
    out_start, out_end = np.empty(start.size, np.int64), np.empty(start.size, np.int64)
    rows = unite_by_line(first, start, end, out_start, out_end)
    return out_start[:rows], out_end[:rows]


def exclusive_time(
    window_start: NDArray[np.int64], window_end: NDArray[np.int64], layers: Sequence[Spans]
) -> NDArray[np.int64]:
    """[windows, layers] the time of each window that belongs to each layer.

    An instant belongs to the first layer that covers it, so the row of a window adds up to the part
    of the window that any layer covers. Windows are disjoint and ascending; layers are intervals
    (start, end) in any order.
    """
    out = np.zeros((window_start.size, len(layers)), np.int64)
    if not window_start.size:
        return out
    covered: Spans = (np.empty(0, np.int64), np.empty(0, np.int64))
    previous_ps = np.zeros(window_start.size, np.int64)
    for column, (start, end) in enumerate(layers):
        if start.size > _FEW:  # what few rows would take longer to find than to merge
            inside = (end > window_start[0]) & (start < window_end[-1])
            if not inside.all():
                start, end = start[inside], end[inside]
        if not start.size:
            continue
        covered = _added(covered, start, end)
        covered_ps = np.empty(window_start.size, np.int64)
        measure_windows(*covered, window_start, window_end, covered_ps)
        out[:, column] = covered_ps - previous_ps
        previous_ps = covered_ps
    return out
