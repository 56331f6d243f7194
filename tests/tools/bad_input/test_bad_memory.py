"""Memory that was not recorded, or not right: said, and never zero."""

from helpers.memory_pages import TRACE, rows
from helpers.promises.all_pages import Ask
from traces import draw
from traces.memory.allocators import GPU, Tensor, memory_trace

from tbprof.base.errors import NoData


def test_a_trace_without_allocations_is_no_data(ask: Ask):
    error = ask(h0=draw({"/host:CPU": "t |aaa"})).errors["memory_profile"]
    assert isinstance(error, NoData)
    assert "no allocation was recorded" in error.message
    assert "host_tracer_level" in error.hint


def test_a_host_without_allocations_is_left_out(ask: Ask):
    found = ask(one=draw({"/host:CPU": "t |aaa"}), two=TRACE).json["memory_profile", "columns"]
    assert [memory["id"] for memory in found["memory_ids"]] == [f"two: {GPU}"]
    assert found["hosts"] == ["one", "two"]


def test_a_damaged_trace_shows_what_is_left(ask: Ask):
    found = ask(h0=TRACE[: len(TRACE) * 3 // 4]).json["memory_profile", "columns"]
    assert found["warnings"]
    assert found["memory_ids"][0]["allocations"] >= 1


def bare(names: str, stats: dict[str, dict[str, str | int | float]]) -> bytes:
    kinds = {
        name: "Memory" + ("Allocation" if name.islower() else "Deallocation") for name in "abAB"
    }
    return draw({"/host:CPU": f"t |{names}"}, names=kinds, stats=stats)


def test_what_was_not_recorded_is_null_and_not_zero(ask: Ask):
    stats: dict[str, dict[str, str | int | float]] = {
        "a": {"allocator_name": GPU, "bytes_allocated": 100},
        "B": {"allocator_name": GPU},
    }
    answers = ask(h0=bare("a.B", stats)).json
    found = answers["memory_profile", "columns"]
    [one], timeline = found["memory_ids"], found["timeline"]
    for name in ("capacity_bytes", "peak_stack_bytes", "peak_free_bytes", "peak_fragmentation"):
        assert one[name] is None
    assert (one["peak_bytes"], one["end_bytes"]) == (100, None)
    assert timeline["heap_bytes"] == [100, -1]
    assert timeline["fragmentation"] == [None, None]
    assert timeline["allocated_bytes"] == [None, None]
    record = answers["memory_profile", "rows"]
    summary = record["memoryProfilePerAllocator"][GPU]["profileSummary"]
    assert summary["memoryCapacity"] is None
    assert summary["peakStats"]["freeMemoryBytes"] is None


def test_use_that_was_not_recorded_is_summed_and_said_to_be(ask: Ask):
    found = ask(
        h0=bare(
            "a.b.A",
            {
                "a": {"allocation_bytes": 100, "addr": 16},
                "b": {"allocation_bytes": 30, "addr": 32},
                "A": {"addr": 16},
            },
        )
    ).json["memory_profile", "columns"]
    [one] = found["memory_ids"]
    assert (one["name"], one["is_summed"]) == ("unknown allocator", True)
    assert (one["peak_bytes"], one["end_bytes"]) == (130, 30)
    assert found["timeline"]["allocated_bytes"] == [100, 30, -100]
    assert "summed" in [finding["id"] for finding in found["findings"]]


def test_names_are_texts_whatever_is_in_them(ask: Ask):
    name = "<img src=x>\n=1+1"
    trace = memory_trace("main |a", a=Tensor(5, name, owner=name))
    found = ask({"memory_id": name}, h0=trace).json["memory_profile", "columns"]
    assert found["memory_ids"][0]["id"] == name
    assert rows(found)[0]["op"] == name
