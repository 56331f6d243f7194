"""Chooses the steps that averages include: typical steps, or all complete steps."""

from __future__ import annotations

from collections.abc import Mapping

from tbprof.analysis.job.job_steps import JobSteps
from tbprof.analysis.job.step_means import StepMeans, step_means
from tbprof.analysis.job.step_outliers import StepOutliers, find_outliers, typical

# The request parameter, and the value that includes outliers.
STEPS, ALL_STEPS = "steps", "all"


def chosen_means(job: JobSteps, params: Mapping[str, str]) -> tuple[StepMeans, StepOutliers]:
    """Return (means over the steps that a request selects, the outliers)."""
    means = step_means(job)
    is_numbered = any(part.has_explicit_numbers for part in job.parts)
    outliers = find_outliers(means, job.number if is_numbered else None)
    return (means if params.get(STEPS) == ALL_STEPS else typical(means, outliers)), outliers
