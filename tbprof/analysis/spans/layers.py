"""Time split among layers of intervals: each instant belongs to the first layer that covers it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from tbprof.base.values import join_columns
from tbprof.kernels.analysis.span_sweep import ascends, split_windows, unite_by_line

Spans = tuple[NDArray[np.int64], NDArray[np.int64]]
NO_SPANS: Spans = (np.empty(0, np.int64), np.empty(0, np.int64))

# Layers of fewer rows are looked at together.
_FEW = 1 << 16


def unite(start: NDArray[np.int64], end: NDArray[np.int64]) -> Spans:
    """The union of intervals in any order as disjoint spans, ascending; empty ones are dropped."""
    start, end = _ascending(start, end)
    return unite_lines(np.array([0, start.size], np.int64), start, end)


def _ascending(start: NDArray[np.int64], end: NDArray[np.int64]) -> Spans:
    if not ascends(start):
        order = np.argsort(start, kind="stable")
        start, end = start[order], end[order]
    return start, end


def join_spans(spans: Iterable[Spans]) -> Spans:
    """Several sets of intervals, one after another."""
    start, end = join_columns(spans, 2)
    return start, end


def unite_all(spans: Iterable[Spans]) -> Spans:
    """The union of several sets of intervals, as `unite` returns it."""
    return unite(*join_spans(spans))


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
    (start, end) in any order, and only one large one is in memory at a time.
    """
    windows = window_start.size
    if not windows:
        return np.zeros((0, sum(1 for _ in layers)), np.int64)
    columns = [np.empty((0, windows), np.int64)]
    spans, covered = 0, np.empty((4, 0), np.int64)
    before_ps = np.zeros(windows, np.int64)
    for some in _batches(layers):
        start, end = map(_joined, zip(*some, strict=True))
        known, covered = covered, np.empty((4, spans + start.size), np.int64)
        covered[:2, :spans] = known[:2, :spans]
        columns.append(np.empty((len(some), windows), np.int64))
        cuts = np.array([0, *accumulate(starts.size for starts, _ in some)], np.int64)
        spans = split_windows(
            cuts, start, end, window_start, window_end, covered, spans, before_ps, columns[-1]
        )
    return np.ascontiguousarray(np.concatenate(columns).T)


def _batches(layers: Iterable[Spans]) -> Iterator[list[Spans]]:
    """Consecutive layers by start, as many as have few rows together."""
    batch: list[Spans] = []
    rows = 0
    for start, end in layers:
        batch.append(_ascending(start, end))
        rows += start.size
        if rows >= _FEW:
            yield batch
            batch, rows = [], 0
    if batch:
        yield batch


def _joined(parts: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
    return parts[0] if len(parts) == 1 else np.concatenate(parts)
