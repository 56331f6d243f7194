"""Where in the trace viewer the step of a worker is, as addresses say it."""

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.job.job_steps import JobSteps
from tbprof.analysis.job.step_means import StepMeans, used_rows


def worst_place(job: JobSteps, means: StepMeans, part_ps: NDArray[np.int64]) -> dict[str, str]:
    """That worker's step of which a part [rows] was largest, of steps that count.

    Rows are those of `job`; the first of equal ones; {} without any.
    """
    rows = used_rows(job)
    rows = rows[means.is_counted[job.step[rows]]]
    return place_of_row(job, int(rows[part_ps[rows].argmax()])) if rows.size else {}


def slowest_place(job: JobSteps, step: int) -> dict[str, str]:
    """A step of the job on the worker who took longest; {} where no worker has it."""
    rows = used_rows(job)
    rows = rows[job.step[rows] == step]
    return place_of_row(job, int(rows[job.duration_ps[rows].argmax()])) if rows.size else {}


def place_of_row(job: JobSteps, row: int) -> dict[str, str]:
    """The step and the range of a row of the job, and its host where there are several.

    Times count from the first moment of the host's own trace.
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
