"""A document and a table hold every event of a space; the document says how to draw it."""

from collections import defaultdict
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from timeline.export.chrome_twin import (
    expected_events,
    in_order,
    parsed,
    ps,
    read_events,
    thread_names,
    without_lane,
    written,
)
from timeline.export.csv_twin import check_rows
from traces import Ref, Unsigned, draw, drawn_space, space_of
from xplane import generate
from xplane.fuzz import mutate

from tbprof.base.errors import BadTrace
from tbprof.events.space import Space
from tbprof.timeline.build.tracks import KIND_ORDER
from tbprof.timeline.export.chrome import TimeRange
from tbprof.xplane.buffer import Buffer
from tbprof.xplane.reader import read_space, space_in

STREAMS = KIND_ORDER.index("stream") << 24  # the places of streams begin here
HOST, GPU, TPU = "/host:CPU", "/device:GPU:0", "/device:TPU:0"


def document(content: bytes, **more: Any) -> dict[str, Any]:
    return parsed(written(space_of(content), **more))


def events(trace: dict[str, Any], *phases: str) -> list[dict[str, Any]]:
    return [event for event in trace["traceEvents"] if event["ph"] in (phases or "XibeC")]


def check(space: Space) -> dict[str, Any]:
    """That the document holds exactly the events of the space, and a table of CSV does."""
    found = parsed(written(space))
    expected = expected_events(space)
    check_rows(space, expected)
    assert [without_lane(event) for event in read_events(found)] == expected
    assert found["metadata"]["hosts"][0]["events"] == len(expected)
    nests(found)
    return found


def nests(trace: dict[str, Any]) -> None:
    """That no two slices of a thread overlap without one being inside the other."""
    threads = defaultdict(list)
    for event in events(trace, "X", "i"):
        start = ps(event["ts"])
        threads[event["pid"], event["tid"]].append((start, -ps(event.get("dur", 0))))
    for slices in threads.values():
        ends: list[int] = []
        for start, negative in sorted(slices):
            while ends and ends[-1] <= start:
                ends.pop()
            assert not ends or start - negative <= ends[-1] or len(threads) > 60
            ends.append(start - negative)


def test_generated_spaces_are_read_back_event_by_event() -> None:
    for seed in range(450):
        try:
            space = space_of(generate.space(Random(seed)))
        except BadTrace:
            continue
        check(space)


def test_damaged_spaces_are_read_back_as_far_as_they_can_be_read() -> None:
    random, other, read = Random(4), b"", 0
    for _ in range(300):
        content = mutate(random, generate.space(random), other)
        other = content
        try:
            space = space_in(Buffer(content, "damaged", random.choice((24, 100, 4096))))
        except BadTrace:
            continue
        check(space)
        read += 1
    assert read > 200


def test_recorded_traces_are_read_back_event_by_event(sample_logdir: Path) -> None:
    for path in sorted(sample_logdir.rglob("*.xplane.pb")):
        check(read_space(path))


@pytest.mark.slow
def test_accelerator_traces_are_read_back_event_by_event(accelerator_trace: Path) -> None:
    check(read_space(accelerator_trace))


def test_what_an_event_looks_like() -> None:
    trace = document(
        draw(
            {GPU: "Stream #7 |kkk.m"},
            names={"k": "kernel", "m": "%mul.1 = f32[] multiply"},
            display_names={"m": "mul.1"},
            line_ids={"Stream #7": 7},
            stats={"k": {"correlation_id": 9, "occupancy": 0.5, "kernel_details": "regs:8"}},
            type_stats={"m": {"flops": 2**60, "raw": b"\0\1\2"}},
        )
    )
    assert trace["displayTimeUnit"] == "ns"
    assert [event for event in trace["traceEvents"] if event["ph"] == "M"] == [
        {"args": {"name": GPU}, "name": "process_name", "ph": "M", "pid": 1},
        {"args": {"sort_index": 1}, "name": "process_sort_index", "ph": "M", "pid": 1},
        {"args": {"name": "Stream #7"}, "name": "thread_name", "ph": "M", "pid": 1, "tid": 7},
        {"args": {"sort_index": STREAMS}, "name": "thread_sort_index", "ph": "M", "pid": 1,
         "tid": 7},
    ]  # fmt: skip
    args = {"correlation_id": 9, "occupancy": 0.5, "kernel_details": "regs:8"}
    own = {"flops": str(2**60), "raw": "<3 bytes>", "long_name": "%mul.1 = f32[] multiply"}
    where = {"ph": "X", "pid": 1, "tid": 7}
    assert events(trace) == [
        {**where, "name": "kernel", "ts": 0, "dur": 3, "args": args},
        {**where, "name": "mul.1", "ts": 4, "dur": 1, "args": own},
    ]


