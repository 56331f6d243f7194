"""Shares of step time and gaps between steps, just below, at and above their thresholds."""

import dataclasses

import pytest
from builders.evidence import LADDER, claim, evidence, finding_of, host, idle, inputs, severities
from builders.job_steps import job_of

from tbprof.analysis.host.host_activity import Activity
from tbprof.analysis.job.step_means import step_means
from tbprof.analysis.vocabulary.phases import Phase


@pytest.mark.parametrize(
    ("id_", "phase", "moderate", "high"),
    [
        ("input_bound", Phase.INPUT, 50, 200),
        ("output_bound", Phase.OUTPUT, 50, 200),
        ("device_to_device", Phase.DEVICE_TO_DEVICE, 50, 200),
        ("kernel_launch", Phase.KERNEL_LAUNCH, 30, 150),
        ("collectives", Phase.COLLECTIVES, 30, 150),
    ],
)
def test_shares_of_step_time(id_, phase, moderate, high):
    ladder = (moderate - 1, moderate, high - 1, high, high + 1)
    assert severities(id_, *(evidence({phase: permille}) for permille in ladder)) == LADDER
    at = claim(evidence({phase: high}), id_)
    assert (at.value, at.unit, at.threshold) == (pytest.approx(high / 10), "%", high / 10)
    assert at.gain_ms == pytest.approx(high / 1000)
    assert at.gain_ratio == pytest.approx(high / 1000)
    assert claim(evidence({phase: moderate}), id_).threshold == moderate / 10


def test_a_gap_between_steps():
    ladder = [evidence({Phase.OTHER: gap}, gap=gap) for gap in (29, 30, 149, 150, 400)]
    assert severities("gap_between_steps", *ladder) == LADDER
    at = claim(ladder[3], "gap_between_steps")
    assert at.gain_ms == pytest.approx(0.15)
    assert "train" in at.detail
    assert "callbacks" in at.action


@pytest.mark.parametrize(("gap_us", "is_loop"), [(19, True), (20, False)])
def test_a_gap_as_short_as_a_loop_is_not_taken_for_callbacks(gap_us: int, is_loop: bool):
    short = job_of(
        [{"GPU:0": {Phase.OTHER: gap_us, Phase.COMPUTE_16: 30}}] * 10,
        gaps={(step, "GPU:0"): gap_us for step in range(10)},
        marker="train",
    )
    given = dataclasses.replace(evidence(), job=short, means=step_means(short))
    action = claim(given, "gap_between_steps").action
    assert ("several steps in one compiled function" in action) == is_loop
    assert ("callbacks" in action) != is_loop


def test_launches_that_compete_with_tf_data():
    """Ten steps of 1 ms: two threads at work all the time are 20 ms."""
    launches = {Phase.KERNEL_LAUNCH: 30}
    alone = claim(evidence(launches, inputs=inputs(Map=19_999)), "kernel_launch")
    both = claim(evidence(launches, inputs=inputs(Map=20_000)), "kernel_launch")
    assert "gpu_private" not in alone.action
    assert "gpu_private" in both.action
    assert "intra_op" in both.action


@pytest.mark.parametrize("is_xla", [False, True])
def test_a_program_of_xla_is_not_told_to_use_it(is_xla):
    given = evidence({Phase.KERNEL_LAUNCH: 30}, host_facts=host(is_xla=is_xla))
    finding = claim(given, "kernel_launch")
    assert ("jit_compile" in finding.action) == (not is_xla)
    assert "steps_per_execution" in finding.action
    assert ("command buffers" in finding.action) == is_xla


@pytest.mark.parametrize(("updates_us", "is_said"), [(29, False), (30, True)])
def test_graphs_that_are_updated_in_each_step(updates_us: int, is_said: bool):
    """Ten steps launch for 30 µs each."""
    facts = host(
        is_xla=True, has_graphs=True, graph_updates=10, graph_update_ps=updates_us * 1_000_000
    )
    finding = claim(evidence({Phase.KERNEL_LAUNCH: 30}, host_facts=facts), "kernel_launch")
    text = f"updated CUDA graphs 10 times before launching them, in {updates_us} µs in total"
    assert (text in finding.detail) == is_said
    assert ("donate_argnums" in finding.action) == is_said


def test_a_program_with_graphs_is_not_told_to_use_them():
    given = evidence({Phase.KERNEL_LAUNCH: 30}, host_facts=host(is_xla=True, has_graphs=True))
    finding = claim(given, "kernel_launch")
    assert "command buffers" not in finding.action
    assert "lax.scan" in finding.action


@pytest.mark.parametrize(("named", "has_gap"), [(0.29, True), (0.31, False)])
def test_a_gap_is_a_finding_only_where_no_function_explains_it(named, has_gap):
    """Of 400 µs without work 200 are a gap: 100 of it at least must be of the function."""
    shares = (idle(Activity.PYTHON, named, "$train.py:14 batch"), idle(Activity.UNCOVERED, 0.1))
    given = evidence({Phase.OTHER: 400}, gap=200, idle=shares)
    assert (finding_of(given, "gap_between_steps") is not None) == has_gap
