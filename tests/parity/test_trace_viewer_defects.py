"""What xprof's trace viewers leave out of drawn traces, and what ours says of the same."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from helpers.payloads import content_of
from parity.oracle import ask_xprof
from timeline.export.chrome_twin import in_order, parsed, written
from traces import Unsigned, draw, space_of
from traces.misread_runs import appended

from tbprof.engine.engine import DataRequest, Engine
from tbprof.storage.logdir import Logdir
from tbprof.timeline.export.chrome import TimeRange

pytestmark = [pytest.mark.parity, pytest.mark.slow]

FULL, STREAMING = "trace_viewer", "trace_viewer@"
HOST, GPU = "/host:CPU", "/device:GPU:0"
EPOCH_NS = 1_700_000_000 * 10**9

Event = dict[str, Any]


Theirs = Callable[..., dict[str, Any]]


@pytest.fixture
def theirs(xprof_python: str, tmp_path: Path) -> Theirs:
    """What a variant of xprof's viewer answers for hosts h0, h1, ..."""

    def ask(tool: str, *traces: bytes, **options: str) -> dict[str, Any]:
        hosts = {f"h{at}": one for at, one in enumerate(traces)}
        params = {"trace_viewer_options": options}
        found: dict[str, Any] = ask_xprof(xprof_python, tmp_path, hosts, [tool], params)[tool]
        return found

    return ask


def ours(trace: bytes, span: TimeRange | None = None) -> dict[str, Any]:
    return parsed(written(space_of(trace), span=span))


def events(trace: dict[str, Any]) -> list[Event]:
    return [event for event in trace["traceEvents"] if event.get("ph", "M") != "M"]


def test_xprof_keeps_the_first_events_alone_and_does_not_say_so(
    theirs: Theirs, new_converters: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The limit is a million events, and can be set."""
    monkeypatch.setenv("TF_PROFILER_TRACE_VIEWER_MAX_EVENTS", "4")
    trace = draw({HOST: "t |ababababab"})
    answer = theirs(FULL, trace)
    assert [event["ts"] for event in events(answer)] == [0, 1, 2, 3]
    assert answer["metadata"] == {"highres-ticks": True}
    assert answer["traceEvents"][-1] == {}
    mine = ours(trace)
    assert [event["ts"] for event in events(mine)] == list(range(10))
    assert mine["metadata"]["hosts"][0]["events"] == 10


def test_arguments_are_texts_in_one_variant_and_missing_in_the_other(theirs: Theirs) -> None:
    stats = {"n": 5, "share": 0.5, "big": 2**60, "none": float("nan"), "raw": b"12", "flops": 7}
    trace = draw({HOST: "t |k"}, stats={"k": stats})
    [full] = events(theirs(FULL, trace))
    assert full["args"] == {
        "n": "5", "share": "0.5", "big": str(2**60), "none": "nan", "raw": "<opaque bytes>",
    }  # fmt: skip
    [streamed] = events(theirs(STREAMING, trace))
    assert streamed["args"] == {"uid": 0}
    [mine] = events(ours(trace))
    assert {**mine["args"], "share": float(mine["args"]["share"])} == {
        "n": 5, "share": 0.5, "big": str(2**60), "none": "NaN", "raw": "<2 bytes>", "flops": 7,
    }  # fmt: skip


def test_events_of_memory_are_left_out(theirs: Theirs) -> None:
    trace = draw(
        {HOST: "t |a.b"},
        names={"a": "MemoryAllocation"},
        stats={"a": {"allocator_name": "cpu", "bytes_allocated": 8}},
    )
    for tool in (FULL, STREAMING):
        assert [event["name"] for event in events(theirs(tool, trace))] == ["b"]
    names = [(event["name"], event["ph"]) for event in events(ours(trace))]
    assert names == [("MemoryAllocation", "X"), ("b", "X"), ("cpu: memory in use", "C")]


def test_counters_are_slices_in_one_variant_and_a_form_of_its_own_in_the_other(
    theirs: Theirs,
) -> None:
    trace = draw({HOST: "_counters_ |m.m"}, stats={"m": {"v": 2}})
    assert [event["ph"] for event in events(theirs(FULL, trace))] == [
        "X", "X",
    ]  # fmt: skip
    [counter] = events(theirs(STREAMING, trace))
    assert counter["entries"] == [[0, 2], [2, 2]]  # no viewer but its own reads that
    found = [(event["ph"], event["ts"], event["args"]) for event in events(ours(trace))]
    assert found == [("C", 0, {"v": 2}), ("C", 2, {"v": 2})]


def test_ranges_lose_long_events_or_are_not_heeded(theirs: Theirs) -> None:
    window = {"start_time_ms": "450", "end_time_ms": "550"}
    answer = theirs(STREAMING, appended(), **window, resolution="0")
    assert Counter(event["name"] for event in events(answer)) == {"short": 101}
    assert answer["filteredByVisibility"] is True  # though nothing was
    answer = theirs(FULL, appended(), **window)
    assert Counter(event["name"] for event in events(answer)) == {"short": 1000, "long": 10}
    mine = ours(appended(), TimeRange(450 * 10**9, 550 * 10**9))
    assert Counter(event["name"] for event in events(mine)) == {"short": 101, "long": 2}


def test_what_crosses_is_drawn_over_each_other(theirs: Theirs) -> None:
    trace = draw({GPU: """
        Stream #1 |aaaa
                  |..bbbb
    """})  # fmt: skip
    answer = theirs(FULL, trace)
    assert len({(event["pid"], event["tid"]) for event in events(answer)}) == 1
    mine = ours(trace)
    assert [(event["name"], event["tid"]) for event in events(mine)] == [("a", 1), ("b", 2)]


def test_one_variant_takes_one_host(theirs: Theirs) -> None:
    trace = draw({HOST: "t |a"})
    with pytest.raises(AssertionError):
        theirs(FULL, trace, trace)
    answer = theirs(STREAMING, trace, trace)
    assert {event["pid"] for event in events(answer)} == {1701, 2701}
    mine = parsed(written(space_of(trace), space_of(trace)))
    assert {event["pid"] for event in events(mine)} == {1701, 2701}


def recorded_at(start_ns: int) -> bytes:
    """A trace whose times count from the start of its recording, which it states."""
    environment = "Task Environment"
    stated = {environment: {"profile_start_time": Unsigned(start_ns)}}
    return draw({HOST: "t |a", environment: ""}, plane_stats=stated)


def test_hosts_begin_together_whenever_they_were_recorded(theirs: Theirs, tmp_path: Path) -> None:
    answer = theirs(STREAMING, recorded_at(EPOCH_NS), recorded_at(EPOCH_NS + 5000))
    assert [event["ts"] for event in events(answer)] == [0, 0]
    engine = Engine(Logdir(str(tmp_path)))
    found = content_of(engine, DataRequest(engine.runs()[0], FULL, params={"derived": "0"}))
    assert [event["ts"] for event in events(parsed(found))] == [0, 5]


def test_steps_stand_below_all_streams(theirs: Theirs) -> None:
    trace = draw(
        {GPU: "Stream #1 |a\nSteps |b"},
        line_ids={"Steps": 0xDEADBEEF - 2**32, "Stream #1": 1},
        stats={"b": {"group_id": 1}},
    )

    assert in_order(theirs(FULL, trace)) == ["Stream #1", "Steps"]
    assert in_order(ours(trace)) == ["Steps", "Stream #1"]
