"""Steps whose work on a device is missing from the trace, although it was done.

Recorders keep a limited number of events, lose buffers, and start late on some devices. If a step
has no work on a device, either that happened, or the device really did nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.grouping.grouping import Grouping
from tbprof.analysis.host.host_roles import host_types
from tbprof.analysis.ops.device_phases import DeviceIntervals
from tbprof.analysis.ops.launches import Launches, find_launches, is_work
from tbprof.analysis.steps.host_runs import HostRuns
from tbprof.analysis.steps.step_windows import GroupSteps
from tbprof.analysis.vocabulary.lines import gpu_planes
from tbprof.analysis.vocabulary.phases import Phase
from tbprof.base.records import dataclass, replace
from tbprof.base.values import is_in, median, unique
from tbprof.events.space import Space

# A step launched work for a device if it has this share of the usual launches or dispatches.
_LAUNCHED = 0.5
# A part of a step's work is missing if at least `_PART` of its launches have no kernel, although
# usually hardly any lacks one.
_PART = 0.1
_HARDLY_ANY = 0.02
# Without launches, a device that worked in each of at least `_LEAST_STEPS` consecutive steps, and
# mostly ran the same kernels as another device, would have continued like that one.
_LEAST_STEPS = 3
_MOSTLY = 0.5


@dataclass(frozen=True, slots=True)
class Unrecorded:
    """The work of steps that is missing from the trace.

    `is_missing` [devices, steps] marks steps of a device whose work is missing entirely, `is_cut`
    those whose work is missing partly; without devices, there is one row for the host.
    `lost_devices` counts the devices that launches name and that have no recorded work at all.
    """

    is_missing: NDArray[np.bool_]
    is_cut: NDArray[np.bool_]
    lost_devices: int


def find_silent_gpus(space: Space, devices: Sequence[DeviceIntervals]) -> list[str]:
    """The names of GPUs that computed nothing in the trace; copies to them may be recorded."""
    computed = {device.plane.name for device in devices}
    return [
        plane.name.removeprefix("/device:")
        for plane in gpu_planes(space)
        if plane.name not in computed
    ]


def find_unrecorded(
    grouping: Grouping,
    steps: GroupSteps,
    devices: Sequence[DeviceIntervals],
    *,
    has_silent: bool,
) -> Unrecorded:
    """The missing work of GPUs, whose `group` is known.

    A step's work on a device was not recorded if there is none of it and

    - the step launched at least half of what steps usually launch for the device, without kernels;
      or
    - the step has no launches and no device works, but the host dispatched at least half of what
      it usually does; or
    - the step has no launches, and lies before or after all work of the device, which worked in
      each of at least three steps and mostly ran the same kernels as another device that works
      in this step.

    If a step has launches, but none for a device, that device did nothing in it. `has_silent` says
    that there are other GPUs without recorded work. Without devices, the host represents them: a
    step that launches kernels did not compute them itself.
    """
    count = steps.group.size
    nothing = np.zeros((max(len(devices), 1), count), bool)
    if not devices and has_silent and count:
        return _of_host(grouping, steps, nothing)
    if not count or not devices or any(device.kind != "GPU" for device in devices):
        return Unrecorded(nothing, nothing, 0)
    step_of = np.full(int(steps.group.max()) + 2, -1, np.int64)  # the last entry is for no group
    step_of[steps.group] = np.arange(count)
    intervals = np.stack([_count_intervals(device, steps, step_of) for device in devices])
    works = intervals > 0
    is_usual = works & (intervals >= (1 - _PART) * median(intervals, axis=1)[:, None])
    if not has_silent and is_usual.all():
        return Unrecorded(nothing, nothing, 0)  # the usual case, without reading launches
    launches = find_launches(grouping.hosts, devices)
    launch_step = _step(step_of, launches.group)
    without, lost_launches, usual = _lost(launches, launch_step, works)
    has_usual = (usual > 0)[:, None]
    is_missing = has_usual & (lost_launches >= np.maximum(_LAUNCHED * usual, 1)[:, None])
    has_launches = np.bincount(launch_step[launch_step >= 0], minlength=count) > 0
    if not (works | has_launches).all():
        active = works | is_missing
        would_work = _would_work(grouping, step_of, active) | _would_go_on(devices, active)
        is_missing |= ~has_launches & would_work
    hardly_any = median(np.where(works, without, 0), axis=1) <= _HARDLY_ANY * usual
    is_cut = works & has_usual & hardly_any[:, None]
    is_cut &= lost_launches >= np.maximum(_PART * usual, 1)[:, None]
    is_missing &= ~works
    is_cut |= _is_cut_by_end(devices, launches, launch_step, intervals, is_missing)
    return Unrecorded(is_missing, is_cut, _lost_devices(launches))


def with_lost_runs(unrecorded: Unrecorded, steps: GroupSteps, runs: HostRuns) -> Unrecorded:
    """The missing work, with program runs on the host that began after the recording ended."""
    is_lost, ran = is_in(steps.group, runs.lost_group), is_in(steps.group, runs.group)
    return replace(
        unrecorded,
        is_missing=unrecorded.is_missing | (is_lost & ~ran)[None, :],
        is_cut=unrecorded.is_cut | (is_lost & ran)[None, :],
    )


def _of_host(grouping: Grouping, steps: GroupSteps, nothing: NDArray[np.bool_]) -> Unrecorded:
    """The missing work if no device's work was recorded."""
    launches = find_launches(grouping.hosts, [])
    launches_any = is_in(steps.group, launches.group)[None, :]
    lost_devices = _lost_devices(launches) or int(launches.group.size > 0)
    return Unrecorded(launches_any, nothing, lost_devices)


