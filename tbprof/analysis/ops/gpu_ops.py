"""Ops that ran on the streams of a GPU."""

from __future__ import annotations

from tbprof.analysis.gpu.gpu_events import find_gpu_kinds, op_or_event
from tbprof.analysis.gpu.gpu_work import find_gpu_work
from tbprof.analysis.hlo.hlo import Programs
from tbprof.analysis.ops.op_metrics import DEVICE, OpGatherer
from tbprof.analysis.vocabulary.op_names import UNKNOWN_TYPE
from tbprof.events.space import Plane


def gather_gpu_ops(plane: Plane, programs: Programs, gatherer: OpGatherer) -> None:
    """Adds the ops of a GPU and its idle time.

    Every event of a stream is an execution without children; each launch counts once.
    """
    kinds = find_gpu_kinds(plane, programs)
    work = find_gpu_work(plane, programs)
    ops = list(map(op_or_event, kinds.op, kinds.event_name, kinds.copy))
    sums = {
        "occurrences": kinds.occurrences,
        "total_ps": kinds.total_ps,
        "self_ps": kinds.total_ps,
        "flops": work.flops,
        "model_flops": work.flops,
        "bytes_accessed": work.bytes,
        "hbm_bytes": work.hbm_bytes,
    }
    names_of, types = [op.name for op in ops], [op.type or UNKNOWN_TYPE for op in ops]
    flags = {"is_eager": kinds.eager != 0, "is_computed": work.is_computed}
    gatherer.add(DEVICE, names_of, types, sums, flags)
    gatherer.uncosted_ps += int(kinds.total_ps[work.is_unknown].sum())
    gatherer.add_idle(DEVICE, kinds.window_ps - kinds.busy_ps)
