"""The start and end of a worker's steps, by the host's markers or the device's own times."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.grouping.roots import Roots
from tbprof.analysis.host.host_events import HostThreads
from tbprof.analysis.ops.device_phases import DeviceIntervals
from tbprof.base.records import dataclass
from tbprof.base.values import median
from tbprof.kernels.analysis.row_groups import stretch_windows

# A device keeps up with the host if, for at least `_KEEPS_UP` of the steps, its work ends before
# the next step begins, or at most `_TOLERANCE` of a step later.
_KEEPS_UP = 0.9
_TOLERANCE = 0.02


class LaunchedWork(Protocol):
    """Intervals [n] of a worker's work, and the group of each one's launch; -1 for none."""

    @property
    def start_ps(self) -> NDArray[np.int64]:
        """The starts."""

    @property
    def duration_ps(self) -> NDArray[np.int64]:
        """The durations."""

    @property
    def group(self) -> NDArray[np.int32] | NDArray[np.int64]:
        """The groups."""


@dataclass(frozen=True, slots=True)
class Windows:
    """The steps of one worker in order of time: disjoint, each until the start of the next.

    `own_ps` is a step's length without the gap before the next step: until the end of its own work,
    plus any other work of devices in the gap. `group` is -1 for steps that have no group of events.
    """

    group: NDArray[np.int64]
    number: NDArray[np.int64]
    label: list[str]
    start_ps: NDArray[np.int64]
    duration_ps: NDArray[np.int64]
    own_ps: NDArray[np.int64]

    @property
    def end_ps(self) -> NDArray[np.int64]:
        """[n] the ends."""
        return self.start_ps + self.duration_ps


def tile(
    group: NDArray[np.int64],
    number: NDArray[np.int64],
    label: list[str],
    start_ps: NDArray[np.int64],
    end_ps: NDArray[np.int64],
) -> Windows:
    """Windows of steps whose own work begins and ends at these times, in any order.

        begins and ends  |aaaa..bbbb..ccc
        windows          |aaaaaabbbbbbccc

    Of steps that begin at the same time, only the longest is kept. A step that overlaps the next
    one ends where that begins.
    """
    order = np.lexsort((-end_ps, start_ps))
    start, end = start_ps[order], end_ps[order]
    is_kept = np.ones(order.size, bool)
    is_kept[1:] = start[1:] > start[:-1]
    order, start, end = order[is_kept], start[is_kept], end[is_kept]
    following = np.append(start[1:], np.iinfo(np.int64).max)
    own_ps = np.minimum(end, following) - start
    duration = np.append(following[:-1] - start[:-1], own_ps[-1:])
    is_positive = duration > 0
    order = order[is_positive]
    return Windows(
        group[order],
        number[order],
        [label[row] for row in order.tolist()],
        start[is_positive],
        duration[is_positive],
        own_ps[is_positive],
    )


def hulls(
    group: NDArray[np.int32] | NDArray[np.int64],
    start_ps: NDArray[np.int64],
    end_ps: NDArray[np.int64],
    groups: int,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(first start, last end), each [groups], of intervals by group; group -1 is left out.

    Groups without intervals have a start after their end.
    """
    first = np.full(groups, np.iinfo(np.int64).max, np.int64)
    last = np.full(groups, np.iinfo(np.int64).min, np.int64)
    stretch_windows(group.astype(np.int32, copy=False), start_ps, end_ps, first, last)
    return first, last


@dataclass(frozen=True, slots=True)
class GroupSteps:
    """The groups that are steps, by start of their root on the host (-1 if unknown)."""

    group: NDArray[np.int64]
    number: NDArray[np.int64]
    label: list[str]
    start_ps: NDArray[np.int64]
    end_ps: NDArray[np.int64]

    @classmethod
    def of(cls, roots: Roots, groups: NDArray[np.int64]) -> GroupSteps:
        """The groups `groups` ordered by time."""
        order = groups[np.argsort(roots.start_ps[groups], kind="stable")]
        return cls(
            order,
            roots.number[order],
            [roots.label[group] for group in order.tolist()],
            roots.start_ps[order],
            np.where(roots.start_ps[order] < 0, -1, roots.start_ps[order])
            + np.maximum(roots.duration_ps[order], 0),
        )


