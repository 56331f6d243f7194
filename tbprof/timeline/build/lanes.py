"""Which events of a line can share a track if viewers require slices to nest.

Viewers of Chrome traces draw the slices of a thread as a stack. If two overlap without nesting,
they cut one short, or leave it out. Such events get a separate track.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tbprof.events.space import Events
from tbprof.kernels.timeline.track_layout import assign_lanes

# Beyond this many simultaneous events, events share the last track.
MOST_LANES = 64


def find_lanes(events: Events, is_apart: NDArray[np.bool_] | None = None) -> NDArray[np.int32]:
    """[n] the lane of each event on its line, the first on which it nests; `is_apart` ones on 0.

    one line   |aaaaaa..cccc       lane 0: a, c
               |...bbbbbb..        lane 1: b, since a ends inside it
    """
    lane = np.zeros(len(events), np.int32)
    apart = np.zeros(0, np.bool_) if is_apart is None else is_apart
    assign_lanes(
        events.first_event, events.start_ps, events.duration_ps, apart,
        np.empty(MOST_LANES, np.int64), np.empty(len(events), np.int64), lane,
    )  # fmt: skip
    return lane


def count_lanes(events: Events, lane: NDArray[np.int32]) -> NDArray[np.int64]:
    """[lines] how many lanes each line needs, 0 without events."""
    lanes = np.zeros(events.first_event.size - 1, np.int64)
    has_any = np.diff(events.first_event) > 0
    if has_any.any():
        lanes[has_any] = np.maximum.reduceat(lane, events.first_event[:-1][has_any]) + 1
    return lanes
