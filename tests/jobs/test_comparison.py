"""All pages show what is true of jobs that hypothesis draws.

`TBPROF_JOBS` is how many; by default it is a few, the same in each run. `many` tries thousands.
"""

import os

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from jobs import GpuJob, TpuJob
from jobs.comparison import wrong
from jobs.draws import gpu_jobs, tpu_jobs

_JOBS = int(os.environ.get("TBPROF_JOBS", "0"))
_drawn = settings(
    max_examples=_JOBS or 20,
    derandomize=not _JOBS,
    suppress_health_check=list(HealthCheck),
    database=None,
    phases=[Phase.generate],  # a job is read in a line; shrinking it takes minutes
)


@_drawn
@given(tpu_jobs())
def test_jobs_on_tpus_are_shown_as_they_were(job: TpuJob) -> None:
    found = wrong(job)
    assert not found, "\n".join([repr(job), *found])


@_drawn
@given(gpu_jobs())
def test_jobs_on_gpus_are_shown_as_they_were(job: GpuJob) -> None:
    found = wrong(job)
    assert not found, "\n".join([repr(job), *found])


CASES: dict[str, TpuJob | GpuJob] = {
    "GPUs that are waited for": GpuJob(steps=6),
    "GPUs that are never idle": GpuJob(steps=6, is_blocking=False, input_us=1_000),
    "GPUs of AMD": GpuJob(steps=6, vendor="AMD"),
    "GPUs of two hosts": GpuJob(steps=6, hosts=2, skew_us=(0, 60_000), drift_ppm=(10.0, -10.0)),
    "a slow GPU": GpuJob(steps=10, slow=((0, 1, 1.3),)),
    "a GPU that lost a step": GpuJob(steps=8, lost=((0, 1, 3),)),
    "healthy": TpuJob(steps=5),
    "two hosts": TpuJob(steps=5, hosts=2, cores=2),
    "a slow core": TpuJob(steps=8, slow=((0, 2, 1.2),), jitter=0.01),
    "cut at both ends": TpuJob(steps=6, recorded_us=(50_000, 550_000)),
    "slices": TpuJob(steps=5, hosts=2, cores=2, slices=2, dcn_us=20_000),
    "copies": TpuJob(steps=5, copy_us=2_000, vmem_copy_us=1_500, host_copy_us=9_000),
    "a core that begins late": TpuJob(steps=8, has_barrier=True, late=((0, 1, 9_000),)),
    "a first step of which the late core alone has all": TpuJob(
        steps=7,
        hosts=2,
        cores=1,
        has_barrier=True,
        late=((0, 0, 15_000),),
        recorded_us=(8_000, 10**9),
        line_first=(3, 3),
    ),
    "micro-steps whose launches were before the recording": TpuJob(
        steps=6, micro_steps=4, sparse_cores=2, recorded_us=(4_000, 10**9), line_first=(7,)
    ),
    "SparseCores that lost a step": TpuJob(
        steps=7, cores=2, sparse_cores=2, jitter=0.003, lost=((0, 0, 2),)
    ),
    "SparseCores": TpuJob(steps=5, sparse_cores=2),
    "callbacks": TpuJob(steps=5, callback_us=20_000),
    "megacore": TpuJob(steps=5, megacore=True, megacore_us=3_000, has_loop=True),
    "gradients are accumulated": TpuJob(steps=5, micro_steps=3, steps_line="none"),
    "each program is a step of the recorder": TpuJob(steps=5, micro_steps=3),
    "no Steps line": TpuJob(steps=5, steps_line="none"),
    "clocks that drift": TpuJob(steps=8, hosts=2, core_drift_ppm=50, drift_ppm=(10.0, -20.0)),
    "clocks are seconds apart": TpuJob(
        steps=5, hosts=2, cores=2, skew_us=(0, 3_000_000), line_first=(0, 7)
    ),
    "clocks are most of a step apart": TpuJob(steps=5, hosts=2, cores=2, skew_us=(0, 60_000)),
    "a core that lost a step": TpuJob(steps=6, lost=((0, 1, 2),)),
    "a first step without its input": TpuJob(steps=6, lost_ops=((0, 0, 0, "infeed.1"),)),
    "times of the file are wrong": TpuJob(steps=8, file_error_us=30_000),
    "the file's clock alone": TpuJob(steps=5, has_core_clocks=False),
}


@pytest.mark.parametrize("case", CASES)
def test_a_job_is_shown_as_it_was(case: str) -> None:
    assert wrong(CASES[case]) == []
