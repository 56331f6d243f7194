# cython: wraparound=False
"""The types that events use, and the events of some types."""

import cython
from cython.cimports.tbprof.kernels.types import Flags, Int32s, OutFlags, OutInts, i64


@cython.ccall
@cython.exceptval(check=False)
@cython.locals(row=i64, types=i64)
def mark_types(type: Int32s, used: OutFlags) -> cython.void:
    """Sets `used` [types] for each type of an event; negative types are none."""
    with cython.nogil:
        types = used.shape[0]
        for row in range(type.shape[0]):
            if 0 <= type[row] < types:
                used[type[row]] = True


@cython.ccall
@cython.exceptval(check=False)
@cython.locals(found=i64, kind=i64, none=i64, row=i64)
def find_types(type: Int32s, wanted: Flags, rows: OutInts) -> i64:
    """Writes the rows of the types that are `wanted` [types + 1] to `rows` [events].

    Returns how many there are. The last of `wanted` is for events without a type.
    """
    with cython.nogil:
        found = 0
        none = wanted.shape[0] - 1
        for row in range(type.shape[0]):
            kind = type[row]
            if kind < 0 or kind > none:
                kind = none
            rows[found] = row  # replaced by the next one unless it is wanted
            found += wanted[kind]
        return found
