"""The devices of a host, and their peak performance."""

from __future__ import annotations

import math
from collections.abc import Sequence

from tbprof.analysis.devices.peaks import HBM, find_peaks
from tbprof.analysis.hlo.hlo import Programs
from tbprof.analysis.hlo_messages.message_fields import (
    DamagedMessage,
    number_in,
    read_fields,
    text_in,
)
from tbprof.analysis.vocabulary.lines import gpu_planes, tensor_core_planes
from tbprof.base import names
from tbprof.base.records import NamedTuple, dataclass, replace
from tbprof.events.space import Plane, Space


@dataclass(frozen=True, slots=True)
class Devices:
    """The accelerators of a host.

    Peaks are per device, NaN if the trace does not show them; the sources describe their origin.
    """

    gpus: int
    tpus: int
    type: str
    peak_gflops: float
    peak_hbm_gbytes: float
    flop_source: str = ""
    hbm_source: str = ""


def find_devices(space: Space, programs: Programs) -> Devices:
    """The devices with planes in the space."""
    gpus = gpu_planes(space)
    tpus = tensor_core_planes(space)
    first = next((plane for plane in (*gpus, *tpus) if plane.stats), None)
    if first is None:
        kind = "GPU" if gpus else "TPU" if tpus else "CPU"
        return Devices(len(gpus), len(tpus), kind, math.nan, math.nan)
    peaks = find_peaks(space, programs)
    return Devices(
        len(gpus),
        len(tpus),
        _type(first, "GPU" if gpus else "TPU"),
        peaks.most_gflops,
        peaks.hbm_gbytes,
        peaks.source_of(peaks.fastest),
        peaks.source_of(HBM),
    )


def merge_devices(parts: Sequence[Devices]) -> Devices:
    """The devices of several hosts; type and peaks are those of the first host with devices."""
    typical = next((part for part in parts if part.gpus or part.tpus), parts[0])
    gpus, tpus = sum(part.gpus for part in parts), sum(part.tpus for part in parts)
    return replace(typical, gpus=gpus, tpus=tpus)


def _type(plane: Plane, kind: str) -> str:
    for stat in ("device_type_string", names.GPU_NAME):
        value = text_stat(plane, stat)
        if value:
            return value
    vendor = text_stat(plane, names.DEVICE_VENDOR)
    return f"{vendor} {kind}" if vendor else kind


def text_stat(plane: Plane, stat: str) -> str:
    """A text stat of the plane, "" if it is missing or not a text."""
    value = plane.stats.get(stat)
    return value if isinstance(value, str) else ""


# Fields of CoreDetails, the numbers in the order of those below. Source: op_stats.proto.
_HOSTNAME, _NUMBERS, _IS_SPARSE = 1, (2, 3, 4, 5), 7
_UINT32 = 2**32 - 1


class CoreDetails(NamedTuple):
    """The stat `core_details` of a TPU's plane.

    `ordinal` is the device's number on its host, `local_chip` its chip there, `chip` the chip in
    the pod, `core` the core's number on the chip. Source: op_stats.proto, CoreDetails.
    """

    hostname: str
    ordinal: int
    core: int
    local_chip: int
    chip: int
    is_sparse_core: bool


def core_details(plane: Plane) -> CoreDetails | None:
    """The details of a TPU's plane, None if missing or damaged."""
    details = plane.stats.get("core_details")
    if not isinstance(details, bytes):
        return None
    try:
        fields = read_fields(details)
    except DamagedMessage:
        return None
    ordinal, core, local_chip, chip = (number_in(fields, field) & _UINT32 for field in _NUMBERS)
    hostname, is_sparse_core = text_in(fields, _HOSTNAME), bool(number_in(fields, _IS_SPARSE))
    return CoreDetails(hostname, ordinal, core, local_chip, chip, is_sparse_core)


def chip_and_core(plane: Plane) -> tuple[int, int] | None:
    """(chip on its host, core on its chip) of a TPU's plane, None if unknown."""
    details = core_details(plane)
    return None if details is None else (details.local_chip, details.core)
