"""Calls of the driving thread in each step: functions and annotations."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.host.host_activity import Activity, activity_of
from tbprof.analysis.host.host_roles import host_types, is_jitted
from tbprof.analysis.spans.groups import group_rows
from tbprof.analysis.steps.step_layers import StepLayers
from tbprof.analysis.steps.step_windows import Windows
from tbprof.analysis.vocabulary.name_families import name_families
from tbprof.analysis.vocabulary.python_frames import is_own
from tbprof.base.records import dataclass
from tbprof.events.space import Events

# Keep this many names: those with the longest time in any step.
_MOST = 64


@dataclass(frozen=True, slots=True)
class StepCalls:
    """One row [n] per (row of the host's `Steps`, name) with calls that began in the step.

    `step` is the row of `Steps`, `name` indexes `names`, and `time_ps` is how long these calls were
    open in the step, including nested events. Names are event names: Python functions of the
    program, annotations, and calls of compiled functions.
    """

    step: NDArray[np.int64]
    name: NDArray[np.int64]
    time_ps: NDArray[np.int64]
    names: list[str]


_NONE = np.empty(0, np.int64)
NO_CALLS = StepCalls(_NONE, _NONE, _NONE, [])


def find_step_calls(layers: StepLayers) -> StepCalls:
    """Return the calls in a host's steps, outermost ones if a function calls itself.

    train |fff.s.fff.sssssss|     f: train.py:7 forward, s: train.py:9 save
    steps |aaaaaabbbbbbbbbbb|     ->  a: forward 3, save 1; b: forward 3, save 7
    """
    source = layers.source
    if source.line < 0:
        return NO_CALLS
    threads = source.grouping.hosts[source.plane]
    events = threads.events
    types = host_types(events, has_device=bool(layers.devices), wrappers=[source.marker])
    families = name_families(threads.plane)
    is_call = families.classify_with_roles(activity_of, types.role, np.int8) == Activity.ANNOTATION
    is_call &= ~types.has_number
    is_call |= families.classify(is_own, np.bool_) | types.is_function
    is_call |= families.classify(is_jitted, np.bool_)
    is_call[-1] = False  # events without a type
    first, last = events.first_event[source.line], events.first_event[source.line + 1]
    rows = np.arange(first, last)[is_call[events.type[first:last]]]
    rows = _outermost(events, rows)
    calls = [_in_steps(events, rows, window) for window in layers.windows]
    offset = np.cumsum([0, *(window.start_ps.size for window in layers.windows[:-1])])
    step = np.concatenate([rows + begin for (rows, _, _), begin in zip(calls, offset, strict=True)])
    type_, time = (np.concatenate([columns[index] for columns in calls]) for index in (1, 2))
    return _longest(step, type_, time, threads.plane.types.full_names)


def _outermost(events: Events, rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the rows that are not inside an event of the same type, ascending."""
    order = rows[np.lexsort((events.start_ps[rows], events.type[rows]))]
    code = np.cumsum(np.diff(events.type[order], prepend=-1) != 0)
    start = events.start_ps[order]
    end = start + events.duration_ps[order]
    # Use ranks instead of times, which may be huge, so that earlier types have lower values.
    ends = np.sort(end)
    base = code * (order.size + 1)
    latest = np.maximum.accumulate(base + np.searchsorted(ends, end))
    is_inside = np.zeros(order.size, np.bool_)
    is_inside[1:] = latest[:-1] >= base[1:] + np.searchsorted(ends, start[1:], side="right")
    return np.sort(order[~is_inside])


def _in_steps(
    events: Events, rows: NDArray[np.int64], window: Windows
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return (step, type, ps in the step) of the rows that begin in a step of a worker."""
    start = events.start_ps[rows]
    step = np.searchsorted(window.start_ps, start, side="right") - 1
    is_known = step >= 0
    is_known[is_known] = start[is_known] < window.end_ps[step[is_known]]
    step, rows = step[is_known], rows[is_known]
    end = np.minimum(events.start_ps[rows] + events.duration_ps[rows], window.end_ps[step])
    return step, events.type[rows].astype(np.int64), end - events.start_ps[rows]


def _longest(
    step: NDArray[np.int64], type_: NDArray[np.int64], time: NDArray[np.int64], texts: Sequence[str]
) -> StepCalls:
    """Return sums by step and type, for the types with the longest sum in any step."""
    code, first = group_rows([step, type_])
    sums = np.zeros(first.size, np.int64)
    np.add.at(sums, code, time)
    step, type_ = step[first], type_[first]
    most = np.zeros(len(texts), np.int64)
    np.maximum.at(most, type_, sums)
    kept = np.argsort(-most, kind="stable")[:_MOST]
    kept = kept[most[kept] > 0]
    number = np.full(len(texts), -1, np.int64)
    number[kept] = np.arange(kept.size)
    is_kept = number[type_] >= 0
    return StepCalls(
        step[is_kept],
        number[type_[is_kept]],
        sums[is_kept],
        [texts[index] for index in kept.tolist()],
    )
