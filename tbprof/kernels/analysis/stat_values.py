# cython: wraparound=False
"""Values of stats as numbers."""

import cython
from cython.cimports.tbprof.kernels.codes import INT64, UINT64
from cython.cimports.tbprof.kernels.types import Bytes, Ints, OutInts, i64


@cython.ccall
@cython.exceptval(check=False)
@cython.locals(row=i64, size=i64)
def fill_sizes(kind: Bytes, bits: Ints, most: i64, out: OutInts) -> cython.void:
    """Fills out [n] with integers up to `most`, -1 for what is negative or not an integer."""
    with cython.nogil:
        for row in range(out.shape[0]):
            size = -1
            if kind[row] == INT64 or kind[row] == UINT64:
                # An unsigned integer above 2^63 is a negative one by its bits.
                size = bits[row] if bits[row] >= 0 else -1
                if size > most or (kind[row] == UINT64 and bits[row] < 0):
                    size = most
            out[row] = size
