"""What the instructions of a GPU's programs cost, beside xprof's `hlo_stats`."""

from pathlib import Path
from typing import Any

import pytest
from helpers.payloads import rows
from parity.oracle import Compare

from tbprof.analysis.costs.cost import Cost
from tbprof.analysis.costs.program_costs import ProgramCosts
from tbprof.analysis.hlo.hlo import Programs
from tbprof.xplane.reader import read_space

pytestmark = pytest.mark.parity

# (operations, bytes) in all executions, as xprof has them, beside our cost of one.
Shown = dict[str, tuple[float, float, int, Cost]]


@pytest.fixture(scope="module")
def shown(compare: Compare, amd_trace: Path) -> Shown:
    """By instruction of the program that ran five times."""
    answer = compare(amd_trace.read_bytes(), tools=("hlo_stats",)).theirs["hlo_stats"]
    module = Programs(read_space(amd_trace)).module(17, "jit_loss_fn")
    assert module is not None
    costs = ProgramCosts(module)
    found: dict[str, Any] = {}
    for row in rows(answer):
        cost = costs.of(row["hlo_op_name"])
        if cost is not None:
            time_us = row["total_time"]
            operations = row["model_flop_rate"] * time_us * 1e3
            moved = row["measured_memory_bw"] * 2**30 * time_us / 1e6
            found[row["hlo_op_name"]] = (operations, moved, int(row["occurrences"]), cost)
    return found


def test_products_and_their_bytes_are_those_of_xprof(shown: Shown):
    products = [values for name, values in shown.items() if name.startswith("gemm_fusion_dot")]
    assert len(products) == 5
    for operations, moved, executions, cost in products:
        assert executions == 5
        assert cost.all_flops * 5 == pytest.approx(operations, rel=1e-6)
        assert cost.bytes * 5 == pytest.approx(moved, rel=1e-6)


def test_elementwise_operations_count_once_their_bytes_are_those_of_xprof(shown: Shown):
    fusions = [values for name, values in shown.items() if "reduce_fusion" in name]
    assert len(fusions) >= 6
    for operations, moved, executions, cost in fusions:
        assert cost.all_flops * executions * 3 == pytest.approx(operations, rel=1e-5)
        assert cost.bytes * executions == pytest.approx(moved, rel=1e-5)


def test_xprof_knows_no_cost_of_custom_calls(shown: Shown):
    calls = [values for name, values in shown.items() if "attn" in name or "custom-call" in name]
    assert len(calls) == 5
    for operations, moved, _, cost in calls:
        assert (operations, moved) == (0, 0)
        assert cost.is_known
        assert cost.all_flops > 10**10
