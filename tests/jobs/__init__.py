"""Training jobs drawn with what is true of them.

    from jobs import TpuJob, Work, draw_tpu_job  # GpuJob and draw_gpu_job for GPUs

    job = TpuJob(hosts=2, cores=4, slow=((1, 2, 1.3),), skew_us=(0, 60_000))
    drawn = draw_tpu_job(job)
    drawn.files              # {"host0": bytes, "host1": bytes}: the serialized XSpaces
    drawn.write(folder)      # as a run of a logdir; answers the run's name
    drawn.truth.rows         # one `CoreStep` per core and step: when, how long, by kind of work
    drawn.truth.mean_ps(Work.INPUT)

A job is a frozen dataclass whose fields are what can vary, each with a default that is a healthy
job; `dataclasses.replace` makes the next case of one. The same job is the same bytes.
"""

from jobs.drawn_job import CoreStep, DrawnJob, DrawnOp, Truth, Work
from jobs.gpu.gpu_job import GpuJob
from jobs.gpu.gpu_trace import draw_gpu_job
from jobs.tpu.tpu_job import TpuJob
from jobs.tpu.tpu_trace import draw_tpu_job

__all__ = [
    "CoreStep",
    "DrawnJob",
    "DrawnOp",
    "GpuJob",
    "TpuJob",
    "Truth",
    "Work",
    "draw_gpu_job",
    "draw_tpu_job",
]
