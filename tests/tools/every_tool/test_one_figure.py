"""Tools that show the same figure show the same number, on every trace with programs."""

from typing import Any

import pytest
from helpers.payloads import document_of, rows
from helpers.promises.evidence_links import claims
from traces.every_trace import opened

from tbprof.engine.engine import DataRequest
from tbprof.tools.model.datatable import Table

Row = dict[str, Any]
PROGRAMS = ("jax_cpu_training", "tpu_trace", "amd_trace")
DEVICES = ("tpu_trace", "amd_trace")


# Columns of the programs page by those of the HLO op stats that show the same.
FIGURES = {
    "self_time": "total_self_time", "total_time": "total_time", "span_time": "span_time",
    "occurrences": "occurrences", "kernels": "kernels", "flop_share": "flop_share",
    "hbm_share": "hbm_share", "bound_by": "bound_by", "dtype": "dtype",
    "gflops": "normalized_flop_rate",
}  # fmt: skip


def answers(trace: str, request: pytest.FixtureRequest) -> tuple[list[Row], list[Row], list[Row]]:
    """The rows of the op stats with idle time, of the HLO op stats, and of the roofline."""
    engine, run = opened(trace, request)

    def ask(tool: str) -> Any:
        return document_of(engine, run, tool)

    records = rows(ask("roofline_model")[0])
    with_feeds = [row for row in records if row["include_infeed_outfeed"]]
    return rows(ask("framework_op_stats")[0]), rows(ask("hlo_stats")), with_feeds


def total(listed: list[Row], value: str, time: str = "") -> float:
    """The sum of a column, or of a rate times a time; what is not known is none."""
    return sum((row[value] or 0) * (row[time] if time else 1) for row in listed)


@pytest.mark.parametrize("trace", PROGRAMS)
def test_instructions_have_the_same_figures_in_both_tables_of_them(
    trace: str, request: pytest.FixtureRequest
) -> None:
    _, stats, records = answers(trace, request)
    same = {
        "total_time": "total_time", "total_self_time": "total_self_time", "hbm_bw": "hbm_bw",
        "normalized_flop_rate": "measured_flop_rate", "bound_by": "bound_by",
        "flop_share": "compute_efficiency", "cost_note": "cost_note", "span_time": "span_time",
    }  # fmt: skip
    keyed = {(row["program_id"], row["hlo_op_name"], row["category"]): row for row in stats}
    assert len(keyed) == len(stats) == len(records) - 1
    for record in records[1:]:
        row = keyed[record["hlo_module_id"], record["operation"], record["category"]]
        assert {name: row[name] for name in same} == {
            name: record[other] for name, other in same.items()
        }
        share = row["total_self_time_percent"]
        assert share == pytest.approx(100 * record["total_self_time_percent"], rel=1e-12)


@pytest.mark.parametrize("trace", PROGRAMS)
def test_all_programs_together_are_the_sum_of_their_instructions(
    trace: str, request: pytest.FixtureRequest
) -> None:
    _, stats, records = answers(trace, request)
    whole = records[0]
    shares = total(stats, "total_self_time_percent")
    assert total(stats, "total_self_time") == pytest.approx(whole["total_time"] * shares / 100)
    # Loops and calls contain instructions that have rows of their own.
    inner = [row for row in stats if row["opcode"] not in ("while", "call", "conditional")]
    flops = total(inner, "normalized_flop_rate", "span_time")
    assert flops == pytest.approx(whole["measured_flop_rate"] * whole["total_time"])
    moved = total(inner, "hbm_bw", "span_time")
    assert moved == pytest.approx(whole["hbm_bw"] * whole["total_time"])


@pytest.mark.parametrize("trace", DEVICES)
def test_the_time_and_work_of_devices_are_those_of_the_op_stats(
    trace: str, request: pytest.FixtureRequest
) -> None:
    ops, stats, records = answers(trace, request)
    device = [row for row in ops if row["host_or_device"] == "Device"]
    assert total(device, "total_self_time") == pytest.approx(records[0]["total_time"])
    without_idle = [row for row in device if row["type"] != "IDLE"]
    assert total(without_idle, "total_self_time") == pytest.approx(total(stats, "total_self_time"))
    flops = total(without_idle, "measured_flop_rate", "span_time")
    assert flops == pytest.approx(total(stats, "normalized_flop_rate", "span_time"))
    moved = total(without_idle, "measured_memory_bw", "span_time")
    assert moved == pytest.approx(total(stats, "measured_memory_bw", "span_time"))


