"""Which workers make the others wait, and in which phase they lose the time."""

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.job.coupling import Coupling
from tbprof.analysis.job.job_steps import JobSteps
from tbprof.analysis.job.step_means import StepMeans
from tbprof.analysis.job.worker_groups import (
    WorkerGroup,
    coupled_groups,
    everyone,
    has_unnamed_devices,
)
from tbprof.analysis.spans.confidence import mean_interval
from tbprof.analysis.vocabulary.phases import Phase
from tbprof.base.records import dataclass

# A difference is stated with this confidence.
CONFIDENCE = 0.95
# Who makes others wait for less of a step is not late.
_LEAST_SHARE = 0.01
# How often steps that merely vary may look like a late worker, over all workers of a job.
_MISTAKES = 0.01
# With fewer common steps, a late worker cannot be distinguished from one late step.
LEAST_STEPS = 3
# Peers of a late worker wait for this share of its lateness, or else they do not wait for it: steps
# of coupled workers take equally long.
_LEAST_MET = 0.5

# Why nobody is said to make others wait: "" where somebody is.
#   alone: there is one worker; apart: workers have no step in common
#   uncoupled: nothing in the trace shows that workers wait for each other
#   unnamed: devices of a CPU wait for each other, and the recorder does not say which is which
#   few_steps: too few common steps; alike: workers differ by less than 1 % of a step
#   varies: steps vary by more than that; unmet: others do not wait while one takes longer
StragglerReason = Literal[
    "", "alone", "apart", "uncoupled", "unnamed", "few_steps", "alike", "varies", "unmet"
]


@dataclass(frozen=True, slots=True)
class Lateness:
    """How much longer a worker took than another, as the mean over the steps that both have.

    `worker` and `reference` are the job's workers, `device` and `reference_device` the ordinals of
    devices simulated by a CPU, -1 for none. `low_ps` to `high_ps` is the interval of that mean with
    `CONFIDENCE`, NaN for one step. `wait_ps` is how much longer the reference waited in
    collectives, `phase` where most of the time was lost, -1 if unknown. `last_steps` counts those
    of the `steps` in which no compared worker took longer.
    """

    worker: int
    device: int
    reference: int
    reference_device: int
    late_ps: float
    low_ps: float
    high_ps: float
    wait_ps: float
    share: float
    phase: int
    last_steps: int
    steps: int


@dataclass(frozen=True, slots=True)
class Stragglers:
    """The workers that others wait for, latest first; else the largest difference.

    `reason` says why that does not count. `compared` is None if `late` is not empty, or if there is
    nothing to compare.
    """

    late: tuple[Lateness, ...]
    compared: Lateness | None
    reason: StragglerReason


def find_stragglers(job: JobSteps, means: StepMeans, couplings: Sequence[Coupling]) -> Stragglers:
    """The workers that make others wait for 1 % of a step or more.

    Only workers that exchange data wait for each other. A worker's own time is its step without
    collectives: early workers wait there for late ones, so that all steps take equally long. A
    worker is late by its own time minus that of the median worker (of two the faster one), step by
    step, on average over the typical steps that both have.

        |wwwwwwwwcc|         late by 4, in w, and
        |wwww......cccccc|   this one waits for it

    This is claimed only if steps that merely vary would hardly look like this, and for no more time
    than the others wait meanwhile.
    """
    least_ps = _LEAST_SHARE * means.mean_ms() * 1e9
    compared_groups = [
        _compare_group(job, means, group, least_ps)
        for group in coupled_groups(job, means.is_counted, couplings)
    ]
    late = [lateness for stragglers in compared_groups for lateness in stragglers.late]
    if late:
        return Stragglers(tuple(sorted(late, key=lambda lateness: -lateness.late_ps)), None, "")
    if has_unnamed_devices(job, couplings):
        return Stragglers((), None, "unnamed")
    if compared_groups:
        return max(
            compared_groups,
            key=lambda lateness: lateness.compared.late_ps if lateness.compared else -1.0,
        )
    group = everyone(job, means.is_counted)
    if group.worker.size < 2:
        return Stragglers((), None, "alone")
    reference, over, steps = _against_median(group)
    longest = _longest(over, steps, reference)
    if longest < 0:
        return Stragglers((), None, "apart")
    compared = _lateness(job, means, group, longest, reference)
    return Stragglers((), compared, "uncoupled")


