"""Peak compute rates of a device by element type, and peak bandwidths by memory, with sources."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.devices.tensor_cores import is_amd
from tbprof.analysis.hlo.hlo import Programs
from tbprof.analysis.vocabulary.dtypes import FLOATS, INTEGERS
from tbprof.analysis.vocabulary.lines import gpu_planes, tensor_core_planes
from tbprof.analysis.vocabulary.phases import Phase
from tbprof.base import names
from tbprof.base.records import dataclass
from tbprof.events.space import Plane, Space

# Operations per cycle and multiprocessor by compute capability: dense; a multiply-add counts as
# two; for matrix units if there are any. "f16" is any 16-bit float, "f8" any 8-bit one. Sources:
# the white papers of NVIDIA's architectures from Kepler to Blackwell.
_NVIDIA: Mapping[tuple[float, float], Mapping[str, int]] = {
    (3, 0): {"f64": 16, "f32": 384},
    (3, 5): {"f64": 128, "f32": 384},
    (5, 0): {"f64": 8, "f32": 256},
    (6, 0): {"f64": 64, "f32": 128, "f16": 256},
    (6, 1): {"f64": 8, "f32": 256, "s8": 1024},
    (7, 0): {"f64": 64, "f32": 128, "f16": 1024},
    (7, 5): {"f64": 4, "f32": 128, "f16": 1024, "s8": 2048},
    (8, 0): {"f64": 128, "f32": 128, "tf32": 1024, "f16": 2048, "s8": 4096},
    (8, 6): {"f64": 4, "f32": 256, "tf32": 512, "f16": 1024, "s8": 2048},
    (8, 7): {"f64": 4, "f32": 256, "tf32": 1024, "f16": 2048, "s8": 4096},
    (8, 9): {"f64": 4, "f32": 256, "tf32": 512, "f16": 1024, "f8": 2048, "s8": 2048},
    (9, 0): {"f64": 256, "f32": 256, "tf32": 2048, "f16": 4096, "f8": 8192, "s8": 8192},
    (10, 0): {
        "f64": 128, "f32": 256, "tf32": 4096, "f16": 8192, "f8": 16384, "s8": 16384, "f4": 32768,
    },
    (12, 0): {
        "f64": 4, "f32": 256, "tf32": 512, "f16": 1024, "f8": 2048, "s8": 2048, "f4": 4096,
    },
}  # fmt: skip
# The same per compute unit. Sources: the white papers of CDNA 3 (gfx942) and CDNA 4 (gfx950).
# Earlier generations with different speeds share a number.
_AMD: Mapping[tuple[float, float], Mapping[str, int]] = {
    (9, 4): {"f64": 256, "f32": 256, "tf32": 1024, "f16": 2048, "f8": 4096, "s8": 4096},
    (9, 5): {"f64": 128, "f32": 256, "f16": 4096, "f8": 8192, "s8": 8192, "f4": 16384},
}
# Bytes of shared memory per cycle and multiprocessor: 32 banks of 4 bytes (CUDA programming guide).
# AMD: the peaks that openxla/xprof uses for both generations.
_NVIDIA_SHARED = 128
_AMD_SHARED: Mapping[tuple[float, float], int] = {(9, 4): 128, (9, 5): 256}
# 8-bit products per 16-bit one, by the device's type. Source: Cloud TPU documentation, v4 to v7.
_TPU_8_BIT = {"TPU v5": 2, "TPU v5 lite": 2, "TPU v5p": 2, "TPU v6 lite": 2, "TPU v7": 2}
_RECORDED = "recorded by the device"

_TPU_MEMORIES = {
    "HBM": "peak_hbm_bw_gigabytes_per_second",
    "CMEM read": "peak_cmem_rd_bw_gigabytes_per_second",
    "CMEM write": "peak_cmem_wr_bw_gigabytes_per_second",
    "VMEM read": "peak_vmem_rd_bw_gigabytes_per_second",
    "VMEM write": "peak_vmem_wr_bw_gigabytes_per_second",
}
HBM = "HBM"
SHARED_MEMORY = "Shared memory"
# The type of the peak of a device that states only one.
_USUAL = "f16"


@dataclass(frozen=True, slots=True)
class Peaks:
    """The known peaks of one accelerator of a host.

    `dtype` [p] are element types as in HLO, with "f16" for all 16-bit floats, "f8" for all 8-bit
    ones, "s8" for 8-bit integers, and "tf32" for products of "f32" with reduced precision; `gflops`
    [p] are 10^9 operations per second. `memory` [m] is "HBM", for TPUs also "VMEM read" etc., for
    GPUs "Shared memory"; `gbytes` [m] are 10^9 bytes per second. The sources [p], [m] describe the
    origin of each peak. A host without accelerators has none.
    """

    dtype: list[str]
    gflops: NDArray[np.float64]
    flop_source: list[str]
    memory: list[str]
    gbytes: NDArray[np.float64]
    memory_source: list[str]
    has_megacore: bool = False
    has_merged_vmem: bool = False

    @property
    def fastest(self) -> str:
        """16-bit floats, or 32-bit ones if their peak is higher; "" if neither is known."""
        known = [dtype for dtype in (_USUAL, "f32") if dtype in self.dtype]
        return max(known, key=self.flop_peak, default="")

    @property
    def most_gflops(self) -> float:
        """The peak of the `fastest` type, NaN if unknown."""
        return self.flop_peak(self.fastest)

    @property
    def hbm_gbytes(self) -> float:
        """The peak of the main memory, NaN if unknown."""
        return self.memory_peak(HBM)

    def flop_peak(self, dtype: str) -> float:
        """10^9 operations per second on an entry of `dtype`, NaN for other types."""
        return float(self.gflops[self.dtype.index(dtype)]) if dtype in self.dtype else math.nan

    def memory_peak(self, memory: str) -> float:
        """10^9 bytes per second of an entry of `memory`, NaN for other memories."""
        return float(self.gbytes[self.memory.index(memory)]) if memory in self.memory else math.nan

    def source_of(self, name: str) -> str:
        """The source of the peak of an entry of `dtype` or `memory`, "" for others."""
        names = [*self.dtype, *self.memory]
        return [*self.flop_source, *self.memory_source][names.index(name)] if name in names else ""

    def roof_of(self, dtype: str, *, is_product: bool) -> str:
        """The entry of `dtype` that bounds operations on an HLO element type, "" if none is known.

        Matrix units multiply 32-bit floats as "tf32", unless the program forbids it. A type without
        its own peak has that of 16-bit floats, which is at least an upper bound.
        """
        for name in _roofs(dtype, is_product=is_product):
            if name in self.dtype:
                return name
        return ""


def _roofs(dtype: str, *, is_product: bool) -> tuple[str, ...]:
    """The peaks that may bound a type, best first."""
    width = FLOATS.get(dtype, INTEGERS.get(dtype))
    if width == Phase.COMPUTE_64 and dtype in FLOATS:
        return ("f64", "f32", _USUAL)
    if width == Phase.COMPUTE_8 and is_product:
        own = "f4" if dtype.startswith("f4") else "f8" if dtype in FLOATS else "s8"
        return (own, "f8", _USUAL, "f32")
    if width == Phase.COMPUTE_32 and is_product and dtype in FLOATS:
        return ("tf32", "f32", _USUAL)
    if width is None or dtype in ("f16", "bf16", "half", "bfloat16"):
        return (_USUAL, "f32")
    return ("f32", _USUAL)


_NONE = Peaks([], np.zeros(0), [], [], np.zeros(0), [])


def find_peaks(space: Space, _programs: Programs) -> Peaks:
    """The peaks of the host's first accelerator with known peaks."""
    planes = (*gpu_planes(space), *tensor_core_planes(space))
    # Unused accelerators may lack the stats from which peaks are computed.
    of_planes = [peaks_of(plane) for plane in planes if plane.stats]
    return next((peaks for peaks in of_planes if peaks.dtype or peaks.memory), _NONE)


