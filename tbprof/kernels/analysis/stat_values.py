# cython: wraparound=False
"""Values of stats as numbers, and pairs of them."""

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


@cython.ccall
@cython.exceptval(check=False)
@cython.locals(found=i64, row=i64)
def find_contexts(
    id_kind: Bytes, id_bits: Ints, type_kind: Bytes, type_bits: Ints, pool: i64,
    of_pools: cython.bint, rows: OutInts, ids: OutInts, types: OutInts,
) -> i64:  # fmt: skip
    """Writes the row, the id and the type of contexts: those whose type is `pool`, or all others.

    Id and type are integers. Returns how many there are.
    """
    with cython.nogil:
        found = 0
        for row in range(id_kind.shape[0]):
            if (
                (id_kind[row] == INT64 or id_kind[row] == UINT64)
                and (type_kind[row] == INT64 or type_kind[row] == UINT64)
                and (type_bits[row] == pool) == of_pools
            ):
                rows[found] = row
                ids[found] = id_bits[row]
                types[found] = type_bits[row]
                found += 1
        return found
