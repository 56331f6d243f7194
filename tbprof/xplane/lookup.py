"""Metadata ids to table rows: an open-addressing hash table that kernels probe per event."""

import os

import numpy as np
from numpy.typing import NDArray

from tbprof.kernels.xplane.id_lookup import Lookup, fill_lookup


def build_lookup(ids: NDArray[np.int64]) -> Lookup:
    """A hash table from each id to its row, the last one if an id repeats.

    At most half full, so that a probe for an unknown id ends. The multipliers behind the keys are
    random for each table: otherwise a file with colliding ids could take hours. They are below
    2^31, so that no product overflows.
    """
    size = 8
    while size < 2 * ids.size + 2:
        size *= 2
    keys = np.zeros(size + 2, np.int64)
    rows = np.full(size, -1, np.int32)
    keys[size:] = 2**30 | np.frombuffer(os.urandom(8), np.uint32) >> 2 | 1
    fill_lookup(keys, rows, ids)
    return Lookup(keys, rows)
