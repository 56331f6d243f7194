# cython: wraparound=False
"""The types that events use."""

import cython
from cython.cimports.tbprof.kernels.types import Int32s, OutFlags, i64


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
