"""What is said of steps that take much longer than the others."""

import dataclasses
from urllib.parse import parse_qs

import numpy as np
import pytest
from builders.evidence import NO_GPU, evidence, ints
from builders.job_steps import job_of
from helpers.promises.finding_promises import check_findings
from hypothesis import given
from hypothesis import strategies as st

from tbprof.advice.evidence import Evidence
from tbprof.advice.finding import Finding
from tbprof.advice.outlier_causes import ordinal, reasons
from tbprof.advice.rules.findings import find_findings
from tbprof.analysis.host.host_activity import Activity
from tbprof.analysis.job.idle_time import IdleTime
from tbprof.analysis.job.step_calls import NO_CALLS, StepCalls
from tbprof.analysis.job.step_means import step_means
from tbprof.analysis.job.step_outliers import find_outliers, typical
from tbprof.analysis.vocabulary.phases import Phase

COMPUTE = Phase.COMPUTE_16


def of(
    slow: dict[int, dict[Phase, int]],
    *,
    steps: int = 20,
    usual: dict[Phase, int] | None = None,
    takes_all: bool = False,
    kind: str = "GPU",
) -> Evidence:
    """Steps of 20 µs, but those that are given."""
    usual = {COMPUTE: 20} if usual is None else usual
    splits = [{"worker": slow.get(step, usual)} for step in range(steps)]
    job = job_of(splits, kinds={"worker": kind})
    means = step_means(job)
    outliers = find_outliers(means, job.number)
    chosen = means if takes_all else typical(means, outliers)
    return dataclasses.replace(evidence(), job=job, means=chosen, outliers=outliers)


def findings_of(given: Evidence) -> dict[str, Finding]:
    findings = find_findings(given)
    check_findings(given, findings)
    return {finding.id: finding for finding in findings}


def every(period: int, more: dict[Phase, int], steps: int = 20) -> dict[int, dict[Phase, int]]:
    return {step: {COMPUTE: 20, **more} for step in range(period, steps, period)}


def test_what_recurs_is_named_with_its_period_and_what_it_costs_each_step():
    one = findings_of(of(every(5, {Phase.OTHER: 42})))["periodic_steps"]
    assert one.title == "Every 5th step takes 42 µs longer"
    assert one.gain_ms == pytest.approx(8.4e-3)
    assert one.gain_ratio == pytest.approx(8.4 / 28.4)
    assert one.severity == "high"
    assert "train 5, train 10, train 15" in one.detail
    assert parse_qs(one.evidence.query)["step"] == ["train 5"]


@pytest.mark.parametrize(
    ("more", "severity"), [(30, None), (34, "moderate"), (170, "moderate"), (180, "high")]
)
def test_what_recurs_is_graded_by_its_part_of_all_time(more, severity):
    """Each 50th of 200 steps of 20 µs: 0.03 of all time is 30.9 µs, 0.15 of it 176."""
    given = of(every(50, {Phase.OTHER: more}, 200), steps=200)
    finding = findings_of(given).get("periodic_steps")
    assert (finding.severity if finding else None) == severity


def test_input_that_recurs_is_told_to_be_buffered():
    one = findings_of(of(every(4, {Phase.INPUT: 90})))["periodic_steps"]
    assert "most of it waiting for input" in one.detail
    assert "prefetch buffer" in one.action


def test_compilation_that_recurs_is_told_what_helps_against_it():
    one = findings_of(of(every(4, {Phase.COMPILATION: 90})))["periodic_steps"]
    assert "most of it compilation" in one.detail
    assert "shapes" in one.action


def test_functions_are_recompiled_only_where_most_of_the_steps_compile():
    slow = every(5, {Phase.OTHER: 100})
    slow[0] = {COMPUTE: 20, Phase.COMPILATION: 150}
    one = findings_of(of(slow))["periodic_steps"]
    assert one.detail.startswith("Steps train 0, train 5, train 10 and 1 more take ")
    assert "recompiled" not in one.action


