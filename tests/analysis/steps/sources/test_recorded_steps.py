"""The steps that TPU cores recorded themselves: which are the same, and which are missing."""

import numpy as np
from helpers.drawn.drawn_steps import steps_of
from traces import draw

from tbprof.analysis.steps.steps import Steps

HOST, TPU, SECOND = "/host:CPU", "/device:TPU:0", "/device:TPU:1"
LETTERS = "abcdefghijklm"


def core(steps: str, work: str = "", *, shift: int = 0) -> str:
    """A core whose Steps line is `steps`, each with a fusion from its second column on."""
    late = "." * shift
    body = work or "".join("." if one == "." else "x" for one in steps)
    return f"Steps |{late}{steps}\nXLA Modules |{late}{steps}\nXLA Ops |{late}{body}"


def line(*numbers: int, width: int = 10) -> str:
    """Steps of `width`, the last column a gap, by letter; -1 is a step that is not there."""
    return "".join(
        "." * width if number < 0 else LETTERS[number] * (width - 1) + "." for number in numbers
    )


def drawn(planes: dict[str, str], *, first: int = 0, named: bool = True, **more) -> bytes:
    """The letters are steps from `first` on; x is a fusion."""
    names = {one: str(first + at) if named else "step" for at, one in enumerate(LETTERS)}
    return draw(
        planes,
        names={**names, "x": "%fusion.1 = f32[8] fusion()", **more.pop("names", {})},
        type_stats={"x": {"hlo_category": "loop fusion"}},
        **more,
    )


