"""The table of instructions: columns, order, shares, and what is not known."""

from typing import Any

import pytest
from builders.program_ops import peaks, program_ops
from helpers.tables import columns

from tbprof.advice.summaries import Summaries
from tbprof.analysis.devices.peaks import Peaks
from tbprof.analysis.programs.program_ops import NOT_IN_HLO, ProgramOps
from tbprof.tools.hlo_stats import build
from tbprof.tools.model.datatable import Table

GIB_PER_US = 2**30 / 1e6
PEAKS = peaks({"f16": 4_000, "f32": 400}, {"HBM": 2_147.483648})


def table(*hosts: ProgramOps, device: Peaks = PEAKS) -> Table:
    parts = {"program_ops": hosts, "peaks": [device] * len(hosts)}
    (found,) = build(Summaries(tuple("h" * len(hosts)), parts))
    return found


def test_the_whole_table():
    ops = program_ops(
        {
            "name": "dot.1", "us": 6, "occurrences": 2, "kernels": 4, "flops": 1_200_000,
            "bytes_accessed": 6 * 1024**2, "dtype": "f32", "opcode": "dot", "category": "dot",
            "result": "f32[8]{0}", "operands": "f32[8]{0}, f32[8]{0}", "scope": "jit(f)/dot",
            "source": "a.py:7", "stack": 0, "transcendentals": 5,
        },
        {
            "name": "call.2", "us": 2, "flops": -1, "bytes_accessed": -1, "opcode": "custom-call",
            "category": "custom-call", "dtype": "bf16", "is_computed": False,
            "scope": "jit(f)/remat/rematted_computation/x:Call",
            "result": "bf16[2]{0}, u8[4]{0}",
        },
        {"name": "copy", "us": 1, "program_id": "", "program": "", "digest": "", "opcode": "",
         "category": NOT_IN_HLO, "flops": -1, "bytes_accessed": -1, "is_computed": False},
        stacks=["g a.py:7\nmain a.py:9"],
        idle_ps=1_000_000,
    )  # fmt: skip
    shown = columns(table(ops))
    source = "<div class='source-info-cell' title='g a.py:7\nmain a.py:9'>a.py:7</div>"
    nothing: list[Any] = [None] * 3
    assert shown == {
        "rank": [1, 2, 3],
        "program_id": ["7", "7", ""],
        "category": ["dot", "custom-call", NOT_IN_HLO],
        "hlo_op_name": ["dot.1", "call.2", "copy"],
        "hlo_op_expression": [
            "%dot.1 = f32[8]{0} dot(f32[8]{0}, f32[8]{0})",
            "%call.2 = (bf16[2]{0}, u8[4]{0}) custom-call()",
            "copy",
        ],
        "tf_op_name": ["jit(f)/dot:", "jit(f)/remat/rematted_computation/x:Call", ""],
        "occurrences": [2, 1, 1],
        "total_time": [6, 2, 1],
        "avg_time": [3, 2, 1],
        "total_self_time": [6, 2, 1],
        "avg_self_time": [3, 2, 1],
        "total_self_time_percent": [60, 20, 10],
        "cumulative_total_self_time_percent": [60, 80, 90],
        "dma_stall_percent": nothing,
        "model_flop_rate": [200, None, None],
        "normalized_flop_rate": [200, None, None],
        "measured_memory_bw": [pytest.approx(976.5625), None, None],
        "hbm_bw": [pytest.approx(976.5625), None, None],
        "cmem_read_bw": nothing,
        "cmem_write_bw": nothing,
        "operational_intensity": [pytest.approx(1_200_000 / (6 * 1024**2)), None, None],
        "bound_by": ["Compute", "Unknown", "Unknown"],
        "hlo_rematerialization": ["No", "Yes", "No"],
        "outside_compilation": ["No"] * 3,
        "autotuned": ["No"] * 3,
        "source_info": [source, "", ""],
        "core_type": [""] * 3,
        "parent_op_name": [""] * 3,
        "vdd_energy": nothing,
        "program": ["jit_f", "jit_f", ""],
        "opcode": ["dot", "custom-call", ""],
        "dtype": ["f32", "bf16", "f32"],
        "source": ["a.py:7", "", ""],
        "kernels": [4, 1, 1],
        "span_time": [6, 2, 1],
        "transcendentals": [5, 0, 0],
        "flop_share": [0.5, None, None],
        "hbm_share": [pytest.approx(0.48828125), None, None],
        "efficiency": [0.5, None, None],
        "cost_note": [
            "",
            "nothing is known of what this custom call computes",
            "it belongs to no instruction of a program in the trace",
        ],
        "roof_note": [""] * 3,
        "replica_groups": [""] * 3,
        "is_computed": [True, False, False],
        "cause": [""] * 3,
        "could_save": nothing,
    }


