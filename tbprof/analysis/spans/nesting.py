"""Which event encloses which on a line, and the self time of events."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tbprof.base.process.parallel import in_line_ranges
from tbprof.kernels.analysis.event_nesting import (
    fill_self_times,
    find_above,
    inherit_values,
    nest_events,
)


def nest(
    first_event: NDArray[np.int64], start_ps: NDArray[np.int64], duration_ps: NDArray[np.int64]
) -> NDArray[np.int32]:
    """[n] the parent of each of the events, ordered by (line, start, longest first).

    The parent is the innermost earlier event of the same line that contains the whole event, ends
    included; -1 for none. Events that overlap only partly are siblings. The first of several equal
    events encloses the others.

        |aaaaaaaa|          b, c and d have parent a, e has parent d
        |bb.cc.ddd     ->   (d ends with a, and still is its child)
        |       ee
    """
    parent = np.empty(start_ps.size, np.int32)

    def nest_lines(begin: int, end: int) -> None:
        first = first_event[begin : end + 1]
        stack = np.empty(int(np.diff(first).max(initial=0)), np.int64)
        nest_events(first, start_ps, duration_ps, parent, stack)

    in_line_ranges(nest_lines, first_event.tolist())
    return parent


def self_times(
    parent: NDArray[np.int32], start_ps: NDArray[np.int64], duration_ps: NDArray[np.int64]
) -> NDArray[np.int64]:
    """[n] the part of each event that none of its direct children covers, in ps, never negative.

    Children that overlap each other are counted once.
    """
    self_ps = np.empty(parent.size, np.int64)
    fill_self_times(parent, start_ps, duration_ps, self_ps, np.empty(parent.size, np.int64))
    return self_ps


def inherit(parent: NDArray[np.int32], value: NDArray[np.int64]) -> NDArray[np.int64]:
    """[n] each event's own value, or, where that is -1, that of the nearest enclosing event."""
    out: NDArray[np.int64] = value.copy()
    inherit_values(parent, out)
    return out


def outermost(parent: NDArray[np.int32], is_wanted: NDArray[np.bool_]) -> NDArray[np.int64]:
    """The rows, ascending, of the wanted events that no other wanted event encloses."""
    return np.flatnonzero(is_wanted & (nearest_above(parent, is_wanted) < 0))


def nearest_above(parent: NDArray[np.int32], is_wanted: NDArray[np.bool_]) -> NDArray[np.int32]:
    """[n] the innermost wanted event that encloses each event, -1 for none."""
    nearest = np.empty(parent.size, np.int32)
    find_above(parent, is_wanted, nearest)
    return nearest
