"""Gains of findings have a bound: the time in which no device works, or that of device work."""

import dataclasses
from collections.abc import Mapping
from typing import Any

import pytest
from builders.couplings import coupling_of
from builders.evidence import GPU, NO_GPU, TPU, evidence, gpus, kernels, late, traced
from builders.job_steps import job_of
from helpers.promises.finding_promises import bound_ms, check_findings
from hypothesis import given, settings
from hypothesis import strategies as st
from traces.every_trace import every_trace, summaries_of

from tbprof.advice.evidence import Evidence, covered_elsewhere
from tbprof.advice.gain import UNKNOWN_GAIN, Gain
from tbprof.advice.gathering import gather
from tbprof.advice.rules.findings import find_findings
from tbprof.analysis.devices.devices import Devices
from tbprof.analysis.job.step_means import step_means
from tbprof.analysis.vocabulary.phases import COMPUTE, Phase

splits = st.dictionaries(st.sampled_from(list(Phase)), st.integers(0, 1000), max_size=14)


def figures(gain: Gain) -> tuple[float | None, float | None]:
    return gain.ms, gain.ratio


BUSY = {Phase.COMPUTE_16: 900, Phase.OTHER: 100}


def of(split: Mapping[Phase, int], devices: Devices = GPU) -> Evidence:
    job = job_of([{"GPU:0": split}] * 2)
    return dataclasses.replace(evidence(devices=devices), job=job, means=step_means(job))


@every_trace
def test_no_finding_promises_more_than_the_time_that_it_is_about(trace, request):
    evidence = gather(summaries_of(trace, request))
    check_findings(evidence, find_findings(evidence))


@pytest.mark.slow
@settings(deadline=None)
@given(
    splits,
    st.sampled_from([GPU, TPU, NO_GPU]),
    st.integers(0, 1000),
    st.integers(0, 10**6),
)
def test_whatever_a_step_is_made_of(split, devices, gap, lost):
    gap = min(gap, sum(split.values()))
    job = job_of([{"GPU:0": split}] * 3, gaps={(step, "GPU:0"): gap for step in range(3)})
    ran = gpus(window_ps=[10**6], kernels=[9], small_kernels=[9], small_ps=[0],
               small_gap_ps=[lost], median_ps=[1])  # fmt: skip
    on_gpus: dict[str, Any] = (
        {"gpus": ran, "kernels": kernels((True, False, 100))} if devices is GPU else {}
    )
    given = evidence(devices=devices, **on_gpus)
    given = dataclasses.replace(given, job=job, means=step_means(job), hosts=traced(500).hosts)
    check_findings(given, find_findings(given))


def test_what_devices_hide_is_no_gain():
    """Steps of 1 ms, 900 µs of which a device works."""
    given = of(BUSY)
    assert figures(given.gain_of(60.9)) == pytest.approx((0.1, 0.1))
    assert figures(given.gain_of(4)) == pytest.approx((0.04, 0.04))
    assert figures(given.gain_of(-1)) == (0.0, 0.0)


def test_device_work_is_the_bound_of_what_is_said_of_it():
    given = of({**BUSY, Phase.COLLECTIVES: 1000})
    assert figures(given.gain_of_work(99)) == pytest.approx((1.9, 0.95))
    assert figures(given.gain_of_work(99, *COMPUTE)) == pytest.approx((0.9, 0.45))
    assert figures(given.gain_of(40, Phase.COLLECTIVES)) == pytest.approx((0.8, 0.4))


def test_where_no_device_computes_the_ops_of_the_host_are_the_work():
    split = {Phase.HOST_COMPUTE: 700, Phase.OTHER: 300}
    assert of(split, NO_GPU).gain_of(80).ratio == pytest.approx(0.3)
    assert of(split, GPU).gain_of(80).ratio == pytest.approx(0.8)


def test_steps_without_time_have_no_gain():
    assert of({}).gain_of(50) == UNKNOWN_GAIN


def test_time_that_a_finding_promises_is_gone_for_others():
    """Of steps of 1 ms a device computes for 500 µs; launches take 200 and nothing 300."""
    split = {Phase.COMPUTE_16: 500, Phase.KERNEL_LAUNCH: 200, Phase.OTHER: 300}
    given = of(split)
    (launch,) = (finding for finding in find_findings(given) if finding.id == "kernel_launch")
    left = given.excluding(launch)
    phases = (Phase.KERNEL_LAUNCH, Phase.OTHER)
    assert left.unclaimed(*phases) == pytest.approx(30)
    gain = left.gain_of(40, *phases)
    assert gain.ms == pytest.approx(0.3)
    assert gain.taken == {Phase.OTHER: pytest.approx(30)}
    assert gain.shared == pytest.approx(10)
    assert covered_elsewhere(left, gain) == " Other findings cover 100 µs of that."
    assert covered_elsewhere(given, given.gain_of(40, *phases)) == ""
    assert given.gain_of(40, *phases, limits={Phase.KERNEL_LAUNCH: 5}).own == pytest.approx(35)


def test_pauses_between_small_kernels_are_the_launches_that_they_wait_for():
    """Of 1 ms pauses of 250 µs are before small kernels, 200 of which launches explain."""
    split = {Phase.COMPUTE_16: 500, Phase.KERNEL_LAUNCH: 200, Phase.OTHER: 300}
    pauses = gpus(window_ps=[10**9], kernels=[9], small_kernels=[9], small_ps=[10**8],
                  small_gap_ps=[250 * 10**6], median_ps=[1])  # fmt: skip
    given = dataclasses.replace(of(split), gpus=pauses)
    gains = {finding.id: finding.gain_ms for finding in find_findings(given)}
    assert gains == pytest.approx({"all_others": 0.25, "kernel_launch": 0.2, "small_kernels": 0.05})
    check_findings(given, find_findings(given))
    (small,) = (finding for finding in find_findings(given) if finding.id == "small_kernels")
    assert "Other findings cover 200 µs of that." in small.detail


def test_a_late_worker_and_what_makes_it_late_are_one_gain():
    """Of 100 µs the first waits 40 for input and computes 50; the second waits 40 for the first."""
    steps = {"GPU:0": {Phase.INPUT: 40, Phase.COMPUTE_16: 50, Phase.COLLECTIVES: 10},
             "GPU:1": {Phase.COMPUTE_16: 50, Phase.COLLECTIVES: 50}}  # fmt: skip
    job = job_of([steps] * 4)
    given = dataclasses.replace(
        evidence(), job=job, means=step_means(job), couplings=[coupling_of(job.worker_name)]
    )
    gains = {finding.id: finding.gain_ms for finding in find_findings(given)}
    # Repaired, the first waits for nothing, 20 less on average, and the second 20 less for it.
    assert gains == {"straggler": pytest.approx(0.04), "collectives": pytest.approx(0.01)}


def test_peers_lose_no_more_than_they_wait():
    given = late(20)
    (finding,) = (one for one in find_findings(given) if one.id == "straggler")
    assert finding.gain_ms == pytest.approx(0.02)
    assert bound_ms(given, "straggler") == pytest.approx(0.05)


def test_without_time_of_steps_nothing_is_said_of_it():
    """`of({})` has steps that take no time."""
    assert covered_elsewhere(of({}), Gain(None, None, shared=50.0)) == ""
