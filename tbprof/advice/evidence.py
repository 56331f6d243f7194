"""The evidence for findings, and how much time they may promise."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from tbprof.advice.finding import Finding
from tbprof.advice.gain import UNKNOWN_GAIN, Gain
from tbprof.advice.input.input_cause import InputCause
from tbprof.advice.sentences import milliseconds
from tbprof.analysis.bounds.program_losses import NO_LOSSES, ProgramLosses
from tbprof.analysis.devices.devices import Devices
from tbprof.analysis.gpu.gpu_facts import GpuFacts
from tbprof.analysis.gpu.kernels import Kernels
from tbprof.analysis.host.host_facts import HostFacts
from tbprof.analysis.host.result_reads import ResultReads
from tbprof.analysis.host.single_ops import SingleOps
from tbprof.analysis.input.input_ops import InputOps
from tbprof.analysis.job.coupling import Coupling
from tbprof.analysis.job.idle_shares import IdleShare
from tbprof.analysis.job.idle_time import IdleTime
from tbprof.analysis.job.job_steps import JobSteps
from tbprof.analysis.job.step_means import StepMeans, used_rows
from tbprof.analysis.job.step_outliers import NO_OUTLIERS, StepOutliers
from tbprof.analysis.job.step_places import slowest_place, worst_place
from tbprof.analysis.memory.memory_peaks import MemoryPeaks
from tbprof.analysis.ops.op_metrics import OpMetrics
from tbprof.analysis.run.environment import Environment
from tbprof.analysis.spans.layers import Spans, exclusive_time
from tbprof.analysis.steps.host_callbacks import HostCallbacks
from tbprof.analysis.tpu.tpu_ops import TpuOps
from tbprof.analysis.vocabulary.phases import WORK, Phase
from tbprof.base.records import dataclass, field, replace
from tbprof.base.values import sum_of

# Phases of the ops of a TPU core: including transfers to and from the host.
ON_CORES = (*WORK, Phase.HOST_CALLBACK, Phase.INPUT, Phase.OUTPUT)


_NO_LIMITS: Mapping[Phase, float] = {}


@dataclass(frozen=True, slots=True)
class Evidence:
    """What is known about the chosen hosts.

    `inputs`, `tpu_ops` and `input_cause` are None if unknown; `couplings` has one entry per host,
    empty if unknown. `means` are over the typical steps, or over all complete steps if the user
    chose these; `outliers` are the others, in either case. `idle` is what threads did in the
    uncovered time of the average step, longest first; `idle_time` is its source, by host.
    `promised` is the percentage of step time, by phase, that earlier findings promise.
    """

    job: JobSteps
    means: StepMeans
    ops: OpMetrics
    kernels: Kernels
    devices: Devices
    environments: Sequence[Environment]
    gpus: GpuFacts
    hosts: Sequence[HostFacts]
    memory: MemoryPeaks
    inputs: InputOps | None = None
    tpu_ops: TpuOps | None = None
    losses: ProgramLosses = NO_LOSSES
    single_ops: Sequence[SingleOps] = ()
    reads: Sequence[ResultReads] = ()
    callbacks: Sequence[HostCallbacks] = ()
    couplings: Sequence[Coupling] = ()
    input_cause: InputCause | None = None
    outliers: StepOutliers = NO_OUTLIERS
    idle: Sequence[IdleShare] = ()
    idle_time: Sequence[IdleTime] = ()
    promised: Mapping[Phase, float] = field(default_factory=dict)

    @property
    def platform(self) -> Literal["GPU", "TPU", "CPU"]:
        """What the program ran on; TPUs come first if there are both."""
        return "TPU" if self.devices.tpus else "GPU" if self.devices.gpus else "CPU"

    @property
    def is_jax(self) -> bool:
        """Whether the recorded environment names JAX, or ops have JAX names."""
        says_so = any("JAX" in environment.version_name for environment in self.environments)
        return says_so or "\njit(" in "\n".join(["", *self.ops.name])

    @property
    def is_amd(self) -> bool:
        """Whether the GPUs are AMD's."""
        return "AMD" in self.devices.type or bool(self.kernels.is_amd.any())

    @property
    def lacks_ops(self) -> bool:
        """Whether the host called programs or functions, but no op of any was recorded."""
        has_calls = any(host.calls for host in self.hosts)
        return self.platform == "CPU" and has_calls and not self.ops.name

    @property
    def step_ms(self) -> float:
        """The average step, NaN without steps."""
        return self.means.mean_ms()

    @property
    def work(self) -> tuple[Phase, ...]:
        """The phases in which a device works or, without devices, in which host ops compute."""
        return WORK if self.platform != "CPU" else (*WORK, Phase.HOST_COMPUTE)

    def unclaimed(self, *phases: Phase) -> float:
        """The percentage of step time in some phases that no finding promises; NaN without steps.

        Each instant has one phase, so promised time is not available to other findings.
        """
        return sum_of(
            max(self.share(phase) - self.promised.get(phase, 0.0), 0.0) for phase in phases
        )

    def gain_of(
        self, share: float, *phases: Phase, limits: Mapping[Phase, float] = _NO_LIMITS
    ) -> Gain:
        """The gain of `share` percent of the step, from unclaimed time of phases in this order.

        Without phases, for findings on the host and gaps, it is taken from the time in which no
        device works: host work during device work does not make a step longer. `limits` are the
        largest percentages to take from each phase.
        """
        wanted = phases or tuple(phase for phase in Phase if phase not in self.work)
        if not self.means.steps or not math.isfinite(share + self.share(*wanted)):
            return UNKNOWN_GAIN
        beyond = rest = max(share, 0.0)
        taken: dict[Phase, float] = {}
        for phase in wanted:
            limit = limits.get(phase, 100.0)
            beyond -= min(beyond, self.share(phase), limit)
            part = min(rest, self.unclaimed(phase), limit)
            if part > 0:
                taken[phase] = part
                rest -= part
        return self._gain(sum_of(taken.values()), taken, shared=rest - beyond)

    def gain_of_work(self, share: float, *phases: Phase) -> Gain:
        """The gain of `share` percent of device work: at most the time of `phases`, or all work."""
        work_share = self.share(*(phases or self.work))
        if not self.means.steps or not math.isfinite(share + work_share):
            return UNKNOWN_GAIN
        return self._gain(max(min(share, work_share), 0.0), {})

    def _gain(self, share: float, taken: Mapping[Phase, float], *, shared: float = 0.0) -> Gain:
        ratio = min(share, 100.0) / 100
        return Gain(ratio * self.step_ms, ratio, taken, shared)

    def excluding(self, finding: Finding) -> Evidence:
        """The evidence for later findings, which may not promise the time of this one."""
        promised = dict(self.promised)
        for phase, part in finding.gain.taken.items():
            promised[phase] = promised.get(phase, 0.0) + part
        return replace(self, promised=promised)

    def worst_row(self, part_ps: NDArray[np.int64]) -> dict[str, str]:
        """The trace viewer parameters of the row of `job` with the largest `part_ps` [rows].

        Only counted steps; the first of equals; {} if there are none.
        """
        return worst_place(self.job, self.means, part_ps)

    def place_of(self, step: int) -> dict[str, str]:
        """The trace viewer parameters of a step of the job, at its slowest worker."""
        return slowest_place(self.job, step)

    def worst_step_in(self, *phases: Phase) -> dict[str, str]:
        """Those of the worker's step that spends the most time in some phases."""
        return self.worst_row(self.job.phase_ps[:, phases].sum(axis=1))

    @property
    def gap_ps(self) -> NDArray[np.int64]:
        """[rows] the time from the end of each worker's own work to the start of its next step."""
        return self.job.duration_ps - self.job.own_ps

    def in_steps(self, spans: Sequence[Spans]) -> NDArray[np.int64]:
        """[rows] how much of each worker's step the spans of its host cover; one entry per host."""
        job = self.job
        out = np.zeros(job.step.size, np.int64)
        order = np.lexsort((job.start_ps, job.worker))
        workers = job.worker_host.tolist()
        cuts = np.searchsorted(job.worker[order], np.arange(len(workers) + 1)).tolist()
        for host, (begin, end) in zip(workers, pairwise(cuts), strict=True):
            if host < len(spans) and spans[host][0].size:
                rows = order[begin:end]
                start = job.start_ps[rows]
                out[rows] = exclusive_time(start, start + job.duration_ps[rows], [spans[host]])[
                    :, 0
                ]
        return out

    def share_of_rows(self, part_ps: NDArray[np.int64]) -> float:
        """The percentage of step time in `part_ps` [rows], parts of the workers' steps."""
        job = self.job
        rows = used_rows(job)
        steps = len(job.label)
        workers = np.maximum(np.bincount(job.step[rows], minlength=steps), 1)
        return self.means.share_of(np.bincount(job.step[rows], part_ps[rows], steps) / workers)

    def share(self, *phases: Phase) -> float:
        """The percentage of step time in some phases, NaN without steps."""
        return self.means.share(*phases)


# Smaller shares of a time are not mentioned.
_LITTLE = 0.02

Rule = Callable[[Evidence], Iterator[Finding]]


def covered_elsewhere(evidence: Evidence, gain: Gain) -> str:
    """A sentence on how much of a time other findings cover, "" if that is little or unknown."""
    if gain.shared <= _LITTLE * (gain.own + gain.shared) or not evidence.step_ms > 0:
        return ""
    time = milliseconds(gain.shared / 100 * evidence.step_ms)
    return f" Other findings cover {time} of that."