@pytest.mark.parametrize(
    ("kind", "name", "said", "advised"),
    [
        (Activity.GARBAGE, "", "garbage was collected", "gc.freeze()"),
        (Activity.PYTHON, "$train.py:9 save_weights", "save_weights (train.py:9)", "Save less"),
        (Activity.PYTHON, "$train.py:9 report", "report (train.py:9)", "Check in the timeline"),
        (Activity.ANNOTATION, "orbax save", "orbax save", "Save less"),
        (Activity.RUNTIME, "", "", "Check in the timeline"),
    ],
)
def test_what_recurs_is_named_where_events_tell_it(kind, name, said, advised):
    given = of(every(5, {Phase.OTHER: 42}))
    slow = given.outliers.step
    spent = IdleTime(
        slow, np.zeros(slow.size, np.int64), np.full(slow.size, 40 * 10**6), ints(int(kind)),
        [name], [""], np.array([True]), np.zeros(slow.size, np.int64), NO_CALLS,
    )  # fmt: skip
    one = findings_of(dataclasses.replace(given, idle_time=[spent]))["periodic_steps"]
    end = f": {said}." if said else "."
    assert one.detail.endswith(f"most of it time that no op covers{end}")
    assert one.action.startswith(advised) or advised in one.action


@pytest.mark.parametrize(
    ("calls", "said"),
    [
        (
            {"$loop.py:1 fit": (20, 62), "$io.py:9 save": (0, 40), "$io.py:20 write": (0, 30)},
            "save (io.py:9)",
        ),
        ({"$loop.py:1 fit": (20, 62), "$io.py:9 save": (0, 15)}, ""),
        ({"$loop.py:1 fit": (20, 62), "PjitFunction(loss)": (0, 1)}, "only these steps call loss"),
        ({"$loop.py:1 fit": (20, 62), "$loop.py:5 epoch": (15, 50)}, "epoch (loop.py:5)"),
        ({"$loop.py:1 fit": (20, 30)}, ""),
    ],
)
def test_what_recurs_is_in_a_call_of_the_program(calls, said):
    """Calls that typical steps hardly make come first. By name: µs in typical and in slow steps."""
    given = of(every(5, {Phase.HOST_COMPUTE: 42}))
    row, name, time = [], [], []
    for step in range(given.outliers.is_outlier.size):
        for index, times in enumerate(calls.values()):
            row.append(step)
            name.append(index)
            time.append(times[int(given.outliers.is_outlier[step])] * 10**6)
    made = StepCalls(ints(*row), ints(*name), ints(*time), list(calls))
    nothing = ints()
    spent = IdleTime(
        nothing, nothing, nothing, nothing, [], [], np.zeros(0, bool), nothing, made,
    )  # fmt: skip
    one = findings_of(dataclasses.replace(given, idle_time=[spent]))["periodic_steps"]
    assert one.detail.endswith(f": {said}." if said else "most of it host compute.")


def test_what_writes_on_a_cpu_is_a_checkpoint():
    usual = {Phase.HOST_COMPUTE: 20}
    given = of(every(5, {Phase.OUTPUT: 42}), usual=usual)
    on_cpu = of(every(5, {Phase.OUTPUT: 42}), usual=usual, kind="CPU")
    on_cpu = dataclasses.replace(on_cpu, devices=NO_GPU)
    one = findings_of(on_cpu)["periodic_steps"]
    assert "ops that write checkpoints and summaries" in one.detail
    assert one.action.startswith("Save less often")
    assert "checkpoints" not in findings_of(given)["periodic_steps"].detail


