"""The memory page: figures, timeline, what was in use when, several allocators and hosts."""

from typing import Any

import pytest
from helpers.memory_pages import BEFORE, HOST_TRACE, TRACE, page, row, rows
from traces.memory.allocators import GPU, US, Tensor, memory_trace


def test_figures_of_an_allocator():
    [found] = page(TRACE)["memory_ids"]
    preview = found.pop("preview")
    assert found == {
        "id": GPU,
        "host": "host0",
        "name": GPU,
        "label": GPU,
        "kind": "device",
        "begin_ps": 1 * US,
        "end_ps": 10 * US,
        "allocations": 4,
        "deallocations": 2,
        "capacity_bytes": 1000,
        "lifetime_bytes": 990,
        "peak_bytes": 990,
        "peak_ps": 10 * US,
        "peak_step": "5",
        "peak_program": "",
        "peak_stack_bytes": 0,
        "peak_heap_bytes": 990,
        "peak_free_bytes": 10,
        "peak_fragmentation": 0.25,
        "end_bytes": 990,
        "unmatched_frees": 1,
        "reused_addresses": 0,
        "addressless": 0,
        "is_summed": False,
    }
    assert preview == {
        "time_ps": [at * US for at in (1, 3, 5, 7, 8, 10)],
        "bytes": [700, 900, 940, 740, 690, 990],
    }


def test_of_many_memories_the_fullest_and_the_chosen_one_are_pictured():
    def host(peak: int) -> bytes:
        return memory_trace("main |x", x=Tensor(peak, "read"), capacity=100)

    assert page(*[host(1)] * 3)["pictured"] == [0, 1, 2]
    payload = page(*[host(10 + index) for index in range(40)], memory_id=f"host3: {GPU}")
    assert payload["pictured"] == [3, *range(39, 7, -1)]
    pictured = [at for at, one in enumerate(payload["memory_ids"]) if one["preview"] is not None]
    assert pictured == sorted(payload["pictured"])


def test_what_is_in_use_at_the_peak():
    payload = page(TRACE)
    assert {key: payload["breakdown"][key] for key in ("at_ps", "is_peak", "in_use_bytes")} == {
        "at_ps": 10 * US,
        "is_peak": True,
        "in_use_bytes": 990,
    }
    relu = {"region": "output", "dtype": "half"}
    weights = {"region": "persist", "dtype": "float", "shape": "[5,5]", "requested_bytes": 96}
    # 990 in use, 440 of them allocated since: 50 of the 600 before have been released.
    assert rows(payload) == [
        row(BEFORE, 550, "before", "", -1),
        row("model/relu", 300, "step", "5", 10 * US, **relu, shape="[15,10]"),
        row("model/weights", 100, "earlier", "", 1 * US, **weights),
        row("model/scratch", 40, "earlier", "4", 5 * US, region="temp"),
    ]


def test_what_is_in_use_at_an_instant():
    payload = page(TRACE, at_ps=str(6 * US))
    assert {key: payload["breakdown"][key] for key in ("at_ps", "is_peak", "in_use_bytes")} == {
        "at_ps": 6 * US,
        "is_peak": False,
        "in_use_bytes": 940,
    }
    assert [(one["op"], one["allocated_bytes"], one["age"]) for one in rows(payload)] == [
        (BEFORE, 600, "before"),
        ("model/relu", 200, "step"),
        ("model/weights", 100, "earlier"),
        ("model/scratch", 40, "step"),
    ]
    assert page(TRACE, at_ps=str(10 * US))["breakdown"]["is_peak"]


def test_before_the_first_event_nothing_is_known():
    payload = page(TRACE, at_ps="0")
    assert rows(payload) == []
    assert payload["breakdown"]["in_use_bytes"] is None
    assert not payload["breakdown"]["is_peak"]


@pytest.mark.parametrize("given", ["", "soon", "1.5", "9" * 40, "٣"])
def test_an_instant_that_is_none_means_the_peak(given: str):
    assert page(TRACE, at_ps=given)["breakdown"]["is_peak"]


def test_equal_allocations_are_one_row_with_their_total():
    one = Tensor(100, "op", "temp", 3, "[25]", requested=99)
    payload = page(memory_trace("main |a.b.c", a=one, b=one, c=Tensor(100, "op", "temp", 3, "[9]")))
    kinds = {"region": "temp", "dtype": "int32"}
    assert rows(payload) == [
        row("op", 200, "step", "", 0, **kinds, shape="[25]", requested_bytes=198, occurrences=2),
        row("op", 100, "step", "", 4 * US, **kinds, shape="[9]"),
    ]