@pytest.mark.parametrize("trace", PROGRAMS)
def test_the_programs_page_has_the_figures_of_the_tables(
    trace: str, request: pytest.FixtureRequest
) -> None:
    engine, run = opened(trace, request)
    [profile] = engine.tables(DataRequest(run, "op_profile"))
    [stats] = engine.tables(DataRequest(run, "hlo_stats"))

    def keyed(table: Table, names: dict[str, str]) -> dict[tuple[object, ...], list[object]]:
        key = [table.column(names[name]).cells() for name in ("program_id", "name", "category")]
        values = [table.column(names[name]).cells() for name in FIGURES]
        return dict(zip(zip(*key, strict=True), map(list, zip(*values, strict=True)), strict=True))

    ours = {name: name for name in FIGURES} | {
        "program_id": "program_id", "name": "operation", "category": "category",
    }  # fmt: skip
    theirs = {**ours, "name": "hlo_op_name", **FIGURES}
    assert keyed(profile, ours) == keyed(stats, theirs)


def test_kernels_have_the_figures_of_their_instructions(request: pytest.FixtureRequest) -> None:
    engine, run = opened("amd_trace", request)

    def ask(tool: str) -> list[Row]:
        return rows(document_of(engine, run, tool))

    same = {
        "measured_flop_rate": "normalized_flop_rate", "measured_memory_bw": "measured_memory_bw",
        "operational_intensity": "operational_intensity", "bound_by": "bound_by",
        "efficiency": "efficiency", "roof_note": "roof_note",
    }  # fmt: skip
    kernels, instructions = by_time(ask("kernel_stats")), by_time(ask("hlo_stats"))
    # Those that launch one kernel each time.
    shared = [
        key for key in kernels if key in instructions and instructions[key]["kernels"] == key[1]
    ]
    assert len(shared) == 10
    for key in shared:
        ours = {name: instructions[key][other] for name, other in same.items()}
        assert {name: kernels[key][name] for name in same} == ours


def by_time(listed: list[Row]) -> dict[tuple[float, int], Row]:
    """Rows by (total time, occurrences); those of which several have the same are left out."""
    names = (
        "total_duration_us" if "total_duration_us" in listed[0] else "total_time",
        "occurrences",
    )
    keys = [tuple(row[name] for name in names) for row in listed]
    return {key: row for key, row in zip(keys, listed, strict=True) if keys.count(key) == 1}


@pytest.mark.parametrize("trace", PROGRAMS)
@pytest.mark.parametrize("group_by", ["program", "category", "provenance"])
def test_the_tree_of_the_programs_page_adds_up_to_the_table(
    trace: str, group_by: str, request: pytest.FixtureRequest
) -> None:
    engine, run = opened(trace, request)
    tree = document_of(engine, run, "op_profile", params={"group_by": group_by})
    key = next(name for name in tree if name.endswith("ExcludeIdle"))
    _, stats, records = answers(trace, request)
    own_us = total(stats, "total_self_time")
    root = tree[key]["metrics"]["rawTime"] / 1e6
    assert root == pytest.approx(own_us)
    children = [node["metrics"]["rawTime"] / 1e6 for node in tree[key]["children"]]
    # Those of categories are total times, which contain each other.
    assert sum(children) == pytest.approx(own_us) or group_by == "category"
    whole = tree[key.removesuffix("ExcludeIdle")]["metrics"]
    assert whole["rawTime"] / 1e6 == pytest.approx(records[0]["total_time"])
    flops = records[0]["measured_flop_rate"] * records[0]["total_time"] * 1e3
    assert whole["bf16Flops"] == pytest.approx(flops)


@pytest.mark.parametrize("trace", PROGRAMS)
def test_findings_on_programs_count_what_the_table_shows(
    trace: str, request: pytest.FixtureRequest
) -> None:
    engine, run = opened(trace, request)
    _, stats, _ = answers(trace, request)
    own_us = total(stats, "total_self_time")
    of_cause = [claim for claim in claims(engine, run) if "f.cause" in claim.view]
    for one in of_cause:
        cause = one.view["f.cause"].removeprefix("=")
        shown = [row for row in stats if row["cause"] == cause]
        assert f"{100 * total(shown, 'total_self_time') / own_us:.1f} %" in one.title
    # The CPU transposes an array in each step.
    assert len(of_cause) == (trace == "jax_cpu_training")
