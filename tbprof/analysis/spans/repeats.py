"""Which events repeat on which thread, how often, how long and how regularly."""

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from tbprof.base.records import dataclass
from tbprof.base.values import median
from tbprof.events.space import Events
from tbprof.kernels.groups import gather_repeats, tally_repeats

# An interval is regular where it is at most this factor longer or shorter than the median one.
_TOLERANCE = 1.5
_NEVER = np.iinfo(np.int64).min


@dataclass(frozen=True, slots=True)
class Repeats:
    """One row per (line, type) of which at least some number of events follow each other.

    An event inside one of its own type counts as part of that. `line` is a row of `events.lines`;
    `total_ps` the sum of the durations, `first_ps` and `last_ps` the first and the last start.
    """

    line: NDArray[np.int64]
    type: NDArray[np.int64]
    count: NDArray[np.int64]
    total_ps: NDArray[np.int64]
    first_ps: NDArray[np.int64]
    last_ps: NDArray[np.int64]


def find_repeats(events: Events, wanted: NDArray[np.bool_], least: int) -> Repeats:
    """The repeats of the types that are `wanted` [types], `least` or more times on one line."""
    columns = events.first_event, events.type, events.start_ps, events.duration_ps
    scratch = np.zeros((wanted.size, 6), np.int64)
    most = int(np.minimum(np.diff(events.first_event) // least, wanted.size).sum())
    table = np.empty((most, 6), np.int64)
    rows = tally_repeats(*columns, wanted, least, scratch, np.empty(wanted.size, np.int64), table)
    return Repeats(*(table[:rows, column].copy() for column in range(6)))


def rows_of(events: Events, line: int, type_: int) -> NDArray[np.int64]:
    """The rows of one repeat: the events of a type on a line that last, inner ones left out."""
    begin, end = (int(at) for at in events.first_event[line : line + 2])
    rows = begin + np.flatnonzero(
        (events.type[begin:end] == type_) & (events.duration_ps[begin:end] > 0)
    )
    reached = np.maximum.accumulate(events.start_ps[rows] + events.duration_ps[rows])
    is_outer = np.append(True, events.start_ps[rows[1:]] >= reached[:-1])
    outer: NDArray[np.int64] = rows[is_outer[: rows.size]]
    return outer


def habits(
    events: Events, repeats: Repeats, chosen: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """(median duration in ps [k], `regularity` [k]) of the `chosen` [k] rows of `repeats`."""
    by_line = np.argsort(repeats.line[chosen], kind="stable")
    order = chosen[by_line]
    cuts = np.append(0, np.cumsum(repeats.count[order]))
    rows = np.empty(int(cuts[-1]), np.int64)
    types = int(events.type.max(initial=-1)) + 1
    gather_repeats(
        events.first_event, events.type, events.start_ps, events.duration_ps,
        repeats.line[order], repeats.type[order],
        np.full(types, -1, np.int64), np.full(order.size, _NEVER), cuts[:-1].copy(), rows,
    )  # fmt: skip
    start, duration = events.start_ps[rows], events.duration_ps[rows]
    median_ps, regular = np.zeros(order.size, np.int64), np.zeros(order.size)
    for at, (begin, end) in zip(by_line.tolist(), pairwise(cuts.tolist()), strict=True):
        median_ps[at] = median(duration[begin:end])
        regular[at] = regularity(start[begin:end])
    return median_ps, regular


def regularity(positions: NDArray[np.int64]) -> float:
    """The share (0-1) of the intervals between ascending positions that are like the median one."""
    gaps = positions[1:] - positions[:-1]
    if not gaps.size:
        return 0.0
    middle = float(median(gaps))
    is_like = (gaps <= middle * _TOLERANCE) & (gaps * _TOLERANCE >= middle)
    return np.count_nonzero(is_like) / gaps.size
