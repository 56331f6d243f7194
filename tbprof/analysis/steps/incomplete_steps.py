"""Steps of a worker that were not recorded, or only partly."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.steps.step_layers import StepLayers
from tbprof.analysis.steps.step_windows import Windows
from tbprof.base.records import dataclass
from tbprof.base.values import is_in, median, unique

# The first and the last step are truncated if they contain less than this share of the work of a
# typical step between them, and less than all but a few of those, since steps differ in some
# programs. With fewer than two steps between them, no step is typical.
_LEAST_WORK = 0.75
_LEAST_INNER = 2
_FEW = 0.1
# The last step ends with its own work, since there is no next one. If steps are usually followed by
# a gap of more than this share of the step, its gap is missing.
_NOTABLE_GAP = 0.05


@dataclass(frozen=True, slots=True)
class Incomplete:
    """For each worker: the steps [n] without any recorded work, and those recorded in part."""

    is_unrecorded: list[NDArray[np.bool_]]
    is_truncated: list[NDArray[np.bool_]]


def find_incomplete(layers: StepLayers) -> Incomplete:
    """The incomplete steps of each worker.

    The evidence is launches without work (`Unrecorded`), the step lines that devices recorded, and
    first and last steps that contain less than the steps between them.
    """
    windows, devices, missing = layers.windows, layers.devices, layers.missing
    is_unrecorded = _in_windows(layers, missing.is_missing)
    is_truncated = _in_windows(layers, missing.is_cut)
    if layers.recorded is not None:
        is_unrecorded = _either(is_unrecorded, layers.recorded.is_lost)
        is_truncated = _either(is_truncated, layers.recorded.is_cut)

    starts = [device.start_ps for device in devices] or [layers.host.work_start_ps]
    is_short = [
        find_truncated(window, start, ~unrecorded)
        for window, start, unrecorded in zip(windows, starts, is_unrecorded, strict=True)
    ]
    is_truncated = _either(is_truncated, is_short)
    for worker, device in enumerate(devices):
        if device.kind != "GPU":
            middle = device.start_ps + device.duration_ps // 2
            is_truncated[worker] |= find_lacking_ops(
                windows[worker], middle, device.event_kind, ~is_unrecorded[worker]
            )
    return Incomplete(is_unrecorded, is_truncated)


def _in_windows(layers: StepLayers, of_steps: NDArray[np.bool_]) -> list[NDArray[np.bool_]]:
    """A mask [workers, steps] of the source's steps, as one mask per worker over its windows."""
    if not of_steps.size:
        return [np.zeros(window.group.size, bool) for window in layers.windows]
    group = layers.source.steps.group
    return [
        is_in(window.group, group[of_steps[worker]]) for worker, window in enumerate(layers.windows)
    ]


def _either(
    masks: Sequence[NDArray[np.bool_]], others: Sequence[NDArray[np.bool_]]
) -> list[NDArray[np.bool_]]:
    return [mask | other for mask, other in zip(masks, others, strict=True)]


def find_truncated(
    windows: Windows, work_start_ps: NDArray[np.int64], is_recorded: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """[n] whether a part of a step is missing from the trace, for steps with `is_recorded` [n].

    In a sequence of steps, these are a first or last one with notably less work than those between
    them (`work_start_ps`, ascending, holds the starts of the worker's executions), and a last one
    without the gap that follows the others, since no next step bounds it.
    """
    out = np.zeros(windows.start_ps.size, bool)
    if np.count_nonzero(is_recorded) < 2:
        return out
    is_first, is_last = _ends(is_recorded)
    gap = windows.duration_ps - windows.own_ps
    inner = is_recorded & ~is_last
    if inner.any():
        is_notable = median(gap[inner]) > _NOTABLE_GAP * median(windows.duration_ps[inner])
        out |= is_last & (gap == 0) & is_notable
    inner = is_recorded & ~is_first & ~is_last
    if np.count_nonzero(inner) >= _LEAST_INNER:
        work = np.searchsorted(work_start_ps, windows.end_ps) - np.searchsorted(
            work_start_ps, windows.start_ps
        )
        ordered = np.sort(work[inner])
        few = ordered[ceil(_FEW * ordered.size) - 1]  # `np.quantile` takes 70 µs
        least = min(_LEAST_WORK * median(ordered), few)
        out |= (is_first | is_last) & (work < least)
    return out


def find_lacking_ops(
    windows: Windows,
    middle_ps: NDArray[np.int64],
    kind: NDArray[np.int32],
    is_recorded: NDArray[np.bool_],
) -> NDArray[np.bool_]:
    """[n] whether a first or last step lacks a kind of op that all steps between them have.

    Steps of a compiled program contain the same ops. `middle_ps` and `kind` are the middle and the
    kind of each of the worker's ops: the middle, because steps may not end exactly with their ops.
    """
    is_first, is_last = _ends(is_recorded)
    inner = is_recorded & ~is_first & ~is_last
    if np.count_nonzero(inner) < _LEAST_INNER:
        return np.zeros(windows.start_ps.size, bool)
    step = np.searchsorted(windows.start_ps, middle_ps, side="right") - 1
    is_inside = (step >= 0) & (middle_ps < windows.end_ps[step])
    kinds = int(kind.max(initial=0)) + 1
    step, kind_of = np.divmod(unique(step[is_inside] * kinds + kind[is_inside]), kinds)
    steps_with = np.bincount(kind_of[inner[step]], minlength=kinds)
    is_usual = steps_with == np.count_nonzero(inner)
    usual_kinds = np.bincount(step[is_usual[kind_of]], minlength=windows.start_ps.size)
    return (is_first | is_last) & (usual_kinds < np.count_nonzero(is_usual))


def _ends(is_recorded: NDArray[np.bool_]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """[n] masks of the first and of the last step of each sequence of recorded steps."""
    padded = np.concatenate(([False], is_recorded, [False]))
    return is_recorded & ~padded[:-2], is_recorded & ~padded[2:]
