"""The ops of one host, on its threads and on its devices."""

from tbprof.analysis.device_ops import gather_device_ops
from tbprof.analysis.hlo import Programs
from tbprof.analysis.host_ops import gather_host_ops
from tbprof.analysis.op_metrics import DEVICE, HOST, OpGatherer, OpMetrics
from tbprof.base import names
from tbprof.events.space import Space


def find_ops(space: Space, programs: Programs) -> OpMetrics:
    """The table of ops, each op of each side once."""
    gatherer = OpGatherer()
    gather_host_ops(space, programs, gatherer)
    gather_device_ops(space, programs, gatherer)
    if not any(names.IS_EAGER in plane.stat_names for plane in space.planes):
        _launched_eagerly(gatherer)
    return gatherer.table()


def _launched_eagerly(gatherer: OpGatherer) -> None:
    """Marks device ops that host threads ran eagerly: device events do not say it themselves."""
    for (side, name), row in gatherer.rows.items():
        launcher = gatherer.rows.get((HOST, name)) if side == DEVICE else None
        row.is_eager |= launcher is not None and launcher.is_eager
