"""Runs for the trace viewer's browser tests: `python make_timeline_run.py LOGDIR`."""

import sys
from collections.abc import Callable
from pathlib import Path

from traces import Ref, Stats, draw, listed, write_run
from traces.space_writer import SpaceWriter

HOST = "/host:CPU"
GPUS = ("/device:GPU:0", "/device:GPU:1")
STEP = 50
STEPS = 4
HOSTILE = "<img src=x onerror=window.hacked=1>/../\x00\u202e <script>window.hacked=1</script>"
KERNEL = "regs:32 static_shared:0 dynamic_shared:512 grid:8,1,1 block:256,1,1"
# A letter for each of what differs from step to step: markers, launches, kernels, allocations.
LETTERS = {"train": 0x4E00, "launch": 0x4F00, "gemm": 0x5000, "give": 0x5100, "take": 0x5200}
YEAR_NS = 365 * 86_400 * 10**9
US = 10**6


def letter(kind: str, step: int) -> str:
    """The letter of one event of a kind in a drawing."""
    return chr(LETTERS[kind] + step)


def row(*spans: tuple[str, int, int]) -> str:
    """(letter, first column, columns) of each step's events, which do not overlap."""
    cells = ["."] * (STEP * STEPS + 20)
    for step in range(STEPS):
        for kind, start, columns in spans:
            cell = letter(kind, step) if kind in LETTERS else kind
            at = step * STEP + start
            cells[at : at + columns] = cell * columns
    return "".join(cells)


def drawn(*, start_ns: int = 0) -> bytes:
    """Four steps of 50 µs, all alike but for markers and ids, from column to column.

    python             train 0-48 > dense/MatMul 2-22 > cuLaunchKernel 5-9; $train.py:7 step 26-44
    tf_data/2          Iterator::Root::Map 0-16
    async              AsyncCopy 10-60, across steps
    GPU:0 Stream #1    gemm 12-36, relu 38-44
    GPU:0 Stream #2    MemcpyH2D 2-10
    GPU:1 Stream #1    gemm 12-30
    """
    letters = [(kind, step, letter(kind, step)) for kind in LETTERS for step in range(STEPS)]
    per_letter: dict[str, Stats] = {
        "a": {"_a": 1},
        "r": {"kernel_details": KERNEL, "tf_op": "dense/Relu:Relu"},
        "k": {"kernel_details": KERNEL, "tf_op": "dense/MatMul:MatMul"},
        "m": {"tf_op": "dense/MatMul:MatMul", "note": Ref("a note of the op")},
    }
    names = {
        "m": "dense/MatMul:MatMul",
        "p": "$train.py:7 step",
        "i": "Iterator::Root::Map",
        "a": "AsyncCopy",
        "r": "relu_kernel",
        "k": "gemm_kernel",
        "h": "MemcpyH2D",
    }
    told = {"train": "train", "launch": "cuLaunchKernel", "gemm": "gemm_kernel",
            "give": "MemoryAllocation", "take": "MemoryDeallocation"}  # fmt: skip
    for kind, step, one in letters:
        names[one] = told[kind]
        per_letter[one] = _stats(kind, step)
    return draw(
        {
            HOST: f"""
                python |{row(("train", 0, 48))}
                       |{row(("m", 2, 20), ("p", 26, 18))}
                       |{row(("launch", 5, 4), ("give", 10, 1), ("take", 30, 1))}
                tf_data_private_threadpool/2 |{row(("i", 0, 16))}
                copies |{_async_row(0)}
                       |{_async_row(1)}
            """,
            GPUS[0]: f"""
                Stream #1(Compute) |{row(("gemm", 12, 24), ("r", 38, 6))}
                Stream #2(MemcpyH2D) |{row(("h", 2, 8))}
            """,
            GPUS[1]: f"Stream #1(Compute) |{row(('k', 12, 18))}",
        },
        names=names,
        stats=per_letter,
        plane_stats={gpu: {"device_vendor": "Nvidia", "compute_cap_major": 7} for gpu in GPUS},
        start_ns=start_ns,
    )


def _async_row(first: int) -> str:
    """Every other of the events that go on into the next step."""
    cells = ["."] * (STEP * STEPS + 20)
    for step in range(first, STEPS, 2):
        cells[step * STEP + 10 : step * STEP + 60] = "a" * 50
    return "".join(cells)


def _stats(kind: str, step: int) -> Stats:
    if kind == "train":
        return {"_r": 1, "step_num": step}
    if kind == "launch":
        return {"correlation_id": 100 + step}
    if kind == "gemm":
        return {"correlation_id": 100 + step, "kernel_details": KERNEL,
                "tf_op": "dense/MatMul:MatMul"}  # fmt: skip
    in_use = 2**20 * (step + 1 if kind == "give" else step)
    return {
        "allocator_name": "GPU_0_bfc",
        "bytes_reserved": 2**20,
        "bytes_allocated": in_use,
        "bytes_available": 2**24 - in_use,
        "peak_bytes_in_use": 2**20 * (step + 1),
        "fragmentation": 0.0,
        "allocation_bytes": 2**20,
        "requested_bytes": 2**20,
        "address": 4096 * step,
        "tf_op": "dense/MatMul",
    }


