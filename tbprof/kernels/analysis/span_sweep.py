"""The time that spans cover."""

import cython
from cython.cimports.tbprof.kernels.types import Ints, OutInts, i64


@cython.ccall
@cython.exceptval(check=False)
@cython.locals(line=i64, opened=i64, row=i64, rows=i64)
def unite_by_line(first: Ints, start: Ints, end: Ints, out_start: OutInts, out_end: OutInts) -> i64:
    """Writes the disjoint spans of each line, one line after another; returns how many."""
    with cython.nogil:
        rows = 0
        for line in range(first.shape[0] - 1):
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


@cython.ccall
@cython.exceptval(check=False)
@cython.locals(begin=i64, finish=i64, one=i64, other=i64, rows=i64)
def merge_layers(
    start: Ints, end: Ints, more_start: Ints, more_end: Ints, first: i64, last: i64,
    out_start: OutInts, out_end: OutInts,
) -> i64:  # fmt: skip
    """Writes the union of two layers of spans, by start, in [first, last); returns how many it has.

    Spans that overlap this range are whole.
    """
    with cython.nogil:
        rows = 0
        one = 0
        other = 0
        while one < start.shape[0] or other < more_start.shape[0]:
            if other >= more_start.shape[0] or (
                one < start.shape[0] and start[one] <= more_start[other]
            ):
                begin, finish = start[one], end[one]
                one += 1
            else:
                begin, finish = more_start[other], more_end[other]
                other += 1
            if finish <= begin or finish <= first or begin >= last:
                continue
            if rows > 0 and begin <= out_end[rows - 1]:
                out_end[rows - 1] = max(out_end[rows - 1], finish)
            else:
                out_start[rows] = begin
                out_end[rows] = finish
                rows += 1
        return rows


@cython.ccall
@cython.exceptval(check=False)
@cython.locals(at=i64, begin=i64, finish=i64, row=i64, total=i64, window=i64)
def measure_windows(
    start: Ints, end: Ints, window_start: Ints, window_end: Ints, out: OutInts
) -> cython.void:
    """Fills in how much of each window the spans cover; both ascend."""
    with cython.nogil:
        row = 0
        for window in range(window_start.shape[0]):
            while row < start.shape[0] and end[row] <= window_start[window]:
                row += 1
            total = 0
            at = row
            while at < start.shape[0] and start[at] < window_end[window]:
                begin = max(start[at], window_start[window])
                finish = min(end[at], window_end[window])
                total += finish - begin
                at += 1
            out[window] = total
