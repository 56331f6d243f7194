"""The ops of one host, on its threads and on its devices."""

from __future__ import annotations

import numpy as np

from tbprof.analysis.hlo.hlo import Programs
from tbprof.analysis.ops.device_ops import gather_device_ops
from tbprof.analysis.ops.host_ops import gather_host_ops
from tbprof.analysis.ops.op_metrics import OpGatherer, OpMetrics
from tbprof.base import names
from tbprof.base.records import replace
from tbprof.events.space import Space


def find_ops(space: Space, programs: Programs) -> OpMetrics:
    """The table of ops, with one row per op and side."""
    gatherer = OpGatherer()
    gather_host_ops(space, programs, gatherer)
    gather_device_ops(space, programs, gatherer)
    if not any(names.IS_EAGER in plane.stat_names for plane in space.planes):
        return _launched_eagerly(gatherer.table())
    return gatherer.table()


def _launched_eagerly(ops: OpMetrics) -> OpMetrics:
    """Marks device ops that host threads ran eagerly, which device events do not show."""
    launchers = {ops.name[row] for row in np.flatnonzero(ops.is_eager & ops.is_host).tolist()}
    if not launchers:
        return ops
    is_launched = np.array([name in launchers for name in ops.name], np.bool_)
    return replace(ops, is_eager=ops.is_eager | (is_launched & ops.is_device))
