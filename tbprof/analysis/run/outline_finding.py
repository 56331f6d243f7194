"""Finds the outline of a file from its index."""

from __future__ import annotations

from operator import methodcaller

import numpy as np

from tbprof.analysis.hlo.hlo import Programs
from tbprof.analysis.run.outline import Content, Outline
from tbprof.analysis.run.recording import epoch_of_times
from tbprof.analysis.vocabulary import input_names
from tbprof.analysis.vocabulary.lines import (
    gpu_planes,
    host_planes,
    metadata_planes,
    tpu_planes,
)
from tbprof.base import names
from tbprof.events.space import Plane, Space


def find_outline(space: Space, _programs: Programs) -> Outline:
    """The outline of a space; reads no events."""
    return Outline(
        [plane.name for plane in space.planes],
        np.array([int(plane.line_bytes.sum()) for plane in space.planes], np.int64),
        [*_contents(space)],
        list(space.errors),
        list(space.warnings),
        epoch_of_times(space),
        space.ends_early,
    )


def _contents(space: Space) -> list[Content]:
    contents: list[Content] = []
    if any(plane.types.id.size and plane.line_bytes.any() for plane in space.planes):
        contents.append("names")
    if any(names.KERNEL_DETAILS in plane.stat_names for plane in gpu_planes(space)):
        contents.append("kernels")
    texts = [text for plane in host_planes(space) for text in plane.types.full_names]
    if names.MEMORY_ALLOCATION in texts or names.MEMORY_DEALLOCATION in texts:
        contents.append("allocations")
    if any(map(methodcaller("startswith", input_names.ITERATOR), texts)):  # of 10,000 names
        contents.append("iterators")
    if any(map(_has_programs, metadata_planes(space))):
        contents.append("programs")
    if _has_instructions(space):
        contents.append("instructions")
    return contents


def _has_programs(plane: Plane) -> bool:
    if names.HLO_PROTO not in plane.stat_names:
        return False
    return bool(plane.types.stats([names.HLO_PROTO])[names.HLO_PROTO].is_present.any())


def _has_instructions(space: Space) -> bool:
    """Whether events may name instructions: those of GPUs and threads do, types of TPUs' ops."""
    threads = (*gpu_planes(space), *host_planes(space))
    return any(names.HLO_OP in plane.stat_names for plane in threads) or any(
        names.PROGRAM_ID in plane.stat_names for plane in tpu_planes(space)
    )
