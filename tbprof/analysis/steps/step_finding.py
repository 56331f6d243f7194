"""Finds the steps of a host, and splits the time of each worker's steps into phases."""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.grouping.grouping import group_of_device_events
from tbprof.analysis.hlo.hlo import Programs
from tbprof.analysis.host.host_events import HostThreads, host_events
from tbprof.analysis.host.host_phases import driving_rows, flatten
from tbprof.analysis.host.host_roles import Role, host_types
from tbprof.analysis.ops.device_phases import DeviceIntervals, find_device_intervals
from tbprof.analysis.ops.launching_threads import lines_for_devices
from tbprof.analysis.run.recording import epoch_of_times
from tbprof.analysis.spans.layers import Spans, split, unite
from tbprof.analysis.steps.recorded_steps import LineSteps, find_line_steps
from tbprof.analysis.steps.recording_gaps import clock_doubts
from tbprof.analysis.steps.step_candidates import find_candidates
from tbprof.analysis.steps.step_inference import PATTERN
from tbprof.analysis.steps.step_sources import STEPS_LINE, StepSource, find_source
from tbprof.analysis.steps.step_windows import (
    GroupSteps,
    Windows,
    by_device,
    by_executions,
    by_host,
    by_threads,
    find_lacking,
    find_truncated,
    lags,
)
from tbprof.analysis.steps.steps import Steps
from tbprof.analysis.steps.unrecorded_steps import Unrecorded, find_unrecorded
from tbprof.analysis.vocabulary.input_names import is_iterator
from tbprof.analysis.vocabulary.lines import gpu_planes, host_planes
from tbprof.analysis.vocabulary.name_families import name_families
from tbprof.analysis.vocabulary.phases import PHASES, Phase
from tbprof.base import names
from tbprof.base.errors import CUT_HINT
from tbprof.base.records import dataclass
from tbprof.base.values import is_in
from tbprof.events.space import Space

_T = TypeVar("_T")

_CPU = "CPU"
_NO_WORK = (Role.FRAME, Role.WRAPPER, Role.WAIT)
_SPLIT = tuple(phase for phase in Phase if phase != Phase.OTHER)
# What a host without devices computes by itself.
_HOST_WORK = (Phase.COLLECTIVES, Phase.HOST_COMPUTE)


@dataclass(frozen=True, slots=True)
class StepLayers:
    """The steps of each worker, and what covers their time: device work first, then the host.

    A worker is one of `devices`, or the host's CPU where there is none. `host` has its threads'
    spans by phase; `work` are the ascending starts of their events, needed without devices.
    `is_for` [workers, lines] of each host plane says whose idle time a thread can explain; there is
    none without steps.
    `silent` and `missing` are the GPUs and the steps of which nothing was recorded, `lines` the
    steps that devices recorded themselves.
    """

    source: StepSource
    note: str
    devices: Sequence[DeviceIntervals]
    windows: Sequence[Windows]
    host: Sequence[Sequence[Spans]]
    work: NDArray[np.int64]
    is_for: Sequence[NDArray[np.bool_]]
    silent: list[str]
    missing: Unrecorded
    lines: LineSteps | None

    def covered(self, worker: int) -> Spans:
        """The time that is in any phase but `OTHER`, as disjoint spans, ascending."""
        spans = list(self.host[worker])
        if self.devices:
            device = self.devices[worker]
            rows = device.phase != Phase.OTHER
            start = device.start_ps[rows]
            spans.append((start, start + device.duration_ps[rows]))
        return unite(*_joined(spans))


def find_step_layers(space: Space, programs: Programs, marker: str = "") -> StepLayers:
    """What both the steps and the rest of their time are found from; found once."""
    key = "step layers", marker
    return _once(space, key, lambda: _find_step_layers(space, programs, marker))


def find_steps(space: Space, programs: Programs, marker: str = "") -> Steps:
    """The steps of one host; `marker` is an event of the user's choice that begins each.

    Device work takes precedence over what the host did at the same time: the host's phases count
    where the device is idle. What neither explains is left to `Phase.OTHER`.
    """
    if marker:
        return _find_steps(space, programs, marker)
    # The steps without a choice are those that other analyses go by.
    return _once(space, "steps", lambda: _find_steps(space, programs, marker))


def _once(space: Space, key: Hashable, find: Callable[[], _T]) -> _T:
    """What is found of a whole space, kept with its first plane."""
    planes = [*host_planes(space), *space.planes]
    return planes[0].memo.once(key, find) if planes else find()


def _find_step_layers(space: Space, programs: Programs, marker: str) -> StepLayers:
    for plane in host_planes(space):
        host_events(plane)  # kept from now on: who only borrows them meanwhile has these
    devices = [one for one in find_device_intervals(space, programs) if _works(one)]
    source = find_source(space, devices, programs, marker)
    for device in devices:
        groups = group_of_device_events(source.grouping, device.plane, device.events)
        device.group[:] = groups[device.row]
    silent = _silent_gpus(space, devices)
    missing = find_unrecorded(source.grouping, source.steps, devices, has_silent=bool(silent))
    lines = find_line_steps(devices, source.grouping) if source.source == STEPS_LINE else None
    windows, note = _windows(source, devices, missing, lines)
    hosts, work, is_for = _host_spans(source, windows, devices)
    busy = _busy(devices, hosts)
    windows = [_without_gap(window, busy) for window in windows]
    return StepLayers(source, note, devices, windows, hosts, work, is_for, silent, missing, lines)


