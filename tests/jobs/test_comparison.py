"""All pages show what is true of jobs that hypothesis draws.

`TBPROF_JOBS` is how many; by default it is a few, the same in each run.
"""

import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from jobs import TpuJob, draw_tpu_job
from jobs.comparison import Slack, compare
from jobs.draws import tpu_jobs
from jobs.pages import Pages

_JOBS = int(os.environ.get("TBPROF_JOBS", "0"))
_drawn = settings(
    max_examples=_JOBS or 30,
    derandomize=not _JOBS,
    suppress_health_check=list(HealthCheck),
    database=None,
    phases=[Phase.generate],  # a job is read in a line; shrinking it takes minutes
)


def wrong(job: TpuJob) -> list[str]:
    """What the pages of a job on TPUs show that is not so."""
    drawn = draw_tpu_job(job)
    is_named = job.has_markers and job.is_linked
    clocks = max(map(abs, job.drift_ppm), default=0) + abs(job.core_drift_ppm)
    slack = Slack(2e-6 * clocks + 1e-9, 100_000)
    with tempfile.TemporaryDirectory() as folder:
        pages = Pages.of(drawn, Path(folder))
        return compare(pages, drawn.truth, job.marker if is_named else "", slack)


@_drawn
@given(tpu_jobs())
def test_jobs_on_tpus_are_shown_as_they_were(job: TpuJob) -> None:
    found = wrong(job)
    assert not found, "\n".join([repr(job), *found])


CASES = {
    "healthy": TpuJob(steps=5),
    "two hosts": TpuJob(steps=5, hosts=2, cores=2),
    "a slow core": TpuJob(steps=8, slow=((0, 2, 1.2),), jitter=0.01),
    "cut at both ends": TpuJob(steps=6, recorded_us=(50_000, 550_000)),
    "slices": TpuJob(steps=5, hosts=2, cores=2, slices=2, dcn_us=20_000),
    "callbacks": TpuJob(steps=5, callback_us=20_000),
    "megacore": TpuJob(steps=5, megacore=True, megacore_us=3_000, has_loop=True),
    "gradients are accumulated": TpuJob(steps=5, micro_steps=3, steps_line="none"),
    "each program is a step of the recorder": TpuJob(steps=5, micro_steps=3),
    "no Steps line": TpuJob(steps=5, steps_line="none"),
    "clocks that drift": TpuJob(steps=8, hosts=2, core_drift_ppm=50, drift_ppm=(10.0, -20.0)),
    "clocks are years apart": TpuJob(
        steps=5, hosts=2, cores=2, skew_us=(0, 3_000_000), line_first=(0, 7)
    ),
    "the file's clock alone": TpuJob(steps=5, has_core_clocks=False),
}


@pytest.mark.parametrize("case", CASES)
def test_a_job_is_shown_as_it_was(case: str) -> None:
    assert wrong(CASES[case]) == []