def test_an_event_without_duration_is_an_instant() -> None:
    space = generate.body(1, generate.body(2, HOST) + generate.body(3, generate.body(4, b"")))
    [event] = events(document(space))
    assert event["ph"] == "i"
    assert event["s"] == "t"
    assert "dur" not in event
    assert event["name"] == ""


HOSTILE = ('"', "\\", "</script>", "\0\x01\x1f\x7f", "é𝄞\u2028", "a\nb", "{}],", "\ufffd", "")


@given(
    st.sampled_from(HOSTILE) | st.text(max_size=20),
    st.sampled_from(HOSTILE) | st.text(max_size=20),
    st.sampled_from(HOSTILE) | st.text(max_size=20),
)
@settings(deadline=None)
def test_hostile_names_are_texts(name: str, key: str, value: str) -> None:
    space = drawn_space(
        [(name or "p", "t |a"), (HOST, "t |ab")],
        names={"a": name, "b": "x"},
        display_names={"b": name},
        stats={"a": {key: value, "r": Ref(value)}},
        type_stats={"b": {key: value}},
    )
    check(space)


def test_bytes_that_are_no_text_are_replaced() -> None:
    stat = generate.scalar(1, 1) + generate.body(5, b'\xff\xed\xa0\x80"\\')
    name = generate.body(2, b"\xf0\x90\x80")
    plane = (
        generate.body(2, HOST)
        + generate.body(3, generate.body(4, generate.scalar(1, 1) + generate.body(4, stat)))
        + generate.body(4, generate.scalar(1, 1) + generate.body(2, name))
        + generate.body(5, generate.scalar(1, 1) + generate.body(2, name))
    )
    [event] = events(document(generate.body(1, plane)))
    assert event["name"] == "\ufffd"
    assert event["args"] == {"\ufffd": '\ufffd\ufffd\ufffd\ufffd"\\'}


@pytest.mark.parametrize(
    ("value", "read"),
    [
        (2**53, 2**53), (2**53 + 1, str(2**53 + 1)), (-(2**63), str(-(2**63))), (-7, -7),
        (Unsigned(2**64 - 1), str(2**64 - 1)), (0.1, 0.1), (1e300, 1e300), (-0.0, 0.0),
        (5e-324, 5e-324), (float("nan"), "NaN"), (float("inf"), "Infinity"),
        (float("-inf"), "-Infinity"), ("", ""), (b"", "<0 bytes>"), (b"\xff" * 300, "<300 bytes>"),
    ],
)  # fmt: skip
def test_values_are_typed(value: Any, read: Any) -> None:
    space = drawn_space({HOST: "t |a"}, stats={"a": {"x": value, "after": 1}})
    check(space)
    [event] = read_events(parsed(written(space)))
    assert event.args == {"x": read, "after": 1}
    assert type(event.args["x"]) is type(read)


def test_names_of_a_megabyte_are_whole() -> None:
    long = "\0" * 700_000 + "é" * 200_000
    trace = check(
        drawn_space({HOST: "t |aab"}, names={"a": long}, stats={"b": {"x": long, long: 1}})
    )
    first, second = events(trace)
    assert first["name"] == long
    assert second["args"] == {"x": long, long: 1}