def hosts(logdir: Path) -> None:
    """Three hosts, each a millisecond after the one before."""
    for host in range(3):
        write_run(logdir, {f"worker-{host}": drawn(start_ns=10**18 + host * 10**6)}, "three_hosts")


def eight(logdir: Path) -> None:
    """Four steps of 50 µs: a thread launches on each of eight GPUs in turn, another waits."""
    gpus = [f"/device:GPU:{gpu}" for gpu in range(8)]
    launches = tuple(("l", 2 + 5 * gpu, 3) for gpu in range(8))
    planes = {gpu: f"""
        Stream #1(Compute) |{row(("k", 6 + 5 * at, 8))}
        Stream #2(MemcpyH2D) |{row(("h", 2, 2))}
        Stream #3(Nccl) |{row(("n", 46, 2))}
    """ for at, gpu in enumerate(gpus)}  # fmt: skip
    planes[HOST] = f"""
        python |{row(("train", 0, 48))}
               |{row(("m", 1, 44))}
               |{row(*launches)}
        waiting |{row(("i", 0, 40))}
    """
    names = {
        "l": "cuLaunchKernel",
        "k": "gemm_kernel",
        "h": "MemcpyH2D",
        "n": "ncclAllReduce",
        "m": "PjitFunction(step)",
        "i": "Iterator::Root",
        **{letter("train", step): "train" for step in range(STEPS)},
    }
    stats = {letter("train", step): _stats("train", step) for step in range(STEPS)}
    vendor: dict[str, Stats] = {gpu: {"device_vendor": "Nvidia"} for gpu in gpus}
    write_run(
        logdir, {"host0": draw(planes, names=names, stats=stats, plane_stats=vendor)}, "eight"
    )


def one(logdir: Path) -> None:
    """The drawn trace."""
    write_run(logdir, {"host0": drawn()}, "drawn")


def cut(logdir: Path) -> None:
    """The drawn trace, of which the end is missing."""
    whole = drawn()
    write_run(logdir, {"host0": whole[: len(whole) * 3 // 5]}, "cut")


def dropped(logdir: Path) -> None:
    """Two events, of which the recorder says that there were more."""
    stats = {GPUS[0]: {"dropped_traces": 1_200_000}}
    write_run(logdir, {"host0": draw({GPUS[0]: "Stream #1 |aa.bb"}, plane_stats=stats)}, "dropped")


def hostile(logdir: Path) -> None:
    """Names that are markup, or a megabyte long; negative and endless times; an empty line."""
    space = SpaceWriter([HOSTILE])
    plane = space.plane(HOST)
    line = plane.line(HOSTILE)
    for at in range(20):
        name = "long " + "x" * 10**6 if at % 2 else HOSTILE
        plane.event(line, name, at * 10**6, 8 * 10**5, {HOSTILE: HOSTILE})
    plane.event(line, "backwards", -(10**6), -5)
    plane.event(line, "endless", 30 * 10**6, 2**63 - 1)
    plane.line("nothing here")
    write_run(logdir, {"host0": space.bytes()}, "hostile_events")


def sparse(logdir: Path) -> None:
    """Two bursts of events, and two years of nothing between them."""
    space = SpaceWriter()
    plane = space.plane(HOST)
    for number, name, start_ns in ((1, "early", 10**18), (2, "late", 10**18 + 2 * YEAR_NS)):
        line = plane.line(f"burst {number}", start_ns=start_ns)
        for at in range(50):
            plane.event(line, name, start_ns * 1000 + at * 10**6, 6 * 10**5)
    write_run(logdir, {"host0": space.bytes()}, "sparse")


def dense(logdir: Path) -> None:
    """20,000 events of 80 ns in 2 ms, nothing for 1 ms, one event of 1 ms."""
    tiny = [("tiny", at * 100_000, 80_000) for at in range(20_000)]
    long = ("long", 3 * 10**9, 10**9)
    write_run(logdir, {"host0": listed({HOST: {"main": [*tiny, long]}})}, "dense")


def tracks(logdir: Path) -> None:
    """100,000 threads with three events each."""
    calls = (("outer", 0, 40), ("inner", 10, 20), ("other", 60, 30))
    threads = {
        f"thread {at}": [(name, (start + at % 50) * US, us * US) for name, start, us in calls]
        for at in range(100_000)
    }
    write_run(logdir, {"host0": listed({HOST: threads})}, "tracks")


def deep(logdir: Path) -> None:
    """Calls that are 1,500 deep, on one thread."""
    calls = [
        ("$deep.py:1 recurse", depth * 1000, (4000 - 2 * depth) * 1000) for depth in range(1500)
    ]
    write_run(logdir, {"host0": listed({HOST: {"main": calls}})}, "deep")


def empty(logdir: Path) -> None:
    """Runs without any event: "empty" has a thread on which nothing happened, "bare" no thread."""
    for run, threads in (("empty", "main |"), ("bare", "")):
        write_run(logdir, {"host0": draw({HOST: threads}, start_ns=10**18)}, run)


MAKERS: tuple[Callable[[Path], None], ...] = (
    one,
    hosts,
    eight,
    cut,
    dropped,
    hostile,
    sparse,
    dense,
    tracks,
    deep,
    empty,
)

if __name__ == "__main__":
    for make in MAKERS:
        make(Path(sys.argv[1]))
