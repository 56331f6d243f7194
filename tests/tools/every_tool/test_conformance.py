"""What holds for every tool: the same rules over each entry of TOOLS."""

import functools
from collections import Counter
from typing import Any

import pytest
from helpers.payloads import body_of, document_of
from helpers.promises.every_page import NOTHING, TABLE_TOOLS, every_page
from traces.every_trace import opened

from tbprof.base.errors import NoData
from tbprof.engine.engine import DataRequest, Engine
from tbprof.engine.parts import PARTS
from tbprof.tools import TOOLS
from tbprof.tools.model.datatable import PERCENT, Table
from tbprof.tools.model.tool import Tool

every_tool = pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)


@functools.cache
def another(engine: Engine) -> Engine:
    return Engine(engine._logdir)


@functools.cache
def built(engine: Engine, run: str, tool: str) -> tuple[Table, ...]:
    return engine.tables(DataRequest(run, tool))


@pytest.fixture
def engine(trace: str, request: pytest.FixtureRequest) -> tuple[Engine, str]:
    return opened(trace, request)


@pytest.fixture
def tables(trace: str, tool: Tool, request: pytest.FixtureRequest) -> tuple[Table, ...]:
    """Of a page, built once for all tests."""
    return built(*opened(trace, request), tool.name)


@pytest.mark.parametrize(("name", "trace"), sorted(NOTHING))
def test_a_trace_that_holds_nothing_for_a_tool_is_said_to(engine: tuple[Engine, str], name: str):
    with pytest.raises(NoData, match=TABLE_TOOLS[name].label):
        engine[0].tables(DataRequest(engine[1], name))


def test_names_are_unique():
    names = [name for tool in TOOLS for name in (tool.name, *tool.aliases)]
    assert len(set(names)) == len(names)


@every_tool
def test_a_tool_says_what_it_needs_and_why_it_may_be_empty(tool: Tool):
    assert set(tool.parts) <= PARTS.keys()
    assert tool.label
    assert tool.absent
    assert tool.empty
    assert tool.empty_hint
    assert not tool.absent.endswith(".")
    assert not tool.empty.endswith(".")


@every_page
def test_columns_are_of_one_length_and_of_their_type(tables: tuple[Table, ...]):
    for table in tables:
        ids = [column.id for column in table.columns]
        assert len(set(ids)) == len(ids)
        for column in table.columns:
            cells = column.cells()
            assert len(cells) == len(table)
            kinds = {"number": (int, float), "string": (str,), "boolean": (bool,)}[column.type]
            for cell in cells:
                assert cell is None or isinstance(cell, kinds)
                assert column.type == "boolean" or not isinstance(cell, bool)
                assert cell is not None or column.type == "number"
            assert column.pattern in ("", PERCENT)


@every_page
def test_percentages_are_fractions(tables: tuple[Table, ...]):
    for table in tables:
        for column in table.columns:
            if column.pattern == PERCENT:
                known = [cell for cell in column.cells() if cell is not None]
                assert all(0 <= cell <= 1 + 1e-9 for cell in known)  # type: ignore[operator]


@every_page
def test_ranks_count_rows(tables: tuple[Table, ...]):
    """But for those of executions of input pipelines, which are numbers in a row and begin at 0."""
    for table in tables:
        if table.columns and table.columns[0].id == "rank" and "executions" not in table.properties:
            assert table.column("rank").cells() == list(range(1, len(table) + 1))


@every_page
def test_times_and_counts_are_never_negative(tables: tuple[Table, ...]):
    for table in tables:
        for column in table.columns:
            if column.type == "number":
                assert all(cell is None or cell >= 0 for cell in column.cells())  # type: ignore[operator]


@every_page
def test_both_layouts_hold_the_same(engine: tuple[Engine, str], tool: Tool):
    answers = []
    for layout in ("rows", "columns"):
        answer = document_of(*engine, tool.name, layout=layout)
        assert isinstance(answer, list) == tool.is_list
        answers.append(answer if tool.is_list else [answer])
    if "podStatsSequence" in answers[0][0]:
        compare_pods(*answers[0], *answers[1])
        return
    if "byProgram" in answers[0][0]:
        compare_profiles(*answers[0], *answers[1])
        return
    if "memoryProfilePerAllocator" in answers[0][0]:
        compare_memory(*answers[0], *answers[1])
        return
    if "moduleName" in answers[0][0]:
        compare_programs(*answers[0], *answers[1])
        return
    if "clusters" in answers[0][0]:
        assert answers[0] == answers[1]
        return
    for by_row, by_column in zip(*answers, strict=True):
        rows = [[cell["v"] for cell in row["c"]] for row in by_row.pop("rows")]
        transposed = [list(row) for row in zip(*by_column.pop("columns"), strict=True)]
        assert rows == transposed
        assert by_row == by_column


