"""Time split among layers of intervals: each instant belongs to the first layer that covers it."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from tbprof.kernels.analysis.span_sweep import measure_windows, merge_layers, unite_by_line

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


def unite_lines(
    first: NDArray[np.int64], start: NDArray[np.int64], end: NDArray[np.int64]
) -> Spans:
    """The union on each line: rows `first[i]:first[i + 1]` are those of line i, by start."""
    out_start, out_end = np.empty(start.size, np.int64), np.empty(start.size, np.int64)
    rows = unite_by_line(first, start, end, out_start, out_end)
    return out_start[:rows], out_end[:rows]


def exclusive_time(
    window_start: NDArray[np.int64], window_end: NDArray[np.int64], layers: Iterable[Spans]
) -> NDArray[np.int64]:
    """[windows, layers] the time of each window that belongs to each layer.

    An instant belongs to the first layer that covers it, so the row of a window adds up to the part
    of the window that any layer covers. Windows are disjoint and ascending; layers are intervals
    (start, end) in any order, and only one of them is in memory at a time.
    """
    if not window_start.size:
        return np.zeros((0, sum(1 for _ in layers)), np.int64)
    columns = [np.empty((0, window_start.size), np.int64)]
    covered: Spans = (np.empty(0, np.int64), np.empty(0, np.int64))
    first, last = int(window_start[0]), int(window_end[-1])
    before_ps = np.zeros(window_start.size, np.int64)
    for start, end in layers:
        covered_ps = before_ps
        if start.size:
            size = covered[0].size + start.size
            out_start, out_end = np.empty((2, size), np.int64)
            rows = merge_layers(*covered, *_ascending(start, end), first, last, out_start, out_end)
            covered = out_start[:rows], out_end[:rows]
            covered_ps = np.empty(window_start.size, np.int64)
            measure_windows(*covered, window_start, window_end, covered_ps)
        columns.append((covered_ps - before_ps)[None])
        before_ps = covered_ps
    return np.ascontiguousarray(np.concatenate(columns).T)
