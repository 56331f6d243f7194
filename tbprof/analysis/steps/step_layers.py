"""What covers the time of a host's steps: device work first, then what the host did."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.grouping.grouping import Grouping, group_of_device_events
from tbprof.analysis.host.host_events import HostThreads
from tbprof.analysis.host.host_phases import driving_rows, host_intervals, program_launches
from tbprof.analysis.host.host_roles import Role, host_types
from tbprof.analysis.host.late_ends import find_late_ends
from tbprof.analysis.ops.device_phases import DeviceIntervals
from tbprof.analysis.ops.launching_threads import lines_for_devices
from tbprof.analysis.spans.layers import (
    NO_SPANS,
    Spans,
    exclusive_time,
    join_spans,
    unite,
    unite_all,
)
from tbprof.analysis.steps.completion import find_completion
from tbprof.analysis.steps.host_runs import HostRuns
from tbprof.analysis.steps.sources.source_words import PATTERN
from tbprof.analysis.steps.sources.step_sources import StepSource
from tbprof.analysis.steps.step_windows import (
    LaunchedWork,
    Windows,
    by_device,
    by_executions,
    by_host,
    by_threads,
    device_lags_host,
)
from tbprof.analysis.steps.unrecorded_steps import Unrecorded
from tbprof.analysis.steps.unstarted import find_unstarted
from tbprof.analysis.vocabulary.input_names import is_iterator
from tbprof.analysis.vocabulary.name_families import name_families
from tbprof.analysis.vocabulary.phases import PHASES, WORK, Phase
from tbprof.base import names
from tbprof.base.process.parallel import in_parallel
from tbprof.base.records import dataclass, replace
from tbprof.base.values import is_in, take_rows

if TYPE_CHECKING:
    from tbprof.analysis.steps.sources.recorded_steps import RecordedSteps

_NO_WORK = (Role.FRAME, Role.WRAPPER, Role.WAIT)
# One layer per phase; time that no layer covers is `Phase.OTHER`. Layers are integers, since NumPy
# compares those three times as fast.
_LAYERS = tuple(int(phase) for phase in Phase if phase != Phase.OTHER)
_DEVICES_LAG = (
    "Devices lag behind the host, so a device's step runs from its first work in one step to its "
    "first work in the next."
)
_RUNS_LAG = (
    "Compiled programs lag behind the code that launches them, so a step runs from its first op to "
    "the first op of the next."
)
# Copies of arguments and results, and waits for the host.
_NOT_WORK = tuple(phase for phase in Phase if phase not in (*WORK, Phase.OTHER))
# The precedence of phases where ops lag behind the host; all other phases follow.
_OPS_FIRST = {int(Phase.HOST_COMPUTE): 0, int(Phase.COLLECTIVES): 1}
# The work of a host without devices.
_HOST_WORK = (Phase.COLLECTIVES, Phase.HOST_COMPUTE)


@dataclass(frozen=True, slots=True)
class HostLayers:
    """What the threads of a host did during its steps.

    `spans` holds, for each worker, the spans of each phase of `_LAYERS`; `launching` those in which
    XLA launched kernels of programs, and `unstarted` those in which a worker's device had not
    started launched work. In `completion`, the program had not yet noticed that all devices were
    done; in `reading`, it was in a call that reads a result. `work_start_ps`,
    ascending, holds the starts of events that did work; empty if there are devices. `explains` has,
    for each host plane, a mask [workers, lines] of the threads that can explain a worker's idle
    time; empty without steps.
    """

    spans: Sequence[Sequence[Spans]]
    launching: Sequence[Spans]
    unstarted: Sequence[Spans]
    completion: Spans
    reading: Spans
    work_start_ps: NDArray[np.int64]
    explains: Sequence[NDArray[np.bool_]]

    @property
    def nbytes(self) -> int:
        """The size of the starts of the spans."""
        return sum(start.nbytes for spans in self.spans for start, _ in spans)


NO_HOST_LAYERS = HostLayers((), (), (), NO_SPANS, NO_SPANS, np.empty(0, np.int64), ())


@dataclass(frozen=True, slots=True)
class StepLayers:
    """The steps of each worker, and what covers their time: device work first, then the host.

    A worker is one of `devices`, or the host's CPU if there are none. `note` is a sentence on the
    bounds of steps. `silent` names the GPUs without any recorded work, `missing` is the work of the
    steps that was not recorded, and `recorded` holds the steps that devices recorded themselves.
    `runs` are program runs of a host without devices. If work `is_behind` the code that launches
    it, the work bounds the steps. `host` is `NO_HOST_LAYERS` if only the times of steps were
    requested.
    """

    source: StepSource
    note: str
    devices: Sequence[DeviceIntervals]
    windows: Sequence[Windows]
    host: HostLayers
    silent: list[str]
    missing: Unrecorded
    recorded: RecordedSteps | None
    runs: HostRuns
    is_behind: bool

    def covered(self, worker: int) -> Spans:
        """The time of a worker in any phase except `OTHER`, as disjoint, ascending spans."""
        spans = list(self.host.spans[worker])
        if self.devices:
            device = self.devices[worker]
            rows = device.phase != Phase.OTHER
            start = device.start_ps[rows]
            spans.append((start, start + device.duration_ps[rows]))
            spans.append(self.host.launching[worker])
        return unite(*join_spans(spans))

    def worked(self, worker: int) -> Spans:
        """When the worker's device worked; nothing without devices."""
        return join_spans([spans for _, spans in _device_spans(self._device(worker), WORK)])

    def _device(self, worker: int) -> DeviceIntervals | None:
        return self.devices[worker] if self.devices else None


