"""Recordings of a GPU, beside what their programs measured: see `tests/data/README.md`."""

import json
from typing import Any

import pytest
from helpers.payloads import document_of
from helpers.promises.all_pages import PARTS
from helpers.tables import records
from traces.every_trace import GPU_LOGDIR

from tbprof.engine.engine import DataRequest, Engine
from tbprof.storage.logdir import Logdir

TRAINING = ("training", "training_without_graphs")
Row = dict[str, Any]


@pytest.fixture(scope="module")
def engine() -> Engine:
    return Engine(Logdir(str(GPU_LOGDIR)))


def truth(run: str) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((GPU_LOGDIR / f"{run}.json").read_text(encoding="utf-8"))
    return content


def rows(engine: Engine, run: str, tool: str, table: int = 0) -> list[Row]:
    return records(engine.tables(DataRequest(run, tool))[table])


@pytest.mark.parametrize("run", TRAINING)
def test_steps_are_as_long_as_the_program_saw_them(engine: Engine, run: str):
    steps = rows(engine, run, "overview_page", 1)
    measured = truth(run)["steps_ms"]
    assert [step["stepnum"] for step in steps] == [f"train {number}" for number in range(6)]
    # Reading the allocator's statistics is the end of the last step, outside of its annotation.
    times = [step["stepTimeMs"] for step in steps]
    assert times == pytest.approx(measured, abs=0.15)
    for step in steps:
        assert sum(step[part] for part in PARTS) == pytest.approx(step["stepTimeMs"])


def test_kernels_in_graphs_belong_to_the_instructions_that_ran_without_graphs(engine: Engine):
    with_graphs, without = (
        {row["hlo_op_name"]: row for row in rows(engine, run, "hlo_stats")} for run in TRAINING
    )
    buffer = with_graphs.pop("command_buffer_3")
    # Nothing names the memset before a product.
    assert buffer["total_time"] < 6
    assert with_graphs.keys() == without.keys()
    for name, row in with_graphs.items():
        twin = without[name]
        for column in ("occurrences", "program", "tf_op_name", "hlo_op_expression", "source_info"):
            assert row[column] == twin[column]
        if row["total_time"] > 100:
            assert row["total_time"] == pytest.approx(twin["total_time"], rel=0.05)
    total = sum(row["total_time"] for row in with_graphs.values())
    assert total == pytest.approx(sum(row["total_time"] for row in without.values()), rel=0.02)


def test_kernels_and_ops_in_graphs_have_the_names_of_the_program(engine: Engine):
    for tool, table, column in (
        ("kernel_stats", 0, "op_name"),
        ("framework_op_stats", 0, "operation"),
    ):
        with_graphs, without = (
            {row[column] for row in rows(engine, run, tool, table)} for run in TRAINING
        )
        # An instruction without an op has the name of the function, which graphs do not record.
        assert with_graphs - without - {"command_buffer_3"} == {"input_transpose_fusion"}
        assert without - with_graphs == {"jit(train_step)"}


@pytest.mark.parametrize("run", TRAINING)
def test_products_in_full_precision_are_found(engine: Engine, run: str):
    findings = {row["id"]: row for row in rows(engine, run, "overview_page", 7)}
    assert "no_mixed_precision" in findings
    assert "command_buffers" not in findings
    has_graphs = run == "training"
    assert ("command buffers" in findings["kernel_launch"]["action"]) != has_graphs
    kernels = [
        row for row in rows(engine, run, "kernel_stats") if "single" in row["op_name"]
        and row["total_duration_us"] > 500
    ]  # fmt: skip
    assert [row["occurrences"] for row in kernels] == [6, 6, 6]
    for row in kernels:
        assert row["is_op_tensor_core_eligible"]
        assert not row["is_kernel_using_tensor_core"]


@pytest.mark.parametrize("run", TRAINING)
def test_memory_is_what_the_allocator_said_after_each_step(engine: Engine, run: str):
    profile = document_of(engine, run, "memory_profile")
    last: dict[str, tuple[int, str]] = {}
    allocator = profile["memoryProfilePerAllocator"]["GPU_0_bfc"]
    for snapshot in allocator["sampledTimelineSnapshots"]:
        step = snapshot["activityMetadata"]["stepId"]
        at = int(snapshot["timeOffsetPs"])
        if at >= last.get(step, (0, ""))[0]:
            last[step] = at, snapshot["aggregationStats"]["heapAllocatedBytes"]
    held = truth(run)["bytes_in_use"]
    assert [int(last[str(step)][1]) for step in range(6)] == held


