"""Program memory: the records of scripts, the payload of the page, and the table."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.drawn.small_runs import one_run
from helpers.payloads import document_of
from traces.memory.memory_plans import MemoryPlan, planned_trace, train_step
from traces.programs import Program

from tbprof.base.errors import NoData
from tbprof.engine.engine import DataRequest, Engine
from tbprof.tools.program_memory.heap_points import points_of

TOOL = "memory_viewer"
KIB = 1 / 1024


def ask(engine: Engine, layout: str = "rows", **params: str) -> dict[str, Any]:
    answer: dict[str, Any] = document_of(engine, "run", TOOL, layout=layout, params=params)
    return answer


@pytest.fixture
def step(tmp_path: Path) -> Engine:
    bare = Program()
    bare.add("p", "parameter", "f32[4]")
    step_trace = ("jit_step(7)", train_step().bytes())
    return one_run(tmp_path, h0=planned_trace(step_trace, ("jit_bare(9)", bare.bytes()), ran=[7]))


def test_records_of_a_program(step: Engine):
    answer = ask(step)
    assert [size * 1024 for size in answer["heapSizes"]] == [
        12.015625 + size for size in (0, 0.5, 1, 0.5, 1, 0.5, 0)
    ]
    unpadded = [round(size * 2**20) - 12304 for size in answer["unpaddedHeapSizes"]]
    assert unpadded == [0, 400, 912, 400, 912, 400, 0]
    assert answer["hloInstructionNames"] == ["norm", "dot", "act", "act", "out", "out", ""]
    assert (answer["moduleName"], answer["entryComputationName"]) == ("jit_step", "main")
    assert answer["peakHeapMib"] * 1024 == 13.015625
    assert answer["peakHeapSizePosition"] == 1
    assert answer["entryComputationParametersMib"] == 8 * KIB
    assert answer["maybeLiveOutMib"] == 8 * KIB + 16 / 2**20  # w, which is donated, out and root
    assert answer["nonReusableMib"] == 16 / 2**20
    assert answer["totalBufferAllocationMib"] * 2**20 == 12304 + 1200
    assert "maxScopedVmemAllocationMib" not in answer  # 0 is left out
    # All buffers are below 16 KiB.
    assert (
        answer["maxHeap"]
        == answer["maxHeapBySize"]
        == [
            {
                "numbered": 0,
                "label": "small (<16384 bytes)",
                "logicalBufferId": -1,
                "logicalBufferSizeMib": 13328 / 2**20,
            }
        ]
    )
    assert answer["logicalBufferSpans"] == {
        "102": {"limit": 5},
        "103": {"start": 1, "limit": 2},
        "104": {"start": 3, "limit": 4},
    }
    assert [lifetime["attributes"] for lifetime in answer["indefiniteLifetimes"]] == [
        ["entry computation parameter", "reusable"],
        ["entry computation parameter", "may-be live out", "reusable"],
        ["may-be live out", "reusable"],
        ["may-be live out"],
    ]
    blocks = [
        (block["name"], block.get("offset", 0), block["size"]) for block in answer["bufferBlocks"]
    ]
    assert blocks == [
        ("Temporary", 0, 1200),
        ("norm", 0, 512),
        ("dot", 512, 512),
        ("act", 512, 512),
    ]


def test_large_buffers_are_objects_of_the_peak(tmp_path: Path):
    plan = MemoryPlan()
    plan.program.name("jit_f", 7)
    for number, (name, size) in enumerate((("a", 20000), ("b", 40000), ("c", 100))):
        plan.parameter(name, size, f"u8[{size}]{{0}}", number)
    answer = ask(one_run(tmp_path, h0=planned_trace(("jit_f(7)", plan.bytes()))))
    assert [one["label"] for one in answer["maxHeap"]] == [
        "a: u8[20000]{0} # ", "b: u8[40000]{0} # ", "small (<16384 bytes)",
    ]  # fmt: skip
    assert [one["numbered"] for one in answer["maxHeapBySize"]] == [1, 0, 2]
    assert (answer["maxHeapToBySize"], answer["bySizeToMaxHeap"]) == ([1, 0, 2], [1, 0, 2])
    assert answer["maxHeap"][0]["groupName"] == "Parameter"
    assert "heapSizes" not in answer


def test_what_is_in_use_throughout_has_a_bar_without_a_heap(tmp_path: Path):
    plan = MemoryPlan()
    plan.parameter("p", 64, "u8[64]{0}")
    page = ask(one_run(tmp_path, h0=planned_trace(("jit_f(7)", plan.bytes()))), "columns")
    assert (page["timeline"]["event"], page["bars"]["start"]) == ([], [-1])
    assert page["figures"]["peak_event"] == -1


def test_the_page_of_a_program(step: Engine):
    page = ask(step, "columns")
    assert page["programs"] == {
        "name": ["jit_step", "jit_bare"],
        "program_id": ["7", "9"],
        "has_run": [True, False],
        "peak_bytes": [13328, None],
        "reason": ["", "the compiler wrote no buffer assignment for the program"],
        "host": ["", ""],
        "hosts": [1, 1],
    }
    assert (page["chosen"], page["space"], page["reason"]) == (0, 0, "")
    assert page["spaces"] == [{"space": 0, "label": "device memory", "peak_bytes": 13328}]
    assert page["figures"] == {
        "entry": "main",
        "peak_bytes": 13328,
        "peak_event": 1,
        "peak_instruction": "dot",
        "events": 6,
        "padding_bytes": 112,
        "parameter_bytes": 8192,
        "output_bytes": 8208,
        "donated_bytes": 4096,
        "constant_bytes": 0,
        "temporary_bytes": 1024,
        "thread_local_bytes": 0,
        "reserved_bytes": 13504,
        "hole_bytes": 176,
        "untraced_bytes": 0,
        "buffers": 7,
        "scoped_bytes": None,
        "scoped_instruction": "",
    }
    assert page["timeline"]["in_use_bytes"] == [12816, 13328, 12816, 13328, 12816, 12304]
    assert page["timeline"]["unpadded_bytes"] == [12704, 13216, 12704, 13216, 12704, 12304]
    assert [finding["id"] for finding in page["findings"]] == [
        "donation", "recomputation", "holes",
    ]  # fmt: skip
    assert [finding["bytes"] for finding in page["findings"]] == [4096, 512, 176]
    donation = page["findings"][0]["detail"]
    assert donation.startswith("1 parameter of the program has the shape and layout of a result, ")
    assert "and is not donated, so both are in memory at the same time." in donation


def texts(page: dict[str, Any], part: str, name: str) -> list[str]:
    return [page["texts"][at] for at in page[part][name]]


def test_what_is_in_use_at_an_instant(step: Engine):
    page = ask(step, "columns", instant="3")
    live = page["live"]
    assert texts(page, "live", "instruction") == ["x", "w", "out", "norm", "act", "root"]
    assert texts(page, "live", "purpose") == [
        "Parameter", "Parameter", "Output", "Temporary", "Temporary", "Output",
    ]  # fmt: skip
    assert live["is_donated"] == [False, True, False, False, False, False]
    assert (live["event"], live["is_peak"], live["in_use_bytes"]) == (3, False, 13328)
    assert page["texts"][live["at"]] == "act"
    assert live["instants"] == [6, 6, 6, 5, 1, 6]
    assert ask(step, "columns")["live"]["is_peak"]
    assert ask(step, "columns", instant="99")["live"]["is_peak"]  # there is none
    ever = ask(step, "columns", instant="all")
    assert len(ever["live"]["size_bytes"]) == 7
    assert ever["live"]["in_use_bytes"] is None


def test_bars_are_places_and_lifetimes(step: Engine):
    page = ask(step, "columns")
    bars = page["bars"]
    names = texts(page, "bars", "instruction")
    rows = zip(bars["offset_bytes"], bars["size_bytes"], bars["start"], bars["end"], strict=True)
    assert dict(zip(names, rows, strict=True)) == {
        "x": (0, 4096, -1, 6),
        "w": (4096, 4096, -1, 6),
        "out": (8192, 4096, -1, 6),
        "root": (12288, 16, -1, 6),
        "norm": (12304, 512, 0, 5),
        "dot": (12816, 512, 1, 2),
        "act": (12816, 512, 3, 4),
    }
    assert (bars["total_bytes"], bars["left_out"]) == (13504, 0)


def test_a_window_shows_its_events_and_bars(step: Engine):
    page = ask(step, "columns", from_event="2", to_event="3")
    assert page["timeline"]["event"] == [2]
    assert texts(page, "bars", "instruction") == ["x", "w", "out", "root", "norm"]
    for first, last, shown in (("5", "2", 6), ("x", "-1", 6), ("9", "99", 1)):
        page = ask(step, "columns", from_event=first, to_event=last)
        assert len(page["timeline"]["event"]) == shown


def test_a_table_lists_what_the_page_lists(step: Engine):
    [table] = step.tables(DataRequest("run", TOOL, params={"instant": "3"}))
    assert table.column("instruction").cells() == ["x", "w", "out", "norm", "act", "root"]
    assert table.column("padding_bytes").cells() == [0, 0, 0, 112, 0, 0]
    assert table.column("source").cells() == ["", "", "", "train.py:12", "", ""]
    assert set(table.column("program").cells()) == {"jit_step(7)"}


@pytest.mark.parametrize(
    ("params", "reason", "hint"),
    [
        ({"program_id": "8"}, "program '8' is not in the trace", "jit_step(7), jit_bare(9)"),
        ({"module_name": "jit"}, "program 'jit' is not in the trace", "jit_step(7)"),
        ({"program_id": "9"}, "jit_bare(9): the compiler wrote no buffer assignment", "other"),
        ({"memory_space": "5"}, "jit_step(7): the program uses no host memory", "spaces are 0"),
    ],
)
def test_what_cannot_be_shown_is_said_with_the_way_out(step: Engine, params, reason, hint):
    with pytest.raises(NoData, match=reason.replace("(", r"\(").replace(")", r"\)")) as raised:
        ask(step, **params)
    assert hint in raised.value.hint
    # The page shows the list all the same.
    page = ask(step, "columns", **params)
    assert page["reason"]
    assert page["programs"]["program_id"] == ["7", "9"]


def test_hosts_with_different_programs_of_one_name_have_both(tmp_path: Path):
    plans = [MemoryPlan(), MemoryPlan()]
    for size, plan in zip((100, 200), plans, strict=True):
        plan.parameter("p", size, f"u8[{size}]{{0}}")
    same = train_step().bytes()
    engine = one_run(
        tmp_path,
        h0=planned_trace(("jit_f(3)", plans[0].bytes()), ("jit_step(7)", same)),
        h1=planned_trace(("jit_f(3)", plans[1].bytes()), ("jit_step(7)", same), ran=[3]),
    )
    page = ask(engine, "columns")
    programs = page["programs"]
    rows = zip(programs["name"], programs["host"], programs["has_run"], programs["peak_bytes"],
               strict=True)  # fmt: skip
    assert [*rows] == [
        ("jit_f", "h1", True, 200),
        ("jit_step", "", False, 13328),
        ("jit_f", "h0", None, 100),
    ]
    assert (page["chosen"], page["host"]) == (0, "h1")
    for host, bytes_ in (("h0", 100), ("h1", 200)):
        answer = ask(engine, "columns", program_id="3", program_host=host)
        assert (answer["host"], answer["figures"]["peak_bytes"]) == (host, bytes_)


def test_points_show_all_extremes():
    values = np.array([3, 9, 1, 7, 7, 0, 8, 2, 5, 4] * 10)
    values[57] = 99
    assert points_of(values, 0, 100, 100).tolist() == [*range(100)]
    points = points_of(values, 0, 100, 12).tolist()
    assert len(points) <= 12
    assert {0, 57, 99} <= set(points)
    assert min(values[points]) == 0
    assert points_of(values, 40, 43, 4).tolist() == [40, 41, 42]
    assert points_of(values, 0, 0, 4).tolist() == []