def test_rows_are_in_the_order_of_self_time_name_and_program_whatever_the_order_of_hosts():
    one = program_ops(
        {"name": "b", "us": 2}, {"name": "a", "us": 2, "program_id": "9"}, {"name": "z", "us": 3}
    )
    two = program_ops({"name": "a", "us": 2, "program_id": "8"}, {"name": "z", "us": 3})
    for hosts in ((one, two), (two, one)):
        shown = columns(table(*hosts), "hlo_op_name", "program_id", "total_self_time")
        assert shown == {
            "hlo_op_name": ["z", "a", "a", "b"],
            "program_id": ["7", "8", "9", "7"],
            "total_self_time": [6, 2, 2, 2],
        }


def test_sparse_cores_follow_and_have_no_share_of_the_time():
    ops = program_ops(
        {"name": "gather", "us": 5, "core": "SparseCore"},
        {"name": "add", "us": 1, "core": "TensorCore", "dma_stall_ps": 250_000},
        device_type="TPU", sparse_cores=1, idle_ps=1_000_000, sparse_core_idle_ps=9_000_000,
    )  # fmt: skip
    shown = columns(table(ops))
    assert shown["hlo_op_name"] == ["add", "gather"]
    assert shown["core_type"] == ["TensorCore", "SparseCore"]
    assert shown["total_self_time_percent"] == [50, 0]
    assert shown["cumulative_total_self_time_percent"] == [50, 50]
    assert shown["dma_stall_percent"] == [0.25, None]


def test_work_that_runs_beside_other_ops_has_the_rate_of_its_own_time():
    row = {"name": "copy-done", "us": 1, "span_ps": 8_000_000, "bytes_accessed": 8 * 2**20}
    shown = columns(table(program_ops(row)))
    assert shown["hbm_bw"] == [pytest.approx(2**20 / GIB_PER_US)]
    assert (shown["total_time"], shown["span_time"]) == ([1], [8])


def test_device_work_without_any_instruction_is_no_table():
    assert len(table(program_ops({"name": "k", "us": 1, "category": NOT_IN_HLO}))) == 0
    assert len(table(program_ops())) == 0


def test_texts_of_traces_are_no_markup_and_are_bounded():
    ops = program_ops(
        {
            "name": "<b>'\"&", "us": 1, "source": "<script>alert('x')</script>:1", "stack": 0,
            "result": "f32[1]," * 1_000, "operands": "f32[1]," * 1_000,
        },
        stacks=["\n".join(f"'><img src=x onerror=alert({frame})> f.py:1" for frame in range(99))],
    )  # fmt: skip
    shown = columns(table(ops))
    (markup,) = shown["source_info"]
    assert markup.count("<") == 2  # our own element
    assert markup.count("'") == 4
    assert len(markup) < 2_000
    assert len(shown["hlo_op_expression"][0]) < 500
    assert shown["hlo_op_name"] == ["<b>'\"&"]
    assert "…" in markup


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ({"opcode": "while", "category": "while"}, "its parts have rows of their own"),
        ({"digest": ""}, "its program is not in the trace"),
        ({}, "its shapes do not say"),
    ],
)
def test_unknown_costs_have_a_reason(row: dict[str, Any], reason: str):
    ops = program_ops({"name": "x", "us": 1, "flops": -1, **row})
    assert columns(table(ops))["cost_note"][0].startswith(reason)
