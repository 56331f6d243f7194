"""The types of events, read again from their bytes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tbprof.base.process.parallel import in_parallel
from tbprof.kernels.xplane.event_scan import find_types
from tbprof.xplane.buffer import Buffer
from tbprof.xplane.interning import in_file_order
from tbprof.xplane.metadata import Dictionary

_PER_PASS = 1 << 16


def read_event_types(
    buffer: Buffer, dictionary: Dictionary, source: NDArray[np.int64]
) -> NDArray[np.int32]:
    """[n] the rows of the types of the events at the offsets `source` [n], -1 for none."""
    types = np.full(source.size, -1, np.int32)

    def read_part(begin: int) -> None:
        part = source[begin : begin + _PER_PASS]
        begins, rows = in_file_order(part)
        progress, targets = buffer.messages(), rows + begin
        for window in buffer.around(progress, begins):
            find_types(window, progress, begins, targets, dictionary.lookup, types)

    in_parallel(read_part, range(0, source.size, _PER_PASS), 16 * source.size)
    return types
