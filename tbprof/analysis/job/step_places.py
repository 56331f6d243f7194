"""URL parameters that locate a worker's step in the trace viewer."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.job.job_steps import JobSteps
from tbprof.analysis.job.step_means import StepMeans, used_rows


def worst_place(job: JobSteps, means: StepMeans, part_ps: NDArray[np.int64]) -> dict[str, str]:
    """Return the place of the row with the largest `part_ps` [rows of `job`] among counted steps.

    Of equal rows, the first one; {} without steps.
    """
    rows = used_rows(job)
    rows = rows[means.is_counted[job.step[rows]]]
    return place_of_row(job, int(rows[part_ps[rows].argmax()])) if rows.size else {}


def slowest_place(job: JobSteps, step: int) -> dict[str, str]:
    """Return the place of a job step on its slowest worker; {} if no worker has it."""
    rows = used_rows(job)
    rows = rows[job.step[rows] == step]
    return place_of_row(job, int(rows[job.duration_ps[rows].argmax()])) if rows.size else {}


def place_of_row(job: JobSteps, row: int) -> dict[str, str]:
    """Return the step and the time range of a row of the job, and its host if there are several.

    Times are in ms since the start of the host's own trace.
    """
    begin = int(job.start_ps[row])
    place = {
        "step": job.label[int(job.step[row])],
        "from_ms": f"{begin / 1e9:.9f}",
        "to_ms": f"{(begin + int(job.duration_ps[row])) / 1e9:.9f}",
    }
    if len(job.hosts) == 1:
        return place
    return {"hosts": job.hosts[int(job.worker_host[job.worker[row]])], **place}