def compare_pods(records: dict[str, Any], cells: dict[str, Any]) -> None:
    """That records and cells tell the same times, to the unit of the cells."""
    steps = records["podStatsSequence"]["podStatsMap"]
    assert [step["stepName"] for step in steps] == cells["steps"]["label"]
    for worker, core in enumerate(cells["workers"]["core_id"]):
        for place, step in enumerate(steps):
            record = step["podStatsPerCore"].get(str(core))
            total = cells["total"][worker * len(steps) + place]
            assert (record is None) == (total < 0)
            if record is not None:
                exact = record["totalDurationUs"]
                assert total * cells["unit_us"] == pytest.approx(exact, abs=cells["unit_us"])
                assert sum(record["stepBreakdownUs"].values()) == pytest.approx(exact)


def compare_profiles(tree: dict[str, Any], page: dict[str, Any]) -> None:
    """That the tree and our page tell the same time and work of programs, and of the device."""
    own_ps: Counter[str] = Counter()
    flops: Counter[str] = Counter()
    rows = page["rows"]
    columns = (rows[name] for name in ("program", "self_ps", "flops", "has_inner"))
    for program, own, count, has_inner in zip(*columns, strict=True):
        own_ps[page["texts"][program]] += own
        flops[page["texts"][program]] += 0 if has_inner else max(count, 0)
    children = tree["byProgramExcludeIdle"]["children"]
    assert {one["name"]: one["metrics"]["rawTime"] for one in children} == own_ps
    assert {one["name"]: one["metrics"]["bf16Flops"] for one in children} == flops
    whole = sum(own_ps.values()) + page["idle_ps"] + page["sparse_core_idle_ps"]
    assert tree["byProgram"]["metrics"]["rawTime"] == whole


def compare_memory(records: dict[str, Any], page: dict[str, Any]) -> None:
    """That records and our page tell the same of each allocator, and of the chosen one's peak."""
    assert records["memoryIds"] == [memory["id"] for memory in page["memory_ids"]]
    for one in page["memory_ids"]:
        summary = records["memoryProfilePerAllocator"][one["id"]]["profileSummary"]
        state = summary["peakStats"]
        assert int(summary["peakBytesUsageLifetime"]) == one["lifetime_bytes"]
        assert int(summary["memoryCapacity"]) == one["capacity_bytes"]
        assert int(summary["peakStatsTimePs"]) == one["peak_ps"]
        assert int(summary["numAllocations"]) == one["allocations"]
        assert int(summary["numDeallocations"]) == one["deallocations"]
        assert int(state["peakBytesInUse"]) == one["peak_bytes"]
        assert int(state["heapAllocatedBytes"]) == one["peak_heap_bytes"]
        assert state["fragmentation"] == pytest.approx(one["peak_fragmentation"])
    chosen = page["memory_ids"][page["chosen"]]
    record = records["memoryProfilePerAllocator"][chosen["id"]]
    total = count = 0
    for row in record["activeAllocations"]:
        made = (
            record["specialAllocations"][int(row["specialIndex"])]
            if int(row["snapshotIndex"]) < 0
            else record["memoryProfileSnapshots"][int(row["snapshotIndex"])]["activityMetadata"]
        )
        total += int(made["allocationBytes"]) * int(row["numOccurrences"])
        count += int(row["numOccurrences"])
    rows = page["breakdown"]["rows"]
    assert total == sum(rows["allocated_bytes"]) == chosen["peak_bytes"]
    assert count == sum(rows["occurrences"])


def compare_programs(records: dict[str, Any], page: dict[str, Any]) -> None:
    """That records and our page tell the same of the chosen program's memory."""
    figures, mib = page["figures"], 2**20
    assert records["moduleName"] == page["programs"]["name"][page["chosen"]]
    assert records["peakHeapMib"] * mib == figures["peak_bytes"]
    assert records.get("peakHeapSizePosition", 0) == figures["peak_event"]
    assert records.get("entryComputationParametersMib", 0) * mib == figures["parameter_bytes"]
    assert records.get("maybeLiveOutMib", 0) * mib == figures["output_bytes"]
    assert records["totalBufferAllocationMib"] * mib == figures["reserved_bytes"]
    samples = [round(size * mib) for size in records["heapSizes"]]
    assert samples[1:] == page["timeline"]["in_use_bytes"]
    assert sum(page["live"]["size_bytes"]) == page["live"]["in_use_bytes"] == figures["peak_bytes"]
    listed = sum(one["logicalBufferSizeMib"] for one in records["maxHeap"])
    assert round(listed * mib) == figures["peak_bytes"]


@every_page
def test_what_is_shown_does_not_change_from_one_engine_to_the_next(
    engine: tuple[Engine, str], tool: Tool
):
    request = DataRequest(engine[1], tool.name)
    first, second = (body_of(asked, request) for asked in (engine[0], another(engine[0])))
    assert (first.content, first.etag) == (second.content, second.etag)
