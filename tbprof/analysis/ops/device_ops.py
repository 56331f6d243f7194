"""Ops that ran on devices: GPU streams, TPU cores and their SparseCores."""

import numpy as np

from tbprof.analysis.gpu.gpu_events import find_gpu_kinds, op_or_event
from tbprof.analysis.gpu.gpu_work import find_gpu_work
from tbprof.analysis.hlo.hlo import Programs
from tbprof.analysis.ops.op_metrics import DEVICE, SPARSE_CORE, OpGatherer
from tbprof.analysis.tpu.accessed_memory import read_breakdown
from tbprof.analysis.tpu.tpu_kinds import OP_LINES, WORK, TpuOpNames, find_tpu_kinds
from tbprof.analysis.tpu.tpu_pairs import ends_that_state, find_pairs
from tbprof.analysis.vocabulary.lines import (
    gpus_with_lines,
    is_sparse_core,
    tensor_core_planes,
    tpu_planes,
)
from tbprof.analysis.vocabulary.op_names import UNKNOWN_TYPE
from tbprof.base import names
from tbprof.base.values import as_counts
from tbprof.events.space import Plane, Space


def gather_device_ops(space: Space, programs: Programs, gatherer: OpGatherer) -> None:
    """Adds the ops of all GPU and TPU planes and each device's idle time; SparseCores separately.

    Idle time is a device's window (first start to last end) minus the union of its busy intervals.
    """
    for plane in gpus_with_lines(space):
        _gather_gpu(plane, programs, gatherer)
    has_tensor_cores = bool(tensor_core_planes(space))
    for plane in tpu_planes(space):
        is_apart = has_tensor_cores and is_sparse_core(plane)
        _gather_tpu(plane, programs, gatherer, SPARSE_CORE if is_apart else DEVICE)


def _gather_gpu(plane: Plane, programs: Programs, gatherer: OpGatherer) -> None:
    """Every event of a stream is an execution without children; each launch counts once."""
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


def _gather_tpu(plane: Plane, programs: Programs, gatherer: OpGatherer, side: int) -> None:
    """Adds the ops of one core; types state their work per execution, custom calls on each event.

    The work of a pair of start and end counts once, at the end, and lasts from one to the other.
    """
    kinds = find_tpu_kinds(plane, *OP_LINES)
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
