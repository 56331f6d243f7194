"""Memory that was not recorded, or not right: said, and never zero."""

import json
from pathlib import Path
from typing import Any, Literal

import pytest
from helpers.memory_pages import TRACE, page, records, rows
from traces import draw, write
from traces.allocators import GPU, Tensor, memory_trace

from tbprof.base.errors import NoData
from tbprof.engine.engine import Body, DataRequest, Engine
from tbprof.storage.logdir import Logdir


def shown(engine: Engine) -> Any:
    """The page of the first run of an engine."""
    body = engine.data(DataRequest(engine.runs()[0], "memory_profile", layout="columns"))
    assert isinstance(body, Body)
    return json.loads(body.content)


def test_a_trace_without_allocations_is_no_data(tmp_path: Path):
    engine = Engine(Logdir(str(write(tmp_path, draw({"/host:CPU": "t |aaa"})))))
    layouts: tuple[Literal["rows", "columns"], ...] = ("rows", "columns")
    for layout in layouts:
        with pytest.raises(NoData, match="no allocation was recorded") as caught:
            engine.data(DataRequest(engine.runs()[0], "memory_profile", layout=layout))
        assert "host_tracer_level" in caught.value.hint


def test_a_host_without_allocations_is_left_out(tmp_path: Path):
    write(tmp_path, draw({"/host:CPU": "t |aaa"}), "one")
    write(tmp_path, TRACE, "two")
    engine = Engine(Logdir(str(tmp_path)))
    found = shown(engine)
    assert [one["id"] for one in found["memory_ids"]] == [f"two: {GPU}"]
    assert found["hosts"] == ["one", "two"]


def test_a_damaged_trace_shows_what_is_left(tmp_path: Path):
    engine = Engine(Logdir(str(write(tmp_path, TRACE[: len(TRACE) * 3 // 4]))))
    found = shown(engine)
    assert found["warnings"]
    assert found["memory_ids"][0]["allocations"] >= 1


def bare(names: str, stats: dict[str, dict[str, str | int | float]]) -> bytes:
    kinds = {
        name: "Memory" + ("Allocation" if name.islower() else "Deallocation") for name in "abAB"
    }
    return draw({"/host:CPU": f"t |{names}"}, names=kinds, stats=stats)


def test_what_was_not_recorded_is_null_and_not_zero():
    stats: dict[str, dict[str, str | int | float]] = {
        "a": {"allocator_name": GPU, "bytes_allocated": 100},
        "B": {"allocator_name": GPU},
    }
    found = page(bare("a.B", stats))
    [one], timeline = found["memory_ids"], found["timeline"]
    for name in ("capacity_bytes", "peak_stack_bytes", "peak_free_bytes", "peak_fragmentation"):
        assert one[name] is None
    assert (one["peak_bytes"], one["end_bytes"]) == (100, None)
    assert timeline["heap_bytes"] == [100, -1]
    assert timeline["fragmentation"] == [None, None]
    assert timeline["allocated_bytes"] == [None, None]
    record = records(bare("a.B", stats))
    summary = record["memoryProfilePerAllocator"][GPU]["profileSummary"]
    assert summary["memoryCapacity"] is None
    assert summary["peakStats"]["freeMemoryBytes"] is None


def test_use_that_was_not_recorded_is_summed_and_said_to_be():
    found = page(
        bare(
            "a.b.A",
            {
                "a": {"allocation_bytes": 100, "addr": 16},
                "b": {"allocation_bytes": 30, "addr": 32},
                "A": {"addr": 16},
            },
        )
    )
    [one] = found["memory_ids"]
    assert (one["name"], one["is_summed"]) == ("unknown allocator", True)
    assert (one["peak_bytes"], one["end_bytes"]) == (130, 30)
    assert found["timeline"]["allocated_bytes"] == [100, 30, -100]
    assert "summed" in [finding["id"] for finding in found["findings"]]


def test_names_are_texts_whatever_is_in_them():
    name = "<img src=x>\n=1+1"
    trace = memory_trace("main |a", a=Tensor(5, name, owner=name))
    found = page(trace, memory_id=name)
    assert found["memory_ids"][0]["id"] == name
    assert rows(found)[0]["op"] == name
