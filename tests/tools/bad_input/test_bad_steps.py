"""Steps that are missing, hostile or odd: every tool says something sensible.

One column of a drawn trace is 1 µs.
"""

from typing import Any

import pytest
from helpers.payloads import rows
from helpers.promises.all_pages import GPU, HOST, Ask, marked
from traces import draw, listed, message_of

from tbprof._pb import message
from tbprof.base.errors import NoData
from tbprof.tools import TOOLS

HUGE = 2**63 - 1


def test_no_steps_are_unknown_not_zero(ask: Ask):
    """Ops that do not repeat, and nothing that marks steps."""
    answer = ask(h0=draw({HOST: "python |aaa..bbb"}, names={"a": "x:MatMul", "b": "y:Relu"}))
    assert answer.steps == []
    figures = answer.figures
    for id_ in ("step_time_average", "waiting_for_input", "device_busy"):
        assert figures[id_]["value"] is None
    assert figures["steps"]["value"] == 0
    assert answer.properties["steptime_ms_average"] == ""
    assert answer.properties["input_bottleneck"] == "unknown"
    assert answer.properties["step_source"] == "none"
    assert "no step markers" in answer.properties["step_note"]
    assert answer.json["overview_page", "rows"][9]["rows"] in ([], None) or all(
        row["ms"] is None for row in rows(answer.json["overview_page", "rows"][9])
    )


@pytest.mark.parametrize("planes", [{HOST: ""}, {GPU: ""}])
def test_nothing_at_all_is_no_data(ask: Ask, planes: dict[str, str]):
    errors = ask(h0=draw(planes)).errors
    assert set(errors) == {tool.name for tool in TOOLS}
    assert all(isinstance(error, NoData) for error in errors.values())


def test_one_step_has_no_deviation(ask: Ask):
    answer = ask(h0=marked(3))
    assert answer.labels == ["train 3"]
    assert answer.figures["step_time_deviation"]["value"] is None
    assert answer.properties["steptime_ms_standard_deviation"] == ""
    assert answer.figures["step_time_average"]["value"] == pytest.approx(0.007)
    assert answer.steps[0]["hostComputeTimeMs"] == pytest.approx(0.003)


@pytest.mark.parametrize(
    ("first", "second"), [(-5, -4), (HUGE - 1, HUGE), (-(2**63), HUGE), (0, -1)]
)
def test_step_numbers_may_be_anything(ask: Ask, first: int, second: int):
    answer = ask(h0=marked(first, second))
    assert answer.labels == [f"train {first}", f"train {second}"]
    assert answer.pod["steps"]["number"] == [first, second]
    assert [step["stepNum"] for step in
            answer.json["pod_viewer", "rows"]["podStatsSequence"]["podStatsMap"]] == [
        first, second,
    ]  # fmt: skip


def test_equal_step_numbers_are_steps_of_their_own(ask: Ask):
    answer = ask(h0=marked(1, 1, 1), h1=marked(1, 1, 1))
    assert answer.labels == ["train 1"] * 3
    assert [row["workers"] for row in answer.steps] == [2, 2, 2]


def test_overlapping_and_nested_markers_are_disjoint_steps(ask: Ask):
    """Two threads mark, and one of them marks within: each instant is in one step at most."""
    trace = draw(
        {HOST: """
            one |ssssssssssss....uuuuuuuu
                |..nnn
            two |......tttttttttttt
        """},
        names=dict.fromkeys("stun", "train"),
        stats={letter: {"_r": 1, "step_num": at} for at, letter in enumerate("stun")},
    )  # fmt: skip
    answer = ask(h0=trace)
    starts = [row["startMs"] for row in answer.steps]
    assert starts == sorted(starts)
    for row, following in zip(answer.steps, answer.steps[1:], strict=False):
        assert row["startMs"] + row["stepTimeMs"] == pytest.approx(following["startMs"])
    assert sum(row["stepTimeMs"] for row in answer.steps) == pytest.approx(0.024)
    assert {"train 0", "train 1", "train 2"} <= set(answer.labels)


def test_two_names_of_markers_are_both_steps_until_one_is_chosen(ask: Ask):
    drawing = "python |ssssvvvvttttwwww"
    trace = draw(
        {HOST: drawing},
        names={"s": "train", "t": "train", "v": "valid", "w": "valid"},
        stats={letter: {"_r": 1, "step_num": at} for at, letter in enumerate("svtw")},
    )
    answer = ask(h0=trace)
    assert answer.labels == ["train 0", "valid 1", "train 2", "valid 3"]
    assert "'train' or 'valid'" in answer.properties["step_note"]


def test_one_of_two_names_can_be_chosen(ask: Ask):
    trace = draw(
        {HOST: "python |ssssvvvvttttwwww"},
        names={"s": "train", "t": "train", "v": "valid", "w": "valid"},
        stats={letter: {"_r": 1, "step_num": at} for at, letter in enumerate("svtw")},
    )
    answer = ask({"marker": "valid"}, h0=trace)
    assert len(answer.labels) == 2
    assert answer.properties["step_source"] == "chosen"
    assert answer.steps[0]["startMs"] == pytest.approx(0.004)


@pytest.mark.parametrize("marker", ["", "no such event", "\0", "<script>", "a" * 10_000, "\ud800"])
def test_a_choice_that_is_not_there_changes_nothing_but_the_note(ask: Ask, marker: str):
    answer = ask({"marker": marker}, h0=marked(1, 2, 3))
    assert answer.labels == ["train 1", "train 2", "train 3"]
    assert answer.properties["step_source"] == "markers"
    assert ("No thread has an event" in answer.properties["step_note"]) == bool(marker)
    assert len(answer.properties["step_note"]) < 400


