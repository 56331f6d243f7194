"""The ops of one host, on its threads and on its devices."""

from tbprof.analysis.device_ops import gather_device_ops
from tbprof.analysis.hlo import Programs
from tbprof.analysis.host_ops import gather_host_ops
from tbprof.analysis.op_metrics import OpGatherer, OpMetrics
from tbprof.events.space import Space


def find_ops(space: Space, programs: Programs) -> OpMetrics:
    """The table of ops, each op of each side once."""
    gatherer = OpGatherer()
    gather_device_ops(space, programs, gatherer)
    gather_host_ops(space, programs, gatherer)
    return gatherer.table()