def merge_peaks(parts: Sequence[Peaks]) -> Peaks:
    """The peaks of the first host that has any."""
    return next((part for part in parts if part.dtype or part.memory), _NONE)


def peaks_of(plane: Plane) -> Peaks:
    """The peaks of a device's plane."""
    stated = _number(plane, "peak_teraflops_per_second")
    flops, moved = ({}, {}) if stated > 0 else _gpu(plane)
    if stated > 0:
        flops = {_USUAL: (stated * 1e3, _RECORDED)}
        kind = str(plane.stats.get("device_type_string", "")).casefold()
        ratio = next((n for name, n in _TPU_8_BIT.items() if name.casefold() == kind), 0)
        if ratio:
            source_text = f"{ratio} × the peak that the device recorded (Cloud TPU documentation)"
            flops["s8"] = (stated * 1e3 * ratio, source_text)
    for memory, stat in _TPU_MEMORIES.items():
        if (peak := _number(plane, stat)) > 0:
            moved[memory] = (peak, _RECORDED)
    if HBM not in moved and (peak := _number(plane, "memory_bandwidth")) > 0:
        moved = {HBM: (peak / 1e9, _RECORDED), **moved}
    return Peaks(
        list(flops),
        np.array([peak for peak, _ in flops.values()], np.float64),
        [source for _, source in flops.values()],
        list(moved),
        np.array([peak for peak, _ in moved.values()], np.float64),
        [source for _, source in moved.values()],
        _number(plane, "has_megacore") > 0,
        _number(plane, "has_merged_vmem") > 0,
    )


