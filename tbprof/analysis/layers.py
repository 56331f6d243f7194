"""Time split among layers of intervals, of which the first that covers an instant has it."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tbprof.base.jit import kernel

Spans = tuple[NDArray[np.int64], NDArray[np.int64]]


@kernel
def _unite(first, start, end, out_start, out_end):  # type: ignore[no-untyped-def]
    rows = 0
    for line in range(first.size - 1):
        opened = rows  # rows before it are other lines'
        for row in range(first[line], first[line + 1]):
            if end[row] <= start[row]:
                continue
            if rows > opened and start[row] <= out_end[rows - 1]:
                out_end[rows - 1] = max(out_end[rows - 1], end[row])
            else:
                out_start[rows] = start[row]
                out_end[rows] = end[row]
                rows += 1
    return rows


@kernel
def _merge(start, end, more_start, more_end, out_start, out_end):  # type: ignore[no-untyped-def]
    rows = 0
    one = 0
    other = 0
    while one < start.size or other < more_start.size:
        if other >= more_start.size or (one < start.size and start[one] <= more_start[other]):
            begin, finish = start[one], end[one]
            one += 1
        else:
            begin, finish = more_start[other], more_end[other]
            other += 1
        if finish <= begin:
            continue
        if rows > 0 and begin <= out_end[rows - 1]:
            out_end[rows - 1] = max(out_end[rows - 1], finish)
        else:
            out_start[rows] = begin
            out_end[rows] = finish
            rows += 1
    return rows


@kernel
def _measure(start, end, window_start, window_end, out):  # type: ignore[no-untyped-def]
    row = 0
    for window in range(window_start.size):
        while row < start.size and end[row] <= window_start[window]:
            row += 1
        total = np.int64(0)
        at = row
        while at < start.size and start[at] < window_end[window]:
            begin = max(start[at], window_start[window])
            finish = min(end[at], window_end[window])
            total += finish - begin
            at += 1
        out[window] = total


def unite(start: NDArray[np.int64], end: NDArray[np.int64]) -> Spans:
    """The union of intervals in any order as disjoint spans, ascending; empty ones are dropped."""
    start, end = _ascending(start, end)
    return unite_lines(np.array([0, start.size], np.int64), start, end)


def _ascending(start: NDArray[np.int64], end: NDArray[np.int64]) -> Spans:
    if start.size > 1 and not bool(np.all(start[1:] >= start[:-1])):
        order = np.argsort(start, kind="stable")
        start, end = start[order], end[order]
    return start, end


def _added(covered: Spans, start: NDArray[np.int64], end: NDArray[np.int64]) -> Spans:
    """The union of disjoint, ascending spans and of intervals in any order."""
    start, end = _ascending(start, end)
    size = covered[0].size + start.size
    out_start, out_end = np.empty(size, np.int64), np.empty(size, np.int64)
    rows = _merge(*covered, start, end, out_start, out_end)
    return out_start[:rows], out_end[:rows]


def unite_lines(
    first: NDArray[np.int64], start: NDArray[np.int64], end: NDArray[np.int64]
) -> Spans:
    """The union on each line: rows `first[i]:first[i + 1]` are those of line i, by start."""
    out_start, out_end = np.empty(start.size, np.int64), np.empty(start.size, np.int64)
    rows = _unite(first, start, end, out_start, out_end)
    return out_start[:rows], out_end[:rows]


def split(
    window_start: NDArray[np.int64], window_end: NDArray[np.int64], layers: Sequence[Spans]
) -> NDArray[np.int64]:
    """[windows, layers] the time of each disjoint, ascending window that each layer has.

    An instant belongs to the first layer of which an interval covers it, so a window's row adds
    up to the part of it that any layer covers. Layers are intervals (start, end) in any order.
    """
    out = np.zeros((window_start.size, len(layers)), np.int64)
    if not window_start.size:
        return out
    covered: Spans = (np.empty(0, np.int64), np.empty(0, np.int64))
    before = np.zeros(window_start.size, np.int64)
    for column, (start, end) in enumerate(layers):
        inside = (end > window_start[0]) & (start < window_end[-1])
        if not inside.any():
            continue
        covered = _added(covered, start[inside], end[inside])
        now = np.empty(window_start.size, np.int64)
        _measure(*covered, window_start, window_end, now)
        out[:, column] = now - before
        before = now
    return out
