# cython: wraparound=False
"""Hash tables from names to rows; names are ranges of bytes."""

import cython
from cython.cimports.tbprof.kernels.codes import PRIME
from cython.cimports.tbprof.kernels.types import Bytes, Int32s, OutInt32s, i64


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
@cython.locals(byte=i64, mixed=i64)
def _slot_of(buf: Bytes, at: i64, end: i64, multiplier: i64, mask: i64) -> i64:
    mixed = (end - at) & PRIME
    for byte in range(at, end):
        mixed = mixed * multiplier + cython.cast(i64, buf[byte])
        mixed = (mixed & PRIME) + (mixed >> 31)
    return (mixed ^ (mixed >> 16)) & mask


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
@cython.locals(byte=i64)
def _are_equal(
    buf: Bytes, at: i64, end: i64, other: Bytes, other_at: i64, other_end: i64
) -> cython.bint:
    if end - at != other_end - other_at:
        return False
    for byte in range(end - at):
        if buf[at + byte] != other[other_at + byte]:
            break
    else:
        return True
    return False


@cython.ccall
@cython.exceptval(check=False)
@cython.locals(mask=i64, other=i64, row=i64, slot=i64)
def fill_names(
    buf: Bytes, name_at: Int32s, name_end: Int32s, multiplier: i64, slots: OutInt32s
) -> cython.void:
    """Fills a hash table, at most half full, with the row of each name; of equal ones the last.

    `multiplier` is random, so that no file can contain names that collide on purpose.
    """
    with cython.nogil:
        mask = slots.shape[0] - 1
        for row in range(name_at.shape[0]):
            slot = _slot_of(buf, name_at[row], name_end[row], multiplier, mask)
            while slots[slot] >= 0:
                other = slots[slot]
                if _are_equal(
                    buf, name_at[row], name_end[row], buf, name_at[other], name_end[other]
                ):
                    break
                slot = (slot + 1) & mask
            slots[slot] = cython.cast(cython.int, row)


@cython.ccall
@cython.exceptval(check=False)
@cython.locals(mask=i64, row=i64, slot=i64)
def find_name(
    buf: Bytes, name_at: Int32s, name_end: Int32s, multiplier: i64, slots: Int32s, name: Bytes
) -> i64:
    """The row of a name, -1 if there is none. `slots` comes from `fill_names`."""
    with cython.nogil:
        mask = slots.shape[0] - 1
        slot = _slot_of(name, 0, name.shape[0], multiplier, mask)
        while slots[slot] >= 0:
            row = slots[slot]
            if _are_equal(buf, name_at[row], name_end[row], name, 0, name.shape[0]):
                return row
            slot = (slot + 1) & mask
        return -1