def _compare_group(
    job: JobSteps, means: StepMeans, group: WorkerGroup, least_ps: float
) -> Stragglers:
    """The late workers of a group; else the one that took longest, and why it does not count."""
    reference, over, steps = _against_median(group)
    confidence = 1 - 2 * _MISTAKES / max(group.worker.size - 1, 1)
    reasons = {
        member: _doubt(group, member, reference, least_ps, confidence)
        for member in np.flatnonzero((steps > 0) & (over >= least_ps)).tolist()
    }
    late = [member for member, reason in reasons.items() if not reason]
    if late:
        return Stragglers(
            tuple(_lateness(job, means, group, member, reference, is_met=True) for member in late),
            None,
            "",
        )
    longest = _longest(over, steps, reference)
    if longest < 0:
        return Stragglers((), None, "apart")
    compared = _lateness(job, means, group, longest, reference)
    return Stragglers((), compared, reasons.get(longest, "alike"))


def _against_median(
    group: WorkerGroup,
) -> tuple[int, NDArray[np.float64], NDArray[np.int64]]:
    """(the median worker, the mean excess of each [w] over it, over how many steps).

    The lower of two in the middle, so that one of two can be late, and never more than half of
    them.
    """
    own_ps = group.own_ps
    over, _ = _means(own_ps - _means(own_ps.T)[0])
    reference = int(np.argsort(over, kind="stable")[(over.size - 1) // 2])
    return reference, *_means(own_ps - own_ps[reference])


def _means(values: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """(mean, count) of the known values of each row, 0 if none is known."""
    is_known = np.isfinite(values)
    count = is_known.sum(axis=1)
    return np.where(is_known, values, 0.0).sum(axis=1) / np.maximum(count, 1), count


def _longest(over: NDArray[np.float64], steps: NDArray[np.int64], reference: int) -> int:
    """The worker that took longest, except the median one; -1 if no step is shared."""
    is_other = (steps > 0) & (np.arange(over.size) != reference)
    return int(np.where(is_other, over, -np.inf).argmax()) if is_other.any() else -1


def _doubt(
    group: WorkerGroup, member: int, reference: int, least_ps: float, confidence: float
) -> StragglerReason:
    """Why others may not wait for a worker that took longer than the median; "" if they do."""
    over, met = _differences(group, member, reference)
    if over.size < LEAST_STEPS:
        return "few_steps"
    if mean_interval(over, confidence)[0] <= 0:
        return "varies"
    is_met = mean_interval(met, confidence)[0] > 0 and met.mean() >= _LEAST_MET * over.mean()
    return "" if is_met and met.mean() >= least_ps else "unmet"


def _differences(
    group: WorkerGroup, member: int, reference: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """([n] own time beyond the reference's, [n] extra wait of the reference) by common step."""
    over = group.own_ps[member] - group.own_ps[reference]
    is_common = np.isfinite(over)
    return over[is_common], (group.wait_ps[reference] - group.wait_ps[member])[is_common]


def _lateness(
    job: JobSteps,
    means: StepMeans,
    group: WorkerGroup,
    member: int,
    reference: int,
    *,
    is_met: bool = False,
) -> Lateness:
    """The lateness of a worker, limited to how long others wait for it if they do (`is_met`)."""
    over, met = _differences(group, member, reference)
    is_common = np.isfinite(group.own_ps[member] - group.own_ps[reference])
    stated = met if is_met and met.mean() < over.mean() else over
    most = np.where(np.isfinite(group.own_ps), group.own_ps, -np.inf).max(axis=0)
    low, high = mean_interval(stated, CONFIDENCE)
    worker, other = int(group.worker[member]), int(group.worker[reference])
    is_device = group.device[member] >= 0
    return Lateness(
        worker,
        int(group.device[member]),
        other,
        int(group.device[reference]),
        float(stated.mean()),
        low,
        high,
        float(met.mean()),
        float(stated.mean()) / (means.mean_ms() * 1e9),
        -1 if is_device else _phase(job, means, worker, other, group.waits),
        int((group.own_ps[member] >= most)[is_common].sum()),
        over.size,
    )


def _phase(
    job: JobSteps, means: StepMeans, worker: int, reference: int, waits: tuple[Phase, ...]
) -> int:
    """The phase, except `waits`, in which a worker exceeds another most over their steps."""
    steps = len(job.label)
    is_known = np.zeros((2, steps), bool)
    phases = np.zeros((2, steps, job.phase_ps.shape[1]), np.int64)
    for side, member in enumerate((worker, reference)):
        rows = np.flatnonzero((job.worker == member) & ~job.is_unrecorded)
        is_known[side, job.step[rows]] = True
        phases[side, job.step[rows]] = job.phase_ps[rows]
    common = is_known.all(axis=0) & means.is_counted
    excess = (phases[0, common] - phases[1, common]).sum(axis=0)
    excess[list(waits)] = np.iinfo(np.int64).min
    return int(excess.argmax())
