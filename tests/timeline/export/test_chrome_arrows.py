"""Flows, asynchronous events and counters."""

from typing import Any

import pytest
from timeline.export.test_chrome import GPU, HOST, check, document, events
from traces import Unsigned, draw, drawn_space, space_of


def by_name(trace: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {event["name"]: event for event in events(trace)}


def test_producers_and_consumers_of_a_context_are_bound() -> None:
    content = draw(
        {HOST: "a |ppqq\nb |..cc\nd |..ee"},
        stats={
            "p": {"_pt": 5, "_p": 77},
            "q": {"_pt": 12, "_p": 77},
            "c": {"_ct": 5, "_c": Unsigned(77), "x": 1},
            "e": {"_ct": 5, "_c": 78},
        },
    )
    found = by_name(check(space_of(content)))
    assert found["p"]["bind_id"] == found["c"]["bind_id"]
    assert len({found[name]["bind_id"] for name in "pqe"}) == 3
    assert found["p"]["bind_id"].startswith("0x")
    assert found["p"]["cat"] == found["c"]["cat"] == "PjRt"
    assert found["q"]["cat"] == "tpu_launch"
    assert (found["p"].get("flow_out"), found["p"].get("flow_in")) == (True, None)
    assert (found["c"].get("flow_out"), found["c"].get("flow_in")) == (None, True)
    assert found["c"]["args"] == {"x": 1}
    assert "args" not in found["p"]


@pytest.mark.parametrize("type_", [0, 1, 63, 64, 99, 2**40])
def test_contexts_without_a_name_have_no_category(type_: int) -> None:
    content = draw({HOST: "a |p"}, stats={"p": {"_pt": type_, "_p": 1}})
    [event] = events(check(space_of(content)))
    assert "bind_id" in event
    assert "cat" not in event


@pytest.mark.parametrize("stats", [{"_p": 1}, {"_c": 1}, {"_pt": 1}, {"_pt": "x", "_p": "y"}])
def test_half_a_context_is_none(stats: dict[str, Any]) -> None:
    [event] = events(check(drawn_space({HOST: "a |p"}, stats={"p": stats})))
    assert "bind_id" not in event


@pytest.mark.parametrize(
    ("direction", "flags"),
    [(1, {"flow_in"}), (2, {"flow_out"}), (3, {"flow_in", "flow_out"}), (0, set())],
)
def test_a_stated_flow(direction: int, flags: set[str]) -> None:
    stat = Unsigned(3 << 58 | 0xABCDE << 2 | direction)
    [event] = events(check(drawn_space({HOST: "a |p"}, stats={"p": {"flow": stat}})))
    assert {key for key in event if key.startswith("flow")} == flags
    if flags:
        assert event["bind_id"] == "0xabcde"
        assert event["cat"] == "tfrt_exec"
    assert "args" not in event


def test_an_instant_with_an_arrow_is_a_slice() -> None:
    """Perfetto draws no arrows to instants."""
    content = draw({HOST: "a |p"}, stats={"p": {"_pt": 15, "_p": 1}})
    ended = content.replace(b"\x18\xc0\x84\x3d", b"\x18\x80\x80\x00")  # a duration of 0
    assert ended != content
    [event] = events(document(ended))
    assert (event["ph"], event["dur"], event["cat"]) == ("X", 0, "threadpool_event")


def test_launches_lead_to_kernels() -> None:
    content = draw(
        {HOST: "a |lm", GPU: "Stream #1 |.kk"},
        stats={
            "l": {"correlation_id": 1},
            "m": {"correlation_id": 2},
            "k": {"correlation_id": 1},
        },
    )
    found = by_name(check(space_of(content)))
    assert found["l"]["bind_id"] == found["k"]["bind_id"] != found["m"]["bind_id"]
    assert found["l"]["flow_out"] is True
    assert found["k"]["flow_in"] is True
    assert found["k"]["cat"] == "gpu_launch"
    assert found["k"]["args"] == {"correlation_id": 1}


def test_kernels_alone_have_no_arrows() -> None:
    content = draw({HOST: "a |l", GPU: "Stream #1 |k"}, stats={"k": {"correlation_id": 1}})
    assert not [event for event in events(document(content)) if "bind_id" in event]


def test_asynchronous_events_are_pairs() -> None:
    flow = 0x1234 << 2 | 3
    content = draw(
        {GPU: """
            Async XLA Ops |aaaa
                          |..bbbb
            XLA Ops       |cc
        """},
        stats={
            "a": {"_a": 1, "flow": flow, "hlo_op": "copy"},
            "b": {"_a": 1, "flow": flow + 4},
            "c": {"_a": 0, "flow": flow},
        },
    )  # fmt: skip
    found = check(space_of(content))
    begin, end, *_ = events(found, "b", "e")
    assert begin == {
        "name": "a", "cat": "async", "id": "0x1234", "ph": "b", "pid": 1, "tid": 1, "ts": 0,
        "args": {"hlo_op": "copy"},
    }  # fmt: skip
    assert end == {**{key: begin[key] for key in begin if key != "args"}, "ph": "e", "ts": 4}
    assert [event["id"] for event in events(found, "b")] == ["0x1234", "0x1235"]
    assert [event["name"] for event in events(found, "X")] == ["c"]
    # They cross, and need no thread beside: viewers draw them apart.
    assert len({event["tid"] for event in events(found)}) == 2


def test_an_asynchronous_event_of_one_direction_is_a_slice_with_an_arrow() -> None:
    content = draw({HOST: "t |a"}, stats={"a": {"_a": 1, "flow": 0x10 << 2 | 2}})
    [event] = events(check(space_of(content)))
    assert (event["ph"], event["flow_out"]) == ("X", True)


def test_counters_are_values_over_time() -> None:
    content = draw(
        {GPU: """
            _counters_ |m.m.n
            Stream #1  |mm
        """},
        names={"m": "memory", "n": "note"},
        stats={"m": {"bytes": 5, "share": 0.25, "unit": "B"}, "n": {"text": "x"}},
    )  # fmt: skip
    trace = document(content)
    assert events(trace, "C") == [
        {"args": {"bytes": 5, "share": 0.25}, "name": "memory", "ph": "C", "cat": "counter",
         "pid": 1, "tid": 1, "ts": at}
        for at in (0, 2)
    ]  # fmt: skip
    # What has no number is not a value, and events of other lines are none whatever their name.
    slices = events(trace, "X")
    assert [event["name"] for event in slices] == ["note", "memory"]
    assert slices[0]["args"] == {"text": "x"}
    assert slices[1]["args"] == {"bytes": 5, "share": 0.25, "unit": "B"}
