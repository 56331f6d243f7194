# cython: wraparound=False
"""Hash tables from ids to rows."""

import cython
from cython.cimports.tbprof.kernels.codes import REFERENCE, TEXT
from cython.cimports.tbprof.kernels.types import Bytes, Int32s, Ints, OutInt32s, OutInts, i64
from cython.cimports.tbprof.kernels.xplane.wire import find_row, slot_of


@cython.final
@cython.cclass
class Lookup:
    """A hash table from ids to rows, as `xplane.lookup.build_lookup` makes it."""

    def __init__(self, keys: Ints, rows: Int32s) -> None:
        self.keys = keys
        self.rows = rows


@cython.ccall
@cython.exceptval(check=False)
@cython.locals(index=i64)
def find_rows(lookup: Lookup, ids: Ints, out: OutInt32s) -> cython.void:
    """Fills out [n] with the row of each id, -1 where it is not in the table."""
    with cython.nogil:
        for index in range(ids.shape[0]):
            out[index] = find_row(lookup.keys, lookup.rows, ids[index])


@cython.ccall
@cython.exceptval(check=False)
@cython.locals(found=i64, index=i64, new=i64)
def find_texts(lookup: Lookup, name_ids: Int32s, kind: Bytes, bits: Ints, out: OutInt32s) -> i64:
    """Fills out [n] with the ids of referenced names, and of texts that are known, -1 for others.

    Returns how many texts are new.
    """
    with cython.nogil:
        new = 0
        for index in range(kind.shape[0]):
            out[index] = -1
            if kind[index] == REFERENCE:
                found = find_row(lookup.keys, lookup.rows, bits[index])
                if found >= 0:
                    out[index] = name_ids[found]
            elif kind[index] == TEXT:
                if bits[index] < 0:
                    out[index] = -1 - bits[index]
                else:
                    new += 1
        return new


@cython.ccall
@cython.exceptval(check=False)
@cython.locals(key=i64, mask=i64, row=i64, slot=i64)
def fill_lookup(keys: OutInts, rows: OutInt32s, ids: Ints) -> cython.void:
    """Fills a hash table with the row of each id; the last of equal ids counts."""
    with cython.nogil:
        mask = rows.shape[0] - 1
        for row in range(ids.shape[0]):
            key = cython.cast(i64, ids[row])
            slot = slot_of(keys, mask, key)
            while rows[slot] >= 0 and keys[slot] != key:
                slot = (slot + 1) & mask
            keys[slot] = key
            rows[slot] = row


@cython.ccall
@cython.exceptval(check=False)
def row_of(lookup: Lookup, key: i64) -> i64:
    """The row of `key`, or -1."""
    return find_row(lookup.keys, lookup.rows, key)
