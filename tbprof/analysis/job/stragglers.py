"""Finds stragglers: workers that make others wait, and the phase in which they lose time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.job.coupling import Coupling
from tbprof.analysis.job.job_steps import JobSteps
from tbprof.analysis.job.step_means import StepMeans
from tbprof.analysis.job.worker_groups import (
    WorkerGroup,
    all_workers,
    coupled_groups,
    has_unnamed_devices,
)
from tbprof.analysis.spans.confidence import mean_interval
from tbprof.analysis.vocabulary.phases import Phase
from tbprof.base.records import dataclass

# The confidence level of reported intervals.
CONFIDENCE = 0.95
# A worker that makes others wait for less than this share of a step is not a straggler.
_LEAST_SHARE = 0.01
# The accepted probability, over all workers of a job, that noise looks like a straggler.
_MISTAKES = 0.01
# With fewer common steps, a straggler cannot be distinguished from one slow step.
LEAST_STEPS = 3
# If peers of a late worker wait for less than this share of its lateness, they do not wait for it:
# steps of coupled workers take equally long.
_LEAST_MET = 0.5

# Why no straggler is reported, "" if one is.
#   alone: there is one worker; apart: workers have no step in common
#   uncoupled: nothing in the trace shows that workers wait for each other
#   unnamed: simulated devices of a CPU wait for each other, but the recorder does not identify them
#   few_steps: too few common steps; alike: workers differ by less than 1 % of a step
#   varies: steps vary by more than that; unmet: others do not wait while one takes longer
StragglerReason = Literal[
    "", "alone", "apart", "uncoupled", "unnamed", "few_steps", "alike", "varies", "unmet"
]


@dataclass(frozen=True, slots=True)
class Lateness:
    """How much longer a worker took than another one (`late_ps`), on average over common steps.

    `worker` and `reference` are workers of the job; `device` and `reference_device` are ordinals of
    devices that a CPU simulates, -1 for none. `low_ps` to `high_ps` is the confidence interval of
    `late_ps`, NaN for one step. `wait_ps` is how much longer the reference waited in collectives.
    `share` is the fraction of the mean step. `phase` is where most of the time was lost, -1 if
    unknown. In `last_steps` of the `steps` common steps, no compared worker took longer.
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
    """The stragglers (`late`), latest first.

    If there are none, `compared` is the worker that took longest, None if nothing can be compared,
    and `reason` says why it is not a straggler.
    """

    late: tuple[Lateness, ...]
    compared: Lateness | None
    reason: StragglerReason


def find_stragglers(job: JobSteps, means: StepMeans, couplings: Sequence[Coupling]) -> Stragglers:
    """Return the workers that make others wait for 1 % of a step or more.

    Only workers that exchange data wait for each other. A worker's own time is its step without
    collectives: early workers wait there for late ones, so all steps take equally long. A worker's
    lateness is its own time minus that of the median worker (of two, the faster one), averaged over
    the typical steps that both have.

        |wwwwwwwwcc|         late by 4, in w
        |wwww......cccccc|   waits for it

    A straggler is reported only if noise is unlikely to look like this. Its lateness is limited to
    the time that others wait for it.
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
    group = all_workers(job, means.is_counted)
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
    """Return the stragglers of a group; else the worker that took longest, and why it is none."""
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
    """Return (the median worker; [w] mean excess in ps over it; [w] the number of common steps).

    Of two workers in the middle the faster one, so that one of two can be late, but never more than
    half of all.
    """
    own_ps = group.own_ps
    over, _ = _means(own_ps - _means(own_ps.T)[0])
    reference = int(np.argsort(over, kind="stable")[(over.size - 1) // 2])
    return reference, *_means(own_ps - own_ps[reference])


def _means(values: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return (mean, count) of the known values of each row, 0 if none is known."""
    is_known = np.isfinite(values)
    count = is_known.sum(axis=1)
    return np.where(is_known, values, 0.0).sum(axis=1) / np.maximum(count, 1), count


def _longest(over: NDArray[np.float64], steps: NDArray[np.int64], reference: int) -> int:
    """Return the worker that took longest, except the reference; -1 without common steps."""
    is_other = (steps > 0) & (np.arange(over.size) != reference)
    return int(np.where(is_other, over, -np.inf).argmax()) if is_other.any() else -1


def _doubt(
    group: WorkerGroup, member: int, reference: int, least_ps: float, confidence: float
) -> StragglerReason:
    """Return why others may not wait for a worker that took longer; "" if they do."""
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
    """Return by common step ([n] excess of own time, [n] extra wait of the reference) in ps."""
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
    """Return the lateness of a worker; with `is_met`, limited to how long others wait for it."""
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
    """Return the phase, except `waits`, in which a worker most exceeds another one."""
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
