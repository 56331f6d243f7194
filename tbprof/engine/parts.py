"""The parts of a host's summary, and what each is computed from."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from tbprof.base import names
from tbprof.base.lazy import Later, object_named
from tbprof.base.records import NamedTuple, dataclass, values_of
from tbprof.storage.packing import LONG


@dataclass(frozen=True, slots=True)
class PartKind:
    """One part: `version` changes with what is computed, so that stored ones are recomputed.

    `compute` takes a space, its programs, and the values of the `params` of a request, "" for
    parameters that the request does not have. Before the values come the parts that it `needs`,
    without parameters, and then those that it `uses` if they are already known, else None. `reads`
    are stats that it needs of all host events. `task` is what the page shows while the part is
    computed. `merge` adds up the parts of several hosts, where no tool needs them one by one.
    """

    version: int
    type_name: str
    compute: Callable[..., Any]
    task: str
    params: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    uses: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()
    merge: Callable[[Sequence[Any]], Any] | None = None

    @property
    def type(self) -> type:
        """What `compute` returns; its module is imported."""
        return _type(self.type_name)


@functools.cache  # for each host of thousands
def _type(name: str) -> type:
    type_: type = object_named(name)
    return type_


def _part(
    version: int,
    type_name: str,
    function: str,
    task: str,
    params: tuple[str, ...] = (),
    needs: tuple[str, ...] = (),
    uses: tuple[str, ...] = (),
    reads: tuple[str, ...] = (),
    merge: str = "",
) -> PartKind:
    """A part by the name of its type in `analysis`, and of functions: there, or of its module."""
    if "." not in function:
        function = f"{type_name.rpartition('.')[0]}.{function}"
    compute = Later(f"tbprof.analysis.{function}")
    merge_hosts = Later(f"tbprof.analysis.{merge}") if merge else None
    type_name = f"tbprof.analysis.{type_name}"
    return PartKind(version, type_name, compute, task, params, needs, uses, reads, merge_hosts)


# Their modules are imported when a part is computed, or loaded from disk.
PARTS: Mapping[str, PartKind] = {
    "outline": _part(
        6, "run.outline.Outline", "run.outline_finding.find_outline", "reading the index"
    ),
    "coupling": _part(
        4, "job.coupling.Coupling", "find_coupling", "finding workers that wait for each other"
    ),
    "devices": _part(5, "devices.devices.Devices", "find_devices", "reading the devices"),
    "peaks": _part(2, "devices.peaks.Peaks", "find_peaks", "reading the devices"),
    "cores": _part(2, "tpu.cores.Cores", "find_cores", "reading the places of cores"),
    "exchanges": _part(
        2, "tpu.exchanges.Exchanges", "find_exchanges", "finding exchanges between cores"
    ),
    "kernels": _part(8, "gpu.kernels.Kernels", "find_kernels", "decoding GPU kernels"),
    "kernel_calls": _part(
        2,
        "gpu.kernel_calls.KernelCalls",
        "find_kernel_calls",
        "analyzing calls of kernels",
        needs=("kernels",),
    ),
    "ops": _part(
        16,
        "ops.op_metrics.OpMetrics",
        "ops.ops.find_ops",
        "decoding ops",
        reads=(names.IS_EAGER,),
        merge="ops.op_metrics.merge_op_metrics",
    ),
    "steps": _part(
        32,
        "steps.steps.Steps",
        "steps.step_finding.find_steps",
        "finding the steps",
        ("marker",),
        reads=(names.GROUP_ID, names.ASYNC),
    ),
    "input_ops": _part(7, "input.input_ops.InputOps", "find_input_ops", "decoding input ops"),
    "tpu_ops": _part(3, "tpu.tpu_ops.TpuOps", "find_tpu_ops", "analyzing TPU ops"),
    "environment": _part(
        7, "run.environment.Environment", "find_environment", "reading the environment"
    ),
    "gpu_facts": _part(3, "gpu.gpu_facts.GpuFacts", "find_gpu_facts", "analyzing kernel launches"),
    "host_facts": _part(
        11, "host.host_facts.HostFacts", "find_host_facts", "analyzing host threads"
    ),
    "host_calls": _part(
        2, "host.host_calls.HostCalls", "find_host_calls", "finding calls and annotations"
    ),
    "host_callbacks": _part(
        3, "steps.host_callbacks.HostCallbacks", "find_host_callbacks", "finding callbacks"
    ),
    "result_reads": _part(
        2, "host.result_reads.ResultReads", "find_result_reads", "finding reads of results"
    ),
    "single_ops": _part(6, "host.single_ops.SingleOps", "find_single_ops", "finding eager ops"),
    "idle_time": _part(
        14,
        "job.idle_time.IdleTime",
        "find_idle_time",
        "analyzing idle time",
        ("marker",),
        needs=("single_ops",),
    ),
    "tf_data": _part(6, "input.tf_data.TfData", "find_tf_data", "rebuilding input pipelines"),
    "memory_peaks": _part(
        2, "memory.memory_peaks.MemoryPeaks", "find_memory_peaks", "analyzing device memory"
    ),
    "memory": _part(
        3, "memory.memory.Memory", "find_memory", "decoding memory events", uses=("steps",)
    ),
    "program_ops": _part(
        9,
        "programs.program_ops.ProgramOps",
        "programs.program_ops_finding.find_program_ops",
        "analyzing programs",
    ),
    "step_ops": _part(
        1,
        "steps.step_ops.StepOps",
        "find_step_ops",
        "finding the ops of steps",
        needs=("program_ops", "steps"),
    ),
    "program_losses": _part(
        2,
        "bounds.program_losses.ProgramLosses",
        "find_program_losses",
        "judging programs",
        needs=("program_ops", "peaks"),
    ),
    "program_peaks": _part(
        1,
        "program_memory.program_peaks.ProgramPeaks",
        "find_program_peaks",
        "reading the memory of programs",
    ),
    "program_memory": _part(
        1,
        "program_memory.program_memory.ProgramMemory",
        "find_program_memory",
        "replaying the memory of a program",
        ("module_name", "program_id", "memory_space"),
        needs=("program_peaks",),
    ),
    "program_list": _part(
        1, "graphs.program_source.ProgramList", "find_program_list", "reading the programs"
    ),
    "program_source": _part(
        1,
        "graphs.program_source.ProgramSource",
        "find_program_source",
        "reading a program",
        ("program_id",),
    ),
    "program_runs": _part(
        1, "tpu.program_runs.ProgramRuns", "find_program_runs", "reading the programs"
    ),
}


class PartKey(NamedTuple):
    """A part for a request: its name, and the values of the parameters that it depends on."""

    name: str
    values: tuple[str, ...] = ()

    @property
    def kind(self) -> PartKind:
        """The kind of the part."""
        return PARTS[self.name]

    @property
    def needs(self) -> list[PartKey]:
        """The parts that it is computed from, without choices."""
        needs = self.kind.needs
        return part_keys(needs, {}) if needs else []

    @property
    def uses(self) -> list[PartKey]:
        """The parts that it takes if they are known, without choices."""
        uses = self.kind.uses
        return part_keys(uses, {}) if uses else []

    def __str__(self) -> str:
        versions = str(self.kind.version)
        if others := (*self.kind.needs, *self.kind.uses):
            versions += f" on {', '.join(str(PARTS[name].version) for name in others)}"
        return "\0".join((self.name, versions, *self.values))


def part_keys(names: Iterable[str], params: Mapping[str, str]) -> list[PartKey]:
    """The keys of parts for the parameters of a request."""
    return [
        PartKey(name, tuple([params.get(param, "") for param in PARTS[name].params]))
        for name in names
    ]


# The texts of one list have similar lengths.
_SAMPLED = 16
# References to a list from within `bytes_of`: the values, its name, and the argument.
_OURS = 3


def bytes_of(part: Any) -> int:
    """An estimate of the memory that a part takes: its arrays and texts."""
    total = 0
    for value in values_of(part):
        if isinstance(value, np.ndarray):
            total += value.nbytes
        elif isinstance(value, list) and value:
            sampled = value[:: len(value) // _SAMPLED + 1]
            size = sum(map(sys.getsizeof, sampled)) * len(value) // len(sampled)
            size += sys.getsizeof(value)
            # Hosts of one job share their long lists: each counts for its part of them.
            shares = sys.getrefcount(value) - _OURS if len(value) >= LONG else 1
            total += size // max(shares, 1)
    return total
