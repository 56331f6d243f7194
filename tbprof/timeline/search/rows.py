"""Rows of other pages' tables in a search: the events that a row counts, all of them and no others.

    device-op:bert/dense/MatMul                a row of TensorFlow stats, on devices
    host-op:bert/dense/MatMul                  the same on hosts
    kernel:gemm                                all launches of a kernel
    kernel:gemm op:bert/dense/MatMul           those of one op; `op:` alone: of no op
    kernel:gemm op:bert launch:8,1,1/256,1,1/32/0   those of one configuration
    input-op:Iterator::Root::Map               a row of the input pipeline analyzer
    iterator:Iterator::Root::Interleave::Map   a stage of a tf.data pipeline, all copies of it

Names may hold spaces and colons: a kernel's ends at the first ` op:` or ` launch:`.
"""

import re
from typing import cast

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.hlo.hlo import Programs
from tbprof.base.lazy import regex
from tbprof.events.space import Space
from tbprof.timeline.model.store import Timeline, Track
from tbprof.timeline.search.row_events import TableKind, TableRow, find_row_events

_QUERY = regex(r"(device-op|sparse-core-op|host-op|input-op|iterator|kernel):(.+)", re.DOTALL)
_KERNEL = regex(r"(.+?)(?: op:(.*?))?(?: launch:([\d,/]*))?", re.DOTALL)


def parse_row(query: str) -> TableRow | None:
    """The row that a query is about, None where it is about something else."""
    found = _QUERY.fullmatch(query)
    if found is None:
        return None
    kind, name = cast(TableKind, found[1]), found[2]
    parts = _KERNEL.fullmatch(name) if kind == "kernel" else None
    return TableRow(kind, name) if parts is None else TableRow(kind, *parts.groups())


def row_ids(
    timeline: Timeline, space: Space, programs: Programs, row: TableRow
) -> NDArray[np.int64]:
    """The ids, ascending, of the events that a row counts; empty in a part that is derived."""
    found = [
        ids
        for plane, sources in find_row_events(space, programs, row)
        for track in timeline.tracks
        if track.plane == plane and not track.is_derived
        for ids in [_ids_on(timeline, track, np.sort(sources))]
    ]
    return np.sort(np.concatenate([np.empty(0, np.int64), *found]))


def _ids_on(timeline: Timeline, track: Track, sources: NDArray[np.int64]) -> NDArray[np.int64]:
    """The ids of a track's events at these sources, which ascend."""
    first = int(timeline.row_first[track.first_row])
    last = int(timeline.row_first[track.first_row + track.rows])
    own = timeline.source[first:last]
    # The bytes of a line lie together: most tracks have none of them.
    if not own.size or np.searchsorted(sources, own.min()) == np.searchsorted(
        sources, own.max(), "right"
    ):
        return np.empty(0, np.int64)
    at = np.minimum(np.searchsorted(sources, own), sources.size - 1)
    return np.flatnonzero(sources[at] == own) + first
