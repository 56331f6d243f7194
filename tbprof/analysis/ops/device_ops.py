"""Ops that ran on devices: GPU streams, TPU cores and their SparseCores."""

from __future__ import annotations

from tbprof.analysis.hlo.hlo import Programs
from tbprof.analysis.ops.op_metrics import DEVICE, SPARSE_CORE, OpGatherer
from tbprof.analysis.vocabulary.lines import (
    gpus_with_lines,
    is_sparse_core,
    tensor_core_planes,
    tpu_planes,
)
from tbprof.base.lazy import Later
from tbprof.events.space import Space

# Few traces have both.
_gather_gpu_ops = Later("tbprof.analysis.ops.gpu_ops.gather_gpu_ops")
_gather_core_ops = Later("tbprof.analysis.ops.core_ops.gather_core_ops")


def gather_device_ops(space: Space, programs: Programs, gatherer: OpGatherer) -> None:
    """Adds the ops of all GPU and TPU planes and each device's idle time; SparseCores separately.

    Idle time is a device's window (first start to last end) minus the union of its busy intervals.
    """
    for plane in gpus_with_lines(space):
        _gather_gpu_ops(plane, programs, gatherer)
    has_tensor_cores = bool(tensor_core_planes(space))
    for plane in tpu_planes(space):
        is_apart = has_tensor_cores and is_sparse_core(plane)
        _gather_core_ops(plane, programs, gatherer, SPARSE_CORE if is_apart else DEVICE)
