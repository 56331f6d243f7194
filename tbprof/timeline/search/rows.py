"""The ids of exactly the events that a row of another page's table counts."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.hlo.hlo import Programs
from tbprof.base.values import joined
from tbprof.events.space import Space
from tbprof.timeline.model.store import Timeline, Track
from tbprof.timeline.search.query import TableRow
from tbprof.timeline.search.row_events import find_row_events


def row_ids(
    timeline: Timeline, space: Space, programs: Programs, row: TableRow
) -> NDArray[np.int64]:
    """The ids, ascending, of the events that a row counts; empty in a part that is derived."""
    pieces = [
        ids
        for plane, sources in find_row_events(space, programs, row)
        for track in timeline.tracks
        if track.plane == plane and not track.is_derived
        for ids in [_ids_on(timeline, track, np.sort(sources))]
    ]
    return np.sort(joined(pieces))


def _ids_on(timeline: Timeline, track: Track, sources: NDArray[np.int64]) -> NDArray[np.int64]:
    """The ids of a track's events at these sources, which ascend."""
    first = int(timeline.row_first[track.first_row])
    last = int(timeline.row_first[track.first_row + track.rows])
    row_sources = timeline.source[first:last]
    # The bytes of a line are contiguous: most tracks have none of them.
    if not row_sources.size or np.searchsorted(sources, row_sources.min()) == np.searchsorted(
        sources, row_sources.max(), "right"
    ):
        return np.empty(0, np.int64)
    position = np.minimum(np.searchsorted(sources, row_sources), sources.size - 1)
    return np.flatnonzero(sources[position] == row_sources) + first
