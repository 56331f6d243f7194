"""Which compiled program a device ran when most of its memory was in use."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tbprof.analysis.memory.allocators import Allocator
from tbprof.analysis.tpu.program_runs import ProgramRuns

_MEMORY = " HBM"


def program_at_peak(allocator: Allocator, runs: Mapping[str, ProgramRuns]) -> str:
    """The program as "jit_f(7)", "" if none ran on the device then, or if that was not recorded.

    `runs` are those of each host. Only TPUs record when programs ran.
    """
    of_host, device = runs.get(allocator.host), allocator.label.removesuffix(_MEMORY)
    if of_host is None or allocator.peak_event < 0 or device not in of_host.planes:
        return ""
    peak_ps = int(allocator.memory.time_ps[allocator.peak_event])
    is_running = (of_host.start_ps <= peak_ps) & (peak_ps < of_host.end_ps)
    rows = np.flatnonzero(is_running & (of_host.plane == of_host.planes.index(device)))
    return of_host.programs[of_host.program[rows[0]]] if rows.size else ""
