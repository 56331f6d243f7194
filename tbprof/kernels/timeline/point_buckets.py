"""Values of counters in buckets."""

import cython
from cython.cimports.tbprof.kernels.codes import (
    FAN,
    FAN_BITS,
)
from cython.cimports.tbprof.kernels.searches import first_near
from cython.cimports.tbprof.kernels.types import Floats, Ints, OutFloats, OutInts, i64


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
@cython.locals(base=i64, best=cython.double, size=i64)
def _extreme(
    value: Floats, pyramid: Floats, first: i64, last: i64, sign: cython.double
) -> cython.double:
    """The greatest of `sign` times the values of the rows `[first, last)`, at least one."""
    best = sign * value[first]
    size = value.shape[0]
    base = -1  # the first entry of the level in the pyramid, -1 for the values themselves
    while first < last:
        while first < last and first & (FAN - 1):
            best = max(best, sign * (value[first] if base < 0 else pyramid[base + first]))
            first += 1
        while first < last and last & (FAN - 1):
            last -= 1
            best = max(best, sign * (value[last] if base < 0 else pyramid[base + last]))
        base = base + size if base >= 0 else 0
        size = (size + FAN - 1) >> FAN_BITS
        first >>= FAN_BITS
        last >>= FAN_BITS
    return best


@cython.ccall
@cython.exceptval(check=False)
@cython.locals(
    after=i64,
    begin=i64,
    end=i64,
    first=i64,
    found=i64,
    from_ps=i64,
    last=i64,
    level=i64,
    row=i64,
    to_ps=i64,
)
def read_points(
    time: Ints,
    value: Floats,
    low: Floats,
    high: Floats,
    query: Ints,
    out_time: OutInts,
    out_low: OutFloats,
    out_high: OutFloats,
    out_last: OutFloats,
) -> i64:
    """Writes an entry for each bucket with points; returns the number of entries."""
    with cython.nogil:
        first, last, begin, level = query[0], query[1], query[2], query[3]
        from_ps, to_ps = query[4], query[5]
        row = first_near(time, first, last, from_ps)
        found = 0
        if row > first:
            out_time[0] = time[row - 1]
            out_low[0] = out_high[0] = out_last[0] = value[row - 1]
            found = 1
        while row < last and time[row] < to_ps:
            end = begin + ((((time[row] - begin) >> level) + 1) << level)
            after = first_near(time, row, last, min(end, to_ps))
            out_time[found] = time[row]
            out_low[found] = -_extreme(value, low, row, after, -1.0)
            out_high[found] = _extreme(value, high, row, after, 1.0)
            out_last[found] = value[after - 1]
            found += 1
            row = after
        return found
