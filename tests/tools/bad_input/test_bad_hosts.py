"""Hosts that contradict each other: every tool answers, and what is doubtful is said.

One column of a drawn trace is 1 µs.
"""

from dataclasses import replace

import pytest
from helpers.promises.all_pages import HOST, Ask, marked
from jobs import TpuJob, draw_tpu_job
from traces import draw


def test_hosts_whose_clocks_differ_meet_by_number(ask: Ask):
    day_ns = 86_400 * 10**9
    answer = ask(
        h0=marked(5, 6, 7, start_ns=10**18),
        h1=marked(6, 7, 8, start_ns=10**18 + day_ns),
        h2=marked(7, 8, 9),
    )
    assert answer.labels == [f"train {number}" for number in range(5, 10)]
    assert [row["workers"] for row in answer.steps] == [1, 2, 3, 2, 1]
    (text,) = answer.warnings  # nothing says when h2 was recorded
    assert text.startswith("h1: its steps ran 86,400.0 s later")


def test_hosts_without_a_common_number_are_not_averaged_and_it_is_said(ask: Ask):
    day_ns = 86_400 * 10**9
    answer = ask(h0=marked(1, 2, start_ns=10**18), h1=marked(11, 12, start_ns=10**18 + day_ns))
    assert [row["workers"] for row in answer.steps] == [1, 1, 1, 1]
    assert [text.partition(": ")[0] for text in answer.warnings] == ["h0", "h1"]
    assert all("no step in common" in text for text in answer.warnings)


def test_a_host_without_steps_is_named(ask: Ask):
    answer = ask(h0=marked(1, 2), h1=draw({HOST: "python |aaa..bbb"}))
    assert answer.labels == ["train 1", "train 2"]
    assert any(text.startswith("h1: excluded") for text in answer.warnings)


def test_inferred_steps_of_a_host_do_not_mix_with_marked_ones(ask: Ask):
    """Four steps of 20 that wait 3 for input, beside an op of 1 every 3."""
    letters = "stuv"
    a = draw(
        {HOST: f"python |{''.join(20 * one for one in letters)}\n|{('iii' + 'a' * 15 + '..') * 4}"},
        names=dict.fromkeys(letters, "train")
        | {"i": "IteratorGetNext:IteratorGetNext", "a": "x:MatMul"},
        stats={one: {"_r": 1, "step_num": at} for at, one in enumerate(letters)},
    )
    b = draw({HOST: f"python |{'b..' * 27}"}, names={"b": "y:Relu"})
    answer = ask(a=a, b=b)
    assert answer.labels == ["train 0", "train 1", "train 2", "train 3"]
    assert [row["stepTimeMs"] for row in answer.steps] == pytest.approx([0.02] * 4)
    assert answer.properties["waiting_percent"] == "15.0"
    assert answer.properties["is_inferred"] == "false"
    assert not any("inferred." in text for text in answer.messages)
    assert [text.partition(",")[0] for text in answer.warnings] == [
        "b: its steps are excluded: nothing in its trace marks them"
    ]


def test_what_is_said_of_inference_is_true_of_each_host(ask: Ask):
    """Three calls of a function on one host, four on the other."""
    a, b = (
        draw({HOST: f"python |{'fffff.' * calls}"}, names={"f": "PjitFunction(step)"})
        for calls in (3, 4)
    )
    answer = ask(a=a, b=b)
    assert answer.properties["is_inferred"] == "true"
    said = [text for text in answer.messages if "inferred" in text]
    assert [text.partition(" ")[0] for text in said] == ["a:", "b:"]
    assert ["3 were recorded" in said[0], "4 were recorded" in said[1]] == [True, True]


def test_steps_lines_without_numbers_and_clocks_that_contradict_are_said_on_pages(ask: Ask):
    job = TpuJob(hosts=2, cores=2, steps=4, steps_line="unnumbered", has_markers=False)
    answer = ask(**draw_tpu_job(replace(job, skew_us=(0, 60_000))).files)
    assert answer.labels == ["step 0", "step 1", "step 2", "step 3"]
    assert [row["workers"] for row in answer.steps] == [4] * 4
    apart, unnumbered = answer.warnings
    assert apart.startswith("host1: its steps ran 60 ms later than the steps of the other hosts")
    assert unnumbered.startswith("The Steps lines have no numbers")
    assert set(answer.warnings) <= set(answer.messages)


def test_a_step_that_a_core_lost_is_said_on_pages(ask: Ask):
    job = TpuJob(hosts=1, cores=2, steps=5, lost=((0, 1, 2),))
    answer = ask(**draw_tpu_job(job).files)
    assert [row["workers"] for row in answer.steps] == [2, 2, 1, 2, 2]
    assert [row["stepTimeMs"] for row in answer.steps] == pytest.approx([100] * 5)
    assert answer.warnings == ["TPU:1: step train 102 was not recorded; averages exclude it."]
    assert answer.pod["stragglers"] == []
