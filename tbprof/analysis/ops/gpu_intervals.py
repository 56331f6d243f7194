"""The intervals of each GPU's work."""

from __future__ import annotations

import numpy as np

from tbprof.analysis.gpu.gpu_events import find_gpu_kinds
from tbprof.analysis.gpu.gpu_phases import NO_PHASE, gpu_phases
from tbprof.analysis.hlo.hlo import Programs
from tbprof.analysis.ops.device_phases import DeviceIntervals, intervals_of
from tbprof.events.space import Plane


def gpu_intervals(plane: Plane, programs: Programs) -> DeviceIntervals:
    """The kernels and copies of one GPU."""
    kinds = find_gpu_kinds(plane, programs)
    phase, is_kernel = gpu_phases(plane, kinds, programs)
    rows = np.flatnonzero(phase != NO_PHASE)
    rows = rows[np.argsort(kinds.events.start_ps[rows], kind="stable")]
    return intervals_of(
        plane,
        kinds.events,
        rows,
        kinds.events.start_ps[rows],
        kinds.events.duration_ps[rows],
        phase[rows],
        is_kernel[rows],
        kinds.code[rows],
        kinds.event_name,
    )
