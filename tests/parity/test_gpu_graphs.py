"""Kernels in CUDA graphs: both tools' kernels, and what they say of their ops."""

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from helpers.payloads import content_of, rows
from parity.oracle import ask_xprof
from traces.every_trace import GPU_LOGDIR, GPU_RUNS

from tbprof.engine.engine import DataRequest, Engine
from tbprof.storage.logdir import Logdir

pytestmark = [pytest.mark.parity, pytest.mark.slow]

LAUNCH = ("kernel_name", "grid_dim", "block_dim", "registers_per_thread", "shmem_bytes")
Row = dict[str, Any]


@pytest.mark.parametrize("run", GPU_RUNS)
def test_kernels_are_those_of_xprof_and_graphs_have_ops(
    run: str, xprof_python: str, tmp_path: Path
) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    content = (GPU_LOGDIR / "plugins" / "profile" / run / "gpu.xplane.pb").read_bytes()
    theirs = rows(ask_xprof(xprof_python, folder, {"gpu": content})["kernel_stats"])
    answer = content_of(Engine(Logdir(str(GPU_LOGDIR))), DataRequest(run, "kernel_stats"))
    ours = rows(json.loads(answer))

    assert _times(ours) == _times(theirs)
    named = {row["op_name"] for row in theirs}
    has_graphs = run not in ("training_without_graphs", "products")
    assert ("XlaModule" in named) == has_graphs
    # Kernels of a graph that was recorded in part are not told apart.
    is_hidden = any(row["op_name"].startswith("command_buffer") for row in ours)
    assert is_hidden == (run == "unfinished")


def _times(kernels: list[Row]) -> dict[tuple[object, ...], list[object]]:
    """(launches, total, shortest, longest) of the kernels that were launched alike."""
    alike: dict[tuple[object, ...], list[Row]] = defaultdict(list)
    for row in kernels:
        alike[tuple(row[name] for name in LAUNCH)].append(row)
    return {
        key: [
            sum(row["occurrences"] for row in group),
            pytest.approx(sum(row["total_duration_us"] for row in group)),
            pytest.approx(min(row["min_duration_us"] for row in group)),
            pytest.approx(max(row["max_duration_us"] for row in group)),
        ]
        for key, group in alike.items()
    }
