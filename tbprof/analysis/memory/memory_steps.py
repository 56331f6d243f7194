"""Assigns memory events to steps of the allocator's device."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.grouping.file_groups import codes
from tbprof.analysis.memory.memory_events import NO_GROUP, is_device_name
from tbprof.analysis.steps.step_windows import hulls, tile
from tbprof.analysis.steps.steps import Steps, StepTimes
from tbprof.analysis.vocabulary.lines import gpu_planes, named_lines, tpu_planes
from tbprof.base import names
from tbprof.base.lazy import regex
from tbprof.base.records import dataclass
from tbprof.base.values import unique
from tbprof.events.space import Space

_NUMBER = regex(r"[0-9]{1,9}")


@dataclass(frozen=True, slots=True)
class MemorySteps:
    """Disjoint steps [s] in time order; each ends at the start of the next."""

    label: list[str]
    begin_ps: NDArray[np.int64]
    end_ps: NDArray[np.int64]


def find_memory_steps(
    space: Space,
    host_steps: Steps | StepTimes,
    allocators: Sequence[str],
    first_event: NDArray[np.int64],
    group: NDArray[np.int64],
    time_ps: NDArray[np.int64],
) -> tuple[list[MemorySteps], NDArray[np.int32]]:
    """Return (the steps of each allocator; [n] the step of each event, or -1).

    Event steps count from the allocator's first step. Steps are the `host_steps` of the allocator's
    device. Memory of the host, or of a device without steps, has the steps that all devices of the
    host have in common; otherwise the steps of all devices, labeled by device, if they do not
    overlap; otherwise those of the device with the most steps. If there are no steps, the groups of
    the file (`group` [n], `NO_GROUP` for none) are steps, each from its first memory event to that
    of the next group.

    Events are ordered by allocator, then by time. An event belongs to the step that contains it. An
    event outside all steps belongs to the step that contains most events of its group.
    """
    if not time_ps.size:
        none = np.empty(0, np.int64)
        return [MemorySteps([], none, none) for _ in allocators], np.empty(0, np.int32)
    if not host_steps.label and (group != NO_GROUP).any():
        steps, step = _by_groups(space, group, time_ps)
        others = np.flatnonzero(step < 0)
        step[others] = step_at(steps.begin_ps, steps.end_ps, time_ps[others])
        return [steps] * len(allocators), step
    by_allocator = [_by_device(host_steps, name) for name in allocators]
    step = np.empty(time_ps.size, np.int32)
    for steps, cuts in zip(by_allocator, pairwise(first_event.tolist()), strict=True):
        rows = slice(*cuts)
        inside = step_at(steps.begin_ps, steps.end_ps, time_ps[rows])
        step[rows] = _with_groups(inside, group[rows], len(steps.label))
    return by_allocator, step


def step_at(
    begin_ps: NDArray[np.int64], end_ps: NDArray[np.int64], time_ps: NDArray[np.int64]
) -> NDArray[np.int32]:
    """Return [n] the step that contains each time, -1 for none. The last step includes its end."""
    index = np.searchsorted(begin_ps, time_ps, side="right") - 1
    last = end_ps.copy()
    last[-1:] += 1
    step: NDArray[np.int64] = np.where(time_ps < np.append(last, NO_GROUP)[index], index, -1)
    return step.astype(np.int32)


def _by_device(steps: Steps | StepTimes, allocator: str) -> MemorySteps:
    """Return the steps of an allocator's device, or of its host."""
    workers = [np.flatnonzero(steps.worker == index) for index in range(len(steps.worker_name))]
    workers = [rows for rows in workers if rows.size]
    if is_device_name(allocator):
        match = _NUMBER.search(allocator)
        kind = "TPU" if allocator.isdigit() and "TPU" in steps.worker_kind else "GPU"
        for rows in workers:
            worker = int(steps.worker[rows[0]])
            if match and steps.worker_name[worker].partition(" ")[0] == f"{kind}:{int(match[0])}":
                return _steps(steps, rows)
        if not _are_alike(steps, workers):
            return _steps(steps, np.empty(0, np.int64))
    if _are_alike(steps, workers):
        return _steps(steps, workers[0] if workers else np.empty(0, np.int64))
    all_rows = np.concatenate(workers)
    all_rows = all_rows[np.argsort(steps.start_ps[all_rows], kind="stable")]
    end = (steps.start_ps + steps.duration_ps)[all_rows]
    is_disjoint = bool((end[:-1] <= steps.start_ps[all_rows[1:]]).all())
    return _steps(steps, all_rows if is_disjoint else max(workers, key=len), is_named=True)


