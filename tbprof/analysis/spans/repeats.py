"""Events that repeat on a thread: how often, how long and how regularly."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from tbprof.base.records import dataclass
from tbprof.events.space import Events
from tbprof.kernels.analysis.row_groups import gather_repeats, tally_repeats

# An interval is regular if it is at most this factor longer or shorter than the median one.
_TOLERANCE = 1.5
_NEVER = np.iinfo(np.int64).min


@dataclass(frozen=True, slots=True)
class Repeats:
    """One row per (line, type) with at least a given number of events.

    An event inside one of its own type is part of that one. `line` is a row of `events.lines`;
    `total_ps` is the sum of the durations; `first_ps` and `last_ps` are the first and the last
    start.
    """

    line: NDArray[np.int64]
    type: NDArray[np.int64]
    count: NDArray[np.int64]
    total_ps: NDArray[np.int64]
    first_ps: NDArray[np.int64]
    last_ps: NDArray[np.int64]


def find_repeats(events: Events, wanted: NDArray[np.bool_], least: int) -> Repeats:
    """The repeats of `wanted` [types] that occur at least `least` times on one line."""
    columns = events.first_event, events.type, events.start_ps, events.duration_ps
    scratch = np.zeros((wanted.size, 6), np.int64)
    most = int(np.minimum(np.diff(events.first_event) // least, wanted.size).sum())
    table = np.empty((most, 6), np.int64)
    rows = tally_repeats(*columns, wanted, least, scratch, np.empty(wanted.size, np.int64), table)
    return Repeats(*(table[:rows, column].copy() for column in range(6)))


def rows_of(events: Events, line: int, type_: int) -> NDArray[np.int64]:
    """The rows of one repeat: events of a type with a duration on a line, without nested ones."""
    begin, end = (int(row) for row in events.first_event[line : line + 2])
    rows = begin + np.flatnonzero(
        (events.type[begin:end] == type_) & (events.duration_ps[begin:end] > 0)
    )
    reached = np.maximum.accumulate(events.start_ps[rows] + events.duration_ps[rows])
    is_outer = np.append(True, events.start_ps[rows[1:]] >= reached[:-1])
    outer: NDArray[np.int64] = rows[is_outer[: rows.size]]
    return outer


def regularity(
    events: Events, repeats: Repeats, chosen: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """(median duration in ps, regularity) [k] of the `chosen` [k] rows of `repeats`.

    Regularity is the share (0-1) of the intervals between starts that are close to the median.
    """
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
    median_ps, regular = np.zeros(order.size, np.int64), np.zeros(order.size)
    median_ps[by_line] = _medians(events.duration_ps[rows], cuts)
    gaps = np.delete(np.diff(events.start_ps[rows]), cuts[1:-1] - 1)
    regular[by_line] = _regularities(gaps, cuts - np.arange(cuts.size))
    return median_ps, regular


def _medians(values: NDArray[np.int64], cuts: NDArray[np.int64]) -> NDArray[np.float64]:
    """[k] the median of each `values[cuts[k]:cuts[k + 1]]`, 0 if empty."""
    count = np.diff(cuts)
    ordered = np.append(values, 0)
    for begin, end in pairwise(cuts.tolist()):
        ordered[begin:end].sort()
    ordered = ordered.astype(np.float64)
    first = np.where(count, cuts[:-1], values.size)
    lower, upper = first + np.maximum(count - 1, 0) // 2, first + count // 2
    middle: NDArray[np.float64] = (ordered[lower] + ordered[upper]) / 2
    return middle


def _regularities(gaps: NDArray[np.int64], cuts: NDArray[np.int64]) -> NDArray[np.float64]:
    """[k] the share (0-1) of `gaps[cuts[k]:cuts[k + 1]]` that are close to their median."""
    count = np.diff(cuts)
    middle = np.repeat(_medians(gaps, cuts), count)
    is_like = (gaps <= middle * _TOLERANCE) & (gaps * _TOLERANCE >= middle)
    alike = np.bincount(np.repeat(np.arange(count.size), count), is_like, count.size)
    share: NDArray[np.float64] = alike / np.maximum(count, 1)
    return share
