"""What the host did while no device worked, and what time is left that nothing explains."""

import dataclasses
from urllib.parse import parse_qsl

import numpy as np
import pytest
from builders.evidence import (
    BATCH,
    NO_GPU,
    NO_SENDS,
    TPU,
    US,
    claim,
    evidence,
    finding_of,
    host,
    idle,
    ops,
    severities,
)
from builders.job_steps import job_of

from tbprof.advice.rules.findings import find_findings
from tbprof.analysis.host.host_activity import Activity
from tbprof.analysis.host.single_ops import SingleOps
from tbprof.analysis.job.idle_shares import IdleShare
from tbprof.analysis.job.step_means import step_means
from tbprof.analysis.vocabulary.phases import Phase


@pytest.mark.parametrize(
    ("permille", "severity"), [(29, None), (30, "low"), (50, "moderate"), (150, "high")]
)
def test_the_function_that_takes_the_time_is_named_with_what_it_waits_for(permille, severity):
    ms = permille / 1000
    shares = (idle(Activity.PYTHON, ms, BATCH, sleep=0.9 * ms),)
    given = evidence({Phase.OTHER: permille}, idle=shares)
    finding = finding_of(given, "python_overhead")
    assert severities("python_overhead", given) == [severity]
    if finding is not None:
        us = f"{permille} µs"
        assert finding.title.startswith(f"batch (train.py:14) takes {us} of each step, ")
        assert finding.title.endswith(f"{0.9 * permille:.3g} µs of that in time.sleep")
        assert finding.gain_ms == pytest.approx(ms)
        assert "what it waits for" in finding.action
        assert dict(parse_qsl(finding.evidence.query))["q"] == f"whole:{BATCH}"
        assert finding_of(given, "all_others") is None  # nothing is left to say


def test_functions_at_work_are_told_to_work_ahead_and_the_rest_stands_beside():
    shares = (
        idle(Activity.PYTHON, 0.2, BATCH, sleep=0.01),
        idle(Activity.UNCOVERED, 0.1),
        idle(Activity.PYTHON, 0.05, "$train.py:30 log"),
    )
    given = evidence({Phase.OTHER: 350}, idle=shares)
    finding = claim(given, "python_overhead")
    assert finding.gain_ms == pytest.approx(0.2)
    assert "time.sleep" not in finding.title
    assert "log (train.py:30) 50 µs" in finding.detail
    assert "ahead" in finding.action
    rest = claim(given, "all_others")
    assert rest.gain_ms == pytest.approx(0.15)
    assert rest.title.endswith("; for 66.7 % of that, no event was recorded")
    assert rest.detail.startswith(
        "Of 150 µs per step: not covered by any recorded event 100 µs, Python 50 µs."
    )


def test_a_function_has_its_waits_for_other_threads_too():
    shares = (
        IdleShare(Activity.WAIT, BATCH, is_driver=True, ms=0.2, parts=(("$queue.py:9 get", 0.2),)),
        idle(Activity.PYTHON, 0.1, BATCH),
        IdleShare(Activity.WAIT, "$time sleep", is_driver=True, ms=0.05, parts=(("", 0.05),)),
    )
    given = evidence({Phase.OTHER: 350}, idle=shares)
    finding = claim(given, "python_overhead")
    assert finding.gain_ms == pytest.approx(0.3)
    assert "200 µs of that in queue.get" in finding.title
    rest = claim(given, "all_others")
    assert rest.gain_ms == pytest.approx(0.05)


@pytest.mark.parametrize(
    ("wait", "says"),
    [
        ("$time sleep", "Find out what it waits for"),
        ("$array.py:631 _value", "read them later"),
        ("$queue.py:154 get", "Another thread, process or connection"),
        ("$queues.py:95 get", "Another thread, process or connection"),
        ("$<unknown> acquire", "Another thread, process or connection"),
    ],
)
def test_a_program_that_already_waits_for_others_is_not_advised_to(wait: str, says: str):
    """A queue that another thread fills is prefetching."""
    waits = idle(Activity.PYTHON, 0.2, BATCH)
    given = evidence({Phase.OTHER: 200}, idle=(dataclasses.replace(waits, parts=((wait, 0.2),)),))
    action = claim(given, "python_overhead").action
    assert says in action
    assert ("queue" in action) == (wait == "$time sleep")


@pytest.mark.parametrize(("ms", "is_conversion"), [(0.1, True), (0.09, False)])
@pytest.mark.parametrize("name", [BATCH, "$numpy asarray"])
def test_what_numpy_converts_may_be_a_result_that_is_waited_for(
    ms: float, is_conversion: bool, name: str
):
    """Arrays of JAX have no frames of their own; 200 µs in all."""
    shares = idle(Activity.PYTHON, 0.2, name)
    parts = (("$numpy asarray", ms), ("$json loads", 0.2 - ms))
    given = evidence({Phase.OTHER: 200}, idle=(dataclasses.replace(shares, parts=parts),))
    action = claim(given, "python_overhead").action
    assert ("does not show what it converts" in action) == is_conversion
    assert ("into a compiled function" in action) == (not is_conversion)