def _step(step_of: NDArray[np.int64], group: NDArray[np.int32]) -> NDArray[np.int64]:
    """[n] the step of each group, -1 for none."""
    return step_of[np.where(group < step_of.size - 1, group, -1)]


def _count_intervals(
    device: DeviceIntervals, steps: GroupSteps, step_of: NDArray[np.int64]
) -> NDArray[np.int64]:
    """[steps] the number of recorded intervals of the device's work.

    Work that is not linked to a step counts for the step that contains its start.
    """
    rows = np.flatnonzero(is_work(device))
    step = _step(step_of, device.group[rows])
    step_at = np.searchsorted(steps.start_ps, device.start_ps[rows], side="right") - 1
    step = np.where(device.group[rows] >= 0, step, step_at)
    return np.bincount(step[step >= 0], minlength=steps.group.size)


def _lost(
    launches: Launches, step: NDArray[np.int64], works: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]:
    """(launches without kernels, those of them that were for the device, its usual launches).

    The first two are [devices, steps]; the last is [devices], over steps with work. A launch
    without a kernel may be for any device that its target has launched on. If there are several,
    each gets what it lacks of its usual launches, starting with the device that works in most
    steps.
    """
    devices, steps = works.shape
    targets = launches.is_named.size
    launched = np.zeros(works.shape, np.int64)
    is_for = np.zeros((devices, targets), bool)
    for device in range(devices):
        is_own = launches.device == device
        launched[device] = np.bincount(step[is_own & (step >= 0)], minlength=steps)
        is_for[device, launches.target[is_own]] = True
    usual = np.array(
        [median(row[did]) if did.any() else 0.0 for row, did in zip(launched, works, strict=True)]
    )
    is_lost = (launches.device < 0) & (step >= 0)
    by_target = np.bincount(
        launches.target[is_lost] * steps + step[is_lost], minlength=targets * steps
    ).reshape(targets, steps)
    lost_launches = np.zeros(works.shape)
    order = np.argsort(-works.sum(axis=1), kind="stable").tolist()
    for target in np.flatnonzero(is_for.any(axis=0)).tolist():
        remaining = by_target[target].astype(np.float64)
        for device in [device for device in order if is_for[device, target]]:
            lacks = np.maximum(usual[device] - launched[device] - lost_launches[device], 0)
            own_lost = np.minimum(remaining, lacks) if is_for[:, target].sum() > 1 else remaining
            lost_launches[device] += own_lost
            remaining = remaining - own_lost
    return is_for.astype(np.int64) @ by_target, lost_launches, usual


