"""The two dictionaries of a plane, XEventMetadata and XStatMetadata, as columns of byte ranges.

They follow the lines on the wire, in any order. Source: xplane.proto, XPlane.event_metadata and
XPlane.stat_metadata (map<int64, message>: entry {1: key, 2: value}).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tbprof.base.records import dataclass
from tbprof.base.values import unique
from tbprof.kernels.xplane.fields import MapEntries, read_entries
from tbprof.kernels.xplane.id_lookup import Lookup
from tbprof.xplane.buffer import Buffer
from tbprof.xplane.lookup import build_lookup


@dataclass(frozen=True, slots=True)
class Dictionary:
    """One row per distinct id. Ranges are byte offsets, [-1, -1) if a field is absent."""

    id: NDArray[np.int64]
    name: NDArray[np.int64]  # [n, 2] first and last byte of the name
    display_name: NDArray[np.int64]  # [n, 2]; a stat's description
    value: NDArray[np.int64]  # offset of the value message's length varint, -1 if absent
    with_stats: NDArray[np.int64]  # the same, -1 also if it holds no stats
    lookup: Lookup  # the row of an id
    damaged: int


def read_dictionary(
    buffer: Buffer,
    begins: NDArray[np.int64],
    ends: NDArray[np.int64],
    display_field: int,
) -> Dictionary:
    """The dictionary in the map entries [begins, ends); the last entry of an id counts."""
    entries = begins.size
    id_ = np.zeros(entries, np.int64)
    name = np.full((entries, 2), -1, np.int64)
    display = np.full((entries, 2), -1, np.int64)
    value, with_stats = np.full((2, entries), -1, np.int64)
    map_entries = MapEntries(id_, name, display, value, with_stats)
    progress = buffer.messages()
    damaged = 0
    for window in buffer.around(progress, begins):
        damaged += read_entries(window, progress, begins, ends, display_field, map_entries)
    if unique(id_).size < entries:
        order = np.argsort(id_, kind="stable")
        last = np.append(id_[order][1:] != id_[order][:-1], True)
        rows = np.sort(order[last])
        id_, name, display = id_[rows], name[rows], display[rows]
        value, with_stats = value[rows], with_stats[rows]
    return Dictionary(id_, name, display, value, with_stats, build_lookup(id_), damaged)
