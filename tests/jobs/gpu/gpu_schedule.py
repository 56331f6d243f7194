"""What each GPU and each host of a drawn GPU job does when, by the job's own clock in ps."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random

from jobs.drawn_job import Work
from jobs.gpu.gpu_job import GpuJob

US = 1_000_000
LAUNCH = 8 * US
_FIRST = 5 * US


@dataclass(frozen=True, slots=True)
class GpuOp:
    """A kernel or a copy; `launched_ps` is when its launch began."""

    name: str
    work: Work
    launched_ps: int
    start_ps: int
    end_ps: int


@dataclass(slots=True)
class GpuStep:
    """A step of one host: its marker, its wait for a batch, and the ops of its GPUs."""

    step: int
    start_ps: int
    input: tuple[int, int]
    ops: list[list[GpuOp]] = field(default_factory=list)
    end_ps: int = 0


def plan(job: GpuJob) -> Iterator[tuple[str, Work, int]]:
    """(name, work, length in ps) of what a GPU does in each step, in order; 0 for none."""
    yield "h2d", Work.INPUT, job.h2d_us * US
    for layer in range(job.layers):
        yield f"gemm{layer}", Work.COMPUTE_16, job.gemm_us * US // job.layers
        yield f"single{layer}", Work.COMPUTE_32, job.single_us * US // job.layers
    yield "all_reduce", Work.COLLECTIVE, job.all_reduce_us * US
    yield "d2h", Work.OUTPUT, job.d2h_us * US


def schedule(job: GpuJob) -> list[list[GpuStep]]:
    """The steps of each host."""
    free = [0] * job.hosts
    out: list[list[GpuStep]] = [[] for _ in range(job.hosts)]
    half = (job.gemm_us + job.single_us + job.all_reduce_us) * US // 2
    for step in range(job.steps):
        made = []
        for host in range(job.hosts):
            start = free[host] if job.is_blocking or not step else out[host][-1].end_ps - half
            batch = start + _FIRST, start + _FIRST + job.input_us * US
            made.append(GpuStep(step, start, batch))
            out[host].append(made[-1])
        _run(job, step, made, free)
        for host, one in enumerate(made):
            one.end_ps = max(ops[-1].end_ps for ops in one.ops)
            free[host] = one.end_ps + (job.idle_us + job.gap_us) * US * job.is_blocking
    return out


def _run(job: GpuJob, step: int, made: list[GpuStep], free: list[int]) -> None:
    """The ops of one step on all GPUs, which meet in the all-reduce."""
    wanted = [one for one in plan(job) if one[2]]
    now: dict[tuple[int, int], int] = {}
    for host, one in enumerate(made):
        one.ops = [[] for _ in range(job.devices)]
        before = 0 if job.is_blocking else free[host]
        now |= {(host, device): before for device in range(job.devices)}
    for at, (name, work, length) in enumerate(wanted):
        begins = {}
        for (host, device), free_ps in now.items():
            count = device * len(wanted) + at
            launched = made[host].input[1] + count * LAUNCH
            begins[host, device] = launched, max(free_ps, launched + LAUNCH)
        last = max(begin for _, begin in begins.values())
        for (host, device), (launched, begin) in begins.items():
            own = length
            if work in (Work.COMPUTE_16, Work.COMPUTE_32):
                own = round(length * _factor(job, step, host, device))
            end = last + length if work == Work.COLLECTIVE else begin + own
            made[host].ops[device].append(GpuOp(name, work, launched, begin, end))
            now[host, device] = end


def _factor(job: GpuJob, step: int, host: int, device: int) -> float:
    """How much longer than planned the computation takes."""
    factor = 1.0
    for slow_host, slow_device, slower in job.slow:
        factor *= slower if (slow_host, slow_device) == (host, device) else 1.0
    for number, slower in job.slow_steps:
        factor *= slower if number == step else 1.0
    noise = Random(f"{job.seed} {step} {host} {device}").uniform(-1, 1)
    return factor * (1 + job.jitter * noise)
