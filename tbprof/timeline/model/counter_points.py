"""The points of counters at any resolution, at a cost that does not grow with their number.

The values of all counters are the base of a pyramid: the least and the greatest of each 16 values
are stored, then those of each 16 of these, and so on up to one. The least and the greatest value
between any two points then follow from a few dozen entries.

    values      3 1 4 1 5 9 2 6 5 3 5 8     here with 4 instead of 16
    low         1       2       3           then 1
    high        4       9       8           then 9
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tbprof.base.records import dataclass
from tbprof.kernels.codes import FAN
from tbprof.kernels.timeline.point_buckets import read_points
from tbprof.timeline.model.store import Timeline

# Times lie within 2^57 ps of the origin (see the reader); a window may begin and end outside.
_FAR = 2**61


@dataclass(frozen=True, slots=True)
class CounterPoints:
    """The values of a counter in the time buckets [n] that contain points, in order.

    `time_ps` is the time of a bucket's first point, `low` and `high` are its least and greatest
    value, `last` is the last value, which continues.
    """

    time_ps: NDArray[np.int64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    last: NDArray[np.float64]


def make_pyramid(value: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """(low, high): the least and the greatest of each 16 values, of each 16 of these, and so on."""
    lows, highs = [np.empty(0, np.float64)], [np.empty(0, np.float64)]
    low = high = value
    while low.size > 1:
        starts = np.arange(0, low.size, FAN)
        low, high = np.minimum.reduceat(low, starts), np.maximum.reduceat(high, starts)
        lows.append(low)
        highs.append(high)
    return np.concatenate(lows), np.concatenate(highs)


def query_counter(
    timeline: Timeline, counter: int, level: int, from_bucket: int, to_bucket: int
) -> CounterPoints:
    """A counter in the buckets `[from_bucket, to_bucket)` of 2^`level` ps since the first moment.

    Before these comes the last point before the window, if there is one: its value continues. The
    result has at most one entry per bucket, and per point, more.
    """
    entry = timeline.counters[counter]
    begin = timeline.begin_ps
    from_ps = max(min(begin + (from_bucket << level), _FAR), -_FAR)
    to_ps = max(min(begin + (to_bucket << level), _FAR), from_ps)
    most = min(max(to_bucket - from_bucket, 0), entry.last - entry.first) + 1
    time = np.empty(most, np.int64)
    low, high, last = (np.empty(most, np.float64) for _ in range(3))
    points = read_points(
        timeline.counter_time_ps,
        timeline.counter_value,
        timeline.counter_low,
        timeline.counter_high,
        np.array([entry.first, entry.last, begin, level, from_ps, to_ps], np.int64),
        time,
        low,
        high,
        last,
    )
    return CounterPoints(time[:points], low[:points], high[:points], last[:points])