def test_numpy_alone_has_the_time_itself():
    given = evidence({Phase.OTHER: 200}, idle=(idle(Activity.PYTHON, 0.2, "$numpy array"),))
    finding = claim(given, "python_overhead")
    assert finding.title == "numpy.array takes 200 µs of each step"
    assert "must be computed and copied" in finding.action


@pytest.mark.parametrize(("others_ms", "may_be_locked"), [(0.09, False), (0.1, True)])
def test_python_of_other_threads_may_hold_the_interpreter(others_ms: float, may_be_locked: bool):
    """A step's function of 1 ms takes 200 µs itself."""
    own = dataclasses.replace(idle(Activity.PYTHON, 0.2, BATCH), open_ms=1.0)
    others = IdleShare(
        Activity.PYTHON, "$burn.py:3 burn", is_driver=False, ms=others_ms, parts=(("", others_ms),)
    )
    given = evidence({Phase.OTHER: 400}, idle=(own, others))
    finding = claim(given, "python_overhead")
    assert finding.title == "batch (train.py:14) itself takes 200 µs of each step"
    assert "C++ methods have no frames" in finding.action
    assert "block_until_ready" not in finding.action
    of_jax = dataclasses.replace(given, ops=ops((True, "jit(f)/add", "add", 1, False)))
    assert "block_until_ready" in claim(of_jax, "python_overhead").action
    assert ("global interpreter lock" in finding.action) == may_be_locked


def test_completion_of_device_work_is_a_wait_for_it():
    shares = (idle(Activity.COMPLETION, 0.2), idle(Activity.PYTHON, 0.02, BATCH))
    given = evidence({Phase.OTHER: 220}, idle=shares)
    finding = claim(given, "all_others")
    assert finding.gain_ms == pytest.approx(0.22)
    assert "for 90.9 % of that, the program had not yet noticed" in finding.title
    assert "Launch the next step before you wait" in finding.action
    assert finding_of(given, "python_overhead") is None


def test_one_recorded_step_does_not_stand_for_others():
    job = job_of([{"GPU:0": {Phase.OTHER: 200, Phase.COMPUTE_16: 800}}], marker="train")
    given = evidence({Phase.OTHER: 200}, idle=(idle(Activity.PYTHON, 0.2, BATCH),))
    given = dataclasses.replace(given, job=job, means=step_means(job))
    title = claim(given, "python_overhead").title
    assert title == "batch (train.py:14) takes 200 µs of the only recorded step"


def test_idle_time_names_what_was_at_work_instead_of_nothing():
    shares = (
        IdleShare(Activity.TF_DATA_FUNCTION, "", is_driver=False, ms=0.12, parts=(("", 0.12),)),
        IdleShare(Activity.TF_DATA, "", is_driver=False, ms=0.06, parts=(("", 0.06),)),
        idle(Activity.UNCOVERED, 0.02),
    )
    finding = claim(evidence({Phase.OTHER: 200}, idle=shares), "all_others")
    assert finding.title == (
        "No recorded op or device work covers 20.0 % of step time; for 90.0 % of that, tf.data "
        "threads worked"
    )
    assert "No Python frames were recorded" in finding.detail
    assert "waiting for a batch would count as input" in finding.action


def calls(ms: float, name: str = "PjitFunction(f)") -> IdleShare:
    """Time in calls of the runtime."""
    return IdleShare(Activity.RUNTIME, "", is_driver=True, ms=ms, parts=((name, ms),))


@pytest.mark.parametrize(
    ("ms", "severity"), [(0.029, None), (0.03, "low"), (0.05, "moderate"), (0.3, "moderate")]
)
def test_calls_in_which_no_op_runs_are_named_and_never_graded_high(ms, severity):
    given = evidence({Phase.OTHER: round(1000 * ms)}, idle=(calls(ms),))
    assert severities("all_others", given) == [severity]
    finding = finding_of(given, "all_others")
    if finding is not None:
        assert finding.title.endswith("; for 100.0 % of that, runtime calls were in progress")
        assert "(most of it in PjitFunction(f))" in finding.detail
        assert "wait for a processor" in finding.action
        assert "No frames" not in finding.detail


def test_time_that_nothing_explains_is_graded_by_its_share():
    steps = (evidence({Phase.OTHER: permille}) for permille in (29, 30, 49, 50, 149, 150))
    expected = [None, "low", "low", "moderate", "moderate", "high"]
    assert severities("all_others", *steps) == expected


def test_what_is_small_leaves_the_headline_good():
    small = (idle(Activity.UNCOVERED, 0.04),)
    findings = find_findings(evidence({Phase.OTHER: 40}, idle=small))
    assert [finding.id for finding in findings] == ["no_bottleneck", "all_others"]
    assert "all other findings are small" in findings[0].detail