@pytest.mark.parametrize("run", TRAINING)
def test_copies_are_those_of_the_images(engine: Engine, run: str):
    copies = [row for row in rows(engine, run, "hlo_stats") if row["hlo_op_name"] == "MemcpyH2D"]
    assert [row["occurrences"] for row in copies] == [6]
    [finding] = [row for row in rows(engine, run, "overview_page", 7) if row["id"] == "input_bound"]
    assert truth(run)["image_bytes"] == 4 * 2**20
    assert "6 copies of 4 MiB on average" in finding["detail"]
    assert "large copies" not in finding["action"]


def test_kernels_of_chains_take_the_time_that_passed(engine: Engine):
    measured = truth("products")
    kernels = {
        name: row
        for row in rows(engine, "products", "kernel_stats")
        for name, part in (
            ("bf16", "_tst_"), ("fp16", "_hsh_"), ("tf32", "tf32"), ("fp32", "simt_sgemm"),
        )
        if part in row["kernel_name"]
    }  # fmt: skip
    assert len(kernels) == len(rows(engine, "products", "kernel_stats")) == 4
    for name, took_ms in measured["took_ms"].items():
        row = kernels[name]
        assert row["occurrences"] == measured["calls"]
        assert row["is_op_tensor_core_eligible"]
        assert row["is_kernel_using_tensor_core"] == (name != "fp32")
        kernel_ms = row["total_duration_us"] / 1e3
        assert 0.9 * took_ms < kernel_ms < took_ms
        rate = measured["calls"] * measured["flops"] / kernel_ms / 1e6
        assert row["measured_flop_rate"] == pytest.approx(rate)
        assert row["bound_by"] == "Compute"


def findings(engine: Engine, run: str) -> dict[str, Row]:
    return {row["id"]: row for row in rows(engine, run, "overview_page", 7)}


def test_a_read_before_the_next_batch_is_made_costs_what_making_it_takes(engine: Engine):
    steps = rows(engine, "reading", "overview_page", 1)
    measured = truth("reading")
    assert [step["stepTimeMs"] for step in steps] == pytest.approx(measured["steps_ms"], abs=0.15)
    first, *others = rows(engine, "reading", "overview_page", 7)
    assert first["id"] == "blocking_read"
    assert "make_batch" in first["detail"]
    assert first["gain_ms"] == pytest.approx(sum(measured["makes_ms"]) / 6, rel=0.05)
    assert [row["severity"] for row in others] == ["moderate"] * 2
    # The copies of the loss take microseconds.
    reading = findings(engine, "reading")["output_bound"]
    computing = [step["deviceComputeTimeMs"] for step in steps]
    waited = sum(measured["reads_ms"]) - sum(computing)
    assert "reading results of devices" in reading["title"]
    assert 0.5 * waited < 6 * reading["gain_ms"] < waited


def test_batches_that_are_there_in_time_are_no_wait_for_input(engine: Engine):
    steps = rows(engine, "prefetching", "overview_page", 1)
    measured = truth("prefetching")
    assert [step["stepTimeMs"] for step in steps] == pytest.approx(measured["steps_ms"], abs=0.15)
    assert max(measured["waited_ms"]) < 0.1
    assert sum(step["infeedTimeMs"] for step in steps) < 0.1
    found = findings(engine, "prefetching")
    assert found.keys() <= {"all_others", "kernel_launch", "copies_to_device"}
    assert "not yet noticed that its devices were done" in found["all_others"]["title"]
    assert "Launch the next step before" in found["all_others"]["action"]
    assert all(row["severity"] != "high" for row in found.values())


def test_a_step_that_the_recording_cuts_off_is_no_step_time(engine: Engine):
    first, *others = rows(engine, "unfinished", "overview_page", 1)
    assert first["isTruncated"]
    assert 0 < first["stepTimeMs"] < truth("unfinished")["step_ms"]
    assert len(others) == 5
    assert all(step["isUnrecorded"] and step["stepTimeMs"] is None for step in others)
    claim = rows(engine, "unfinished", "overview_page", 7)[0]
    assert claim["id"] == "steps_not_recorded"
    assert "jax.block_until_ready" in claim["action"]
