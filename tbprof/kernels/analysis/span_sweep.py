"""The time that spans cover."""

import cython
from cython.cimports.tbprof.kernels.types import Ints, OutInts, OutIntTable, i64


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
@cython.locals(falls=cython.bint, row=i64)
def ascends(value: Ints) -> cython.bint:
    """Whether no value is below the one before it."""
    with cython.nogil:
        falls = False
        for row in range(1, value.shape[0]):
            falls |= value[row] < value[row - 1]
        return not falls


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
@cython.locals(begin=i64, finish=i64, rows=i64, span=i64)
def _merge(
    covered: OutIntTable, of: i64, into: i64, spans: i64, start: Ints, end: Ints, other: i64,
    stop: i64, first: i64, last: i64,
) -> i64:  # fmt: skip
    """Writes the union of covered spans and the rows other:stop of a layer, by start.

    Spans that overlap [first, last) are whole, others left out. Returns how many there are.
    """
    rows = 0
    span = 0
    while span < spans or other < stop:
        if other >= stop or (span < spans and covered[of, span] <= start[other]):
            begin, finish = covered[of, span], covered[of + 1, span]
            span += 1
        else:
            begin, finish = start[other], end[other]
            other += 1
        if finish <= begin or finish <= first or begin >= last:
            continue
        if rows > 0 and begin <= covered[into + 1, rows - 1]:
            covered[into + 1, rows - 1] = max(covered[into + 1, rows - 1], finish)
        else:
            covered[into, rows] = begin
            covered[into + 1, rows] = finish
            rows += 1
    return rows


@cython.ccall
@cython.exceptval(check=False)
@cython.locals(
    at=i64, begin=i64, finish=i64, first=i64, into=i64, last=i64, layer=i64, of=i64, row=i64,
    total=i64, window=i64,
)  # fmt: skip
def split_windows(
    cuts: Ints, start: Ints, end: Ints, window_start: Ints, window_end: Ints,
    covered: OutIntTable, spans: i64, before: OutInts, out: OutIntTable,
) -> i64:  # fmt: skip
    """Fills in how much of each window the layers cover beyond those before: [layers, windows].

    Rows `cuts[i]:cuts[i + 1]` are those of layer i, by start. The first two rows of `covered`
    [4, n] are the `spans` that earlier layers cover, then what all of them cover; the others are
    scratch. `before` is how much of each window that is. Windows ascend, and there is at least one.
    Returns how many spans there are.
    """
    with cython.nogil:
        first, last = window_start[0], window_end[window_end.shape[0] - 1]
        of = 0
        for layer in range(cuts.shape[0] - 1):
            if cuts[layer] == cuts[layer + 1]:  # most of the phases of a step
                for window in range(window_start.shape[0]):
                    out[layer, window] = 0
                continue
            into = 2 - of
            spans = _merge(
                covered, of, into, spans, start, end, cuts[layer], cuts[layer + 1], first, last
            )
            of = into
            row = 0
            for window in range(window_start.shape[0]):
                while row < spans and covered[of + 1, row] <= window_start[window]:
                    row += 1
                total = 0
                at = row
                while at < spans and covered[of, at] < window_end[window]:
                    begin = max(covered[of, at], window_start[window])
                    finish = min(covered[of + 1, at], window_end[window])
                    total += finish - begin
                    at += 1
                out[layer, window] = total - before[window]
                before[window] = total
        if of > 0:
            for row in range(spans):
                covered[0, row] = covered[2, row]
                covered[1, row] = covered[3, row]
        return spans
