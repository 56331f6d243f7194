# cython: wraparound=False
"""Pairs allocations with their releases."""

import cython
from cython.cimports.tbprof.kernels.types import Flags, Ints, OutInts, i64
from cython.cimports.tbprof.kernels.xplane.wire import slot_of


@cython.ccall
@cython.exceptval(check=False)
@cython.locals(
    allocator=i64, before=i64, begin=i64, mask=i64, row=i64, slot=i64, used=i64,
)  # fmt: skip
def pair_events(
    first: Ints, address: Ints, is_allocation: Flags, keys: OutInts, latest: OutInts,
    partner: OutInts,
) -> cython.bint:  # fmt: skip
    """Fills partner [n] of events by (allocator, time); False where the table is too small.

    Rows [first[i], first[i + 1]) are those of allocator i. `latest` holds -1: the latest event at
    each address of the table, whose size is a power of 2. `keys` are its addresses, and behind them
    two multipliers, as `xplane.lookup.build_lookup` has them.
    """
    with cython.nogil:
        mask = latest.shape[0] - 1
        used = 0
        for allocator in range(first.shape[0] - 1):
            begin = first[allocator]
            for row in range(begin, first[allocator + 1]):
                partner[row] = -1
                if address[row] == 0:
                    continue
                slot = slot_of(keys, mask, address[row])
                while latest[slot] >= 0 and keys[slot] != address[row]:
                    slot = (slot + 1) & mask
                before = latest[slot]
                if before < 0:
                    used += 1
                    if 2 * used > mask:
                        return False
                    keys[slot] = address[row]
                latest[slot] = row
                # Events of another allocator at this address do not matter.
                if before >= begin and is_allocation[before] != 0:
                    partner[before] = row
                    if is_allocation[row] == 0:
                        partner[row] = before
        return True