def test_the_argument_long_name_is_cut() -> None:
    content = draw({TPU: "XLA Ops |a"}, names={"a": "%f" * 9000}, display_names={"a": "f"})
    [event] = events(document(content))
    assert event["args"]["long_name"] == "%f" * 5000 + "...<truncated>"


def test_an_events_own_stat_counts_before_that_of_its_type() -> None:
    trace = check(
        drawn_space(
            {GPU: "Stream #1 |ab"},
            names={"a": "k", "b": "k"},
            stats={"a": {"x": 1, "long_name": "mine"}},
            type_stats={"a": {"x": 2, "y": 3}},
            display_names=dict.fromkeys("ab", "short"),
        )
    )
    assert [event["args"] for event in events(trace)] == [
        {"x": 1, "long_name": "mine", "y": 3},
        {"x": 2, "y": 3, "long_name": "k"},
    ]


def test_a_step_is_called_by_its_name() -> None:
    content = draw(
        {GPU: "Steps |aab"},
        names={"a": "1", "b": "2"},
        stats={"a": {"step_name": "train 1"}, "b": {"step_name": Ref("train 2"), "group_id": 2}},
    )
    trace = check(space_of(content))
    assert [event["name"] for event in events(trace)] == ["train 1", "train 2"]
    assert events(trace)[1]["args"] == {"step_name": "train 2", "group_id": 2}


def test_events_that_cross_get_a_thread_beside() -> None:
    trace = check(drawn_space({GPU: """
        Stream #1 |aaaa..ddd.
                  |..bbbb.....
                  |...cc......
        Stream #2 |ee
    """}, line_ids={"Stream #1": 1, "Stream #2": 2}))  # fmt: skip
    where = {event["name"]: event["tid"] for event in events(trace)}
    assert where["a"] == where["d"] == 1
    assert where["e"] == 2
    assert where["b"] == where["c"] == 3
    assert thread_names(trace) == {1: "Stream #1", 2: "Stream #2", 3: "Stream #1 (2)"}


def test_a_hundred_events_that_cross_are_all_there() -> None:
    rows = "\n".join("|" + "." * index + "ab"[index % 2] * 150 for index in range(100))
    trace = document(draw({"p": f"t {rows}"}))
    assert len(events(trace)) == 100
    assert len({event["tid"] for event in events(trace)}) <= 64


def test_numbers_are_unique_and_those_that_scripts_know() -> None:
    trace = document(
        draw(
            [
                (HOST, "a |x"), ("/host:CPU [12]", "a |x"), (GPU, "a |x"), ("Other", "a |x"),
                ("/device:CUSTOM:x", "a |x"), (TPU, "a |x"),
            ],
            line_ids={"a": -1},
        )
    )  # fmt: skip
    process = {
        event["args"]["name"]: event["pid"]
        for event in trace["traceEvents"]
        if event["name"] == "process_name"
    }
    assert process == {
        GPU: 1, TPU: 901, HOST: 701, "/host:CPU [12]": 702, "Other": 902, "/device:CUSTOM:x": 501,
    }  # fmt: skip
    assert {event["tid"] for event in events(trace)} == {2**32 - 1}
    places = [event["args"]["name"] for event in trace["traceEvents"]
              if event["name"] == "process_name"]  # fmt: skip
    assert places[:4] == [GPU, TPU, HOST, "/host:CPU [12]"]


def test_lines_without_a_number_of_their_own_get_one() -> None:
    content = draw({HOST: "a |x\nb |x\nc |x"}, line_ids={"a": 0, "b": 0, "c": 1})
    trace = check(space_of(content))
    names = thread_names(trace)
    assert len(names) == 3
    assert 0 not in names  # which Perfetto takes for the idle thread
    assert names[1] == "c"


def test_steps_and_ops_stand_above_streams() -> None:
    lines = ("Stream #10", "Stream #9", "XLA Ops", "XLA Modules", "Framework Ops", "Steps")
    trace = document(draw({GPU: "\n".join(f"{line} |a" for line in lines)}))
    assert in_order(trace) == [
        "Steps", "XLA Modules", "Framework Ops", "XLA Ops", "Stream #9", "Stream #10",
    ]  # fmt: skip