def test_activities_that_share_time_with_another_finding_are_not_said_to_fill_the_rest():
    """Of 400 µs without ops 300 lie between steps: which activity lies where is not known."""
    shares = (calls(0.1), idle(Activity.UNCOVERED, 0.3))
    given = evidence({Phase.OTHER: 400}, gap=300, idle=shares)
    assert finding_of(given, "gap_between_steps") is not None
    rest = claim(given, "all_others")
    assert rest.gain_ms == pytest.approx(0.1)
    assert rest.title.startswith("No recorded op or device work covers another 10.0 %")
    assert rest.title.endswith("of step time")
    assert rest.detail.startswith("Including the time of other findings, it is 400 µs per step: ")


@pytest.mark.parametrize(
    ("kind", "says"),
    [
        (Activity.EAGER, "Python's global interpreter lock"),
        (Activity.WAIT, "which thread or device"),
        (Activity.MEMORY, "what allocates"),
        (Activity.GARBAGE, "gc.freeze()"),
        (Activity.TRANSFER, "ahead of the step"),
    ],
)
def test_the_advice_follows_from_what_filled_the_time(kind, says):
    share = IdleShare(kind, "", is_driver=True, ms=0.2, parts=(("", 0.2),))
    finding = claim(evidence({Phase.OTHER: 200}, idle=(share,)), "all_others")
    assert says in finding.action


def test_python_on_other_threads_is_not_advised_to_move_to_another_thread():
    own = idle(Activity.PYTHON, 0.02, "$train.py:30 log")
    save = dataclasses.replace(idle(Activity.PYTHON, 0.2, "$train.py:40 save"), is_driver=False)
    finding = claim(evidence({Phase.OTHER: 220}, idle=(save, own)), "all_others")
    assert "most of it in save (train.py:40)" in finding.detail
    assert "move that work to another process" in finding.action
    assert "on another thread" not in finding.action


def test_arrays_that_become_tensors_in_each_step_are_copied():
    share = IdleShare(Activity.EAGER, "", is_driver=True, ms=0.2, parts=(("tf.constant", 0.2),))
    finding = claim(evidence({Phase.OTHER: 200}, idle=(share,)), "all_others")
    assert "which copies them" in finding.action


def test_ops_that_run_one_by_one_are_advised_against_only_where_they_are_many():
    share = IdleShare(Activity.EAGER, "", is_driver=True, ms=0.2, parts=(("", 0.2),))
    spans = np.array([0]), np.array([US])
    for count, says in ((1000, "one compiled function (tf.function)"), (10, "wait for")):
        calls = np.array([count])
        runs = SingleOps(*spans, calls, np.array([US]), ["Mul"], calls, *NO_SENDS)
        given = evidence({Phase.OTHER: 200}, idle=(share,), single_ops=[runs])
        finding = claim(given, "all_others")
        assert says in finding.action


def test_an_annotation_is_named_where_there_are_no_frames():
    shares = (idle(Activity.ANNOTATION, 0.2, "load_batch"),)
    finding = claim(evidence({Phase.OTHER: 200}, idle=shares), "annotation_overhead")
    assert finding.gain_ms == pytest.approx(0.2)
    assert dict(parse_qsl(finding.evidence.query))["q"] == "whole:load_batch"
    assert "does not show what happens in it" in finding.action
    assert finding_of(evidence({Phase.OTHER: 200}, idle=shares), "python_overhead") is None


def test_frames_that_were_recorded_are_not_missed():
    given = evidence({Phase.OTHER: 30}, host_facts=host(has_python=True))
    finding = claim(given, "all_others")
    assert "No frames" not in finding.detail
    assert "Python tracer" not in finding.action
    assert "Python tracer" in claim(evidence({Phase.OTHER: 30}), "all_others").action


def test_tpus_that_idle_are_told_so_in_their_own_words():
    finding = claim(evidence({Phase.OTHER: 40}, devices=TPU), "all_others")
    assert "several steps in one compiled function" in finding.action


@pytest.mark.parametrize(("calls", "are_few"), [(0, False), (39, True), (40, False)])
def test_a_step_of_few_calls_is_not_told_to_make_fewer(calls: int, are_few: bool):
    """Ten steps of four calls each make many; 0 says that calls leave no events."""
    shares = (idle(Activity.RUNTIME, 0.1, "ThunkExecutor::Execute"),)
    finding = claim(
        evidence({Phase.OTHER: 100}, idle=shares, host_facts=host(calls=calls)), "all_others"
    )
    assert ("only a few" in finding.action, "one compiled function" in finding.action) == (
        are_few,
        not are_few,
    )


@pytest.mark.parametrize(
    ("calls", "part", "is_unknown"),
    [
        (10, "", True),
        (10, "$array.py:632 _value", True),
        (10, "$<unknown> dump", False),
        (0, "", False),
    ],
)
def test_where_no_ops_are_recorded_a_function_may_wait_for_a_program(calls, part, is_unknown):
    share = IdleShare(Activity.PYTHON, BATCH, is_driver=True, ms=0.2, parts=((part, 0.2),))
    given = evidence({Phase.OTHER: 200}, idle=(share,), host_facts=host(calls=calls), ops=ops())
    given = dataclasses.replace(given, devices=NO_GPU)
    finding = claim(given, "python_overhead")
    assert finding.action.startswith("The trace has no ops") == is_unknown
