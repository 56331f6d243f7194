# cython: wraparound=False
"""Sums of the times of nested events, in one pass."""

import cython
from cython.cimports.tbprof.kernels.types import Int32s, Ints, OutInts, OutIntTable, i64


@cython.final
@cython.cclass
class NestedSums:
    """Sums of events by code: `sums` [codes, 3] are their number, total time and own time.

    `window` receives the first start and the last end, and is empty (start after end) before.
    `start` and `end` [n] receive the union of each line, one line after another. `stack` and
    `covered` are scratch, of as many rows as the longest line has.
    """

    sums: OutIntTable
    window: OutInts
    start: OutInts
    end: OutInts
    stack: OutInts
    covered: OutInts

    def __init__(
        self, sums: OutIntTable, window: OutInts, start: OutInts, end: OutInts, stack: OutInts,
        covered: OutInts,
    ) -> None:  # fmt: skip
        self.sums = sums
        self.window = window
        self.start = start
        self.end = end
        self.stack = stack
        self.covered = covered


@cython.ccall
@cython.exceptval(check=False)
@cython.locals(
    above=i64, begin=i64, earliest=i64, end=i64, latest=i64, line=i64, of=i64, opened=i64, row=i64,
    spans=i64, top=i64,
)  # fmt: skip
def sum_nested(
    first_event: Ints, start: Ints, duration: Ints, code: Int32s, out: NestedSums
) -> i64:
    """Sums the events with a code of 0 or more, as if there were no others.

    Returns how many spans the unions of all lines have.
    """
    with cython.nogil:
        spans = 0
        earliest, latest = out.window[0], out.window[1]
        for line in range(first_event.shape[0] - 1):
            top = 0
            opened = spans  # spans before it are other lines'
            for row in range(first_event[line], first_event[line + 1]):
                of = code[row]
                if of < 0:
                    continue
                begin = start[row]
                end = begin + duration[row]
                earliest = min(earliest, begin)
                latest = max(latest, end)
                out.sums[of, 0] += 1
                out.sums[of, 1] += duration[row]
                out.sums[of, 2] += duration[row]
                if end > begin:
                    if spans > opened and begin <= out.end[spans - 1]:
                        out.end[spans - 1] = max(out.end[spans - 1], end)
                    else:
                        out.start[spans] = begin
                        out.end[spans] = end
                        spans += 1
                # The innermost enclosing event, as in `nest_events`.
                while top > 0:
                    above = out.stack[top - 1]
                    if start[above] + duration[above] >= end:
                        break
                    top -= 1
                out.stack[top] = row
                out.covered[top] = begin
                if top > 0:
                    # The part of that event which it covers, and no earlier sibling does.
                    begin = max(begin, out.covered[top - 1])
                    if end > begin:
                        out.sums[code[out.stack[top - 1]], 2] -= end - begin
                        out.covered[top - 1] = end
                top += 1
        out.window[0], out.window[1] = earliest, latest
        return spans