def test_the_timeline_has_the_state_after_every_event():
    payload = page(TRACE)
    timeline, texts = payload["timeline"], payload["texts"]

    def named(name: str) -> list[str]:
        return [texts[at] if at >= 0 else "" for at in timeline[name]]

    assert (timeline["from_ps"], timeline["to_ps"]) == (1 * US, 10 * US)
    assert (timeline["events"], timeline["is_sampled"]) == (6, False)
    assert timeline["time_ps"] == [at * US for at in (1, 3, 5, 7, 8, 10)]
    assert timeline["stack_bytes"] == [0] * 6
    assert timeline["heap_bytes"] == [700, 900, 940, 740, 690, 990]
    assert timeline["free_bytes"] == [300, 100, 60, 260, 310, 10]
    assert timeline["fragmentation"] == [0.25] * 6
    assert timeline["is_allocation"] == [1, 1, 1, 0, 0, 1]
    assert timeline["allocated_bytes"] == [100, 200, 40, -200, -50, 300]
    assert timeline["requested_bytes"] == [96, 200, 40, -200, -50, 300]
    relu = "model/relu"
    assert named("op") == ["model/weights", relu, "model/scratch", relu, "", relu]
    assert named("region") == ["persist", "output", "temp", "output", "", "output"]
    assert named("dtype") == ["float", "half", "", "half", "", "half"]
    assert named("shape") == ["[5,5]", "[10,10]", "", "[10,10]", "", "[15,10]"]
    assert timeline["step"] == [-1, 0, 0, 0, 1, 1]


def test_a_window_begins_with_what_was_in_use():
    timeline = page(TRACE, from_ps=str(4 * US), to_ps=str(7 * US))["timeline"]
    assert (timeline["events"], timeline["is_sampled"]) == (2, False)
    assert timeline["time_ps"] == [4 * US, 5 * US, 7 * US]
    assert timeline["heap_bytes"] == [900, 940, 740]
    assert timeline["is_allocation"] == [-1, 1, 0]
    assert timeline["allocated_bytes"] == [None, 40, -200]
    assert (timeline["op"][0], timeline["step"][0]) == (-1, -1)


def test_a_window_that_ends_before_it_begins_is_empty():
    timeline = page(TRACE, from_ps=str(7 * US), to_ps=str(4 * US))["timeline"]
    assert (timeline["events"], timeline["time_ps"]) == (0, [])


def test_many_events_are_drawn_as_few_and_counted_as_many():
    tensors: dict[str, Any] = {"a": Tensor(100, "a"), "b": Tensor(500, "b"), "c": Tensor(1, "c")}
    drawing = "a" + "cC" * 1500 + "bB" + "cC" * 1500
    payload = page(memory_trace(f"main |{drawing}", **tensors))
    [one], timeline = payload["memory_ids"], payload["timeline"]
    assert (one["allocations"], one["deallocations"]) == (3002, 3001)
    assert (one["peak_bytes"], one["peak_ps"]) == (600, 3001 * US)
    assert (timeline["events"], timeline["is_sampled"]) == (6003, True)
    assert len(timeline["time_ps"]) <= 2000
    assert len(one["preview"]["time_ps"]) <= 200
    for bytes_ in (timeline["heap_bytes"], one["preview"]["bytes"]):
        assert (min(bytes_), max(bytes_)) == (100, 600)
    zoomed = page(
        memory_trace(f"main |{drawing}", **tensors), from_ps=str(2990 * US), to_ps=str(3009 * US)
    )["timeline"]
    assert (zoomed["events"], zoomed["is_sampled"], len(zoomed["time_ps"])) == (20, False, 21)


def test_steps_say_what_they_used_and_left_behind():
    assert page(TRACE)["steps"] == {
        "label": ["4", "5"],
        "begin_ps": [3 * US, 8 * US],
        "end_ps": [8 * US, 10 * US],
        "peak_bytes": [940, 990],
        "end_bytes": [740, 990],
        "kept_bytes": [40, 300],
    }


