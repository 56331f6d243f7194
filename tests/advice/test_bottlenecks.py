"""Classes and sentences: every threshold from both sides."""

import math

import pytest
from builders.job_steps import job_of
from traces import drawn_space

from tbprof.advice.bottlenecks import (
    Bottlenecks,
    collectives_bottleneck,
    find_bottlenecks,
    input_bottleneck,
    kernel_launch_bottleneck,
    other_bottleneck,
    output_bottleneck,
    precision_statement,
)
from tbprof.analysis.hlo.hlo import Programs
from tbprof.analysis.host.host_activity import Activity
from tbprof.analysis.input.input_ops import InputOps, find_input_ops
from tbprof.analysis.job.idle_shares import IdleShare
from tbprof.analysis.job.step_means import step_means
from tbprof.analysis.vocabulary.phases import Phase


def pipeline(event: str) -> InputOps:
    space = drawn_space({"/host:CPU": "t |aaa"}, names={"a": event})
    return find_input_ops(space, Programs(space))


TF_DATA = "Iterator::Root"


def bottlenecks(split, event: str = "", **more) -> Bottlenecks:
    """Those of one step, `split` by phase in any unit."""
    means = step_means(job_of([{"w": split}]))
    return find_bottlenecks(means, pipeline(event) if event else None, **more)


SHARES = (
    IdleShare(Activity.PYTHON, "$a.py:3 f", is_driver=True, ms=0.2, parts=(("", 0.2),)),
    IdleShare(Activity.RUNTIME, "", is_driver=True, ms=0.1, parts=(("", 0.1),)),
)


def test_what_is_known_to_take_the_time_is_named():
    """Of 1000 µs 300 are in no phase: 200 in a function, 100 in the runtime."""
    split = {Phase.COMPUTE_16: 700, Phase.OTHER: 300}
    verdicts = bottlenecks(split, idle=SHARES)
    assert verdicts.input.level == "both"
    assert verdicts.input.statement.startswith("f (a.py:3) takes 20.0 % of step time")
    assert "If it prepares input, the program is input-bound" in verdicts.input.statement
    verdicts = bottlenecks(split, idle=SHARES[1:])
    assert (verdicts.input.level, verdicts.other.level) == ("device", "high")
    assert "For 10.0 %, runtime calls were in progress." in verdicts.other.statement
    assert "Python" not in verdicts.other.statement


@pytest.mark.parametrize(
    ("part", "level"),
    [("$array.py:632 _value", "device"), ("$queue.py:154 get", "both"), ("$time sleep", "both")],
)
def test_reading_results_prepares_no_input(part: str, level: str):
    read = IdleShare(
        Activity.PYTHON, "$a.py:3 f", is_driver=True, ms=0.2, parts=((part, 0.15), ("", 0.05))
    )
    split = {Phase.COMPUTE_16: 800, Phase.OTHER: 200}
    assert bottlenecks(split, idle=[read]).input.level == level


@pytest.mark.parametrize(("waits", "is_transfer"), [(92, True), (92, False), (195, True)])
def test_what_takes_longer_than_the_input_is_said_first(waits: int, is_transfer: bool):
    """Of 1000 µs a function takes 200, and steps wait `waits` for input."""
    split = {Phase.COMPUTE_16: 700 - waits, Phase.INPUT: waits, Phase.OTHER: 300}
    verdicts = bottlenecks(split, idle=SHARES, is_transfer=is_transfer)
    said = "is spent sending data to devices" if is_transfer else "is spent waiting for input"
    assert verdicts.input.is_guess
    assert verdicts.input.level == "both"
    assert verdicts.input.statement.startswith("f (a.py:3) takes 20.0 % of step time")
    assert f"{waits / 10:.1f} % {said}" in verdicts.input.statement
    assert verdicts.other.level == "no"  # said already
    more = {Phase.COMPUTE_16: 495, Phase.INPUT: 205, Phase.OTHER: 300}
    assert not bottlenecks(more, idle=SHARES, is_transfer=is_transfer).input.is_guess


@pytest.mark.parametrize(
    ("waits", "other", "is_recorded", "level", "says"),
    [
        (100.0, 0.0, True, "host", "highly"),
        (20.0, 80.0, True, "host", "highly"),
        (19.99, 50.0, False, "both", "moderately"),
        (5.0, 95.0, False, "both", "moderately"),
        (4.99, 3.0, False, "both", "potentially"),
        (0.0, 3.0, False, "both", "potentially"),
        (4.99, 2.99, False, "device", "not"),
        (4.99, 95.0, True, "device", "not"),
        (0.0, 0.0, False, "device", "not input-bound: no wait for input was recorded."),
        (0.04, 0.0, True, "device", "less than 0.1 % of step time"),
        (math.nan, 0.0, False, "unknown", "No step time"),
    ],
)
def test_input(waits, other, is_recorded, level, says):
    bottleneck = input_bottleneck(waits, other, is_recorded=is_recorded)
    assert bottleneck.level == level
    assert says in bottleneck.statement
    shown = other if says == "potentially" else waits
    assert not shown >= 0.1 or f"{shown:.1f} %" in bottleneck.statement
    assert " 0.0 %" not in bottleneck.statement


