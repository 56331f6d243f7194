"""Gains of findings have a bound: the time in which no device works, or that of device work."""

import dataclasses
from collections.abc import Mapping

import pytest
from analysis.job import job_of
from analysis.test_findings import GPU, NO_GPU, TPU, evidence, gpus, kernels, late, traced
from every_trace import every_trace, summaries_of
from finding_promises import bound_ms, check_findings
from hypothesis import given, settings
from hypothesis import strategies as st

from tbprof.analysis.devices import Devices
from tbprof.analysis.finding import Evidence
from tbprof.analysis.findings import find_findings
from tbprof.analysis.phases import COMPUTE, Phase
from tbprof.analysis.step_means import step_means
from tbprof.tools.overview_page import gather

splits = st.dictionaries(st.sampled_from(list(Phase)), st.integers(0, 1000), max_size=14)
BUSY = {Phase.COMPUTE_16: 900, Phase.OTHER: 100}


def of(split: Mapping[Phase, int], devices: Devices = GPU) -> Evidence:
    job = job_of([{"GPU:0": split}] * 2)
    return dataclasses.replace(evidence(devices=devices), job=job, means=step_means(job))


@every_trace
def test_no_finding_promises_more_than_the_time_that_it_is_about(trace, request):
    found = gather(summaries_of(trace, request))
    check_findings(found, find_findings(found))


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
    given = evidence(devices=devices, gpus=ran, kernels=kernels((True, False, 100)))
    given = dataclasses.replace(given, job=job, means=step_means(job), hosts=traced(500).hosts)
    check_findings(given, find_findings(given))


def test_what_devices_hide_is_no_gain():
    """Steps of 1 ms, 900 µs of which a device works."""
    given = of(BUSY)
    assert given.gain_of(60.9) == (pytest.approx(0.1), pytest.approx(0.1))
    assert given.gain_of(4) == (pytest.approx(0.04), pytest.approx(0.04))
    assert given.gain_of(-1) == (0.0, 0.0)


def test_device_work_is_the_bound_of_what_is_said_of_it():
    given = of({**BUSY, Phase.COLLECTIVES: 1000})
    assert given.gain_of_work(99) == (pytest.approx(1.9), pytest.approx(0.95))
    assert given.gain_of_work(99, *COMPUTE) == (pytest.approx(0.9), pytest.approx(0.45))
    assert given.gain_of_lateness(99, 40) == (pytest.approx(0.8), pytest.approx(0.4))


def test_where_no_device_computes_the_ops_of_the_host_are_the_work():
    split = {Phase.HOST_COMPUTE: 700, Phase.OTHER: 300}
    assert of(split, NO_GPU).gain_of(80)[1] == pytest.approx(0.3)
    assert of(split, GPU).gain_of(80)[1] == pytest.approx(0.8)


def test_steps_without_time_have_no_gain():
    assert of({}).gain_of(50) == (None, None)


def test_peers_lose_no_more_than_they_wait():
    given = late(20)
    (finding,) = (one for one in find_findings(given) if one.id == "straggler")
    assert finding.gain_ms == pytest.approx(0.02)
    assert bound_ms(given, "straggler") == pytest.approx(0.05)
