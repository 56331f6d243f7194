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


@cython.final
@cython.cclass
class NameTable:
    """A hash table of names, ranges of `buf`: `slots` are their rows, at most half full.

    `multiplier` is random, so that no file can contain names that collide on purpose.
    """

    buf: Bytes
    name_at: Int32s
    name_end: Int32s
    multiplier: i64
    slots: OutInt32s

    def __init__(
        self, buf: Bytes, name_at: Int32s, name_end: Int32s, multiplier: i64, slots: OutInt32s
    ) -> None:
        self.buf = buf
        self.name_at = name_at
        self.name_end = name_end
        self.multiplier = multiplier
        self.slots = slots


@cython.ccall
@cython.exceptval(check=False)
@cython.locals(at=i64, end=i64, mask=i64, other=i64, row=i64, slot=i64)
def fill_names(table: NameTable) -> cython.void:
    """Fills a table with the row of each name; the last of equal names counts."""
    with cython.nogil:
        mask = table.slots.shape[0] - 1
        for row in range(table.name_at.shape[0]):
            at = table.name_at[row]
            end = table.name_end[row]
            slot = _slot_of(table.buf, at, end, table.multiplier, mask)
            while table.slots[slot] >= 0:
                other = table.slots[slot]
                if _are_equal(
                    table.buf, at, end, table.buf, table.name_at[other], table.name_end[other]
                ):
                    break
                slot = (slot + 1) & mask
            table.slots[slot] = cython.cast(cython.int, row)


@cython.ccall
@cython.exceptval(check=False)
@cython.locals(mask=i64, row=i64, size=i64, slot=i64)
def find_name(table: NameTable, name: Bytes) -> i64:
    """The row of a name, -1 if there is none."""
    with cython.nogil:
        mask = table.slots.shape[0] - 1
        size = len(name)
        slot = _slot_of(name, 0, size, table.multiplier, mask)
        while table.slots[slot] >= 0:
            row = table.slots[slot]
            if _are_equal(table.buf, table.name_at[row], table.name_end[row], name, 0, size):
                return row
            slot = (slot + 1) & mask
        return -1
