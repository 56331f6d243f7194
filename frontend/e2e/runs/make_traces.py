"""Runs for the browser tests: `python make_traces.py LOGDIR RUN...`."""

import sys
from pathlib import Path

from traces import draw, listed
from traces.planted_programs import planted_gpu

HOSTILE = "<img src=x onerror=window.hacked=1>/../\x00 <script>window.hacked=1</script>"
KERNEL = {"kernel_details": "regs:32 static_shared:0 dynamic_shared:512 grid:8,1,1 block:256,1,1"}


def write(logdir: Path, run: str, host: str, content: bytes) -> None:
    """Puts a trace where a recorder would."""
    folder = logdir / "plugins" / "profile" / run
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{host}.xplane.pb").write_bytes(content)


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


def main(run: str, logdir: Path) -> None:
    """Writes the traces of one run."""
    if run == "hostile_ops":
        write(logdir, run, "host0", gpu({"b": HOSTILE, "c": f"Iterator::{HOSTILE}"}))
    elif run == "damaged_hosts":
        write(logdir, run, "h0", gpu({}))
        write(logdir, run, "h1", gpu({}))
        whole = gpu({})
        write(logdir, run, "h2", whole[: len(whole) * 2 // 3])
        write(logdir, run, "h3", b"this is not a trace at all")
    elif run == "no_trace":
        write(logdir, run, "host0", "not\N{REPLACEMENT CHARACTER} a trace".encode())
    elif run == "many_ops":
        write(logdir, run, "host0", many(100_000))
    elif run == "small":
        write(logdir, run, "host0", gpu({}))
    elif run == "programs":
        write(logdir, run, "host0", planted_gpu("memory_bound"))
    elif run == "programs_without_steps":
        write(logdir, run, "host0", planted_gpu("memory_bound", steps=0))
    elif run == "no_files":
        (logdir / "plugins" / "profile" / run).mkdir(parents=True)
    else:
        raise SystemExit(f"unknown run {run}")


if __name__ == "__main__":
    for chosen in sys.argv[2:]:
        main(chosen, Path(sys.argv[1]))
