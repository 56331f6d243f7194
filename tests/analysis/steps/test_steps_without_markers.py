"""Steps of what repeats, and of TPU cores: nothing in the program marks them."""

import pytest
from helpers.drawn.drawn_steps import HOST, steps_of, table, times
from traces import draw


def test_nothing_marks_steps_and_nothing_repeats():
    steps = steps_of(draw({HOST: "python |aaa.bbb"}, names={"a": "x:A", "b": "x:B"}))
    assert steps.source == "none"
    assert steps.label == []
    assert "no step markers" in steps.note
    assert steps_of(draw({HOST: ""})).source == "none"
    assert steps_of(draw({"/host:metadata": ""})).source == "none"


DENSE = {"m": "dense/MatMul:MatMul", "r": "dense/Relu:Relu", "g": "gather/Gather:Gather"}


def test_ops_back_to_back_are_steps_in_which_an_op_is_always_at_work():
    """The op that begins each step is work of it, too."""
    steps = steps_of(draw({HOST: "python |" + ("m" * 18 + "rr") * 12}, names=DENSE))
    assert (steps.source, steps.marker) == ("pattern", DENSE["m"])
    assert [row[2] for row in table(steps)] == [{"host_compute": 20}] * 12
    assert times(steps)[:2] == [(0, 20, 20), (20, 20, 20)]


@pytest.mark.parametrize(("last", "is_cut"), [("llmmmmmmmmrr", False), ("llmmmm", True)])
def test_the_last_round_of_a_pattern_is_whole_where_it_has_the_events_of_the_others(
    last: str, is_cut: bool
):
    """No next round bounds it, and what begins it is not all of it."""
    drawing = f"python |{'llmmmmmmmmrr' * 7}{last}"
    steps = steps_of(draw({HOST: drawing}, names={**DENSE, "l": "load"}))
    assert (steps.source, steps.marker) == ("pattern", "load")
    assert steps.is_truncated.tolist() == [False] * 7 + [is_cut]
    if not is_cut:
        assert times(steps)[-1] == (84, 12, 12)


def test_steps_of_a_pattern_begin_on_the_thread_on_which_it_was_found():
    """Another one has more events of that name."""
    other = "m." * 60
    steps = steps_of(draw({HOST: f"a/1 |{('m' * 18 + 'rr') * 12}\nb/2 |{other}"}, names=DENSE))
    assert [start for start, _, _ in times(steps)] == list(range(0, 240, 20))
    assert "repeat 12 times on the thread 'a/1'" in steps.note


def test_ops_of_any_thread_are_work_where_nothing_says_whose_they_are():
    drawing = "python |f.........f.........f.........f\npool/2 |.mmmmrrr...mmmmrrr...mmmmrrr"
    steps = steps_of(draw({HOST: drawing}, names={**DENSE, "f": "$train.py:3 step"}))
    assert [row[2] for row in table(steps)[:3]] == [{"host_compute": 7, "other": 3}] * 3
    # Threads may work ahead for tf.data, whose functions are made of ops, too.
    drawing += "\ntf_data_1 |" + "i" * 30
    names = {**DENSE, "f": "$train.py:3 step", "i": "Iterator::Root::ParallelMapV2"}
    steps = steps_of(draw({HOST: drawing}, names=names))
    assert [row[2] for row in table(steps)[:3]] == [{"other": 10}] * 3


def test_a_tpu_step_by_its_own_line():
    trace = draw(
        {
            "/device:TPU:0": """
                Steps |ssssssssss..tttttttt
                XLA Ops |iiccrr.oo...ccccdd
            """,
        },
        names={"s": "1", "t": "2", "i": "infeed", "c": "fusion", "r": "all-reduce",
               "o": "outfeed", "d": "copy-done"},
        type_stats={
            "i": {"hlo_category": "infeed"},
            "c": {"hlo_category": "convolution fusion", "shape_with_layout": "bf16[8,128]{1,0}"},
            "r": {"hlo_category": "all-reduce"},
            "o": {"hlo_category": "outfeed"},
            "d": {"hlo_category": "copy-done"},
        },
    )  # fmt: skip
    steps = steps_of(trace)
    assert steps.source == "steps_line"
    assert times(steps) == [(0, 12, 10), (12, 8, 8)]
    assert [row[2] for row in table(steps)] == [
        {"input": 2, "compute_16": 2, "collectives": 2, "output": 2, "other": 4},
        {"compute_16": 4, "device_to_device": 2, "other": 2},
    ]


def test_a_tpu_without_steps_has_one_per_execution_of_its_main_program():
    trace = draw(
        {
            "/device:TPU:0": """
                XLA Modules |h.mmmm..mmmm.h.mmmm
                XLA Ops |..cccc..cccc...cccc
            """,
        },
        names={"m": "jit_step(12)", "h": "jit_helper(3)", "c": "fusion"},
        type_stats={"c": {"hlo_category": "fusion", "shape_with_layout": "f32[8]{0}"}},
    )  # fmt: skip
    steps = steps_of(trace)
    assert steps.source == "executions"
    assert steps.is_inferred
    assert steps.marker == "jit_step(12)"
    assert times(steps) == [(2, 6, 4), (8, 7, 4), (15, 4, 4)]
