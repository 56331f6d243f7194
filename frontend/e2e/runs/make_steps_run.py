"""Runs with steps for the browser tests: `python make_steps_run.py LOGDIR`."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

from make_memory_runs import many_events, memory_hosts
from traces import Stats, draw, write_run
from traces.space_writer import SpaceWriter

HOST, GPUS = "/host:CPU", ("/device:GPU:0", "/device:GPU:1")
HOSTILE = "<img src=x onerror=window.hacked=1>"
LENGTH = 120
# Markers need a letter each: their step numbers differ.
FIRST_MARKER = 0x4E00
KERNEL = "regs:32 static_shared:0 dynamic_shared:512 grid:8,1,1 block:256,1,1"
MAP = "Iterator::Root::Prefetch::ParallelMapV2"
NAMES = {
    "I": "IteratorGetNextOp::DoCompute",
    "H": "half",
    "L": "cuLaunchKernel",
    "g": "volta_h884gemm_128x128",
    "f": "volta_sgemm_128x64_nn",
    "h": "MemcpyH2D",
    "n": "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgs)",
    "m": MAP,
    "r": f"{MAP}::TFRecord",
}
PLANE: Stats = {
    "device_vendor": "Nvidia",
    "gpu_device_name": "Tesla V100",
    "compute_cap_major": 7,
    "compute_cap_minor": 0,
    "core_count": 80,
    "clock_rate": 1_530_000,
    "memory_bandwidth": 898_048_000_000,
    "memory_size": 16 * 2**30,
}


def line(*spans: tuple[str, int, int]) -> str:
    """A row of a drawing: (letter, first column, columns) of events that do not overlap."""
    cells = ["."] * max((start + length for _, start, length in spans), default=0)
    for letter, start, length in spans:
        cells[start : start + length] = letter * length
    return "".join(cells)


def training(steps: int, waits: int, late: int, *, marker: str = "train") -> bytes:
    """Steps of two GPUs that wait `waits` µs for input; the second computes `late` µs longer.

    They last 120 to 128 µs on all workers, for the early wait in a collective; the last is cut.
    """
    letters = [chr(FIRST_MARKER + number) for number in range(steps)]
    lengths = [LENGTH + number * 7 % 5 * 2 for number in range(steps)]
    starts = [sum(lengths[:number]) for number in range(steps)]
    end = starts[-1] + lengths[-1] // (1 if steps == 1 else 2)

    def all_steps(*spans: tuple[str, int, int]) -> str:
        """Each span in each step; one of no columns goes on to the end of the step's work."""
        found = [(letter, at + start, columns or length - 4 - start)
                 for at, length in zip(starts, lengths, strict=True)
                 for letter, start, columns in spans]  # fmt: skip
        return line(*((one, at, min(columns, end - at)) for one, at, columns in found if at < end))

    def device(compute: int) -> str:
        begin = waits + 6
        kernels = (("f", begin, 20), ("g", begin + 20, compute), ("n", begin + 20 + compute, 0))
        copies = all_steps(("h", waits + 2, 4))
        return f"Stream #1(Compute) |{all_steps(*kernels)}\nStream #2(MemcpyH2D) |{copies}"

    markers = [(letter, at, min(length - 2, end - at))
               for letter, at, length in zip(letters, starts, lengths, strict=True)]  # fmt: skip
    calls = [("I", 1, waits), ("L", waits + 2, 2), ("H", waits + 20, 3), ("H", waits + 40, 3)]
    return draw(
        {
            HOST: f"""
                python |{line(*markers)}
                       |{all_steps(*calls)}
                tf_data_private_threadpool/2 |{all_steps(("m", 0, waits + 8), ("r", waits + 10, 9))}
            """,
            GPUS[0]: device(24),
            GPUS[1]: device(24 + late),
        },
        names={**NAMES, **dict.fromkeys(letters, marker)},
        stats={
            **{letter: {"_r": 1, "step_num": at} for at, letter in enumerate(letters)},
            "g": {"kernel_details": KERNEL, "tf_op": "model/dense/MatMul:MatMul"},
            "f": {"kernel_details": KERNEL, "tf_op": "model/conv/Conv2D:Conv2D"},
            "n": {"kernel_details": KERNEL, "tf_op": "reduce/CollectiveReduce:CollectiveReduce"},
        },
        plane_stats=dict.fromkeys(GPUS, PLANE),
    )  # fmt: skip


def hosts(logdir: Path) -> None:
    """Twelve steps; the second host waits for input, and its second GPU is late."""
    first, second = training(12, waits=8, late=0), training(12, waits=44, late=12)
    write_run(logdir, {"worker-0": first, "worker-1": second}, "hosts")


def one(logdir: Path) -> None:
    """One step, whose marker has a hostile name."""
    write_run(logdir, {"host0": training(1, waits=20, late=0, marker=HOSTILE)}, "one")


