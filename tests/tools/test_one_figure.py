"""Tools that show the same figure show the same number, on every trace with programs."""

import json
from pathlib import Path
from typing import Any

import pytest
from helpers.payloads import content_of, rows

from tbprof.engine.engine import DataRequest, Engine
from tbprof.storage.logdir import Logdir

Row = dict[str, Any]
PROGRAMS = ("jax_cpu_training", "tpu_trace", "amd_trace")
DEVICES = ("tpu_trace", "amd_trace")


def answers(trace: str, request: pytest.FixtureRequest) -> tuple[list[Row], list[Row], list[Row]]:
    """The rows of the op stats with idle time, of the HLO op stats, and of the roofline."""
    if trace.endswith("_training"):
        path: Path = request.getfixturevalue("sample_logdir")
        engine, run = Engine(Logdir(str(path))), trace
    else:
        engine = Engine(Logdir(str(request.getfixturevalue(trace))))
        run = engine.runs()[0]

    def ask(tool: str) -> Any:
        return json.loads(content_of(engine, DataRequest(run, tool)))

    records = rows(ask("roofline_model")[0])
    with_feeds = [row for row in records if row["include_infeed_outfeed"]]
    return rows(ask("framework_op_stats")[0]), rows(ask("hlo_stats")), with_feeds


def total(found: list[Row], value: str, time: str = "") -> float:
    """The sum of a column, or of a rate times a time; what is not known is none."""
    return sum((row[value] or 0) * (row[time] if time else 1) for row in found)


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
    flops = total(without_idle, "measured_flop_rate", "total_time")
    assert flops == pytest.approx(total(stats, "normalized_flop_rate", "span_time"))
