"""The overview's tables of hosts with given steps."""

from collections.abc import Mapping, Sequence

import numpy as np
from builders.host_steps import host_steps
from traces import draw, space_of

from helpers.drawn.computed_parts import compute_parts
from helpers.tables import rows
from tbprof.advice.summaries import Summaries
from tbprof.analysis.steps.steps import Steps
from tbprof.analysis.vocabulary.phases import Phase
from tbprof.engine.requests import find_tool
from tbprof.tools.model.datatable import Table

HOST, GPU, TPU = "/host:CPU", "/device:GPU:0", "/device:TPU:0"
US = 10**6
Split = Mapping[Phase, int]


def steps_of(
    kind: str, *splits: Split, truncated: Sequence[int] = (), source: str = "markers"
) -> Steps:
    """Steps of one worker, one behind the other, split as given in µs."""
    count = len(splits)
    starts = np.cumsum([0, *(sum(split.values()) for split in splits)]).tolist()
    return host_steps(
        *((0, row, starts[row], split) for row, split in enumerate(splits)),
        kind=kind,
        workers=1,
        source=source if count else "none",
        note="One step per train.",
        epoch_ns=0,
        is_truncated=np.isin(np.arange(count), truncated),
        candidate_name=["train", "fit"],
        candidate_line=["main", "pool"],
        candidate_count=np.array([count, 3]),
        candidate_median_ps=np.array([5 * US, 7 * US]),
    )


def build(*hosts: tuple[bytes, Steps]) -> list[Table]:
    """The tables of hosts, each given by its trace and its steps."""
    overview = find_tool("overview_page")
    parts: dict[str, list[object]] = {name: [] for name in overview.parts}
    for trace, steps in hosts:
        space = space_of(trace)
        computed = {**compute_parts(space, *parts), "steps": steps}
        for name, found in parts.items():
            found.append(computed[name])
    names = tuple(f"h{index}" for index in range(len(hosts)))
    tables = overview.build(Summaries(names, parts))
    assert isinstance(tables, list)
    return tables


KERNEL = "grid:1,1,1 block:1,1,1"
GPU_TRACE = draw(
    {
        HOST: """
            main |aaaa......
                 |.bb
        """,
        GPU: "Stream #1 |mmmmrr..cn",
        "/device:GPU:1": "",
        "Task Environment": "",
    },
    names={"a": "model/MatMul:MatMul", "b": "Iterator::Root", "m": "volta_h884gemm", "r": "relu",
           "c": "MemcpyH2D", "n": "unnamed"},
    stats={
        "m": {"kernel_details": KERNEL, "tf_op": "gradient_tape/model/MatMul:MatMul",
              "flops": 8_000_000},
        "r": {"kernel_details": KERNEL, "tf_op": "model/Relu:Relu", "is_eager": 1},
        "n": {"kernel_details": KERNEL},
    },
    plane_stats={
        GPU: {"device_vendor": "Nvidia", "gpu_device_name": "Tesla V100",
              "compute_cap_major": 7, "compute_cap_minor": 0, "core_count": 80,
              "clock_rate": 1_530_000, "memory_bandwidth": 898_048_000_000,
              "memory_size": 16 * 2**30},
        "Task Environment": {"profile_start_time": 1_700_000_000 * 10**9,
                             "profile_stop_time": 1_700_000_000 * 10**9 + 12_000},
    },
    hostnames=["worker-7"],
)  # fmt: skip
GPU_STEPS = steps_of(
    "GPU",
    {Phase.COMPUTE_16: 40, Phase.COMPUTE_32: 20, Phase.INPUT: 30, Phase.OTHER: 10},
    {Phase.COMPUTE_16: 60, Phase.COMPUTE_32: 60, Phase.INPUT: 20},
    {Phase.OTHER: 1},
    truncated=[2],
)


def figures(*hosts: tuple[bytes, Steps]) -> dict[object, tuple[object, ...]]:
    """(value, unit, text, reason) by id."""
    return {row[0]: row[2:6] for row in rows(build(*hosts)[8])}
