"""The phases of the kernels, copies and other events of a GPU."""

from __future__ import annotations

import functools
import re

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.devices.devices import text_stat
from tbprof.analysis.devices.tensor_cores import is_amd
from tbprof.analysis.gpu.driver_copies import driver_copy
from tbprof.analysis.gpu.gpu_events import GpuKinds
from tbprof.analysis.hlo.hlo import Programs
from tbprof.analysis.hlo.host_copies import is_host_copy
from tbprof.analysis.hlo.precision import kernel_precision
from tbprof.analysis.vocabulary.collectives import is_collective_kernel, is_collective_op
from tbprof.analysis.vocabulary.phases import Phase
from tbprof.base import names
from tbprof.base.caches import computed_once
from tbprof.base.lazy import regex
from tbprof.base.records import NamedTuple
from tbprof.events.space import Events, Plane

# Copies: `MemcpyH2D`, `MEMCPYHtoD`, `Memcpy HtoD (Pinned -> Device)`, ROCm's `CopyHostToDevice` and
# `MEMORY_COPY_HOST_TO_DEVICE`, CUPTI's `UM_BYTES_TRANSFER_HTOD` of unified memory.
_COPY = regex(
    r"(?:memcpy|copy)\s?(host|device|peer|array|[hdpa])(?:2|to)(host|device|peer|array|[hdpa])"
    r"(?=\Z|[\s(]|async)|memory_copy_(host|device)_to_(host|device)\Z"
    r"|um_bytes_transfer_([hd])to([hd])\Z",
    re.IGNORECASE,
)
# Copies whose names do not state source and target, including copy kernels of the driver.
_ANY_COPY = regex(r"memcpy(?:\s?other|\s?peer|\d*(?:_post)?)?\Z", re.IGNORECASE)
_SETS = ("memset", "fillbuffer")
# Events that are not work of the device: lifetimes of memory, overhead of the recorder, faults of
# unified memory. Source: xla/backends/profiler/gpu/cupti_buffer_events.cc.
_NO_WORK = frozenset({"COMPILER", "BUFFER_FLUSH", "INSTRUMENTATION", "RESOURCE", "<UNKNOWN>"})
_OF_MEMORY = regex(
    r"Memory (?i:array|device|device_static|managed|managed_static|pageable|pinned|unknown)"
    r"|Memory(?:Alloc|Free|Residency)|UM_\w+"
)
# The event is not work of the device.
NO_PHASE = -1
_UNKNOWN = int(Phase.COMPUTE_UNKNOWN)


def gpu_work_phases(
    plane: Plane, kinds: GpuKinds, programs: Programs
) -> tuple[NDArray[np.int8], NDArray[np.bool_]]:
    """(phase [n], is_kernel [n]) of the plane's recorded events; phase -1 if not work.

    Kernels are events with launch details, and everything that is neither copy nor memset. Those
    that compute are COMPUTE_UNKNOWN: `kind_phases` looks for their precision.
    """
    phase = _work_phases(plane, kinds, programs)[kinds.code]
    named = _names(plane, kinds)
    is_unclear = np.array([event.is_unclear for event in named], bool)
    rows = np.flatnonzero(is_unclear[kinds.code])
    if rows.size:
        stated = _copies_by_details(plane, kinds.events, rows, phase[rows])
        phase[rows] = _of_programs(stated, _is_offload(plane, kinds, programs)[kinds.code[rows]])
    is_kernel = [
        not (event.copy is not None or event.is_set) or (details is not None and not copy)
        for event, details, copy in zip(named, kinds.details, kinds.copy, strict=True)
    ]
    return phase, np.array(is_kernel, bool)[kinds.code]


@computed_once
def kind_phases(plane: Plane, kinds: GpuKinds, programs: Programs) -> NDArray[np.int8]:
    """[kinds] the phase of each kind of GPU event, -1 if not work; computed once.

    The phase of a copy depends on its source and target: from the host it is INPUT, to the host
    OUTPUT, between devices DEVICE_TO_DEVICE, and within the host HOST_COMPUTE, since the device
    does nothing. Copies between devices by a collective instruction are COLLECTIVES, and copies by
    an instruction from or to an array in host memory are HOST_TRANSFER. A memset is work without an
    element type (COMPUTE_UNKNOWN).
    """
    compute_capability = _capability(plane)
    named = _names(plane, kinds)
    out: NDArray[np.int8] = _work_phases(plane, kinds, programs).copy()
    computing = [
        kind for kind in np.flatnonzero(out == _UNKNOWN).tolist() if not named[kind].is_set
    ]

    def precision(kind: int) -> Phase:
        instruction = None
        if kinds.instruction[kind]:
            instruction = programs.instruction(
                kinds.program_id[kind], kinds.module[kind], kinds.instruction[kind]
            )
        label, shapes = named[kind].label, kinds.shapes[kind]
        return kernel_precision(label, instruction, shapes, compute_capability)

    out[computing] = np.fromiter(map(precision, computing), np.int8, len(computing))
    return out


@computed_once
def _work_phases(plane: Plane, kinds: GpuKinds, programs: Programs) -> NDArray[np.int8]:
    """[kinds] the phase of each kind, where compute has an unknown precision; computed once."""
    out: list[int] = []
    for kind, name in enumerate(_names(plane, kinds)):
        instruction = kinds.instruction[kind]
        is_collective = bool(instruction) and is_collective_op(instruction)
        if name.copy is not None:
            between = is_collective and name.copy == Phase.DEVICE_TO_DEVICE
            out.append(Phase.COLLECTIVES if between else name.copy)
        elif name.is_set:
            out.append(_UNKNOWN)
        elif kinds.details[kind] is None and name.is_no_work:
            out.append(NO_PHASE)
        else:
            communicates = is_collective or name.is_collective
            out.append(Phase.COLLECTIVES if communicates else _UNKNOWN)
    phase = np.fromiter(out, np.int8, len(out))
    return _of_programs(phase, _is_offload(plane, kinds, programs))