def _find_steps(space: Space, programs: Programs, marker: str) -> Steps:
    layers = find_step_layers(space, programs, marker)
    source, note, devices, windows = layers.source, layers.note, layers.devices, layers.windows
    missing = layers.missing
    is_missing, is_cut = _of_windows(source.steps, windows, missing)
    lines = layers.lines
    if lines is not None:
        is_missing = [gone | lost for gone, lost in zip(is_missing, lines.is_lost, strict=True)]
        is_cut = [part | cut for part, cut in zip(is_cut, lines.is_cut, strict=True)]
    starts = [device.start_ps for device in devices] or [layers.work]
    cut = [
        part | find_truncated(window, start, ~gone)
        for window, start, gone, part in zip(windows, starts, is_missing, is_cut, strict=True)
    ]
    for part, window, device, gone in zip(cut, windows, devices, is_missing, strict=False):
        if device.kind != "GPU":
            middle = device.start_ps + device.duration_ps // 2
            part |= find_lacking(window, middle, device.event_kind, ~gone)
    candidates = find_candidates(source.grouping.hosts)
    sizes = [window.start_ps.size for window in windows]
    found = sum(sizes)

    phase_ps, copied_ps = _split(windows, devices, layers.host)

    def joined(column: str) -> NDArray[np.int64]:
        return np.concatenate([getattr(window, column) for window in windows])

    return Steps(
        source=source.source if found else "none",
        marker=source.marker if found else "",
        note=note if found else _why_none(space, source.note),
        epoch_ns=epoch_of_times(space),
        worker_name=[device.name for device in devices] or [_CPU],
        worker_kind=[device.kind for device in devices] or [_CPU],
        worker_id=np.array([device.id for device in devices] or [0], np.int64),
        silent_device=layers.silent,
        lost_devices=missing.lost_devices,
        worker=np.repeat(np.arange(len(sizes)), sizes),
        number=joined("number"),
        label=[label for window in windows for label in window.label],
        start_ps=joined("start_ps"),
        duration_ps=joined("duration_ps"),
        own_ps=joined("own_ps"),
        is_truncated=np.concatenate(cut),
        is_unrecorded=np.concatenate(is_missing),
        phase_ps=phase_ps,
        has_explicit_numbers=(lines or source).has_explicit_numbers,
        doubts=[
            *source.doubts,
            *(lines.doubts if lines is not None else ()),
            *clock_doubts(devices),
        ],
        candidate_name=candidates.name,
        candidate_line=candidates.line,
        candidate_count=candidates.count,
        candidate_median_ps=candidates.median_ps,
        ends_early=space.ends_early,
        copied_ps=copied_ps,
    )


def _works(device: DeviceIntervals) -> bool:
    """Whether the device computed anything: copies to an idle device are no work of its own."""
    return bool((device.is_kernel | (device.phase <= Phase.COMPUTE_UNKNOWN)).any())


def _why_none(space: Space, note: str) -> str:
    """Why there are no steps: of a file that was cut off, nobody knows what it had."""
    if not space.ends_early:
        return note
    return (
        f"T{space.ends_early[1:]}, and what marks its steps is not in the part that is there. "
        f"{CUT_HINT.capitalize()}."
    )


def _silent_gpus(space: Space, devices: Sequence[DeviceIntervals]) -> list[str]:
    """The names of GPUs of which nothing that they did was recorded; copies to them may be."""
    worked = {device.plane.name for device in devices}
    return [
        plane.name.removeprefix("/device:")
        for plane in gpu_planes(space)
        if plane.name not in worked
    ]


def _windows(
    source: StepSource,
    devices: Sequence[DeviceIntervals],
    missing: Unrecorded,
    lines: LineSteps | None,
) -> tuple[list[Windows], str]:
    """(the windows of each device, or of the CPU where there is none; how they are bounded)."""
    if lines is not None:
        return lines.windows, source.note
    if not devices:
        return [by_threads(source.steps, source.grouping.hosts)], source.note
    if source.program:
        return [by_executions(device, source.program) for device in devices], source.note
    if lags(source.steps, devices):
        note = (
            f"{source.note} The devices run behind the host, so a device's step goes from its "
            "first work of one step to that of the next."
        )
        return [
            by_device(source.steps, device, gone)
            for device, gone in zip(devices, missing.is_missing, strict=True)
        ], note
    return [by_host(source.steps, device) for device in devices], source.note


