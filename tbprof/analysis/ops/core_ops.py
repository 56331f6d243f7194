"""Ops that ran on a TPU core or SparseCore."""

from __future__ import annotations

import numpy as np

from tbprof.analysis.hlo.hlo import Programs
from tbprof.analysis.ops.op_metrics import OpGatherer
from tbprof.analysis.tpu.accessed_memory import read_breakdown
from tbprof.analysis.tpu.tpu_kinds import WORK, TpuOpNames, find_tpu_kinds
from tbprof.analysis.tpu.tpu_pairs import ends_that_state, find_pairs
from tbprof.base import names
from tbprof.base.values import as_counts
from tbprof.events.space import Plane


def gather_core_ops(plane: Plane, programs: Programs, gatherer: OpGatherer, side: int) -> None:
    """Adds the ops of one core; types state their work per execution, custom calls on each event.

    The work of a pair of start and end counts once, at the end, and lasts from one to the other.
    """
    kinds = find_tpu_kinds(plane, *names.OP_LINES)
    ops = TpuOpNames(plane)
    stats = plane.types.stats([names.MEMORY_BREAKDOWN, *WORK])
    by_type = [np.maximum(stats[name].integers(), 0) for name in WORK]
    has_model_flops = stats[names.MODEL_FLOPS].is_present
    ops_by_kind = list(map(ops.op, kinds.type.tolist()))
    work: list[tuple[int, ...]] = []
    blobs: list[bytes | None] = []
    for kind, row in enumerate(kinds.type.tolist()):
        occurrences = int(kinds.occurrences[kind])
        if kinds.has_work[kind]:
            flops, model, accessed = kinds.work[kind].tolist()
        elif row >= 0:
            flops, model, accessed = (int(column[row]) * occurrences for column in by_type)
        else:
            flops = model = accessed = 0
        model = model if model or (row >= 0 and has_model_flops[row]) else flops
        blob = stats[names.MEMORY_BREAKDOWN].blob(row) if row >= 0 else None
        memories = read_breakdown(blob) if blob else None
        to_hbm = accessed if memories is None else memories.hbm * occurrences
        work.append((flops, model, accessed, to_hbm))
        blobs.append(blob)
    beside_ps = np.zeros(kinds.type.size, np.int64)
    for start, end, span_ps in find_pairs(plane, programs):
        stated = ends_that_state(blobs[start], blobs[end])
        to_hbm = sum(
            work[kind][-1] for kind, counts in zip((start, end), stated, strict=True) if counts
        )
        *most, largest = map(max, work[start], work[end])
        work[start], work[end] = (0,) * 4, (*most, to_hbm if any(stated) else largest)
        beside_ps[[start, end]] = -kinds.total_ps[start], span_ps - kinds.total_ps[end]
    sums = {
        "occurrences": kinds.occurrences,
        "total_ps": kinds.total_ps,
        "self_ps": kinds.self_ps,
        "beside_ps": beside_ps,
    }
    columns = ("flops", "model_flops", "bytes_accessed", "hbm_bytes")
    for index, name in enumerate(columns):
        sums[name] = as_counts([row[index] for row in work])
    gatherer.add(side, [op.name for op in ops_by_kind], [op.type for op in ops_by_kind], sums)
    gatherer.add_idle(side, kinds.window_ps - kinds.busy_ps)