@pytest.mark.parametrize(
    ("percent", "level", "says"),
    [(20.0, "high", "highly"), (19.99, "moderate", "moderately"), (5.0, "moderate", "moderately"),
     (4.99, "no", "")],
)  # fmt: skip
def test_output(percent, level, says):
    bottleneck = output_bottleneck(percent)
    assert bottleneck.level == level
    assert says in bottleneck.statement
    assert bool(bottleneck.statement) == bool(says)


@pytest.mark.parametrize(
    "classify", [collectives_bottleneck, kernel_launch_bottleneck, other_bottleneck]
)
@pytest.mark.parametrize(
    ("percent", "level"), [(15.0, "high"), (14.99, "moderate"), (3.0, "moderate"), (2.99, "no")]
)
def test_shares_of_the_step(classify, percent, level):
    found = classify(percent)
    assert (found.level, found.percent) == (level, percent)
    assert (f"{percent:.1f} %" in found.statement) == (level != "no")


def test_launching_may_suffer_from_tf_data():
    assert "TF_GPU_THREAD_MODE" in kernel_launch_bottleneck(3.0, contends=True).statement
    assert "TF_GPU_THREAD_MODE" not in kernel_launch_bottleneck(3.0).statement


def test_gaps_are_told_once_and_on_tpus_are_idle_cores():
    assert other_bottleneck(50.0, is_reported=True).level == "no"
    assert "Python" in other_bottleneck(50.0).statement
    assert "cores wait for something" in other_bottleneck(50.0, is_tpu=True).statement


@pytest.mark.parametrize(
    ("bits_16", "compute", "says"),
    [(9.9, 100.0, "9.9 %"), (10.0, 100.0, ""), (0.0, 50.0, "0.0 %"), (0.0, 0.0, "")],
)
def test_precision(bits_16, compute, says):
    statement = precision_statement(bits_16, compute)
    assert says in statement
    assert bool(statement) == bool(says)


def test_a_step_is_judged_by_its_shares():
    verdicts = bottlenecks(
        {
            Phase.INPUT: 20, Phase.OUTPUT: 5, Phase.COLLECTIVES: 15, Phase.KERNEL_LAUNCH: 3,
            Phase.OTHER: 7, Phase.COMPUTE_32: 46, Phase.COMPUTE_16: 2, Phase.COMPUTE_8: 2,
        }
    )  # fmt: skip
    assert verdicts.input.level == "host"
    assert verdicts.output.level == "moderate"
    assert verdicts.collectives.level == "high"
    assert verdicts.kernel_launch.level == "moderate"
    assert verdicts.other.level == "moderate"
    assert "8.0 %" in verdicts.precision


def test_gaps_may_be_input_only_where_the_trace_would_not_show_it():
    split = {Phase.OTHER: 5, Phase.COMPUTE_16: 95}
    assert bottlenecks(split).input.level == "both"
    assert bottlenecks(split).other.level == "no"
    assert bottlenecks(split, "x:Op").input.level == "both"
    assert bottlenecks(split, "MemcpyH2D").input.level == "both"
    assert bottlenecks(split, "e:InfeedEnqueue").input.level == "device"
    assert bottlenecks(split, TF_DATA).input.level == "device"
    assert bottlenecks(split, TF_DATA).other.level == "moderate"


def test_copies_to_a_gpu_are_input_but_do_not_tell_of_waiting():
    split = {Phase.INPUT: 1, Phase.OTHER: 9, Phase.COMPUTE_16: 90}
    assert bottlenecks(split, "MemcpyH2D").input.level == "both"
    assert bottlenecks(split, "MemcpyH2D", is_tpu=True).input.level == "device"


def test_compute_of_unknown_precision_tells_nothing():
    assert bottlenecks({Phase.COMPUTE_UNKNOWN: 10}).precision == ""
    assert bottlenecks({Phase.COMPUTE_UNKNOWN: 90, Phase.COMPUTE_16: 10}).precision == ""
    assert bottlenecks({Phase.COMPUTE_UNKNOWN: 90, Phase.COMPUTE_64: 10}).precision != ""
    assert bottlenecks({Phase.COMPUTE_32: 10}, is_tpu=True).precision == ""


@pytest.mark.parametrize("steps", [[], [{"w": {}}]])
def test_without_step_time_nothing_is_claimed(steps):
    bottlenecks = find_bottlenecks(step_means(job_of(steps)))
    assert bottlenecks.input.level == "unknown"
    for one in (
        bottlenecks.output,
        bottlenecks.collectives,
        bottlenecks.kernel_launch,
        bottlenecks.other,
    ):
        assert (one.level, one.statement) == ("no", "")
        assert math.isnan(one.percent)
    assert bottlenecks.precision == ""