def _is_cut_by_end(
    devices: Sequence[DeviceIntervals],
    launches: Launches,
    step: NDArray[np.int64],
    intervals: NDArray[np.int64],
    is_missing: NDArray[np.bool_],
) -> NDArray[np.bool_]:
    """[devices, steps] whether the recording ended before a device finished its last step.

    A later step, which is missing, had been launched before the last recorded work ended, so the
    device had more to do. A step with as much work as other steps is whole.

        launches  |0 1 2
        device    |.000000            1 and 2 are missing, and 0 is cut
    """
    out = np.zeros(is_missing.shape, np.bool_)
    for device, count in enumerate(intervals):
        worked = np.flatnonzero(count)
        later = is_missing[device].copy()
        later[: worked[-1] if worked.size else None] = False
        is_lost = (launches.device < 0) & (step >= 0)
        is_lost &= is_in(launches.target, launches.target[launches.device == device])
        is_lost[is_lost] = later[step[is_lost]]
        work = devices[device]
        ends = (work.start_ps + work.duration_ps)[is_work(work)]
        if is_lost.any() and launches.start_ps[is_lost].min() < ends.max():
            *others, last = count[worked]
            out[device, worked[-1]] = not others or last < (1 - _PART) * median(np.array(others))
    return out


def _lost_devices(launches: Launches) -> int:
    is_recorded = np.zeros(launches.is_named.size, bool)
    is_recorded[launches.target[launches.device >= 0]] = True
    return int((launches.is_named & ~is_recorded).sum())


def _would_work(
    grouping: Grouping, step_of: NDArray[np.int64], works: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """[devices, steps] whether no device works although the host dispatched as in other steps."""
    is_idle = ~works.any(axis=0)
    out = np.zeros(works.shape, bool)
    if is_idle.all() or not is_idle.any():
        return out
    as_usual, usual_total = np.zeros(is_idle.size), 0.0
    for threads in grouping.hosts:
        events = threads.events
        types = host_types(events, has_device=True)
        rows = events.rows_of((types.role == Phase.KERNEL_LAUNCH) & ~types.is_launch)
        step = _step(step_of, threads.group[rows])
        kinds, kind = np.unique(events.type[rows[step >= 0]], return_inverse=True)
        cells = np.bincount(
            kind * is_idle.size + step[step >= 0], minlength=kinds.size * is_idle.size
        )
        count = cells.reshape(kinds.size, is_idle.size)
        usual = median(count[:, ~is_idle], axis=1)
        as_usual += np.minimum(count, usual[:, None]).sum(axis=0)
        usual_total += float(usual.sum())
    # Only devices that work in each step with recorded work.
    if usual_total > 0:
        out[works[:, ~is_idle].all(axis=1)] = is_idle & (as_usual >= _LAUNCHED * usual_total)
    return out


def _would_go_on(devices: Sequence[DeviceIntervals], works: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """[devices, steps] whether a device lacks work that a device with the same kernels has.

    It began late or ended early.
    """
    out = np.zeros(works.shape, bool)
    steps = np.flatnonzero(works.any(axis=0))
    for device, works_of_device in enumerate(works):
        worked = np.flatnonzero(works_of_device)
        if worked.size < _LEAST_STEPS or worked.size == steps.size:
            continue
        first, last = int(worked[0]), int(worked[-1])
        is_between = (steps >= first) & (steps <= last)
        if worked.size < is_between.sum() or not (is_between[0] or is_between[-1]):
            continue
        for other, others in enumerate(works):
            more = others & ~works_of_device
            if other != device and more.any() and _do_alike(devices[device], devices[other]):
                out[device] |= more
    return out


def _do_alike(device: DeviceIntervals, other: DeviceIntervals) -> bool:
    """Whether most of a device's work has names that also occur in the other device's work."""
    counts = np.bincount(device.event_kind[is_work(device)], minlength=len(device.event_name))
    others = {other.event_name[kind] for kind in unique(other.event_kind[is_work(other)])}
    shared = np.array([name in others for name in device.event_name], bool)
    return bool(counts[shared].sum() >= _MOSTLY * counts.sum())
