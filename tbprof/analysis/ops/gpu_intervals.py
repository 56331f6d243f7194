"""The intervals of each GPU's work."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.gpu.gpu_events import find_gpu_kinds
from tbprof.analysis.gpu.gpu_phases import NO_PHASE, gpu_work_phases, kind_phases
from tbprof.analysis.hlo.hlo import Programs
from tbprof.analysis.ops.device_phases import DeviceIntervals, intervals_of
from tbprof.analysis.vocabulary.phases import Phase
from tbprof.events.space import Plane


def gpu_intervals(plane: Plane, programs: Programs) -> DeviceIntervals:
    """The kernels and copies of one GPU."""
    kinds = find_gpu_kinds(plane, programs)
    of_event, is_kernel = gpu_work_phases(plane, kinds, programs)
    rows = np.flatnonzero(of_event != NO_PHASE)
    rows = rows[np.argsort(kinds.events.start_ps[rows], kind="stable")]
    work, code = of_event[rows], kinds.code[rows]

    def find_phase() -> NDArray[np.int8]:
        of_kind = kind_phases(plane, kinds, programs)
        return np.where(work == Phase.COMPUTE_UNKNOWN, of_kind[code], work)

    return intervals_of(
        plane,
        kinds.events,
        rows,
        kinds.events.start_ps[rows],
        kinds.events.duration_ps[rows],
        work,
        find_phase,
        is_kernel[rows],
        code,
        kinds.event_name,
    )