def assign_groups(device: DeviceIntervals, grouping: Grouping) -> DeviceIntervals:
    """The device with the group of the event that each interval is a part of."""
    groups = group_of_device_events(grouping, device.plane, device.events)
    return replace(device, group=groups[device.row])


def find_step_windows(
    source: StepSource,
    devices: Sequence[DeviceIntervals],
    missing: Unrecorded,
    recorded: RecordedSteps | None,
    runs: HostRuns,
) -> tuple[list[Windows], str, bool]:
    """(the windows of each device, or of the CPU if there is none; the note; `is_behind`)."""
    if recorded is not None:
        return recorded.windows, source.note, False
    if source.program:
        windows = [by_executions(device, source.program) for device in devices]
        return windows, source.note, False
    workers: Sequence[LaunchedWork] = devices or ([runs] if runs.start_ps.size else [])
    if not workers or not device_lags_host(source.steps, workers):
        windows = [by_host(source.steps, device) for device in devices]
        return (
            windows or [by_threads(source.steps, source.grouping.hosts)], source.note, False
        )  # fmt: skip
    windows = [
        by_device(source.steps, work, is_missing)
        for work, is_missing in zip(workers, missing.is_missing, strict=True)
    ]
    return windows, f"{source.note} {_DEVICES_LAG if devices else _RUNS_LAG}", True


def find_host_layers(
    source: StepSource, windows: Sequence[Windows], devices: Sequence[DeviceIntervals]
) -> HostLayers:
    """What the host's threads did during the steps, per worker and phase."""
    workers = max(len(devices), 1)
    starts = [int(window.start_ps[0]) for window in windows if window.start_ps.size]
    ends = [int(window.end_ps[-1]) for window in windows if window.start_ps.size]
    layers: list[list[list[Spans]]] = [[[] for _ in _LAYERS] for _ in range(workers)]
    work: list[NDArray[np.int64]] = [np.empty(0, np.int64)]
    explains: list[NDArray[np.bool_]] = []
    launching: list[list[Spans]] = [[] for _ in range(workers)]
    completion = reading = NO_SPANS
    unstarted = find_unstarted(source.grouping.hosts if starts else (), devices)
    for plane, threads in enumerate(source.grouping.hosts if starts else ()):
        types = host_types(threads.events, has_device=bool(devices), wrappers=[source.marker])
        counts = driving_rows(
            threads,
            types,
            driving_line=source.line if plane == source.plane else -1,
            window_ps=(min(starts), max(ends)),
            has_groups=bool(devices) or source.source != PATTERN or _has_pipelines(threads),
        )
        if not devices:
            works = counts & ~threads.events.by_type(is_in(types.role, _NO_WORK))
            works &= threads.events.duration_ps > 0
            work.append(threads.events.start_ps[works])
        start, end, phase, cuts = host_intervals(threads, counts, types)
        is_for = np.ones((1, cuts.size - 1), np.bool_)
        if devices:
            is_for = lines_for_devices(threads, types, devices)
        if devices and plane == source.plane and source.line >= 0:
            rows = slice(int(cuts[source.line]), int(cuts[source.line + 1]))
            intervals = start[rows], end[rows], phase[rows]
            completion, reading = find_completion(
                threads, source.line, devices, unstarted, *intervals
            )
        explains.append(is_for)
        launches = program_launches(threads, types, start, phase, cuts)
        for worker in range(workers):
            own_phase = phase
            if not is_for[worker].all():
                own_phase = np.where(np.repeat(is_for[worker], np.diff(cuts)), phase, -1)
            for layer, layer_kinds in zip(layers[worker], _LAYERS, strict=True):
                rows = own_phase == layer_kinds
                if rows.any():
                    layer.append((start[rows], end[rows]))
            own = launches[own_phase[launches] >= 0]
            launching[worker].append((start[own], end[own]))
        if not devices:
            late = find_late_ends(threads.plane)
            for layer, layer_kinds in zip(layers[0], _LAYERS, strict=True):
                layer.append(take_rows(late, types.role[late.type] == layer_kinds).spans)
    # The events of each thread ascend, and a stable sort is fast on ascending runs.
    spans = [[join_spans(layer) for layer in of_worker] for of_worker in layers]
    return HostLayers(
        spans,
        [join_spans(of_worker) for of_worker in launching],
        unstarted or [NO_SPANS],
        completion,
        reading,
        np.sort(np.concatenate(work), kind="stable"),
        explains,
    )


