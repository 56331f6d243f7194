"""Gathers the evidence of a run from the parts of its hosts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tbprof.advice.evidence import Evidence
from tbprof.advice.input.input_diagnosis import diagnose_input, find_cause
from tbprof.advice.summaries import Summaries
from tbprof.analysis.bounds.program_losses import ProgramLosses, merge_program_losses
from tbprof.analysis.devices.devices import Devices, merge_devices
from tbprof.analysis.gpu.gpu_facts import GpuFacts, merge_gpu_facts
from tbprof.analysis.gpu.kernels import Kernels, merge_kernels
from tbprof.analysis.host.host_facts import HostFacts
from tbprof.analysis.host.result_reads import ResultReads
from tbprof.analysis.host.single_ops import SingleOps
from tbprof.analysis.input.input_ops import InputOps, merge_input_ops
from tbprof.analysis.job.coupling import Coupling
from tbprof.analysis.job.idle_shares import idle_shares
from tbprof.analysis.job.idle_time import IdleTime
from tbprof.analysis.job.job_steps import merge_steps
from tbprof.analysis.job.step_choice import chosen_means
from tbprof.analysis.memory.memory_peaks import MemoryPeaks, merge_memory_peaks
from tbprof.analysis.ops.op_metrics import OpMetrics, merge_op_metrics
from tbprof.analysis.run.environment import Environment
from tbprof.analysis.steps.host_callbacks import HostCallbacks
from tbprof.analysis.steps.steps import Steps
from tbprof.analysis.tpu.tpu_ops import TpuOps, merge_tpu_ops
from tbprof.base.records import NamedTuple


class _Source(NamedTuple):
    """The source of a field: a part of all hosts, merged if there is a `merge`."""

    part: str
    type: type
    merge: Callable[[list[Any]], object] | None = None


# Fields of `Evidence`, by name.
FIELDS: Mapping[str, _Source] = {
    "ops": _Source("ops", OpMetrics, merge_op_metrics),
    "kernels": _Source("kernels", Kernels, merge_kernels),
    "devices": _Source("devices", Devices, merge_devices),
    "environments": _Source("environment", Environment),
    "gpus": _Source("gpu_facts", GpuFacts, merge_gpu_facts),
    "hosts": _Source("host_facts", HostFacts),
    "inputs": _Source("input_ops", InputOps, merge_input_ops),
    "tpu_ops": _Source("tpu_ops", TpuOps, merge_tpu_ops),
    "losses": _Source("program_losses", ProgramLosses, merge_program_losses),
    "single_ops": _Source("single_ops", SingleOps),
    "reads": _Source("result_reads", ResultReads),
    "callbacks": _Source("host_callbacks", HostCallbacks),
    "couplings": _Source("coupling", Coupling),
    "idle_time": _Source("idle_time", IdleTime),
}
# The parts that evidence is gathered from: those of `FIELDS`, and those of the other fields.
PARTS: tuple[str, ...] = (
    "steps", *(source.part for source in FIELDS.values()), "memory_peaks", "tf_data",
)  # fmt: skip


def gather(summaries: Summaries) -> Evidence:
    """The evidence of all chosen hosts together."""
    fields = {name: _field(summaries, source) for name, source in FIELDS.items()}
    job = merge_steps(summaries.hosts, summaries.take("steps", Steps))
    means, outliers = chosen_means(job, summaries.params)
    peaks = summaries.take("memory_peaks", MemoryPeaks)
    return Evidence(
        job=job,
        means=means,
        outliers=outliers,
        memory=merge_memory_peaks(summaries.hosts, peaks),
        input_cause=find_cause(summaries, diagnose_input(summaries, 1)),
        idle=idle_shares(job, means, summaries.take("idle_time", IdleTime)),
        **fields,
    )


def _field(summaries: Summaries, source: _Source) -> Any:
    parts: Sequence[object] = summaries.take(source.part, source.type)
    return parts if source.merge is None else source.merge([*parts])
