"""All rules together: order and links of findings, and what is said where nothing is wrong."""

import dataclasses
import math
from collections.abc import Sequence
from typing import Any
from urllib.parse import parse_qsl

import pytest
from builders.evidence import (
    GPU,
    NO_GPU,
    TPU,
    US,
    claim,
    evidence,
    host,
    ints,
    memory,
    traced,
)
from builders.job_steps import job_of
from hypothesis import given
from hypothesis import strategies as st

from tbprof.advice.finding import SEVERITIES
from tbprof.advice.rules.findings import find_findings
from tbprof.analysis.job.step_means import step_means
from tbprof.analysis.vocabulary.phases import Phase


def test_findings_are_ordered_by_gain_then_severity():
    facts = host(eager_ps=ints(900 * US), eager_name=["A"], eager_count=ints(40))
    given = evidence(
        {Phase.INPUT: 100, Phase.KERNEL_LAUNCH: 200, Phase.COLLECTIVES: 31},
        host_facts=facts,
        memory=memory(("GPU_0_bfc", True, 91, 100, 0.0)),
    )
    assert [finding.id for finding in find_findings(given)] == [
        "kernel_launch", "input_bound", "collectives", "eager_ops", "memory_near_capacity",
    ]  # fmt: skip


def test_where_nothing_is_wrong_that_is_said():
    (finding,) = find_findings(evidence({Phase.INPUT: 10}))
    assert (finding.id, finding.severity) == ("no_bottleneck", "good")
    assert finding.value == pytest.approx(99.0)
    (on_cpu,) = find_findings(evidence({Phase.HOST_COMPUTE: 980}, devices=NO_GPU))
    assert on_cpu.value == pytest.approx(100.0)


def test_without_steps_that_is_the_last_finding_and_no_gain_is_told():
    job = job_of([])
    full = memory(("0", True, 95, 100, 0.0))
    given = dataclasses.replace(evidence(memory=full, devices=TPU), job=job, means=step_means(job))
    assert [finding.id for finding in find_findings(given)] == ["memory_near_capacity", "no_steps"]
    busy = dataclasses.replace(traced(1000), job=job, means=step_means(job))
    retracing = find_findings(busy)[0]
    assert (retracing.id, retracing.gain_ms, retracing.gain_ratio) == ("retracing", None, None)


@given(st.dictionaries(st.sampled_from(list(Phase)), st.integers(0, 1000), max_size=14))
def test_every_finding_is_complete_and_over_its_threshold(split):
    job = job_of([{"GPU:0": split}, {"GPU:0": split}])
    given = dataclasses.replace(evidence(), job=job, means=step_means(job))
    findings = find_findings(given)
    assert findings
    assert len({finding.id for finding in findings}) == len(findings)
    for one in findings:
        assert one.severity in SEVERITIES
        assert one.title
        assert one.detail
        assert one.action
        assert one.guide.url.startswith("https://")
        assert (one.next_page or one.evidence).tool
        assert one.evidence.tool
        if one.id != "no_steps":
            assert one.value >= one.threshold or math.isnan(one.value)
        assert (one.gain_ms is None) == (one.gain_ratio is None)
        if one.gain_ratio is not None:
            assert 0 <= one.gain_ratio <= 1


def test_findings_lead_to_their_events_in_the_worst_step():
    def page(split: Sequence[dict[Phase, int]], name: str, **parts: Any) -> dict[str, str]:
        job = job_of([{"GPU:0": one} for one in split])
        given = dataclasses.replace(evidence(**parts), job=job, means=step_means(job))
        finding = claim(given, name)
        opened = finding.next_page or finding.evidence
        assert opened.tool == "trace_viewer"
        return dict(parse_qsl(opened.query))

    launches = [{Phase.KERNEL_LAUNCH: 100}, {Phase.KERNEL_LAUNCH: 300}, {Phase.KERNEL_LAUNCH: 200}]
    place = page(launches, "kernel_launch")
    job = job_of([{"GPU:0": launch} for launch in launches])
    assert place == {
        "q": "category:launch",
        "step": job.label[1],
        "from_ms": f"{job.start_ps[1] / 1e9:.9f}",
        "to_ms": f"{(job.start_ps[1] + job.duration_ps[1]) / 1e9:.9f}",
    }
    outputs = page([{Phase.OUTPUT: 300}], "output_bound", devices=GPU)
    assert (outputs["q"], outputs["regex"]) == ("^memcpyd(2|to)h", "1")
    assert "q" not in page([{Phase.OTHER: 300}], "all_others")
