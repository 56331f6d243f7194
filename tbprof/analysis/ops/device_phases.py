"""The activity of each device of a host over time: intervals by phase, steps and programs."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.hlo.hlo import Programs
from tbprof.analysis.vocabulary.lines import gpus_with_lines, named_lines, tpu_planes
from tbprof.analysis.vocabulary.phases import Phase
from tbprof.base import names
from tbprof.base.lazy import Later, regex
from tbprof.base.process.parallel import in_parallel
from tbprof.base.records import dataclass
from tbprof.events.space import Events, Plane, Space

if TYPE_CHECKING:
    from tbprof.analysis.devices.device_clock import Clock

# Few traces have both.
_gpu_intervals = Later("tbprof.analysis.ops.gpu_intervals.gpu_intervals")
_tpu_intervals = Later("tbprof.analysis.ops.tpu_intervals.tpu_intervals")


_PLANE = regex(r"/device:(GPU|TPU):([0-9]{1,9})(?: SparseCore(?: [A-Za-z]+)? ([0-9]{1,4}))?")
_SPARSE_CORE_IDS = 1_000_000
_NUMBER = regex(r"([0-9]{1,18})\s*\Z")


@dataclass(frozen=True, slots=True)
class DeviceSteps:
    """The steps on a device's own `Steps` line, by start; -1 for an unknown number."""

    start_ps: NDArray[np.int64]
    duration_ps: NDArray[np.int64]
    group: NDArray[np.int64]
    number: NDArray[np.int64]
    name: list[str]


@dataclass(frozen=True, slots=True)
class Executions:
    """The executions of programs on a device, by start. `kind` is an index into `name`."""

    start_ps: NDArray[np.int64]
    duration_ps: NDArray[np.int64]
    kind: NDArray[np.int32]
    name: list[str]


@dataclass(frozen=True, slots=True)
class DeviceIntervals:
    """The intervals of one device's work, by start; those of GPUs and of async ops overlap.

    `name` is for example "GPU:4" or "TPU:0 SparseCore 1", `kind` is "GPU", "TPU" or "SparseCore",
    `id` is the device's number on its host (SparseCores count from 1,000,000).

    Each interval has a `phase`, found when it is first needed; `work` is the same, except that
    computation may have any precision. `is_kernel` marks kernels that the host launched;
    `event_kind` is an index into `event_name`; `row` is the event in `events` that it is, or is a
    part of; `group` is -1 until groups are assigned. Times, including those of steps and
    executions, are the file's, corrected on TPUs by the device's own clock (`Clock`) unless that
    jumps.
    """

    name: str
    kind: str
    id: int
    plane: Plane
    events: Events
    row: NDArray[np.int64]
    start_ps: NDArray[np.int64]
    duration_ps: NDArray[np.int64]
    work: NDArray[np.int8]
    find_phase: Callable[[], NDArray[np.int8]]
    is_kernel: NDArray[np.bool_]
    event_kind: NDArray[np.int32]
    event_name: list[str]
    group: NDArray[np.int32]
    steps: DeviceSteps | None
    executions: Executions
    clock_jump_ps: int

    @property
    def phase(self) -> NDArray[np.int8]:
        """[n] the phase of each interval."""
        return self.find_phase()

    @property
    def computes(self) -> bool:
        """Whether the device computed anything; an idle device may still receive copies."""
        return bool((self.is_kernel | (self.work <= Phase.COMPUTE_UNKNOWN)).any())


def find_device_intervals(space: Space, programs: Programs) -> list[DeviceIntervals]:
    """The devices of a space with recorded events, GPUs first, in the order of their planes."""
    gpus, tpus = gpus_with_lines(space), tpu_planes(space)
    planes = [*gpus, *tpus]

    def find(index: int) -> DeviceIntervals:
        find_intervals = _gpu_intervals if index < len(gpus) else _tpu_intervals
        intervals: DeviceIntervals = find_intervals(planes[index], programs)
        return intervals

    size = sum(int(plane.line_bytes.sum()) for plane in planes)
    devices = in_parallel(find, range(len(planes)), size)
    return [
        device
        for device in devices
        if device.start_ps.size or device.steps is not None or device.executions.start_ps.size
    ]


def _placed(
    events: Events, rows: NDArray[np.int64], clock: Clock | None
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(start, duration) of steps or programs, which lack the device clock that ops have."""
    start, duration = events.start_ps[rows], events.duration_ps[rows]
    return (start, duration) if clock is None else clock.place(start, duration)


def intervals_of(
    plane: Plane,
    events: Events,
    row: NDArray[np.int64],
    start: NDArray[np.int64],
    duration: NDArray[np.int64],
    work: NDArray[np.int8],
    find_phase: Callable[[], NDArray[np.int8]],
    is_kernel: NDArray[np.bool_],
    event_kind: NDArray[np.int32],
    event_name: list[str],
    clock: Clock | None = None,
) -> DeviceIntervals:
    """The intervals of one plane, with its name, steps and executions."""
    match = _PLANE.match(plane.name)
    kind = "GPU" if plane.name.startswith(names.GPU_PREFIX) else "TPU"
    number = int(match[2]) if match else plane.id
    if "SparseCore" in plane.name:
        kind = "SparseCore"
        number = _SPARSE_CORE_IDS + 100 * number + int(match[3] or 0 if match else 0)
    if kind != "GPU":
        number = plane.id or number  # the profile plugin's id of the core
    return DeviceIntervals(
        plane.name.removeprefix("/device:"),
        kind,
        number,
        plane,
        events,
        row,
        start,
        duration,
        work,
        functools.cache(find_phase),
        is_kernel,
        event_kind,
        event_name,
        np.full(row.size, -1, np.int32),
        _find_steps(plane, clock),
        _find_executions(plane, clock),
        clock.jump_ps if clock is not None else 0,
    )


def _find_steps(plane: Plane, clock: Clock | None) -> DeviceSteps | None:
    """The steps on the plane's own line, recorded or derived; None if it has none."""
    rows = named_lines(plane, *names.STEP_LINES)
    if not rows or not len(events := plane.events(rows)):
        return None
    order = np.argsort(events.start_ps, kind="stable")
    stats = events.stats([names.GROUP_ID, names.STEP_NUMBER, names.STEP_NAME], order)
    number = stats[names.STEP_NUMBER].integers(-1).tolist()
    step_names = plane.strings.take(stats[names.STEP_NAME].texts().tolist())
    types = plane.types.full_names
    type_names = [types[row] if row >= 0 else "" for row in events.type[order].tolist()]
    labels = [name or other for name, other in zip(step_names, type_names, strict=True)]
    return DeviceSteps(
        *_placed(events, order, clock),
        stats[names.GROUP_ID].integers(-1),
        np.array([_number(*pair) for pair in zip(number, labels, strict=True)], np.int64),
        labels,
    )


def _number(stat: int, label: str) -> int:
    """A step's number: the stat, else the number at the end of its label ("train 3"), else -1."""
    if stat >= 0:
        return stat
    match = _NUMBER.search(label)
    return int(match[1]) if match else -1


def _find_executions(plane: Plane, clock: Clock | None) -> Executions:
    """The executions of programs on the plane's own line, recorded or derived."""
    events = plane.events(named_lines(plane, *names.MODULE_LINES))
    order = np.argsort(events.start_ps, kind="stable")
    types, kind = np.unique(events.type[order], return_inverse=True)
    type_names = plane.types.full_names
    return Executions(
        *_placed(events, order, clock),
        kind.astype(np.int32),
        [type_names[row] if row >= 0 else "" for row in types.tolist()],
    )
