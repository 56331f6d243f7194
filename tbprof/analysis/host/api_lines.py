"""Driver calls on separate lines, not on those of the threads that made them.

rocprofiler records them like this, and so does CUPTI if it numbers threads differently than the
host's recorder. Source: xla/backends/profiler/gpu, rocm_collector.cc and cupti_collector.cc.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.host.host_events import CallsApart, async_rows
from tbprof.analysis.vocabulary.name_families import name_families
from tbprof.base.lazy import regex
from tbprof.base.values import median, unique
from tbprof.events.space import Events

_CALL = regex(r"(?:cu|cuda|hip)[A-Z]")
# The number of a line's calls that are examined to find the thread that made them.
_SAMPLE = 256
# Of the threads that enclose nearly as many calls as the best one, the closest fit is chosen.
_NEARLY = 0.9


def find_calls_apart(
    events: Events,
    parent: NDArray[np.int32],
    group: NDArray[np.int32],
    correlated: NDArray[np.int64],
) -> CallsApart:
    """The calls on separate lines; each joins the group of the event that encloses it.

    On such a line, every event is a driver call or has a correlation id (`correlated` are the rows
    of those), and none has a group. Its thread is the one with the line's id. Without such a
    thread, it is the one whose grouped events contain the starts of most calls; of nearly equal
    ones, the one that fits most closely. `group` [n] is modified in place.

        python         |ssssssssss|     python launches: the call belongs to e, and so to the step
                       |.eeee.bbbb|
        Host Threads/7 |..ll......|
    """
    none = CallsApart.none(events)
    is_api = _are_api_lines(events, group, correlated)
    if not is_api.any() or not (group >= 0).any():
        return none
    rows = _rows_by_line(events)
    parts: list[tuple[NDArray[np.int64], NDArray[np.int64]]] = []
    threads = [
        candidate
        for candidate in np.flatnonzero(~is_api).tolist()
        if (group[rows[candidate]] >= 0).any()
    ]
    for line in np.flatnonzero(is_api).tolist():
        calls = np.arange(events.first_event[line], events.first_event[line + 1])
        same = [
            candidate
            for candidate in threads
            if events.lines.id[candidate] == events.lines.id[line]
        ]
        thread = same[0] if same else _enclosing(events, parent, group, rows, calls, threads)
        if thread >= 0:
            around = _innermost(events, parent, rows[thread], events.start_ps[calls])
            group[calls] = np.where(around >= 0, group[around], -1)
            none.thread[line] = thread
            parts.append((calls, around))
    if not parts:
        return none
    row, around = (np.concatenate(column) for column in zip(*parts, strict=True))
    return CallsApart(row, around, none.thread)


def _are_api_lines(
    events: Events, group: NDArray[np.int32], correlated: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """[lines] whether all events are ungrouped driver calls, some with a correlation id."""
    cuts = np.searchsorted(correlated, events.first_event)
    out: NDArray[np.bool_] = cuts[1:] > cuts[:-1]
    is_call = name_families(events.plane).classify(_CALL.match, np.bool_)
    for line in np.flatnonzero(out).tolist():
        begin, end = (int(row) for row in events.first_event[line : line + 2])
        belongs = is_call[events.type[begin:end]]
        belongs[correlated[cuts[line] : cuts[line + 1]] - begin] = True
        out[line] = bool(belongs.all()) and not bool((group[begin:end] >= 0).any())
    return out


def _rows_by_line(events: Events) -> list[NDArray[np.int64]]:
    """The rows of each line, without asynchronous events, which enclose nothing."""
    rows = np.delete(np.arange(len(events)), async_rows(events))
    cuts = np.searchsorted(rows, events.first_event).tolist()
    return [rows[begin:end] for begin, end in pairwise(cuts)]


def _enclosing(
    events: Events,
    parent: NDArray[np.int32],
    group: NDArray[np.int32],
    rows: Sequence[NDArray[np.int64]],
    calls: NDArray[np.int64],
    threads: Sequence[int],
) -> int:
    """The thread whose grouped events enclose the starts of the calls most closely, -1 for none."""
    evenly = unique(np.linspace(0, calls.size - 1, _SAMPLE).astype(np.int64))
    time = events.start_ps[calls[evenly]]
    candidates: list[tuple[int, float, int]] = []
    for thread in threads:
        around = _innermost(events, parent, rows[thread], time)
        around = around[around >= 0]
        around = around[group[around] >= 0]
        if around.size:
            candidates.append((around.size, float(median(events.duration_ps[around])), thread))
    most = max((count for count, _, _ in candidates), default=0)
    near = [(length, thread) for count, length, thread in candidates if count >= _NEARLY * most]
    return min(near)[1] if near else -1


def _innermost(
    events: Events,
    parent: NDArray[np.int32],
    rows: NDArray[np.int64],
    time_ps: NDArray[np.int64],
) -> NDArray[np.int64]:
    """[m] the innermost event of a thread (its `rows`, at least one) at each time, -1 for none."""
    index = np.searchsorted(events.start_ps[rows], time_ps, side="right") - 1
    out: NDArray[np.int64] = np.where(index >= 0, rows[index], -1)
    open_rows = np.flatnonzero(out >= 0)
    while open_rows.size:
        row = out[open_rows]
        has_ended = events.start_ps[row] + events.duration_ps[row] <= time_ps[open_rows]
        open_rows = open_rows[has_ended]
        out[open_rows] = parent[out[open_rows]]
        open_rows = open_rows[out[open_rows] >= 0]
    return out
