"""The tables of the tf.data page, of pipelines made by hand."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from builders.tf_data_calls import ROOT, Made, Node, chain
from traces import drawn_space

from tbprof.advice.summaries import Summaries
from tbprof.analysis.devices.devices import Devices
from tbprof.analysis.hlo.hlo import Programs
from tbprof.analysis.input.input_ops import InputOps, find_input_ops
from tbprof.analysis.input.tf_data import TfData
from tbprof.tools import tf_data_bottleneck_analysis as tool
from tbprof.tools.model.datatable import Table

GRAPH, SUMMARY, BOTTLENECKS, ADVICE, EXECUTIONS = range(5)
BATCHED = chain("BatchV2", "Shuffle", "Range")


def inputs() -> InputOps:
    space = drawn_space({"/host:CPU": "t |a"})
    return find_input_ops(space, Programs(space))


def shown(
    *hosts: TfData, params: Mapping[str, str] | None = None, gpus: int = 0
) -> tuple[Table, ...]:
    names = tuple(f"h{number}" for number in range(len(hosts)))
    parts: dict[str, list[Any]] = {
        "tf_data": list(hosts),
        "input_ops": [inputs() for _ in hosts],
        "devices": [Devices(gpus, 0, "GPU" if gpus else "CPU", np.nan, np.nan) for _ in hosts],
    }
    return tuple(tool.build(Summaries(names, parts, params or {})))


def call(total: int, own: int, shuffled: int, calls: int = 2) -> list[Node]:
    """A call of Root <- BatchV2 <- Shuffle <- Range."""
    root, batch, shuffle, source = BATCHED
    return [
        Node(root, total, 10),
        Node(batch, total - 10, own),
        Node(shuffle, total - 10 - own, shuffled, calls),
        Node(source, total - 10 - own - shuffled, total - 10 - own - shuffled, 9),
    ]


PIPELINE = Made(
    [(0, call(1000, 100, 700)), (2000, call(400, 300, 50)), (5000, call(40, 5, 5))],
    parameters={BATCHED[2]: {"buffer_size": 100}},
)


def fast(start: int = 0) -> Made:
    return Made([(start + at, [Node(ROOT, 20, 5), Node(f"{ROOT}::Prefetch", 15, 15)])
                 for at in range(0, 10_000, 1000)])  # fmt: skip


DEVICE = Made(
    [(0, [Node("Iterator::Prefetch", 7000, 300),
          Node("Iterator::Prefetch::Generator", 6700, 6700)])],
    is_device=True,
    source=0,
)  # fmt: skip
