"""The compiled programs that ran while a trace was recorded."""

from __future__ import annotations

import numpy as np

from tbprof.analysis.vocabulary.lines import gpu_planes, host_planes, recorded_lines, tpu_planes
from tbprof.base import names
from tbprof.base.values import unique
from tbprof.events.space import Plane, Space

_MASK = 2**64 - 1


def find_programs_that_ran(space: Space) -> set[int] | None:
    """The ids (unsigned) of programs that events belong to, None if no event names its program.

    TPUs state the program of each op, GPUs and CPUs that of each event. Events of the host count
    only if no device has any: they are launches of programs whose ops may not have been recorded.
    """
    ids = {number for plane in tpu_planes(space) for number in _of_ops(plane)}
    ids |= {number for plane in gpu_planes(space) for number in _of_events(plane)}
    ids = ids or {number for plane in host_planes(space) for number in _of_events(plane)}
    return ids or None


def _of_ops(plane: Plane) -> set[int]:
    program = plane.types.stats([names.PROGRAM_ID])[names.PROGRAM_ID].integers(-1)
    events = plane.events(recorded_lines(plane))
    used = events.used_types(plane.types.name.size)
    return {number & _MASK for number in unique(program[used]).tolist() if number != -1}


def _of_events(plane: Plane) -> set[int]:
    if names.PROGRAM_ID not in plane.stat_names:
        return set()
    events = plane.events(recorded_lines(plane))
    program = events.stats([names.PROGRAM_ID])[names.PROGRAM_ID].integers(-1)
    return {number & _MASK for number in unique(np.asarray(program)).tolist() if number != -1}
