"""Runs for the browser tests: `python make_traces.py LOGDIR RUN...`."""

import sys
from collections.abc import Callable
from pathlib import Path

from traces import draw, listed, write_run
from traces.planted_programs import planted_gpu

HOSTILE = "<img src=x onerror=window.hacked=1>/../\x00 <script>window.hacked=1</script>"
KERNEL = {"kernel_details": "regs:32 static_shared:0 dynamic_shared:512 grid:8,1,1 block:256,1,1"}


def gpu(names: dict[str, str]) -> bytes:
    """Two kernels of two ops, one on Tensor Cores, and a host op."""
    return draw(
        {
            "/device:GPU:0": "Stream #1(Compute) |aaaaaa.bbb..a",
            "/host:CPU": "main |cccc.cc",
        },
        names={
            "a": "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64",
            "b": "elementwise",
            "c": "dense/MatMul:MatMul",
            **names,
        },
        stats={
            "a": {**KERNEL, "tf_op": "dense/MatMul:MatMul"},
            "b": {**KERNEL, "tf_op": "dense/Relu:Relu"},
        },
        plane_stats={"/device:GPU:0": {"compute_cap_major": 9, "device_vendor": "Nvidia"}},
    )


def many(rows: int) -> bytes:
    """As many host ops of different names."""
    ops = [
        (f"scope_{row % 97}/op_{row}:Op{row % 13}", row * 10_000, 1_000 + row % 7)
        for row in range(rows)
    ]
    return listed({"/host:CPU": {"main": ops}})


def damaged() -> dict[str, bytes]:
    """Two hosts whose traces are whole, one whose end is missing, and one without a trace."""
    whole = gpu({})
    cut = whole[: len(whole) * 2 // 3]
    return {"h0": whole, "h1": whole, "h2": cut, "h3": b"this is not a trace at all"}


# What the hosts of each run have recorded.
RUNS: dict[str, Callable[[], dict[str, bytes]]] = {
    "hostile_ops": lambda: {"host0": gpu({"b": HOSTILE, "c": f"Iterator::{HOSTILE}"})},
    "damaged_hosts": damaged,
    "no_trace": lambda: {"host0": "not\N{REPLACEMENT CHARACTER} a trace".encode()},
    "many_ops": lambda: {"host0": many(100_000)},
    "small": lambda: {"host0": gpu({})},
    "programs": lambda: {"host0": planted_gpu("memory_bound")},
    "programs_without_steps": lambda: {"host0": planted_gpu("memory_bound", steps=0)},
    "no_files": dict,
}

if __name__ == "__main__":
    for chosen in sys.argv[2:]:
        write_run(Path(sys.argv[1]), RUNS[chosen](), chosen)
