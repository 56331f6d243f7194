"""Kernels in CUDA graphs: both tools' kernels, and what they say of their ops."""

from collections import defaultdict

import pytest
from helpers.payloads import Row, rows
from parity.oracle import Compare
from traces.every_trace import GPU_LOGDIR, GPU_RUNS

pytestmark = [pytest.mark.parity, pytest.mark.slow]

LAUNCH = ("kernel_name", "grid_dim", "block_dim", "registers_per_thread", "shmem_bytes")


@pytest.mark.parametrize("run", GPU_RUNS)
def test_kernels_are_those_of_xprof_and_graphs_have_ops(run: str, compare: Compare) -> None:
    trace = GPU_LOGDIR / "plugins" / "profile" / run / "gpu.xplane.pb"
    found = compare(trace.read_bytes())
    theirs, ours = rows(found.theirs["kernel_stats"]), rows(found.ours("kernel_stats"))

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
