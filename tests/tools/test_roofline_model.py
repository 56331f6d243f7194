"""The records of the roofline: all programs together, each instruction, and the peaks."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from builders.program_ops import peaks, program_ops
from helpers.overview_tables import steps_of
from helpers.tables import columns, ids

from tbprof.advice.summaries import Summaries
from tbprof.analysis.devices.devices import Devices
from tbprof.analysis.devices.peaks import Peaks
from tbprof.analysis.programs.program_ops import NOT_IN_HLO, ProgramOps
from tbprof.analysis.steps.step_ops import StepOps
from tbprof.analysis.vocabulary.phases import Phase
from tbprof.base.errors import BadRequest
from tbprof.engine.requests import find_tool
from tbprof.tools.model.datatable import Table
from tbprof.tools.roofline_model import build, parts_for

GIBI = 2**30 / 1e9
PEAKS = peaks({"f16": 100, "f32": 10}, {"HBM": 50})
# 9 µs of ops in 10 µs: 2 µs of an infeed; one op of which nothing is known.
OPS = program_ops(
    {"name": "dot", "us": 4, "occurrences": 2, "flops": 200_000, "bytes_accessed": 40_000,
     "dtype": "bf16", "is_product": True},
    {"name": "add", "us": 2, "flops": 4_000, "bytes_accessed": 90_000, "program_id": "8",
     "program": "jit_g"},
    {"name": "feed", "us": 2, "category": "infeed", "opcode": "infeed", "bytes_accessed": 10_000},
    {"name": "call", "us": 1, "flops": -1, "bytes_accessed": -1, "opcode": "custom-call"},
    idle_ps=1_000_000,
)  # fmt: skip
# Two whole steps of 5 and 8 µs, and the beginning of a third: `dot` ran in each of the first two,
# `add` in the second, `call` in the third.
STEPS = steps_of(
    "GPU", {Phase.COMPUTE_16: 5}, {Phase.COMPUTE_16: 8}, {Phase.OTHER: 1}, truncated=[2]
)
RAN = StepOps(np.array([0, 1, 1, 2]), np.array([0, 0, 1, 3]), np.array([1, 1, 1, 1]))


def tables(
    ops: ProgramOps = OPS, device: Peaks = PEAKS, params: Mapping[str, str] | None = None
) -> tuple[Table, Table, Table]:
    all_parts: dict[str, list[object]] = {
        "program_ops": [ops],
        "peaks": [device],
        "devices": [Devices(8, 0, "GPU X", device.most_gflops, device.hbm_gbytes)],
        "steps": [STEPS],
        "step_ops": [RAN],
    }
    parts = {name: all_parts[name] for name in parts_for(params or {})}
    records, diagnostics, roofs = build(Summaries(("h",), parts, params or {}))
    return records, diagnostics, roofs


def records(**params: str) -> dict[str, list[Any]]:
    return columns(tables(params=params)[0])


def test_the_first_record_is_of_all_programs_together():
    found = {key: values[0] for key, values in records(feeds="1").items()}
    assert found["step"] == "Total"
    assert (found["rank"], found["category"], found["operation"]) == (0, "Program", "Program")
    assert (found["occurrences"], found["total_time"], found["avg_time"]) == (1, 10, 10)
    assert found["total_self_time"] is None
    # 204,000 operations and 140,000 bytes in 10 µs.
    assert found["measured_flop_rate"] == pytest.approx(20.4)
    assert found["hbm_bw"] == pytest.approx(14 / GIBI)
    assert found["operational_intensity"] == pytest.approx(204 / 140)
    # At their peaks, the operations take 2 µs and 0.4 µs, the bytes 2.8 µs.
    assert found["compute_efficiency"] == pytest.approx(0.24)
    assert found["max_mem_bw_utilization"] == pytest.approx(0.28)
    assert (found["bound_by"], found["roofline_efficiency"]) == ("HBM", pytest.approx(0.28))
    assert found["optimal_flop_rate"] == pytest.approx(20.4 / 0.28)
    assert found["total_time_in_percentage"] == 1
    assert found["unknown_time"] == 1
    assert (found["include_infeed_outfeed"], found["hlo_module_id"]) == (True, "0")


def test_instructions_follow_by_self_time():
    found = records(feeds="1")
    assert found["operation"][1:] == ["dot", "add", "feed", "call"]
    assert found["rank"] == [0, 1, 2, 3, 4]
    assert found["total_self_time_percent"][1:] == pytest.approx([0.4, 0.2, 0.2, 0.1])
    assert found["cumulative_total_self_time_percent"][1:] == pytest.approx([0.4, 0.6, 0.8, 0.9])
    assert found["measured_flop_rate"][1:] == [50, 2, 0, None]
    assert found["roof"][1:] == ["f16", "f32", "f32", "f32"]
    assert found["compute_efficiency"][1:] == [0.5, 0.2, 0, None]
    assert found["max_mem_bw_utilization"][1:] == pytest.approx([0.2, 0.9, 0.1, None])
    assert found["bound_by"][1:] == ["Compute", "HBM", "HBM", "Unknown"]
    assert found["optimal_flop_rate"][1:] == pytest.approx([100, 2 / 0.9, 0, None])
    assert found["cost_note"][4] == "nothing is known of what this custom call computes"


def test_records_come_with_and_without_feeds_whose_time_is_no_time_then():
    both = records()
    assert both["include_infeed_outfeed"] == [True] * 5 + [False] * 4
    assert both["operation"][5:] == ["Program", "dot", "add", "call"]
    assert both["total_time"][5] == 8
    assert both["measured_flop_rate"][5] == pytest.approx(204 / 8)
    assert both["total_self_time_percent"][6] == 0.5
    assert records(feeds="0") == {key: values[5:] for key, values in both.items()}


def test_programs_are_the_sums_of_their_instructions():
    found = records(per="program", feeds="1")
    assert found["operation"] == ["Program", "jit_f(7)", "jit_g(8)"]
    assert found["total_self_time"] == [None, 7, 2]
    assert found["measured_flop_rate"] == pytest.approx([20.4, 200 / 7, 2])
    assert found["unknown_time"] == [1, 1, 0]
    assert found["hlo_module_id"] == ["0", "7", "8"]
    everything = records(feeds="1")
    assert {key: values[0] for key, values in found.items()} == {
        key: values[0] for key, values in everything.items()
    }


@pytest.mark.parametrize(("is_known", "executions"), [(True, 3), (False, 21)])
def test_a_program_ran_as_often_as_what_is_outside_of_its_loops(is_known, executions):
    ops = program_ops(
        {"name": "while", "us": 9, "has_inner": True, "occurrences": 3, "is_entry": is_known},
        {"name": "body", "us": 8, "occurrences": 21},
    )
    cells = columns(tables(ops, params={"feeds": "1", "per": "program"})[0])
    assert cells["occurrences"] == [1, executions]


def test_loops_count_for_what_they_ran_themselves():
    ops = program_ops(
        {"name": "while", "us": 9, "self_ps": 1_000_000, "flops": 80_000, "has_inner": True},
        {"name": "body", "us": 8, "flops": 80_000, "bytes_accessed": 8_000},
    )
    cells = columns(tables(ops, params={"feeds": "1"})[0])
    assert cells["total_time"] == [9, 8, 9]
    assert cells["measured_flop_rate"][0] == pytest.approx(80 / 9)
    by_program = columns(tables(ops, params={"feeds": "1", "per": "program"})[0])
    assert by_program["total_self_time"] == [None, 9]
    assert by_program["measured_flop_rate"] == pytest.approx([80 / 9] * 2)


def test_time_per_core_counts_devices_that_did_something():
    cells = columns(tables(program_ops({"name": "a", "us": 4}, devices=2))[0])
    assert cells["total_time_per_core"][:2] == [2, 2]


def test_there_is_no_limit_of_rows():
    ops = program_ops(*({"name": f"op.{row}", "us": 1} for row in range(1_500)))
    cells = columns(tables(ops, params={"feeds": "1"})[0])
    assert len(cells["operation"]) == 1_501
    assert sum(cells["total_self_time"][1:]) == 1_500 == cells["total_time"][0]


def test_columns_and_properties_are_those_that_scripts_know_on_each_device():
    gpu, tpu = tables(), tables(program_ops({"name": "a", "us": 1}, device_type="TPU"))
    assert {"dma_stall_percent", "cmem_read_bw", "vmem_read_bw"} & set(ids(gpu[0])) == set()
    assert {"dma_stall_percent", "cmem_read_bw", "vmem_read_bw"} <= set(ids(tpu[0]))
    assert gpu[0].column("vmem_write_bw").label == "SHM/L1 BW (GiB/s)"
    assert gpu[0].properties == {
        "device_type": "GPU X", "peak_flop_rate": "100", "peak_hbm_bw": "46.5661",
        "hbm_ridge_point": "2", "peak_vmem_write_bw": "0", "vmem_write_ridge_point": "0",
        "program_device": "GPU", "feed_ops": "1",
    }  # fmt: skip
    assert tpu[0].properties["megacore"] == "0"


def test_peaks_are_listed_with_their_sources():
    _, diagnostics, roofs = tables()
    assert columns(roofs) == {
        "kind": ["compute", "compute", "memory"],
        "name": ["f16", "f32", "HBM"],
        "peak": [100, 10, 50],
        "source": ["table", "table", "recorded"],
    }
    assert columns(diagnostics)["severity"] == ["WARNING"]


def test_what_is_unknown_of_the_device_is_unknown_of_its_ops():
    cells = columns(tables(device=peaks(), params={"feeds": "1"})[0])
    assert cells["bound_by"] == ["Unknown"] * 5
    for name in ("roofline_efficiency", "compute_efficiency", "optimal_flop_rate"):
        assert cells[name] == [None] * 5
    assert cells["measured_flop_rate"][0] == pytest.approx(20.4)


@pytest.mark.parametrize("params", [{"per": "x" * 99}, {"feeds": "yes"}])
def test_choices_that_there_are_not_are_said_to_be(params: dict[str, str]):
    with pytest.raises(BadRequest, match=r"(per|feeds) cannot be"):
        tables(params=params)


def test_without_programs_there_is_nothing_to_show():
    nothing = tables(program_ops({"name": "k", "us": 1, "category": NOT_IN_HLO}))
    assert [len(table) for table in nothing] == [0, 0, 0]


def test_steps_have_records_of_what_ran_in_them():
    found = records(per="step")
    assert found["rank"] == [0, 1, 2]
    assert found["category"] == ["Program", "Step", "Step"]
    assert found["step"][0] == "Average"
    assert found["step"][1:] == found["operation"][1:] == STEPS.label[:2]
    assert found["include_infeed_outfeed"] == [True] * 3
    assert found["total_time"] == [6.5, 5, 8]
    assert found["total_self_time_percent"] == [None, *(pytest.approx(us / 13) for us in (5, 8))]
    # `dot` takes 100,000 operations and 20,000 bytes, `add` 4,000 and 90,000.
    flops, bytes_ = np.array([102_000, 100_000, 104_000]), np.array([65_000, 20_000, 110_000])
    time_ns = np.array([6500, 5000, 8000])
    assert found["measured_flop_rate"] == pytest.approx((flops / time_ns).tolist())
    assert found["hbm_bw"] == pytest.approx((bytes_ / time_ns / GIBI).tolist())
    # At their peaks the operations take 1 and 0.4 µs, the bytes 0.4 and 1.8.
    assert found["compute_efficiency"] == pytest.approx([1.2 / 6.5, 1 / 5, 1.4 / 8])
    assert found["max_mem_bw_utilization"] == pytest.approx([1.3 / 6.5, 0.4 / 5, 2.2 / 8])
    assert found["bound_by"] == ["HBM", "Compute", "HBM"]
    assert found["unknown_time"] == [None] * 3


def test_steps_of_hosts_add_up():
    parts: dict[str, list[object]] = {
        "program_ops": [OPS, OPS], "peaks": [PEAKS, PEAKS], "steps": [STEPS, STEPS],
        "step_ops": [RAN, RAN],
        "devices": [Devices(8, 0, "GPU X", PEAKS.most_gflops, PEAKS.hbm_gbytes)] * 2,
    }  # fmt: skip
    both = columns(build(Summaries(("h", "i"), parts, {"per": "step"}))[0])
    assert both["total_time"] == [13, 10, 16]
    assert both["measured_flop_rate"] == records(per="step")["measured_flop_rate"]
    assert both["total_time_per_core"] == [6.5, 5, 8]


def test_steps_that_mostly_copy_to_the_host_are_bound_by_their_link():
    copy = {"opcode": "copy-done", "result": "f32[8]{0:S(5)}", "bytes_accessed": 1_000}
    ops = program_ops(
        {"name": "copy-done", "us": 8, "occurrences": 2, **copy},
        {"name": "add", "us": 2, "bytes_accessed": 90_000},
    )
    ran = StepOps(np.array([0, 1, 1]), np.array([0, 0, 1]), np.array([1, 1, 1]))
    parts: dict[str, list[object]] = {
        "program_ops": [ops], "peaks": [PEAKS], "steps": [STEPS], "step_ops": [ran],
        "devices": [Devices(8, 0, "GPU X", PEAKS.most_gflops, PEAKS.hbm_gbytes)],
    }  # fmt: skip
    # Of the first step 4 of 5 µs, of the second 4 of 8.
    cells = columns(build(Summaries(("h",), parts, {"per": "step"}))[0])
    assert cells["bound_by"] == ["HBM", "Host link", "HBM"]


def test_without_complete_steps_there_are_no_records_of_them():
    _, diagnostics, _ = tables(params={"per": "step"})
    assert columns(diagnostics)["message"][0].startswith("The records cover steps")
    with pytest.raises(BadRequest, match="steps include"):
        tables(params={"per": "step", "feeds": "0"})
    parts: dict[str, list[object]] = {
        "program_ops": [OPS], "peaks": [PEAKS], "steps": [steps_of("GPU")],
        "step_ops": [StepOps(*np.zeros((3, 0), np.int64))],
        "devices": [Devices(8, 0, "GPU X", PEAKS.most_gflops, PEAKS.hbm_gbytes)],
    }  # fmt: skip
    found, diagnostics, _ = build(Summaries(("h",), parts, {"per": "step"}))
    assert (len(found), found.properties["feed_ops"]) == (0, "1")
    assert columns(diagnostics)["message"] == ["No step was recorded completely."]


def test_only_records_of_steps_need_steps():
    tool = find_tool("roofline_model")
    of_steps = set(tool.parts) - set(tool.parts_for({}))
    assert of_steps == {"steps", "step_ops"}
    assert tool.parts_for({"per": "op"}) == tool.parts_for({"per": "program"}) == tool.parts_for({})
    assert tool.parts_for({"per": "step"}) == tool.parts
