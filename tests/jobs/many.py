"""Many drawn jobs against their truth: `PYTHONPATH=tests python -m jobs.many tpu --jobs 1000`.

Prints each job of which a page shows what is not so, and goes on. One thousand jobs of each kind
(seed 3 for TPUs, 11 for GPUs) were shown as they were.
"""

import argparse
import sys
import time

from hypothesis import HealthCheck, Phase, given, seed, settings

from jobs.comparison import wrong
from jobs.draws import gpu_jobs, tpu_jobs
from jobs.gpu.gpu_job import GpuJob
from jobs.tpu.tpu_job import TpuJob

_DRAWS = {"tpu": tpu_jobs, "gpu": gpu_jobs}


def main() -> int:
    """Compares them; 1 where a job was shown as it was not."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kind", choices=_DRAWS)
    parser.add_argument("--jobs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    tried: list[bool] = []

    @seed(chosen.seed)
    @settings(
        max_examples=chosen.jobs,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(_DRAWS[chosen.kind]())
    def compare(job: TpuJob | GpuJob) -> None:
        found = wrong(job)
        tried.append(not found)
        if found:
            _print(repr(job), *found)
        if len(tried) % 100 == 0:
            _print(f"{len(tried)} jobs")

    began = time.perf_counter()
    compare()
    _print(f"{len(tried)} jobs, {tried.count(False)} wrong, {time.perf_counter() - began:.0f} s")
    return int(not all(tried))


def _print(*lines: str) -> None:
    sys.stdout.write("\n    ".join(lines) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
