"""Metadata ids to table rows: an open-addressing hash table that kernels probe per event."""

import os

import numpy as np
from numpy.typing import NDArray

from tbprof.base.jit import kernel


@kernel
def _slot(keys, mask, key):  # type: ignore[no-untyped-def]
    if 0 <= key < 65536:  # most ids count from 0: each has a slot of its own
        return key & mask
    middle = ((key >> 16) & 0xFFFFFFFF) * keys[mask + 1]
    high = ((key >> 48) & 0xFFFF) * keys[mask + 2]
    return (key ^ (middle >> 30) ^ (high >> 30)) & mask


@kernel
def find_row(keys, rows, key):  # type: ignore[no-untyped-def]
    """The row of `key`, or -1. `keys` and `rows` come from `build_lookup`."""
    mask = rows.size - 1
    slot = _slot(keys, mask, key)
    while rows[slot] >= 0:
        if keys[slot] == key:
            return rows[slot]
        slot = (slot + 1) & mask
    return np.int32(-1)


@kernel
def find_rows(keys, rows, ids, out):  # type: ignore[no-untyped-def]
    """Fills out [n] with the row of each id, -1 where it is not in the table."""
    for at in range(ids.size):
        out[at] = find_row(keys, rows, ids[at])


@kernel
def _fill(keys, rows, ids):  # type: ignore[no-untyped-def]
    mask = rows.size - 1
    for row in range(ids.size):
        key = np.int64(ids[row])
        slot = _slot(keys, mask, key)
        while rows[slot] >= 0 and keys[slot] != key:
            slot = (slot + 1) & mask
        keys[slot] = key
        rows[slot] = row


def build_lookup(ids: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """(keys, rows) of a hash table from each id to its row, the last one where an id repeats.

    Half full at most, so that a probe for an unknown id ends. The multipliers behind the keys are
    drawn anew for each table: a file whose ids are made to collide would else take hours. They
    are below 2^31, so that no product overflows.
    """
    size = 8
    while size < 2 * ids.size + 2:
        size *= 2
    keys = np.zeros(size + 2, np.int64)
    rows = np.full(size, -1, np.int32)
    keys[size:] = 2**30 | np.frombuffer(os.urandom(8), np.uint32) >> 2 | 1
    _fill(keys, rows, ids)
    return keys, rows
