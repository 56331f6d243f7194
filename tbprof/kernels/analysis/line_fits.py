"""Robust lines through points."""

import cython
from cython.cimports.tbprof.kernels.types import Floats, OutFloats, i64


@cython.ccall
@cython.exceptval(check=False)
@cython.locals(
    at=i64, below=i64, best=i64, distance=cython.double, line=i64, moved=cython.double, row=i64
)
def find_line(
    x: Floats, y: Floats, level: Floats, slope: Floats, steepest: cython.double, rank: i64,
    off: OutFloats,
) -> i64:  # fmt: skip
    """The line `level + slope * x` that most points are close to.

    Of the given lines, it is the one with the least distance of `rank`, counted from 0; the first
    of equal ones; -1 if all are steeper than `steepest`. `off` [points] is scratch.
    """
    with cython.nogil:
        best = -1
        distance = 0
        for line in range(level.shape[0]):
            if abs(slope[line]) > steepest:
                continue
            below = 0
            for row in range(x.shape[0]):
                off[row] = abs(y[row] - level[line] - slope[line] * x[row])
                below += off[row] < distance
            if best >= 0 and below <= rank:
                continue
            # Few lines are compared, so insertion sort is fast enough.
            for row in range(1, x.shape[0]):
                moved = off[row]
                at = row
                while at > 0 and off[at - 1] > moved:
                    off[at] = off[at - 1]
                    at -= 1
                off[at] = moved
            best = line
            distance = off[rank]
        return best