def device_hulls(
    steps: GroupSteps, device: LaunchedWork
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(first start, last end), each [steps], of the device's work; start after end if none."""
    end = device.start_ps + device.duration_ps
    groups = int(max(steps.group.max(initial=-1), device.group.max(initial=-1))) + 1
    first, last = hulls(device.group, device.start_ps, end, groups)
    return first[steps.group], last[steps.group]


def device_lags_host(steps: GroupSteps, devices: Sequence[LaunchedWork]) -> bool:
    """Whether devices still work on steps after the host has begun the next ones.

    This is typical of asynchronous dispatch: the host's markers then show when a step was launched,
    not when it ran.
    """
    if steps.group.size < 2:
        return bool(steps.group.size) and bool(steps.start_ps[0] < 0)
    if bool((steps.start_ps < 0).any()):
        return True
    following = steps.start_ps[1:]
    slack = _TOLERANCE * float(median(np.diff(steps.start_ps)))
    for device in devices:
        first, last = device_hulls(steps, device)
        ran = first[:-1] <= last[:-1]
        late = last[:-1][ran] > following[ran] + slack
        if ran.any() and late.mean() > 1 - _KEEPS_UP:
            return True
    return False


def by_host(steps: GroupSteps, device: LaunchedWork) -> Windows:
    """Windows from one marker to the next; the last one lasts until its device work ends."""
    first, last = device_hulls(steps, device)
    end = np.where(first <= last, np.maximum(steps.end_ps, last), steps.end_ps)
    return tile(steps.group, steps.number, steps.label, steps.start_ps, end)


def by_threads(steps: GroupSteps, hosts: Sequence[HostThreads]) -> Windows:
    """Windows from one marker to the next, on a host without devices.

    A step's own work ends with the last event of its group on any thread, since programs may still
    run after the call that started them.
    """
    end = steps.end_ps
    groups = int(steps.group.max(initial=-1)) + 1
    for threads in hosts:
        events = threads.events
        group = np.where(threads.group < groups, threads.group, -1)
        _, last = hulls(group, events.start_ps, events.start_ps + events.duration_ps, groups)
        end = np.maximum(end, last[steps.group])
    return tile(steps.group, steps.number, steps.label, steps.start_ps, end)


def by_device(steps: GroupSteps, device: LaunchedWork, is_missing: NDArray[np.bool_]) -> Windows:
    """Windows from the first work of one step on the device to the first work of the next step.

    Steps whose work was not recorded (`is_missing` [steps]) divide the time between their neighbors
    evenly. Before the first and after the last recorded step, they are as long as on the host.
    """
    first, last = device_hulls(steps, device)
    ran = first <= last
    device_rows = np.flatnonzero(ran | is_missing)
    first, last = first[device_rows], last[device_rows]
    _place_missing(first, last, ~ran[device_rows], steps.start_ps[device_rows])
    labels = [steps.label[step] for step in device_rows.tolist()]
    return tile(steps.group[device_rows], steps.number[device_rows], labels, first, last)


def _place_missing(
    first: NDArray[np.int64],
    last: NDArray[np.int64],
    is_missing: NDArray[np.bool_],
    host_start: NDArray[np.int64],
) -> None:
    """Sets the start and the end of missing steps between their neighbors, in place."""
    edges = np.flatnonzero(np.diff(np.concatenate(([False], is_missing, [False]))))
    usual = int(median(np.diff(host_start))) if host_start.size > 1 else 1
    for begin, end in edges.reshape(-1, 2).tolist():
        length = usual * (end - begin)
        low = int(last[begin - 1]) if begin else None
        high = int(first[end]) if end < first.size else None
        if low is None:
            low = int(host_start[begin]) if high is None else high - length
        cuts = np.linspace(low, low + length if high is None else high, end - begin + 1)
        first[begin:end], last[begin:end] = cuts[:-1], cuts[1:]


def by_executions(device: DeviceIntervals, program: str) -> Windows:
    """Windows from one execution of a program to the next."""
    runs = device.executions
    kind = runs.name.index(program) if program in runs.name else -1
    rows = np.flatnonzero(runs.kind == kind)
    number = np.arange(rows.size)
    return tile(
        np.full(rows.size, -1, np.int64),
        number,
        [str(own_number) for own_number in number.tolist()],
        runs.start_ps[rows],
        runs.start_ps[rows] + runs.duration_ps[rows],
    )