@computed_once
def _names(_plane: Plane, kinds: GpuKinds) -> list[_Named]:
    """[kinds] the classifications of the kinds by their names; computed once."""
    return list(map(_named, kinds.copy, kinds.event_name))


def _is_offload(plane: Plane, kinds: GpuKinds, programs: Programs) -> NDArray[np.bool_]:
    """[kinds] whether an instruction copies from or to an array in host memory."""
    out = np.zeros(len(kinds.event_name), np.bool_)
    for kind, name in enumerate(_names(plane, kinds)):
        instruction = kinds.instruction[kind]
        if not instruction or name.copy is None:
            continue
        found = programs.instruction(kinds.program_id[kind], kinds.module[kind], instruction)
        out[kind] = found is not None and is_host_copy(
            found.opcode, "", is_in_host=found.is_in_host
        )
    return out


def _of_programs(phase: NDArray[np.int8], is_offload: NDArray[np.bool_]) -> NDArray[np.int8]:
    """[n] the phases, where copies of programs between device and host are HOST_TRANSFER."""
    is_between = (phase == Phase.INPUT) | (phase == Phase.OUTPUT)
    return np.where(is_offload & is_between, np.int8(Phase.HOST_TRANSFER), phase)


class _Named(NamedTuple):
    """The classification of a GPU event by its name.

    `label` determines the phase; for a copy kernel of the driver, it is the type of the copy.
    `copy` is the phase of a copy, None for other events; `is_unclear` marks copies whose names do
    not state source and target.
    """

    label: str
    copy: Phase | None
    is_unclear: bool
    is_set: bool
    is_no_work: bool
    is_collective: bool


# The GPUs of a host run the same kernels.
@functools.lru_cache(maxsize=8192)
def _named(copy: str, event_name: str) -> _Named:
    label = copy if driver_copy(event_name) else event_name
    ends = _copy_ends(label)
    return _Named(
        label,
        _copy_phase(*ends) if ends else None,
        _ANY_COPY.match(label) is not None,
        label.lower().startswith(_SETS),
        label in _NO_WORK or _is_of_memory(label),
        is_collective_kernel(label),
    )


def _is_of_memory(label: str) -> bool:
    return label.startswith(("Memory", "UM_")) and _OF_MEMORY.fullmatch(label) is not None


def name_phase(name: str) -> int:
    """The phase of a GPU event by its name alone, where compute has an unknown precision.

    -1 if it is not work of the device.
    """
    phase = _named(driver_copy(name), name)
    if phase.copy is not None:
        return phase.copy
    if phase.is_set:
        return Phase.COMPUTE_UNKNOWN
    if phase.is_no_work:
        return NO_PHASE
    return Phase.COLLECTIVES if phase.is_collective else Phase.COMPUTE_UNKNOWN


def _copy_ends(name: str) -> tuple[str, str] | None:
    """The letters of a copy's source and target, None for other events; unknown ones are "d"."""
    match = _COPY.match(name)
    if match:
        source, destination = (end[0].lower() for end in match.groups() if end)
        return source, destination
    return ("d", "d") if _ANY_COPY.match(name) else None


def _copy_phase(source: str, destination: str) -> Phase:
    from_host, to_host = source == "h", destination == "h"
    if from_host and to_host:
        return Phase.HOST_COMPUTE
    return Phase.INPUT if from_host else Phase.OUTPUT if to_host else Phase.DEVICE_TO_DEVICE


def _copies_by_details(
    plane: Plane, events: Events, rows: NDArray[np.int64], phase: NDArray[np.int8]
) -> NDArray[np.int8]:
    """The phases of copies with unclear ends, by `memcpy_details` if they state the memory."""
    texts, text_of = np.unique(
        events.stats([names.MEMCPY_DETAILS], rows)[names.MEMCPY_DETAILS].texts(),
        return_inverse=True,
    )
    by_text = [_details_phase(text) for text in plane.strings.take(texts.tolist())]
    stated = np.array(by_text, np.int8)[text_of]
    is_plain = (stated != NO_PHASE) & (phase == Phase.DEVICE_TO_DEVICE)
    return np.where(is_plain, stated, phase).astype(np.int8)


def _details_phase(details: str) -> int:
    """The phase of `kind_src:pageable kind_dst:device size:4 …`, -1 if an end is missing."""
    ends = dict(token.split(":", 1) for token in details.split() if ":" in token)
    source, destination = ends.get("kind_src", ""), ends.get("kind_dst", "")
    if not source or not destination:
        return NO_PHASE
    host = ("pageable", "pinned")
    return _copy_phase("h" if source in host else "d", "h" if destination in host else "d")


def _capability(plane: Plane) -> int:
    """NVIDIA's compute capability such as 80; -1 if unknown or if the device is AMD's."""
    if is_amd(text_stat(plane, names.DEVICE_VENDOR), text_stat(plane, names.GPU_NAME)):
        return -1
    major, minor = plane.stats.get(names.COMPUTE_MAJOR), plane.stats.get(names.COMPUTE_MINOR, 0)
    if not isinstance(major, int) or not isinstance(minor, int) or not 0 < major < 100:
        return -1
    return major * 10 + minor