def none(logdir: Path) -> None:
    """Two kernels, two ops and one of the input pipeline: nothing repeats."""
    trace = draw(
        {
            HOST: "python |aaa.bbb\ntf_data_private_threadpool/2 |rr",
            GPUS[0]: "Stream #1(Compute) |.ggg.ff",
        },
        names={**NAMES, "a": "x:A", "b": "y:B"},
        stats={
            "g": {"kernel_details": KERNEL, "tf_op": "model/dense/MatMul:MatMul"},
            "f": {"kernel_details": KERNEL, "tf_op": "model/conv/Conv2D:Conv2D"},
        },
        plane_stats={GPUS[0]: PLANE},
    )
    write_run(logdir, {"host0": trace}, "none")


def many(logdir: Path) -> None:
    """3,000 executions of a program on two TPUs; every hundredth one waits for input."""
    modules, ops = zip(*(["mmmmmmmmm.", "cccccccdd."] if at % 100 else
                         ["m" * 19 + ".", "i" * 10 + "cccccccdd."] for at in range(3000)),
                       strict=True)  # fmt: skip
    trace = draw(
        {
            f"/device:TPU:{core}": f"""
                XLA Modules |{"".join(modules)}
                XLA Ops |{"".join(ops)}
            """
            for core in range(2)
        },
        names={"m": "jit_step(12)", "c": "fusion.1", "d": "all-reduce.2", "i": "infeed.3"},
        type_stats={
            "c": {"hlo_category": "convolution fusion", "shape_with_layout": "bf16[8,128]{1,0}"},
            "d": {"hlo_category": "all-reduce"},
            "i": {"hlo_category": "infeed"},
        },
    )
    write_run(logdir, {"host0": trace}, "many")


def pod(logdir: Path) -> None:
    """16 hosts × 64 TPU cores × 100 steps that differ a little; core 5 of host 3 is late."""
    random = Random(1)  # noqa: S311 - alike every time
    for host in range(16):
        write_run(logdir, {f"pod-w-{host}": _pod_host(host, random)}, "pod")


def _pod_host(host: int, random: Random) -> bytes:
    space = SpaceWriter([f"pod-w-{host}"])
    for core in range(64):
        plane = space.plane(f"/device:TPU:{core}")
        for category in ("infeed", "convolution fusion", "all-reduce"):
            plane.kind(category, stats={"hlo_category": category})
        steps, ops = plane.line("Steps"), plane.line("XLA Ops")
        late = 1_500_000_000 if (host, core) == (3, 5) else 0
        for step in range(100):
            for kind, offset, duration in _pod_step(random, late):
                plane.event(ops, kind, step * 10**10 + offset, duration)
            plane.event(steps, str(step), step * 10**10, 10**10)
    return space.bytes()


def _pod_step(random: Random, late: int) -> Iterator[tuple[int, int, int]]:
    """(type, offset, ps) of the ops of a step of 10 ms: input, compute, a collective to its end."""
    wait = int(random.uniform(0.3, 0.5) * 10**9)
    compute = int(random.uniform(6.5, 7.5) * 10**9) + late
    yield 1, 0, wait
    yield 2, wait, compute
    yield 3, wait + compute, 10**10 - wait - compute


def memory(logdir: Path) -> None:
    """Two hosts with allocators, one of them with a leak."""
    write_run(logdir, memory_hosts(), "memory")


def memory_many(logdir: Path) -> None:
    """More memory events than a timeline draws."""
    write_run(logdir, {"host0": many_events()}, "memory_many")


def slow(logdir: Path) -> None:
    """18 steps of 120 µs: the first compiles for 2 ms, and each fifth saves for 180 µs."""
    letters = [chr(FIRST_MARKER + number) for number in range(18)]
    before = [2000 if number == 0 else 180 if number % 5 == 0 else 0 for number in range(18)]
    starts = [number * LENGTH + sum(before[:number]) for number in range(18)]
    steps = list(zip(letters, starts, before, strict=True))
    calls = [("C" if number == 0 else "S", at + 1, more - 2)
             for number, (_, at, more) in enumerate(steps) if more]  # fmt: skip
    launches = [("L", at + more + 1, 2) for _, at, more in steps]
    kernels = [("g", at + more + 4, 100) for _, at, more in steps]
    trace = draw(
        {
            HOST: f"""
                python |{line(*((letter, at, LENGTH + more - 2) for letter, at, more in steps))}
                       |{line(*sorted(calls + launches, key=lambda span: span[1]))}
            """,
            GPUS[0]: f"Stream #1(Compute) |{line(*kernels)}",
        },
        names={**NAMES, **dict.fromkeys(letters, "train"), "C": "XlaCompile", "S": "save_model"},
        stats={
            **{letter: {"_r": 1, "step_num": at} for at, letter in enumerate(letters)},
            "g": {"kernel_details": KERNEL, "tf_op": "model/dense/MatMul:MatMul"},
        },
        plane_stats={GPUS[0]: PLANE},
    )  # fmt: skip
    write_run(logdir, {"host0": trace}, "slow")


MAKERS: tuple[Callable[[Path], None], ...] = (
    hosts,
    one,
    none,
    many,
    slow,
    pod,
    memory,
    memory_many,
)

if __name__ == "__main__":
    for make in MAKERS:
        make(Path(sys.argv[1]))