@pytest.mark.parametrize("step", ["-1", "99", "1e3", "x", "²", "9" * 400, ""])
def test_a_step_that_is_not_there_is_all_steps(ask: Ask, step: str):
    answer = ask({"step": step}, h0=marked(1, 2))
    assert answer.pod["steps"]["number"] == [1, 2]


def test_a_damaged_host_is_left_out(ask: Ask):
    answer = ask(h0=marked(1, 2), h1=b"\xff\xff\xff\xff not a trace")
    assert answer.labels == ["train 1", "train 2"]
    assert answer.pod["hosts"] == ["h0"]


def test_a_device_without_capabilities_has_no_rates(ask: Ask):
    trace = draw(
        {
            HOST: "python |ssssssssss\n       |LLL",
            GPU: "Stream #1 |...kkkkk",
        },
        names={"s": "train", "L": "cuLaunchKernel", "k": "some_kernel"},
        stats={
            "s": {"_r": 1, "step_num": 1},
            "L": {"correlation_id": 9},
            "k": {"correlation_id": 9},
        },
    )
    answer = ask(h0=trace)
    assert answer.labels == ["train 1"]
    assert answer.steps[0]["deviceComputeTimeMs"] == pytest.approx(0.005)
    for id_ in ("peak_memory", "memory_capacity", "flop_utilization", "bandwidth_utilization"):
        assert answer.figures[id_]["value"] is None
    assert answer.figures["device_busy"]["value"] == pytest.approx(50)


def test_a_trace_that_ends_within_a_step_is_read_up_to_there(ask: Ask):
    """The file is cut off within the third marker, which is all that is lost."""
    space = message_of(marked(1, 2, 3))
    [plane] = space.planes
    lines = message("tensorflow.profiler.XPlane")(lines=plane.lines)
    del plane.lines[:]
    content = plane.SerializeToString() + lines.SerializeToString()  # names first
    size = bytes((len(content) & 127 | 128, len(content) >> 7))
    ops = 3 * 8  # what the file ends with: the ops of the steps, about 8 bytes each
    answer = ask(h0=b"\x0a" + size + content[: len(content) - ops - 12])
    assert answer.labels == ["train 1", "train 2"]


def test_only_the_first_half_of_a_step_was_recorded(ask: Ask):
    """The last step has less work than the others: it is shown, and not averaged."""
    trace = draw(
        {HOST: """
            python |ssssssssttttttttuuuuuuuuvvvv
                   |.a.a.a...a.a.a...a.a.a...a
        """},
        names=dict.fromkeys("stuv", "train") | {"a": "x:MatMul"},
        stats={letter: {"_r": 1, "step_num": at} for at, letter in enumerate("stuv")},
    )  # fmt: skip
    answer = ask(h0=trace)
    assert [row["isTruncated"] for row in answer.steps] == [False, False, False, True]
    assert answer.figures["step_time_average"]["value"] == pytest.approx(0.008)
    assert answer.figures["steps"]["value"] == 3


HOSTILE = ["<script>alert(1)</script>", "a\0b", "=cmd()", "x" * 5000, "‮evil", "\r\n;,\"'"]


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_are_plain_text(ask: Ask, name: str):
    answer = ask(h0=marked(1, 2, 3, name=name))
    assert answer.labels == [f"{name} {number}" for number in (1, 2, 3)]
    assert answer.properties["step_marker"] == name
    assert answer.pod["steps"]["label"] == answer.labels
    if "\0" in name:
        assert name.replace("\0", "\ufffd") in answer.csv["overview_page", 1]
    if name.startswith("="):
        assert "'=cmd()" in answer.csv["overview_page", 1]


def test_names_that_are_no_utf8(ask: Ask):
    whole = marked(1, 2, name="trXin")
    answer = ask(h0=whole.replace(b"trXin", b"tr\xffin"))
    assert len(answer.labels) == 2
    assert all(label.startswith("tr") for label in answer.labels)


def test_events_of_no_length_and_none_at_all(ask: Ask):
    space = message_of(marked(1, 2))
    for event in space.planes[0].lines[0].events:
        event.duration_ps = 0
    answer = ask(h0=space.SerializeToString())
    # Steps last until the next one starts; the last one has no length, and is none.
    assert answer.labels in (["train 1"], [])


def test_absurd_times(ask: Ask):
    space = message_of(marked(1, 2, 3))
    events = space.planes[0].lines[0].events
    events[0].offset_ps, events[0].duration_ps = 2**62, 2**62
    events[1].duration_ps = -5
    answer = ask(h0=space.SerializeToString())
    assert 0 < len(answer.labels) <= 3


@pytest.mark.slow
def test_thousands_of_steps_of_two_workers(ask: Ask):
    count = 2000
    events: list[tuple[Any, ...]] = []
    for step in range(count):
        begin = step * 10_000_000
        events.append(("train", begin, 9_000_000, {"_r": 1, "step_num": step}))
        events.append(("x:MatMul", begin + 1_000_000, 4_000_000))
    content = listed({HOST: {"python": events}})
    answer = ask(h0=content, h1=content)
    assert len(answer.labels) == count
    assert {row["workers"] for row in answer.steps} == {2}
    assert answer.figures["step_time_average"]["value"] == pytest.approx(0.010, rel=1e-3)
    assert answer.figures["steps"]["value"] == count - 1  # the last lacks the gap that follows
    assert len(answer.pod["total"]) == 2 * count