# Numbers beyond these are damaged, and dividing by them might overflow a float.
_LEAST, _MOST = 1e-30, 1e30

# A peak and its source, by element type or memory.
_Sourced = dict[str, tuple[float, str]]


def _gpu(plane: Plane) -> tuple[_Sourced, _Sourced]:
    """The peaks computed from a GPU's generation, number of multiprocessors and clock rate."""
    generation = _number(plane, names.COMPUTE_MAJOR), _number(plane, names.COMPUTE_MINOR)
    cores, clock_khz = _number(plane, "core_count"), _number(plane, "clock_rate")
    if not (cores > 0 and clock_khz > 0):
        return {}, {}
    vendor, name = plane.stats.get(names.DEVICE_VENDOR, ""), plane.stats.get(names.GPU_NAME, "")
    if is_amd(str(vendor), str(name)):
        known = [capability for capability in _AMD if capability == generation]
        table, shared = _AMD, _AMD_SHARED.get(known[0], 0) if known else 0
        unit, paper = "compute units", "AMD's white paper"
    else:
        known = [cap for cap in _NVIDIA if cap <= generation and cap[0] == generation[0]]
        table, shared = _NVIDIA, _NVIDIA_SHARED if known else 0
        unit, paper = "multiprocessors", "NVIDIA's white paper"
    if not known:
        return {}, {}
    each = f"{cores:.0f} {unit} × {clock_khz / 1e6:.4g} GHz ×"
    cycles = cores * clock_khz / 1e6
    flops = {
        dtype: (cycles * count, f"{each} {count:,} operations per cycle ({paper})")
        for dtype, count in table[max(known)].items()
    }
    return flops, {SHARED_MEMORY: (cycles * shared, f"{each} {shared} bytes per cycle")}


def _number(plane: Plane, stat: str) -> float:
    """A numeric stat, NaN if it is missing, not a number, or impossible."""
    value = plane.stats.get(stat)
    if not isinstance(value, int | float):
        return math.nan
    is_possible = value == 0 or _LEAST < abs(value) < _MOST
    return float(value) if is_possible else math.nan
