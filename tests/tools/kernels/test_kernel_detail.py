"""What an expanded kernel shows: sums over its calls, by hand and by brute force."""

import math
import random
import statistics
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.drawn.computed_parts import compute_parts
from helpers.tables import columns
from traces import drawn_space

from tbprof.advice.summaries import Summaries
from tbprof.events.space import Space
from tbprof.tools.kernel_stats import build
from tbprof.tools.kernels.kernel_detail import PARTS, ChosenKernel, describe_calls
from tbprof.xplane.reader import read_space

GPU, GPU1, HOST = "/device:GPU:0", "/device:GPU:1", "/host:CPU"
US = 1_000_000
NOTHING = {"calls": 0, "total_ps": None, "median_ps": None, "percentile_95_ps": None}


def described(*spaces: Space, kernel: str = "k", **chosen: str) -> Any:
    found = [compute_parts(space, *PARTS) for space in spaces]
    parts = {name: [one[name] for one in found] for name in PARTS}
    hosts = tuple(f"h{number}" for number in range(len(spaces)))
    return describe_calls(Summaries(hosts, parts), ChosenKernel(kernel, **chosen))


def trace() -> Space:
    """Launches of k on two streams of a GPU and on another GPU, one by another op and shape."""
    kernel = {"kernel_details": "regs:32 shm:0 grid:8,1,1 block:64,1,1", "tf_op": "x:X"}
    other = {"kernel_details": "grid:4,1,1", "tf_op": "y:Y"}
    return drawn_space(
        {
            HOST: "python |LL.M.N",
            GPU: """
                Stream #1 |..aa...bbbb
                Stream #2 |.....c
            """,
            GPU1: "Stream #1 |......dd",
        },
        names=dict.fromkeys("abcd", "k"),
        stats={
            "L": {"correlation_id": 1}, "M": {"correlation_id": 2}, "N": {"correlation_id": 3},
            "a": kernel | {"correlation_id": 1}, "b": kernel | {"correlation_id": 2},
            "c": other | {"correlation_id": 9}, "d": kernel | {"correlation_id": 3},
        },
    )  # fmt: skip


def test_everything_about_a_drawn_kernel() -> None:
    found = described(trace())
    # a, b, c, d last 2, 4, 1 and 2 µs: mean 2.25.
    squares = (0.25**2 + 1.75**2 + 1.25**2 + 0.25**2) / 4
    assert found["durations"] == {
        "calls": 4,
        "total_ps": 9 * US,
        "median_ps": 2 * US,
        "percentile_95_ps": 4 * US,
        "deviation_ps": pytest.approx(math.sqrt(squares) * US),
        "min_ps": US,
        "max_ps": 4 * US,
    }
    # c: 4 to 5, b: 6 to 7; a and d are the first of their GPUs.
    assert found["idle"] == {
        "calls": 2, "total_ps": 2 * US, "median_ps": US, "percentile_95_ps": US,
    }  # fmt: skip
    assert found["pause"] == {
        "calls": 1, "total_ps": 3 * US, "median_ps": 3 * US, "percentile_95_ps": 3 * US,
    }  # fmt: skip
    # a: launched at 0, b at 3, d at 5; the launch of c was not recorded.
    assert found["latency"] == {
        "calls": 3, "total_ps": 7 * US, "median_ps": 2 * US, "percentile_95_ps": 4 * US,
    }  # fmt: skip
    assert found["queue"] == {
        "calls": 3, "total_ps": 3 * US, "median_ps": 0, "percentile_95_ps": 3 * US,
    }  # fmt: skip
    assert found["unlinked"] == {"no_id": 0, "no_launch": 1, "early": 0, "follows": 0}
    columns = ("device", "stream", "calls", "total_ps", "median_ps", "idle_ps")
    assert [tuple(stream[name] for name in columns) for stream in found["streams"]] == [
        ("GPU:0", "Stream #1", 2, 6 * US, 3 * US, US),
        ("GPU:1", "Stream #1", 1, 2 * US, 2 * US, 0),
        ("GPU:0", "Stream #2", 1, US, US, US),
    ]


def test_a_row_of_the_table_is_chosen_by_op_and_shape() -> None:
    count = {
        (op, launch): described(trace(), op=op, shape=launch)["durations"]["calls"]
        for op in ("x", "y", "")
        for launch in ("8,1,1/64,1,1/32/0", "4,1,1/1,1,1//")
    }
    assert [key for key, calls in count.items() if calls] == [
        ("x", "8,1,1/64,1,1/32/0"),
        ("y", "4,1,1/1,1,1//"),
    ]
    assert described(trace(), op="x")["durations"]["calls"] == 3