def _are_alike(steps: Steps | StepTimes, workers: Sequence[NDArray[np.int64]]) -> bool:
    """Whether all workers have the same steps."""
    return all(
        np.array_equal(column[rows], column[workers[0]])
        for rows in workers[1:]
        for column in (steps.start_ps, steps.duration_ps)
    )


def _steps(
    steps: Steps | StepTimes, rows: NDArray[np.int64], *, is_named: bool = False
) -> MemorySteps:
    """Return the steps of `rows`; with `is_named`, labels include the device."""
    names_ = [f" ({name})" if is_named else "" for name in steps.worker_name]
    return MemorySteps(
        [steps.label[row] + names_[steps.worker[row]] for row in rows.tolist()],
        steps.start_ps[rows],
        steps.start_ps[rows] + steps.duration_ps[rows],
    )


def _with_groups(
    step: NDArray[np.int32], group: NDArray[np.int64], steps: int
) -> NDArray[np.int32]:
    """Return [n] the step of each event; outside steps, that of most events of its group."""
    if not (step < 0).any() or not step.size:
        return step
    # Successive events mostly have the same step and group.
    is_new = (step[1:] != step[:-1]) | (group[1:] != group[:-1])
    begin = np.append(0, np.flatnonzero(is_new) + 1)
    size = np.diff(begin, append=step.size)
    return np.repeat(_run_steps(step[begin], group[begin], size, steps), size)


def _run_steps(
    step: NDArray[np.int32], group: NDArray[np.int64], size: NDArray[np.int64], steps: int
) -> NDArray[np.int32]:
    """Return `_with_groups` for runs of `size` identical events."""
    is_outside = (step < 0) & (group != NO_GROUP)
    is_inside = (step >= 0) & (group != NO_GROUP)
    if not (is_outside.any() and is_inside.any()):
        return step
    ids = unique(group[is_inside])
    votes, vote = np.unique(
        np.searchsorted(ids, group[is_inside]) * steps + step[is_inside], return_inverse=True
    )
    counts = np.bincount(vote, size[is_inside])
    # The step with the most votes in each group is last.
    order = np.argsort(counts, kind="stable")
    most = np.empty(ids.size, np.int32)
    most[votes[order] // steps] = votes[order] % steps
    rows = np.flatnonzero(is_outside)
    index = np.minimum(np.searchsorted(ids, group[rows]), ids.size - 1)
    out: NDArray[np.int32] = step.copy()
    out[rows] = np.where(ids[index] == group[rows], most[index], -1)
    return out


def _by_groups(
    space: Space, group: NDArray[np.int64], time_ps: NDArray[np.int64]
) -> tuple[MemorySteps, NDArray[np.int32]]:
    is_new = np.append(True, group[1:] != group[:-1])  # successive groups are mostly equal
    ids = unique(group[is_new])
    ids = ids[ids != NO_GROUP]
    code = codes(ids, group)
    first, last = hulls(code, time_ps, time_ps, ids.size)
    labels = _labels(space)
    label = [labels.get(id_) or str(id_) for id_ in ids.tolist()]
    rows = np.arange(ids.size, dtype=np.int64)
    windows = tile(rows, ids, label, first, last + 1)
    step_of = np.full(ids.size + 1, -1, np.int32)
    step_of[windows.group] = np.arange(windows.group.size)
    end = windows.end_ps
    end[-1:] -= 1
    return MemorySteps(windows.label, windows.start_ps, end), step_of[code]


def _labels(space: Space) -> dict[int, str]:
    """Return group names by group id, from the steps lines of devices."""
    name_of: dict[int, str] = {}
    for plane in [*gpu_planes(space), *tpu_planes(space)]:
        lines = named_lines(plane, names.STEPS_LINE)
        if not lines or names.GROUP_ID not in plane.stat_names:
            continue
        stats = plane.events(lines).stats([names.GROUP_ID, names.STEP_NAME])
        texts = plane.strings.take(stats[names.STEP_NAME].texts().tolist())
        ids = stats[names.GROUP_ID].integers(NO_GROUP).tolist()
        for id_, text in zip(ids, texts, strict=True):
            if text:
                name_of.setdefault(id_, text)
    return name_of
