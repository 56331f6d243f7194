# cython: wraparound=False
"""Which types events have."""

import cython
from cython.cimports.tbprof.kernels.types import Int32s, OutFlags, i64


@cython.ccall
@cython.exceptval(check=False)
@cython.locals(row=i64, types=i64)
def mark_types(type: Int32s, used: OutFlags) -> cython.void:
    """Sets used [types] where an event has the type; below 0 is none."""
    with cython.nogil:
        types = used.shape[0]
        for row in range(type.shape[0]):
            if 0 <= type[row] < types:
                used[type[row]] = True