def rows(steps: Steps, worker: int) -> list[tuple[str, int, int]]:
    """(label, start, duration) of a worker's recorded steps."""
    return [
        (steps.label[at], int(steps.start_ps[at]) // 10**6, int(steps.duration_ps[at]) // 10**6)
        for at in np.flatnonzero((steps.worker == worker) & ~steps.is_unrecorded).tolist()
    ]


def lost(steps: Steps) -> list[tuple[str, str]]:
    return [
        (steps.worker_name[steps.worker[at]], steps.label[at])
        for at in np.flatnonzero(steps.is_unrecorded).tolist()
    ]


def test_a_number_that_is_missing_is_a_step_that_was_not_recorded():
    """Another core has it, which began all steps 2 before."""
    steps = steps_of(
        drawn({TPU: core(line(0, 1, 2, 3, 4)), SECOND: core(line(0, 1, -1, 3, 4), shift=2)})
    )
    assert lost(steps) == [("TPU:1", "2")]
    assert rows(steps, 1) == [("0", 2, 10), ("1", 12, 10), ("3", 32, 10), ("4", 42, 9)]
    assert [row[2] for row in rows(steps, 0)] == [10, 10, 10, 10, 9]
    assert steps.doubts == []


def test_without_another_core_time_tells_whether_a_number_is_missing():
    steps = steps_of(drawn({TPU: core(line(0, 1, -1, -1, 4, 5, 6))}))
    assert lost(steps) == [("TPU:0", "2"), ("TPU:0", "3")]
    assert rows(steps, 0)[:3] == [("0", 0, 10), ("1", 10, 10), ("4", 40, 10)]
    counted = steps_of(drawn({TPU: core(line(0, 1, 4, 5, 6))}))  # the program counted on
    assert lost(counted) == []
    assert rows(counted, 0)[1] == ("1", 10, 10)


def test_numbers_may_go_by_twos():
    steps = steps_of(drawn({TPU: core(line(0, 2, 4, 6, 8))}))
    assert lost(steps) == []
    assert steps.number.tolist() == [0, 2, 4, 6, 8]


def launched(steps: list[int], cores: list[str], numbers: range, **more) -> bytes:
    """Markers of the program, train 0, 1, ..., that launch `steps` on the first of `cores`."""
    marks = "stuvwzyqpon"[: len(numbers)]
    calls = "ABCDEFGHIJK"[: len(numbers)]
    host = (
        f"python |{''.join(one * 10 for one in marks)}\n|{''.join(one + '.' * 9 for one in calls)}"
    )
    return draw(
        {HOST: host, **{f"/device:TPU:{at}": text for at, text in enumerate(cores)}},
        names={
            **dict.fromkeys(marks, "train"), **dict.fromkeys(calls, "launch"),
            **{one: str(at) for at, one in enumerate(LETTERS)}, "x": "%fusion.1 = f32[8] fusion()",
        },
        stats={
            **{one: {"_r": 1, "step_num": numbers[at]} for at, one in enumerate(marks)},
            **{one: {"_pt": 12, "_p": 100 + at} for at, one in enumerate(calls)},
            **{LETTERS[at]: {"_ct": 12, "_c": 100 + at} for at in steps},
        },
        type_stats={"x": {"hlo_category": "loop fusion"}},
        **more,
    )  # fmt: skip


def test_steps_are_called_what_the_program_called_them():
    steps = steps_of(launched([0, 1, 2, 3], [core(line(0, 1, 2, 3))], range(100, 104)))
    assert steps.source == "steps_line"
    assert steps.label == ["train 100", "train 101", "train 102", "train 103"]
    assert steps.has_explicit_numbers


def test_steps_that_no_launch_leads_to_are_counted_on():
    """Launches of the first core alone, and of two of its steps."""
    cores = [core(line(0, 1, 2, 3)), core(line(1, 2, 3), shift=10)]
    steps = steps_of(launched([1, 2], cores, range(100, 104)))
    assert [row[0] for row in rows(steps, 0)] == [f"train {at}" for at in range(100, 104)]
    assert [row[0] for row in rows(steps, 1)] == [f"train {at}" for at in range(101, 104)]
    assert lost(steps) == [("TPU:1", "train 100")]
    assert steps.has_explicit_numbers


def test_annotations_that_nothing_links_to_the_line_are_said():
    steps = steps_of(launched([], [core(line(0, 1, 2, 3))], range(100, 104)))
    assert steps.label == ["0", "1", "2", "3"]
    (doubt,) = steps.doubts
    assert doubt.startswith("Nothing links the program's 'train' annotations to the steps")
    same = steps_of(launched([], [core(line(0, 1, 2, 3))], range(4)))
    assert same.doubts == []


def cut(steps: Steps) -> list[tuple[str, str]]:
    """The steps that are cut, but for the last ones, which lack the gap that `line` draws."""
    is_cut = steps.is_truncated & ~steps.is_unrecorded & (steps.start_ps < steps.start_ps.max())
    return [
        (steps.worker_name[steps.worker[at]], steps.label[at])
        for at in np.flatnonzero(is_cut).tolist()
    ]


def test_ops_before_the_first_event_of_the_line_are_a_step_that_is_cut():
    """Its event would begin before the recording did."""
    work = "....xxxxx.xxxxxxxxx.xxxxxxxxx.xxxxxxxxx."
    steps = steps_of(drawn({TPU: core(line(-1, 1, 2, 3), work)}))
    assert (cut(steps), lost(steps)) == ([("TPU:0", "0")], [])
    assert rows(steps, 0)[:2] == [("0", 4, 6), ("1", 10, 10)]
    first = steps_of(drawn({TPU: core("." * 10 + line(0, 1, 2), work)}))
    assert (cut(first), rows(first, 0)[0]) == ([], ("0", 10, 10))  # none precedes number 0
    longer = steps_of(drawn({TPU: core("." * 20 + line(4, 5, 6), "xxxxxxxxx." * 5)}))
    assert cut(longer) == []  # nobody knows how many steps they were


def test_ops_without_an_event_of_the_line_are_a_step_that_is_cut():
    work = "xxxxxxxxx.xxxxxxxxx.xxxx.....xxxxxxxxx.xxxxxxxxx."
    steps = steps_of(
        drawn({TPU: core(line(0, 1, 2, 3, 4)), SECOND: core(line(0, 1, -1, 3, 4), work)})
    )
    assert (cut(steps), lost(steps)) == ([("TPU:1", "2")], [])


def test_events_in_a_row_of_one_number_are_one_step():
    """A line that is there twice, and micro-steps of one number each."""
    once = drawn({TPU: core(line(0, 1, 2))})
    twice = drawn({TPU: f"{core(line(0, 1, 2))}\nSteps |{line(0, 1, 2)}"})
    assert rows(steps_of(twice), 0) == rows(steps_of(once), 0)
    assert steps_of(twice).doubts == []
    micro = drawn({TPU: core("aaa.aaa.bbb.bbb.ccc.ccc.")})
    assert rows(steps_of(micro), 0) == [("0", 0, 8), ("1", 8, 8), ("2", 16, 7)]
    assert steps_of(micro).doubts == [
        "On the Steps line of TPU:0, several events count as one step."
    ]
    stuck = drawn({TPU: core("aaa.aaa.aaa.")})
    assert rows(steps_of(stuck), 0) == [("0", 0, 4), ("0", 4, 4), ("0", 8, 3)]


def test_without_numbers_steps_of_several_cores_meet_in_time():
    """The second core lacks the third step and began after the first."""
    steps = steps_of(
        drawn({TPU: core(line(0, 1, 2, 3, 4)), SECOND: core(line(-1, 1, -1, 3, 4))}, named=False)
    )
    assert [row[0] for row in rows(steps, 1)] == ["step 1", "step 3", "step 4"]
    assert lost(steps) == [("TPU:1", "step 0"), ("TPU:1", "step 2")]
    assert not steps.has_explicit_numbers
    assert steps.doubts == [
        "The Steps lines have no numbers, so steps of several devices are matched by time."
    ]
    assert steps_of(drawn({TPU: core(line(0, 1, 2))}, named=False)).doubts == []


def test_numbers_out_of_order_are_steps_in_order_of_time_and_it_is_said():
    steps = steps_of(drawn({TPU: core(line(0, 3, 1, 2))}))
    assert steps.label == ["0", "3", "1", "2"]
    assert lost(steps) == []
    assert steps.doubts == ["The numbers on the Steps line of TPU:0 are out of order: 1 follows 3."]


def test_numbers_of_cores_that_contradict_time_are_said():
    steps = steps_of(drawn({TPU: core(line(0, 1, 2, 3)), SECOND: core(line(1, 2, 3, 4))}))
    (doubt,) = steps.doubts
    assert doubt.startswith("Steps of TPU:1 share no time with those of TPU:0 that have the same")


def test_a_core_without_a_steps_line_leaves_those_of_others():
    steps = steps_of(drawn({TPU: core(line(0, 1, 2)), SECOND: f"XLA Ops |{'x' * 30}"}))
    assert steps.source == "steps_line"
    assert [len(rows(steps, worker)) for worker in (0, 1)] == [3, 0]
    assert steps.doubts == ["TPU:1 has no Steps line, so its steps are unknown."]


def test_a_first_step_that_lost_one_kind_of_op_is_not_whole():
    steps = line(0, 1, 2, 3)
    work = "iixyxyxyx." * 3
    names = {"i": "%infeed.1 = (f32[8]) infeed()", "y": "%fusion.2 = f32[8] fusion()"}
    found = steps_of(drawn({TPU: core(steps, "..xyxyxyx." + work)}, names=names))
    assert found.is_truncated.tolist() == [True, False, False, True]  # the last lacks its gap
    whole = steps_of(drawn({TPU: core(steps, "iixyxyxyx." + work)}, names=names))
    assert whole.is_truncated.tolist() == [False, False, False, True]
