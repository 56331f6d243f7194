"""All stats of some messages as rows, in one compiled pass over their bytes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tbprof.kernels.xplane.passes import StatListing
from tbprof.kernels.xplane.stat_decoding import StatLists, StatMessages, list_stats
from tbprof.xplane.buffer import Buffer
from tbprof.xplane.interning import in_file_order
from tbprof.xplane.metadata import Dictionary

# The fewest bytes of a stat with a value, its own tag and length included.
_STAT_BYTES = 4


def read_rows(
    buffer: Buffer, dictionary: Dictionary, source: NDArray[np.int64], field: int
) -> tuple[list[NDArray[Any]], int]:
    """(columns of events.stats.StatRows after `names`, how many stats were damaged).

    For the stats in field `field` of the messages at `source` [n]: offsets of their length varints,
    -1 for none.
    """
    begins, targets = in_file_order(source)
    spans = np.zeros((source.size, 2), np.int64)
    parts = [_columns(0)]
    messages = StatMessages(begins, targets, field)
    progress = StatListing(0, len(buffer))
    damaged = 0
    for window in buffer.around(progress, begins):
        listed, copied = progress.listed, progress.copied
        columns = _columns(window.size)
        lists = StatLists(spans, *columns)
        damaged += list_stats(window, progress, messages, dictionary.lookup, lists)
        more, content = progress.listed - listed, progress.copied - copied
        parts.append(
            (*(column[:more].copy() for column in columns[:-1]), columns[-1][:content].copy())
        )
    joined = [np.concatenate(pieces) for pieces in zip(*parts, strict=True)]
    return [spans[:, 0].copy(), spans[:, 1].copy(), *joined], damaged


def _columns(window: int) -> tuple[NDArray[Any], ...]:
    """Name, kind, bits, size and content for the stats of a window of `window` bytes."""
    rows = window // _STAT_BYTES
    return (
        np.empty(rows, np.int32),
        np.empty(rows, np.uint8),
        np.empty(rows, np.int64),
        np.empty(rows, np.int64),
        np.empty(window, np.uint8),
    )
