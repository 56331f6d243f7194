"""The planes of a space by kind, and the lines of a plane by name."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tbprof.base import names
from tbprof.base.values import is_in
from tbprof.events.space import Lines, Plane, Space


def host_planes(space: Space) -> list[Plane]:
    """The planes of host threads, including those merged from a subprocess (`/host:CPU [pid]`)."""
    return [
        plane
        for plane in space.planes
        if plane.name == names.HOST_PLANE or plane.name.startswith(names.HOST_PLANE + " [")
    ]


def process_of(plane: Plane) -> int:
    """The process of a host plane, -1 if unknown."""
    value = plane.stats.get(names.PROCESS_ID, -1)
    return value if isinstance(value, int) and abs(value) < 1 << 62 else -1


def gpu_planes(space: Space) -> list[Plane]:
    """The planes of GPUs."""
    return [plane for plane in space.planes if plane.name.startswith(names.GPU_PREFIX)]


def gpus_with_lines(space: Space) -> list[Plane]:
    """The planes of GPUs that recorded anything: recorders also add those of idle ones."""
    return [plane for plane in gpu_planes(space) if plane.lines.id.size]


def tpu_planes(space: Space) -> list[Plane]:
    """The planes of TPU cores, including SparseCores."""
    return [plane for plane in space.planes if plane.name.startswith(names.TPU_PREFIX)]


def is_sparse_core(plane: Plane) -> bool:
    """Whether a plane belongs to a SparseCore, which serves the TensorCores of its chip."""
    return plane.name.startswith(names.TPU_PREFIX) and "SparseCore" in plane.name


def tensor_core_planes(space: Space) -> list[Plane]:
    """The planes of TPU cores without SparseCores."""
    return [plane for plane in tpu_planes(space) if not is_sparse_core(plane)]


def metadata_planes(space: Space) -> list[Plane]:
    """The planes that contain compiled programs."""
    return [plane for plane in space.planes if plane.name.startswith(names.METADATA_PLANE)]


def is_derived(lines: Lines) -> NDArray[np.bool_]:
    """[n] whether a line was added after recording (its events repeat those of other lines)."""
    low = lines.id & 0xFFFFFFFF
    return (low >= names.DERIVED_FIRST) & (low <= names.DERIVED_LAST)


def recorded_lines(plane: Plane) -> list[int]:
    """The rows of lines with recorded events: neither derived lines nor counters."""
    counters = named_lines(plane, names.COUNTERS_LINE)
    rows = np.flatnonzero(~is_derived(plane.lines))
    return [int(row) for row in rows[~is_in(rows, counters)]]


def named_lines(plane: Plane, *wanted: str) -> list[int]:
    """The rows of the lines with these names."""
    texts = plane.strings.take(plane.lines.name.tolist())
    return [row for row, text in enumerate(texts) if text in wanted]