def _host_spans(
    source: StepSource, windows: Sequence[Windows], devices: Sequence[DeviceIntervals]
) -> tuple[list[list[Spans]], NDArray[np.int64], list[NDArray[np.bool_]]]:
    """(what the host did in the steps, per worker by phase of `_SPLIT`; `work`; `is_for`)."""
    workers = max(len(devices), 1)
    starts = [int(window.start_ps[0]) for window in windows if window.start_ps.size]
    ends = [int(window.end_ps[-1]) for window in windows if window.start_ps.size]
    layers: list[list[list[Spans]]] = [[[] for _ in _SPLIT] for _ in range(workers)]
    work: list[NDArray[np.int64]] = [np.empty(0, np.int64)]
    explains: list[NDArray[np.bool_]] = []
    for at, threads in enumerate(source.grouping.hosts if starts else ()):
        types = host_types(threads.events, has_device=bool(devices), wrappers=[source.marker])
        line = source.line if at == source.plane else -1
        window = min(starts), max(ends)
        has_groups = bool(devices) or source.source != PATTERN or _has_pipelines(threads)
        counts = driving_rows(
            threads, types, driving_line=line, window_ps=window, has_groups=has_groups
        )
        if not devices:
            works = counts & ~threads.events.by_type(is_in(types.role, _NO_WORK))
            works &= threads.events.duration_ps > 0
            work.append(threads.events.start_ps[works])
        start, end, phase, cuts = flatten(threads, counts, types)
        is_for = np.ones((1, cuts.size - 1), np.bool_)
        if devices:
            is_for = lines_for_devices(threads, types, devices)
        explains.append(is_for)
        for worker in range(workers):
            mine = phase
            if not is_for[worker].all():
                mine = np.where(np.repeat(is_for[worker], np.diff(cuts)), phase, -1)
            for layer, wanted in zip(layers[worker], _SPLIT, strict=True):
                rows = mine == wanted
                if rows.any():
                    layer.append((start[rows], end[rows]))
    # Each thread's events are ascending: what such a sort is good at.
    joined = [[_joined(layer) for layer in own] for own in layers]
    return joined, np.sort(np.concatenate(work), kind="stable"), explains


def _has_pipelines(threads: HostThreads) -> bool:
    """Whether tf.data worked: threads may run its functions' ops, which are work ahead of steps."""
    texts = name_families(threads.plane).names
    return any(is_iterator(text) or text in names.CAPTURED_FUNCTIONS for text in texts)


def _busy(devices: Sequence[DeviceIntervals], hosts: Sequence[Sequence[Spans]]) -> Spans:
    """When any device worked, or where there is none any op of the host did."""
    if not devices:
        [layers] = hosts
        return unite(*_joined([layers[_SPLIT.index(phase)] for phase in _HOST_WORK]))
    ends = [device.start_ps + device.duration_ps for device in devices]
    return unite(*_joined([(one.start_ps, end) for one, end in zip(devices, ends, strict=True)]))


def _without_gap(windows: Windows, busy: Spans) -> Windows:
    """The windows, whose steps have all time as their own but what is idle behind their work."""
    [behind] = split(windows.start_ps + windows.own_ps, windows.end_ps, [busy]).T
    return replace(windows, own_ps=windows.own_ps + behind)


def _joined(spans: Sequence[Spans]) -> Spans:
    if not spans:
        return np.empty(0, np.int64), np.empty(0, np.int64)
    return np.concatenate([one for one, _ in spans]), np.concatenate([one for _, one in spans])


def _of_windows(
    steps: GroupSteps, windows: Sequence[Windows], missing: Unrecorded
) -> tuple[list[NDArray[np.bool_]], list[NDArray[np.bool_]]]:
    """(which steps of each worker were not recorded, of which a part is missing)."""

    def of(column: NDArray[np.bool_], worker: int) -> NDArray[np.bool_]:
        group = windows[worker].group
        return is_in(group, steps.group[column[worker]]) if column.size else group < -1

    workers = range(len(windows))
    gone = [of(missing.is_missing, worker) for worker in workers]
    return gone, [of(missing.is_cut, worker) for worker in workers]


def _split(
    windows: Sequence[Windows],
    devices: Sequence[DeviceIntervals],
    hosts: Sequence[Sequence[Spans]],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(the time of each worker's steps in each phase [n, PHASES], what a GPU copies to it [n]).

    Rows are one worker after the other.
    """
    workers: Sequence[DeviceIntervals | None] = devices or [None]
    parts, copied = [], []
    for window, device, host in zip(windows, workers, hosts, strict=True):
        layers: list[Spans] = []
        if device is not None:
            end = device.start_ps + device.duration_ps
            for phase in _SPLIT:
                rows = device.phase == phase
                layers.append((device.start_ps[rows], end[rows]))
        times = split(window.start_ps, window.end_ps, [*layers, *host])
        phases = np.zeros((window.start_ps.size, PHASES), np.int64)
        for column in range(times.shape[1]):
            phases[:, _SPLIT[column % len(_SPLIT)]] += times[:, column]
        phases[:, Phase.OTHER] = window.duration_ps - phases.sum(axis=1)
        parts.append(phases)
        is_gpu = device is not None and device.kind == "GPU"
        copied.append(times[:, _SPLIT.index(Phase.INPUT)] * is_gpu)
    return np.concatenate(parts), np.concatenate(copied)
