"""Means of each step of a job over its workers, and the average step."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.job.job_steps import CPU, SPARSE_CORE, JobSteps
from tbprof.analysis.vocabulary.phases import PHASES, Phase
from tbprof.base.records import dataclass, replace


@dataclass(frozen=True, slots=True)
class StepMeans:
    """One entry per step of the job: means in ps over the workers that have the step.

    Because these are means, the phases of a step add up to its duration. `slowest_ps` is the
    duration on the slowest worker. `is_counted` marks the steps that averages include: complete
    steps (`is_whole`), or the typical ones among them. `has_device`: the job has a worker other
    than CPUs. SparseCores do other work than the cores that they serve, and count only if there are
    no other workers.
    """

    duration_ps: NDArray[np.float64]
    own_ps: NDArray[np.float64]
    phase_ps: NDArray[np.float64]  # [steps, PHASES]
    slowest_ps: NDArray[np.float64]
    workers: NDArray[np.int64]
    is_counted: NDArray[np.bool_]
    is_whole: NDArray[np.bool_]
    has_device: bool = True

    @property
    def steps(self) -> int:
        """The number of steps that averages include."""
        return int(self.is_counted.sum())

    @property
    def whole(self) -> StepMeans:
        """The same means with averages over all complete steps."""
        return replace(self, is_counted=self.is_whole)

    def mean_ms(self, *phases: Phase) -> float:
        """Return the mean ms of the sum of phases, or of steps by default; NaN without steps."""
        return self._mean_ms(self.phase_ps[:, phases].sum(axis=1) if phases else self.duration_ps)

    def share(self, *phases: Phase) -> float:
        """Return the percentage of the counted steps' time spent in phases; NaN without steps."""
        return self.share_of(self.phase_ps[:, phases].sum(axis=1))

    def share_of(self, part_ps: NDArray[np.float64]) -> float:
        """Return the sum of `part_ps` [steps] as a percentage of the counted steps' time."""
        total_ps = float(self.duration_ps[self.is_counted].sum())
        part = float(part_ps[self.is_counted].sum())
        return 100.0 * part / total_ps if total_ps > 0 else float("nan")

    @property
    def gap_ps(self) -> NDArray[np.float64]:
        """[steps] the idle time from the end of a step's own work to the start of the next step."""
        return self.duration_ps - self.own_ps

    def _mean_ms(self, values: NDArray[np.float64]) -> float:
        return float(values[self.is_counted].mean()) / 1e9 if self.steps else float("nan")


def step_means(job: JobSteps) -> StepMeans:
    """Return the means of each step over its workers; averages are over all complete steps."""
    return _means(job, used_rows(job))


def sparse_core_means(job: JobSteps) -> StepMeans | None:
    """Return the means over the SparseCores of a job with TensorCores; None if there are none."""
    if not {"TPU", SPARSE_CORE} <= set(job.worker_kind):
        return None
    is_sparse = np.array([kind == SPARSE_CORE for kind in job.worker_kind], bool)
    rows = np.flatnonzero(is_sparse[job.worker] & ~job.is_unrecorded & ~job.is_truncated)
    means = _means(job, rows)
    return means if means.steps else None


def _means(job: JobSteps, rows: NDArray[np.int64]) -> StepMeans:
    steps = len(job.label)
    step = job.step[rows]
    workers = np.bincount(step, minlength=steps)

    def mean(values: NDArray[np.int64]) -> NDArray[np.float64]:
        return np.bincount(step, values[rows], steps) / np.maximum(workers, 1)

    slowest = np.zeros(steps)
    np.maximum.at(slowest, step, job.duration_ps[rows])
    phases = [mean(job.phase_ps[:, phase]) for phase in range(PHASES)]
    is_whole = job.counted & (workers > 0)
    return StepMeans(
        mean(job.duration_ps),
        mean(job.own_ps),
        np.stack(phases, axis=1),
        slowest,
        workers,
        is_whole,
        is_whole,
        any(kind != CPU for kind in job.worker_kind),
    )


def sample_deviation(values: NDArray[np.float64]) -> float:
    """Return the standard deviation of a sample, NaN for fewer than two values.

    It is exactly 0 for equal values, even if their mean is rounded.
    """
    if values.size < 2:
        return float("nan")
    is_equal = np.ptp(values) <= 1e-12 * np.abs(values).max()
    return 0.0 if is_equal else float(values.std(ddof=1))


def used_rows(job: JobSteps) -> NDArray[np.int64]:
    """Return the rows that means include: recorded ones; SparseCores only without other workers."""
    is_core = np.array([kind != SPARSE_CORE for kind in job.worker_kind], bool)
    is_used = is_core if is_core.any() else ~is_core
    return np.flatnonzero(is_used[job.worker] & ~job.is_unrecorded)
