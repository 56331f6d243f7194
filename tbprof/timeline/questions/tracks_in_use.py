"""Which tracks and counters have something to show in a window."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tbprof.base.records import dataclass
from tbprof.timeline.model.open_timeline import OpenTimeline
from tbprof.timeline.questions.interval_aggregation import find_bounds


@dataclass(frozen=True, slots=True)
class TracksInUse:
    """What has something to show in a window, ascending.

    `tracks` have an event in it, `counters` a value, which they may have taken before.
    """

    tracks: NDArray[np.int64]
    counters: NDArray[np.int64]


def tracks_in_use(open_timeline: OpenTimeline, from_ps: int, to_ps: int) -> TracksInUse:
    """The tracks with events that overlap [from_ps, to_ps), and the counters with a value in it.

    An event without a duration overlaps the window that it starts in. Takes time per row, not per
    event, but on rows where events overlap.

        |aa......bb    from 3 to 6      the track of a and b has nothing to show there
        |...cccc...
    """
    columns = open_timeline.columns
    every = np.arange(len(open_timeline.timeline.tracks), dtype=np.int64)
    bounds = find_bounds(open_timeline, every, from_ps, to_ps)
    is_used = bounds.low < bounds.high
    for row in np.flatnonzero(is_used & columns.crowded).tolist():
        events = slice(int(bounds.low[row]), int(bounds.high[row]))
        start = columns.start_ps[events]
        end = start + columns.duration_ps[events]
        is_used[row] = bool(((start >= from_ps) | (end > from_ps)).any())
    has_events = np.zeros(every.size, np.bool_)
    has_events[columns.track[is_used]] = True
    return TracksInUse(np.flatnonzero(has_events), _counters_with_values(open_timeline, to_ps))


def _counters_with_values(open_timeline: OpenTimeline, to_ps: int) -> NDArray[np.int64]:
    timeline = open_timeline.timeline
    is_known = [
        counter.first < counter.last and timeline.counter_time_ps[counter.first] < to_ps
        for counter in timeline.counters
    ]
    return np.flatnonzero(np.array(is_known, np.bool_))
