"""The parts of a host's summary, and what each is computed of."""

import dataclasses
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from tbprof.analysis.cores import Cores, find_cores
from tbprof.analysis.coupling import Coupling, find_coupling
from tbprof.analysis.devices import Devices, find_devices
from tbprof.analysis.environment import Environment, find_environment
from tbprof.analysis.exchanges import Exchanges, find_exchanges
from tbprof.analysis.gpu_facts import GpuFacts, find_gpu_facts
from tbprof.analysis.host_callbacks import HostCallbacks, find_host_callbacks
from tbprof.analysis.host_calls import HostCalls, find_host_calls
from tbprof.analysis.host_facts import HostFacts, find_host_facts
from tbprof.analysis.idle_time import IdleTime, find_idle_time
from tbprof.analysis.input_ops import InputOps, find_input_ops
from tbprof.analysis.kernels import Kernels, find_kernels
from tbprof.analysis.memory import Memory, find_memory
from tbprof.analysis.memory_peaks import MemoryPeaks, find_memory_peaks
from tbprof.analysis.op_metrics import OpMetrics
from tbprof.analysis.ops import find_ops
from tbprof.analysis.outline import Outline, find_outline
from tbprof.analysis.program_runs import ProgramRuns, find_program_runs
from tbprof.analysis.result_reads import ResultReads, find_result_reads
from tbprof.analysis.single_ops import SingleOps, find_single_ops
from tbprof.analysis.step_finding import find_steps
from tbprof.analysis.steps import Steps
from tbprof.analysis.tf_data import TfData, find_tf_data
from tbprof.analysis.tpu_ops import TpuOps, find_tpu_ops


@dataclass(frozen=True, slots=True)
class PartKind:
    """One part: `version` changes whenever what is computed does, so that kept ones are redone.

    `compute` takes a space, its programs, and the values of the `params` of a request, "" where
    the request has none. A part that `rests_on` another one, as it is without choices, is given
    that one before the values. `task` says what it is, to whoever waits for it.
    """

    version: int
    type: type
    compute: Callable[..., Any]
    task: str
    params: tuple[str, ...] = ()
    rests_on: str = ""


PARTS: Mapping[str, PartKind] = {
    "outline": PartKind(4, Outline, find_outline, "reading the index"),
    "coupling": PartKind(4, Coupling, find_coupling, "looking at what ties workers together"),
    "devices": PartKind(
        2, Devices, lambda space, _programs: find_devices(space), "reading the devices"
    ),
    "cores": PartKind(2, Cores, find_cores, "reading where cores are"),
    "exchanges": PartKind(1, Exchanges, find_exchanges, "looking at exchanges between cores"),
    "kernels": PartKind(5, Kernels, find_kernels, "decoding GPU kernels"),
    "ops": PartKind(9, OpMetrics, find_ops, "decoding ops"),
    "steps": PartKind(16, Steps, find_steps, "finding the steps", ("marker",)),
    "input_ops": PartKind(5, InputOps, find_input_ops, "decoding input ops"),
    "tpu_ops": PartKind(2, TpuOps, find_tpu_ops, "looking at TPU ops"),
    "environment": PartKind(4, Environment, find_environment, "reading the environment"),
    "gpu_facts": PartKind(3, GpuFacts, find_gpu_facts, "looking at kernel launches"),
    "host_facts": PartKind(5, HostFacts, find_host_facts, "looking at host threads"),
    "host_calls": PartKind(1, HostCalls, find_host_calls, "looking for calls and annotations"),
    "host_callbacks": PartKind(1, HostCallbacks, find_host_callbacks, "looking for callbacks"),
    "result_reads": PartKind(1, ResultReads, find_result_reads, "looking for reads"),
    "single_ops": PartKind(4, SingleOps, find_single_ops, "looking for eager ops"),
    "idle_time": PartKind(5, IdleTime, find_idle_time, "looking at idle time", ("marker",)),
    "tf_data": PartKind(5, TfData, find_tf_data, "rebuilding input pipelines"),
    "memory_peaks": PartKind(1, MemoryPeaks, find_memory_peaks, "looking at device memory"),
    "memory": PartKind(2, Memory, find_memory, "decoding memory events", rests_on="steps"),
    "program_runs": PartKind(1, ProgramRuns, find_program_runs, "reading the programs"),
}


@dataclass(frozen=True, slots=True)
class PartKey:
    """A part as a request wants it: its name, and the values of the parameters it depends on."""

    name: str
    values: tuple[str, ...] = ()

    @property
    def kind(self) -> PartKind:
        """What the part is."""
        return PARTS[self.name]

    @property
    def below(self) -> "list[PartKey]":
        """The part that it rests on, without choices; none for most."""
        return part_keys([self.kind.rests_on], {}) if self.kind.rests_on else []

    def __str__(self) -> str:
        versions = str(self.kind.version)
        if self.kind.rests_on:
            versions += f" on {PARTS[self.kind.rests_on].version}"
        return "\0".join((self.name, versions, *self.values))


def part_keys(names: Iterable[str], params: Mapping[str, str]) -> list[PartKey]:
    """The keys of parts for the parameters of a request."""
    return [
        PartKey(name, tuple(params.get(param, "") for param in PARTS[name].params))
        for name in names
    ]


def bytes_of(part: Any) -> int:
    """About how much memory a part takes: its arrays and texts."""
    total = 0
    for field in dataclasses.fields(part):
        value = getattr(part, field.name)
        if isinstance(value, np.ndarray):
            total += value.nbytes
        elif isinstance(value, list):
            total += sum(map(sys.getsizeof, value)) + sys.getsizeof(value)
    return total