def test_a_slow_first_step_is_named_beside_how_typical_steps_are():
    given = of({0: {COMPUTE: 20, Phase.COMPILATION: 300}})
    findings = find_findings(given)
    assert [finding.id for finding in findings] == ["slow_steps", "no_bottleneck"]
    assert findings[1].title.startswith("Nothing else slows down the program")
    assert "busy for 100.0 %" in findings[1].title
    one = findings[0]
    assert (one.severity, one.gain_ms) == ("low", None)
    assert one.title == "The first step takes much longer than the others"
    slow = (
        "Step train 0 takes 320 µs, compared to 20 µs for a typical step, "
        "most of the difference compilation"
    )
    assert slow in one.detail
    assert "warmed up" in one.action
    assert parse_qs(one.evidence.query)["step"] == ["train 0"]


@pytest.mark.parametrize(("step", "is_warm_up"), [(2, True), (3, False), (12, False)])
def test_a_later_step_that_compiles_is_no_warm_up(step: int, is_warm_up: bool):
    """As for a last batch that is smaller."""
    one = findings_of(of({step: {COMPUTE: 20, Phase.COMPILATION: 300}}))["slow_steps"]
    assert ("warmed up" in one.action) == is_warm_up
    assert ("pad the last batch" in one.action) != is_warm_up


@pytest.mark.parametrize("step", [0, 1])
def test_a_program_that_compiles_in_each_step_does_not_warm_up(step: int):
    compiling = {each: {COMPUTE: 20, Phase.COMPILATION: 300} for each in range(20)}
    one = findings_of(of(compiling | {step: {COMPUTE: 20, Phase.COMPILATION: 900}}))["slow_steps"]
    assert "warmed up" not in one.action
    assert "keep shapes" in one.action


def test_slow_steps_elsewhere():
    one = findings_of(of({7: {COMPUTE: 200}, 8: {COMPUTE: 100}}))["slow_steps"]
    assert one.title == "2 of 20 steps take much longer than the others"
    assert "Steps train 7, train 8 take 150 µs on average" in one.detail
    assert "most of the difference device compute" in one.detail
    assert parse_qs(one.evidence.query)["step"] == ["train 7"]


def test_a_step_that_costs_little_of_the_trace_is_only_marked():
    """30 µs more of 2,030."""
    given = of({7: {COMPUTE: 50}}, steps=100)
    assert given.outliers.step.tolist() == [7]
    assert "slow_steps" not in findings_of(given)


def test_shares_are_of_typical_steps_unless_all_are_chosen():
    """A first step that waits for its input for 980 of 1,000 µs."""
    slow = {0: {COMPUTE: 20, Phase.INPUT: 980}}
    assert "input_bound" not in findings_of(of(slow))
    assert findings_of(of(slow, takes_all=True))["input_bound"].value == pytest.approx(
        100 * 980 / (1000 + 19 * 20)
    )
    assert "include these steps" in findings_of(of(slow, takes_all=True))["slow_steps"].detail


def test_reasons_in_the_table():
    given = of({**every(5, {Phase.OTHER: 42}), 3: {Phase.COMPILATION: 700}})
    texts = reasons(given.job, given.means, given.outliers, ())
    assert texts[3] == "680 µs longer than a typical step, most of it compilation"
    assert texts[5] == (
        "42 µs longer than a typical step, most of it time that no op covers; "
        "this recurs in every 5th step"
    )
    assert not any(texts[step] for step in (0, 1, 2, 4, 6))


def test_ordinals():
    numbers = (1, 2, 3, 4, 10, 11, 12, 13, 21, 22, 23, 100, 101, 111, 112)
    assert " ".join(map(ordinal, numbers)) == (
        "1st 2nd 3rd 4th 10th 11th 12th 13th 21st 22nd 23rd 100th 101st 111th 112th"
    )


@given(
    st.lists(st.dictionaries(st.sampled_from(list(Phase)), st.integers(0, 10**6)), max_size=30),
    st.booleans(),
)
def test_whatever_steps_are_like(splits, takes_all):
    slow = dict(enumerate(splits))
    findings_of(of(slow, steps=len(splits), usual={}, takes_all=takes_all))