def test_allocators_come_by_host_and_the_fullest_device_is_shown():
    payload = page(HOST_TRACE, TRACE)
    assert payload["hosts"] == ["host0", "host1"]
    assert [(memory["id"], memory["host"], memory["name"]) for memory in payload["memory_ids"]] == [
        ("host0: cpu", "host0", "cpu"),
        (f"host1: {GPU}", "host1", GPU),
    ]
    assert [memory["kind"] for memory in payload["memory_ids"]] == ["host", "device"]
    assert payload["chosen"] == 1
    chosen = page(HOST_TRACE, TRACE, memory_id="host0: cpu")
    assert (chosen["chosen"], chosen["breakdown"]["in_use_bytes"]) == (0, 30)
    assert page(HOST_TRACE, TRACE, memory_id="no such")["chosen"] == 1
    assert page(HOST_TRACE)["chosen"] == 0
    assert [memory["id"] for memory in page(HOST_TRACE)["memory_ids"]] == ["cpu"]


def test_of_several_devices_the_fullest_is_shown():
    trace = memory_trace(
        "main |a.b",
        a=Tensor(300, owner="GPU_0_bfc"),
        b=Tensor(400, owner="GPU_1_bfc"),
    )
    assert page(trace)["memory_ids"][page(trace)["chosen"]]["name"] == "GPU_1_bfc"


def test_tpus_are_recorded_as_numbers_and_have_a_stack():
    trace = memory_trace("main |a.b.A", a=Tensor(100, owner=0), b=Tensor(50, owner=0), stack=400)
    payload = page(trace)
    [one] = payload["memory_ids"]
    assert (one["id"], one["label"], one["kind"]) == ("0", "TPU:0 HBM", "device")
    assert one["peak_bytes"] == 550
    assert any("the memory of TPU:0 is" in finding["title"] for finding in payload["findings"])
    assert (one["peak_stack_bytes"], one["peak_heap_bytes"]) == (400, 150)
    # Recorders leave the stack out of the most in use since the program began.
    assert one["lifetime_bytes"] == 550
    assert [(each["op"], each["allocated_bytes"], each["age"]) for each in rows(payload)] == [
        ("stack", 400, "stack"),
        ("", 150, "step"),
    ]
    assert payload["timeline"]["stack_bytes"] == [400, 400, 400]


def test_what_every_step_leaves_behind_is_found():
    """Six steps; each leaves another 10 bytes of one op, and frees its activations."""
    leaked: dict[str, Any] = dict.fromkeys("klmnop", Tensor(10, "losses/append", "output", 1, "[]"))
    trace = memory_trace(
        """
        main  |kaA.laA.maA.naA.oaA.paA.
        steps |0000111122223333444455555
        """,
        before={GPU: 500},
        a=Tensor(200, "act", "output"),
        **leaked,
    )
    payload = page(trace)
    assert payload["leaks"] == [
        {
            "op": "losses/append",
            "region": "output",
            "dtype": "float",
            "shape": "[]",
            "bytes_per_step": 10.0,
            "occurrences_per_step": 1.0,
            "steps": 4,  # but for the first and the last
        }
    ]
    assert payload["steps"]["end_bytes"] == [510, 520, 530, 540, 550, 560]
    assert payload["steps"]["kept_bytes"] == [10] * 6
    assert payload["steps"]["peak_bytes"] == [710, 720, 730, 740, 750, 760]
    [growth] = [finding for finding in payload["findings"] if finding["id"] == "growth"]
    assert (growth["bytes"], growth["severity"]) == (10, "high")  # full after 44 more
    assert "10 bytes per step by losses/append" in growth["detail"]
    # At the peak, in the last step: 500 before, 200 of the step, 10 of each.
    assert [(one["op"], one["allocated_bytes"], one["age"]) for one in rows(payload)] == [
        (BEFORE, 500, "before"),
        ("act", 200, "step"),
        *[("losses/append", 10, "earlier")] * 5,
        ("losses/append", 10, "step"),
    ]


def test_findings_are_those_of_the_shown_allocators_peak():
    """990 of 1000: 550 from before, 300 activations, 100 weights, 40 left by an earlier step."""
    found = page(TRACE)["findings"]
    assert [(one["id"], one["severity"], one["bytes"]) for one in found] == [
        ("near_capacity", "high", 990),
        ("before_the_recording", "high", 550),
        ("activations", "moderate", 300),
        ("weights", "moderate", 100),
    ]