def _has_pipelines(threads: HostThreads) -> bool:
    """Whether tf.data ran, whose threads may run ops of its functions ahead of the steps."""
    return bool(name_families(threads.plane).classify(_is_of_pipeline, np.bool_).any())


def _is_of_pipeline(text: str) -> bool:
    return is_iterator(text) or text in names.CAPTURED_FUNCTIONS


def end_with_work(
    windows: Sequence[Windows], devices: Sequence[DeviceIntervals], host: HostLayers
) -> list[Windows]:
    """The windows with `own_ps` extended by the work of any device after the step's own work."""
    busy = _busy(devices, host)

    def end(worker: int) -> Windows:
        window = windows[worker]
        start = window.start_ps + window.own_ps
        [busy_ps] = exclusive_time(start, window.end_ps, [busy]).T
        return replace(window, own_ps=window.own_ps + busy_ps)

    return in_parallel(end, range(len(windows)), len(windows) * busy[0].nbytes)


def _busy(devices: Sequence[DeviceIntervals], host: HostLayers) -> Spans:
    """When any device worked or, without devices, any op of the host."""
    if not devices:
        [layers] = host.spans
        return unite_all(layers[_LAYERS.index(phase)] for phase in _HOST_WORK)
    return unite_all((device.start_ps, device.start_ps + device.duration_ps) for device in devices)


def split_by_phase(layers: StepLayers) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(time of each step by phase [n, PHASES], time [n] that GPUs copy input from the host).

    Rows are the steps of one worker after the other.
    """
    workers: Sequence[DeviceIntervals | None] = layers.devices or [None]

    def split(worker: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        window, device = layers.windows[worker], workers[worker]
        of_host = list(zip(_LAYERS, layers.host.spans[worker], strict=True))
        if device is None:
            # A collective waits for late participants: computation by any thread hides it.
            of_host.sort(key=lambda layer: layer[0] == Phase.COLLECTIVES)
        if layers.is_behind and device is None:
            # Ops count like device work: concurrent host work delayed nothing.
            of_host.sort(key=lambda layer: _OPS_FIRST.get(layer[0], len(_OPS_FIRST)))
        spans: list[tuple[int, Spans]] = [
            *_device_spans(device, WORK),
            (int(Phase.OTHER), layers.host.unstarted[worker]),
            # Copies delay nothing while the program waits for a device, or launches its next work.
            (int(Phase.OUTPUT), layers.host.reading),
            (int(Phase.OTHER), layers.host.completion),
            (int(Phase.KERNEL_LAUNCH), layers.host.launching[worker]),
            *_device_spans(device, _NOT_WORK),
            *of_host,
        ]
        times = exclusive_time(window.start_ps, window.end_ps, [layer for _, layer in spans])
        phases = np.zeros((window.start_ps.size, PHASES), np.int64)
        for column, (phase, _) in enumerate(spans):
            phases[:, phase] += times[:, column]
        phases[:, Phase.OTHER] += window.duration_ps - phases.sum(axis=1)
        is_gpu = device is not None and device.kind == "GPU"
        copies = [phase for phase, _ in spans].index(int(Phase.INPUT))
        return phases, times[:, copies] * is_gpu

    parts = in_parallel(split, range(len(workers)), layers.host.nbytes)
    phases, copied = zip(*parts, strict=True)
    return np.concatenate(phases), np.concatenate(copied)


def _device_spans(
    device: DeviceIntervals | None, phases: Sequence[Phase]
) -> list[tuple[int, Spans]]:
    """The spans of a device's work in some phases, by phase."""
    if device is None:
        return []
    end = device.start_ps + device.duration_ps
    rows_of = {int(phase): device.phase == phase for phase in phases}
    return [(phase, (device.start_ps[rows], end[rows])) for phase, rows in rows_of.items()]
