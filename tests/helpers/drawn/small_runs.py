"""Small runs with and without GPUs, and what an engine answers of them."""

from pathlib import Path
from typing import Any

from traces import draw, write_run

from tbprof.engine.engine import Engine
from tbprof.storage.logdir import Logdir

OPS, KERNELS = "framework_op_stats", "kernel_stats"
# What needs no device, and what a GPU adds, in menu order.
ANYWHERE = ["overview_page", "input_pipeline_analyzer", OPS, "pod_viewer", "trace_viewer"]
ON_GPUS = [*ANYWHERE[:3], KERNELS, *ANYWHERE[3:]]
HOST, GPU = "/host:CPU", "/device:GPU:0"
STATS = {"k": {"kernel_details": "regs:8", "tf_op": "x/MatMul:MatMul"}}
CPU_TRACE = draw({HOST: "t |aaaa.bb"}, names={"a": "a:A", "b": "b:B"})
GPU_TRACE = draw(
    {HOST: "t |aaaa", GPU: "Stream #1 |kk"}, names={"a": "a:A", "k": "volta_h884gemm"}, stats=STATS
)
BROKEN = b"not a trace"


def one_run(tmp_path: Path, **hosts: bytes) -> Engine:
    """An engine on the only run of a logdir, "run"."""
    write_run(tmp_path, hosts)
    return Engine(Logdir(str(tmp_path)))


def cells(table: Any, column: str) -> list[Any]:
    at = [col["id"] for col in table["cols"]].index(column)
    return [row["c"][at]["v"] for row in table["rows"]]