def test_rows_that_differ_in_tensor_cores_alone_have_calls_of_their_own() -> None:
    """One kernel, op and launch shape on two GPUs, of which only the second has Tensor Cores."""
    gemm = "volta_h884gemm_128x128"
    kernel = {"kernel_details": "regs:8 grid:2,1,1", "tf_op": "x:MatMul"}
    old, new = (
        drawn_space(
            {GPU: f"Stream #1 |{cells}"},
            names={"k": gemm},
            stats={"k": kernel},
            plane_stats={GPU: {"compute_cap_major": major, "compute_cap_minor": 0}},
        )
        for cells, major in (("kkk.kkk", 6), ("k", 7))
    )  # fmt: skip
    parts = [compute_parts(space, "kernels", "peaks") for space in (old, new)]
    by_name = {name: [part[name] for part in parts] for name in ("kernels", "peaks")}
    (table,) = build(Summaries(("old", "new"), by_name))
    found = columns(table, "tensor_core_use", "occurrences")
    assert found == {"tensor_core_use": ["no", "yes"], "occurrences": [2, 1]}
    assert [
        described(old, new, kernel=gemm, op="x", use=use)["durations"]["calls"]
        for use in found["tensor_core_use"]
    ] == found["occurrences"]
    both = {"eligible": "true", "copy": ""}
    assert described(old, new, kernel=gemm, **both)["durations"]["calls"] == 3
    assert described(old, new, kernel=gemm, eligible="false")["durations"]["calls"] == 0
    assert described(old, new, kernel=gemm, copy="MemcpyDToD")["durations"]["calls"] == 0


def test_hosts_are_joined_and_an_unknown_kernel_has_no_calls() -> None:
    both = described(trace(), trace())
    assert (both["durations"]["calls"], both["idle"]["total_ps"]) == (8, 4 * US)
    assert [stream["host"] for stream in both["streams"]][:2] == ["h0", "h1"]
    nothing = described(trace(), kernel="other")
    assert nothing["idle"] == nothing["latency"] == NOTHING
    assert (nothing["histogram"]["calls"], nothing["streams"]) == ([], [])


def test_equal_durations_are_one_bin() -> None:
    histogram = described(drawn_space(
        {GPU: "Stream #1 |k.k"}, stats={"k": {"kernel_details": "regs:1"}}
    ))["histogram"]  # fmt: skip
    assert histogram == {"is_logarithmic": False, "edges_ps": [US, US], "calls": [2]}


@pytest.mark.parametrize("seed", range(20))
def test_summaries_are_those_of_brute_force(seed: int) -> None:
    chance = random.Random(seed)
    longest = chance.choice([2, 9])
    lengths = [chance.randint(1, longest) for _ in range(chance.randint(1, 60))]
    cells = ".".join("k" * length for length in lengths)
    space = drawn_space(
        {GPU: f"Stream #1 |{cells}"}, stats={"k": {"kernel_details": "regs:1"}}
    )  # fmt: skip
    found = described(space)
    durations, histogram = found["durations"], found["histogram"]
    times = [length * US for length in lengths]
    assert durations["median_ps"] == statistics.median(times)
    assert durations["deviation_ps"] == pytest.approx(statistics.pstdev(times))
    least = durations["percentile_95_ps"]
    assert sum(time <= least for time in times) >= 0.95 * len(times)
    assert sum(time < least for time in times) < 0.95 * len(times)
    edges = histogram["edges_ps"]
    assert histogram["is_logarithmic"] == (max(times) > 4 * min(times))
    assert (edges[0], edges[-1]) == (min(times), max(times))
    last = len(edges) - 2
    assert histogram["calls"] == [
        sum(low <= time < high or (at == last and time == high) for time in times)
        for at, (low, high) in enumerate(pairwise(edges))
    ]


def test_the_kernel_of_the_gpu_trace_that_fills_random_numbers(gpu_trace: Path) -> None:
    """Figures that were counted from the listed events of the file."""
    space = read_space(gpu_trace)
    name = "FillPhiloxRandomKernelLaunch"
    starts: list[int] = []
    idle, kernels = 0, 0
    full = ""
    for plane in space.planes:
        if not plane.name.startswith("/device:GPU"):
            continue
        until = None
        events = plane.events()
        recorded = events.lines.id[events.line] >= 0
        for index in np.lexsort((np.arange(len(events)), events.start_ps)).tolist():
            if not recorded[index]:
                continue
            start, end = (
                int(events.start_ps[index]),
                int(events.start_ps[index] + events.duration_ps[index]),
            )
            (text,) = plane.strings.take([int(plane.types.name[events.type[index]])])
            if name in text:
                full, kernels = text, kernels + 1
                starts.append(start)
                idle += max(0, start - until) if until is not None else 0
            until = end if until is None else max(until, end)
    found = described(space, kernel=full)
    assert (found["durations"]["calls"], found["idle"]["total_ps"]) == (kernels, idle)
    assert (kernels, idle) == (194, 27_339_630_000)
