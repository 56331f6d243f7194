"""How much of an op's time is not spent at a peak of the device."""

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.bounds.op_work import OpRates
from tbprof.analysis.programs.program_ops import UNKNOWN, ProgramOps


def wasted_ps(ops: ProgramOps, rates: OpRates) -> NDArray[np.int64]:
    """[n] self time × (1 - the largest share of a peak), in ps; `UNKNOWN` without such a share.

    The work of an op that contains others is theirs, so that of its own time is not known. An op
    above its roof wastes nothing.
    """
    is_known = np.isfinite(rates.efficiency) & ~ops.has_inner
    used = np.where(is_known, np.clip(rates.efficiency, 0, 1), 0)
    wasted = np.rint(ops.self_ps * (1 - used)).astype(np.int64)
    return np.where(is_known, wasted, UNKNOWN)
