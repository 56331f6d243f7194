"""What the kernels, copies and other events of a GPU spend time on."""

import re

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.collectives import is_collective_kernel, is_collective_op
from tbprof.analysis.devices import text_stat
from tbprof.analysis.driver_copies import driver_copy
from tbprof.analysis.gpu_events import GpuKinds
from tbprof.analysis.hlo import Programs
from tbprof.analysis.phases import Phase
from tbprof.analysis.precision import kernel_precision
from tbprof.analysis.tensor_cores import is_amd
from tbprof.base import names
from tbprof.base.later import regex
from tbprof.events.space import Events, Plane

# Copies: `MemcpyH2D`, `MEMCPYHtoD`, `Memcpy HtoD (Pinned -> Device)`, ROCm's `CopyHostToDevice` and
# `MEMORY_COPY_HOST_TO_DEVICE`, CUPTI's `UM_BYTES_TRANSFER_HTOD` of unified memory.
_COPY = regex(
    r"(?:memcpy|copy)\s?(host|device|peer|array|[hdpa])(?:2|to)(host|device|peer|array|[hdpa])"
    r"(?=\Z|[\s(]|async)|memory_copy_(host|device)_to_(host|device)\Z"
    r"|um_bytes_transfer_([hd])to([hd])\Z",
    re.IGNORECASE,
)
# Copies whose name does not tell between what; kernels that the driver copies with.
_ANY_COPY = regex(r"memcpy(?:\s?other|\s?peer|\d*(?:_post)?)?\Z", re.IGNORECASE)
_SET = regex(r"memset|fillbuffer", re.IGNORECASE)
# What a recorder puts beside the device's work: how long memory was held, its own overhead, faults
# of unified memory. Source: xla/backends/profiler/gpu/cupti_buffer_events.cc.
_NO_WORK = regex(
    r"Memory (?i:array|device|device_static|managed|managed_static|pageable|pinned|unknown)"
    r"|Memory(?:Alloc|Free|Residency)|UM_\w+|COMPILER|BUFFER_FLUSH|INSTRUMENTATION|RESOURCE"
    r"|<UNKNOWN>"
)
# The event is none of the device's work.
NO_PHASE = -1


def gpu_phases(
    plane: Plane, kinds: GpuKinds, programs: Programs
) -> tuple[NDArray[np.int8], NDArray[np.bool_]]:
    """(phase [n], is_kernel [n]) of the plane's recorded events, phase -1 of what is no work.

    Kernels are what the recorder gives launch details of, and all that is neither copy nor memset.
    """
    phase = kind_phases(kinds, programs, _capability(plane))[kinds.code]
    labels = list(map(_label, kinds.copy, kinds.event_name))
    is_unclear = np.array([_ANY_COPY.match(label) is not None for label in labels], bool)
    rows = np.flatnonzero(is_unclear[kinds.code])
    if rows.size:
        phase[rows] = _copies_by_details(plane, kinds.events, rows, phase[rows])
    is_kernel = [
        not (_copy_ends(label) or _SET.match(label)) or (details is not None and not copy)
        for label, details, copy in zip(labels, kinds.details, kinds.copy, strict=True)
    ]
    return phase, np.array(is_kernel, bool)[kinds.code]


def kind_phases(
    kinds: GpuKinds, programs: Programs, compute_capability: int = -1
) -> NDArray[np.int8]:
    """[kinds] the phase of each kind of GPU event, -1 of what is none of the device's work.

    Copies go by their ends: from the host INPUT, to it OUTPUT, from device to device or peer
    DEVICE_TO_DEVICE, within the host HOST_COMPUTE, as the device does nothing; those that a
    collective instruction makes between devices are COLLECTIVES. A memset is work of the device
    that has no type (COMPUTE_UNKNOWN).
    """
    out = np.empty(len(kinds.event_name), np.int8)
    for kind, event_name in enumerate(kinds.event_name):
        name = _label(kinds.copy[kind], event_name)
        instruction = kinds.instruction[kind]
        is_collective = bool(instruction) and is_collective_op(instruction)
        copy = _copy_ends(name)
        if copy:
            out[kind] = _copy_phase(*copy)
            if is_collective and out[kind] == Phase.DEVICE_TO_DEVICE:
                out[kind] = Phase.COLLECTIVES
        elif _SET.match(name):
            out[kind] = Phase.COMPUTE_UNKNOWN
        elif kinds.details[kind] is None and _NO_WORK.fullmatch(name):
            out[kind] = NO_PHASE
        elif is_collective or is_collective_kernel(name):
            out[kind] = Phase.COLLECTIVES
        else:
            out[kind] = kernel_precision(
                name,
                programs.instruction(kinds.program_id[kind], kinds.module[kind], instruction)
                if instruction
                else None,
                kinds.shapes[kind],
                compute_capability,
            )
    return out


def _label(copy: str, event_name: str) -> str:
    """What tells an event's phase: of a kernel that the driver copies with, the copy."""
    return copy if driver_copy(event_name) else event_name


def name_phase(name: str) -> int:
    """The phase of a GPU event as far as its name tells: kernels that compute are of no precision.

    -1 of what is none of the device's work.
    """
    name = driver_copy(name) or name
    copy = _copy_ends(name)
    if copy:
        return _copy_phase(*copy)
    if _SET.match(name):
        return Phase.COMPUTE_UNKNOWN
    if _NO_WORK.fullmatch(name):
        return NO_PHASE
    return Phase.COLLECTIVES if is_collective_kernel(name) else Phase.COMPUTE_UNKNOWN


def _copy_ends(name: str) -> tuple[str, str] | None:
    """The letters of a copy's source and destination, of which unknown ones are devices'."""
    found = _COPY.match(name)
    if found:
        source, destination = (end[0].lower() for end in found.groups() if end)
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
    """The phases of copies of unclear ends: by their `memcpy_details` where these name memory."""
    texts, at = np.unique(
        events.stats([names.MEMCPY_DETAILS], rows)[names.MEMCPY_DETAILS].texts(),
        return_inverse=True,
    )
    by_text = [_details_phase(text) for text in plane.strings.take(texts.tolist())]
    found = np.array(by_text, np.int8)[at]
    is_plain = (found != NO_PHASE) & (phase == Phase.DEVICE_TO_DEVICE)
    return np.where(is_plain, found, phase).astype(np.int8)


def _details_phase(details: str) -> int:
    """The phase of `kind_src:pageable kind_dst:device size:4 …`, -1 where it does not tell."""
    ends = dict(token.split(":", 1) for token in details.split() if ":" in token)
    source, destination = ends.get("kind_src", ""), ends.get("kind_dst", "")
    if not source or not destination:
        return NO_PHASE
    host = ("pageable", "pinned")
    return _copy_phase("h" if source in host else "d", "h" if destination in host else "d")


def _capability(plane: Plane) -> int:
    """NVIDIA's compute capability such as 80, -1 where it is unknown or the device is AMD's."""
    if is_amd(text_stat(plane, names.DEVICE_VENDOR), text_stat(plane, names.GPU_NAME)):
        return -1
    major, minor = plane.stats.get(names.COMPUTE_MAJOR), plane.stats.get(names.COMPUTE_MINOR, 0)
    if not isinstance(major, int) or not isinstance(minor, int) or not 0 < major < 100:
        return -1
    return major * 10 + minor
