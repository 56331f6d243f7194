"""Metadata ids to table rows: an open-addressing hash table that kernels probe per event."""

from __future__ import annotations

import os

import numpy as np
from numpy.typing import NDArray

from tbprof.kernels.xplane.id_lookup import Lookup, fill_lookup, find_rows

# Smaller varints are one byte.
_IDS_OF_ONE_BYTE = 128


def build_lookup(ids: NDArray[np.int64]) -> Lookup:
    """A hash table from each id to its row, the last one if an id repeats.

    At most half full, so that a probe for an unknown id ends. Most ids count from 0: then each has
    a slot of its own. Others are mixed by the odd multipliers behind the keys, 0 for none, which
    are random for each table: otherwise a file with colliding ids could take hours.
    """
    size = 8
    while size < 2 * ids.size + 2:
        size *= 2
    keys = np.zeros(size + 2, np.int64)
    rows = np.full(size, -1, np.int32)
    if ids.size and (ids.min() < 0 or ids.max() >= size):
        keys[size:] = np.frombuffer(os.urandom(16), np.int64) | 1
    fill_lookup(keys, rows, ids)
    return Lookup(keys, rows)


def rows_of_short_ids(lookup: Lookup) -> NDArray[np.int32]:
    """[128] the row of each id that takes one byte, as most do; -1 for none."""
    rows = np.empty(_IDS_OF_ONE_BYTE, np.int32)
    find_rows(lookup, np.arange(_IDS_OF_ONE_BYTE, dtype=np.int64), rows)
    return rows