def test_times_before_the_start_and_of_many_hours() -> None:
    event = generate.scalar(2, -5) + generate.scalar(3, 2**57)
    plane = generate.body(2, HOST) + generate.body(3, generate.body(4, event))
    [found] = events(check(space_of(generate.body(1, plane))))
    assert str(found["ts"]) == "-0.000005"
    assert ps(found["dur"]) == 2**57


SPAN = """
    t |aaaa.bb.c.dddd
"""


@pytest.mark.parametrize(
    ("from_us", "to_us", "names"),
    [
        (0, 14, "abcd"), (4, 4, "a"), (3, 5, "ab"), (7, 7, "b"), (7.5, 7.9, ""), (8, 10, "cd"),
        (11, 12, "d"), (14, 20, "d"), (14.000001, 20, ""), (-5, -1, ""), (-5, 0, "a"),
    ],
)  # fmt: skip
def test_a_range_holds_the_events_that_overlap_it(from_us: float, to_us: float, names: str) -> None:
    span = TimeRange(round(from_us * 1e6), round(to_us * 1e6))
    trace = document(draw({HOST: SPAN, GPU: "s |e"}), span=span)
    on_host = [event["name"] for event in events(trace) if event["pid"] == 701]
    assert on_host == list(names)
    assert [float(time) for time in trace["metadata"]["range_us"]] == [from_us, to_us]
    # Threads without an event in the range are not listed.
    listed = {event["pid"] for event in trace["traceEvents"] if event["ph"] == "M"}
    assert listed == {event["pid"] for event in events(trace)}


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 400), st.integers(-3, 20_000), st.integers(0, 9_000))
def test_a_range_of_any_space(seed: int, from_ps: int, length: int) -> None:
    try:
        space = space_of(generate.space(Random(seed)))
    except BadTrace:
        return
    span = TimeRange(from_ps, from_ps + length)
    found = [without_lane(event) for event in read_events(parsed(written(space, span=span)))]
    whole = [without_lane(event) for event in read_events(parsed(written(space)))]
    assert found == [
        one
        for one in whole
        if one.start_ps <= span.to_ps and one.start_ps + one.duration_ps >= span.from_ps
    ]


def test_several_hosts_are_side_by_side() -> None:
    content = draw({GPU: "s |a", HOST: "t |bb"}, stats={"b": {"_pt": 5, "_p": 1}})
    spaces = [space_of(content), space_of(content)]
    found = parsed(written(*spaces, offsets=[0, 3_000_000]))
    process = {
        event["pid"]: event["args"]["name"]
        for event in found["traceEvents"]
        if event["name"] == "process_name"
    }
    assert process == {
        1001: f"h0 {GPU}", 1701: f"h0 {HOST}", 2001: f"h1 {GPU}", 2701: f"h1 {HOST}",
    }  # fmt: skip
    assert [(event["pid"], event["ts"]) for event in events(found)] == [
        (1001, 0), (1701, 0), (2001, 3), (2701, 3),
    ]  # fmt: skip
    flows = [event["bind_id"] for event in events(found) if "bind_id" in event]
    assert len(set(flows)) == 2  # contexts of two hosts have nothing to do with each other
    assert [host["events"] for host in found["metadata"]["hosts"]] == [2, 2]
    ranged = parsed(written(*spaces, offsets=[0, 3_000_000], span=TimeRange(3_500_000, 4_500_000)))
    assert {event["pid"] for event in events(ranged)} == {2001, 2701}


def test_no_events_are_a_valid_document() -> None:
    trace = document(draw({HOST: "t |"}))
    assert trace["traceEvents"] == []
    assert trace["metadata"]["complete"] is True
    out = document(draw({HOST: "t |a"}), span=TimeRange(10**9, 2 * 10**9))
    assert out["traceEvents"] == []
