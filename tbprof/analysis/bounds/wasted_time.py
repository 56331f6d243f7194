"""The part of an op's time that is not spent at a peak of the device."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.bounds.op_work import OpRates
from tbprof.analysis.programs.program_ops import UNKNOWN, ProgramOps


def wasted_ps(ops: ProgramOps, rates: OpRates) -> NDArray[np.int64]:
    """[n] self time × (1 - the largest share of a peak), in ps; `UNKNOWN` without such a share.

    An op that contains others has their work, so the work of its own time is unknown. An op above
    its roof wastes nothing.
    """
    is_known = np.isfinite(rates.efficiency) & ~ops.has_inner
    used = np.where(is_known, np.clip(rates.efficiency, 0, 1), 0)
    wasted = np.rint(ops.self_ps * (1 - used)).astype(np.int64)
    return np.where(is_known, wasted, UNKNOWN)
