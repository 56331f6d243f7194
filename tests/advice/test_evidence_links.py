"""The evidence of findings shows what they count: links of all traces, resolved as pages do it."""

import dataclasses
from pathlib import Path
from urllib.parse import parse_qsl

import pytest
from builders.evidence import evidence
from builders.job_steps import job_of
from helpers.drawn.small_runs import one_run
from helpers.promises.evidence_links import Claim, check_claim, claims, shown_events
from traces import write_run
from traces.every_trace import every_trace, opened
from traces.runs import RUNS, cpu_steps

from tbprof.analysis.job.step_means import step_means
from tbprof.analysis.vocabulary.phases import Phase
from tbprof.engine.engine import DataRequest, Engine
from tbprof.storage.logdir import Logdir


@pytest.fixture(scope="session")
def drawn_engine(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    root = tmp_path_factory.mktemp("drawn")
    for run, make in RUNS.items():
        write_run(root, make(), run)
    return Engine(Logdir(str(root)))


@pytest.mark.parametrize("run", RUNS)
def test_links_of_drawn_runs_show_what_is_counted(drawn_engine: Engine, run: str):
    found = claims(drawn_engine, run)
    assert found
    for one in found:
        check_claim(drawn_engine, run, one)
    check_longest_wait(drawn_engine, run, found)


@every_trace
def test_links_of_recorded_traces_show_what_is_counted(trace: str, request: pytest.FixtureRequest):
    engine, run = opened(trace, request)
    found = claims(engine, run)
    for one in found:
        check_claim(engine, run, one)
    check_longest_wait(engine, run, found)


def check_longest_wait(engine: Engine, run: str, claims: list[Claim]) -> None:
    """The page of input opens the longest wait that the finding about input opens."""
    steps = engine.tables(DataRequest(run, "input_pipeline_analyzer"))[1]
    waits = [one for one in claims if one.id == "input_bound"]
    assert [wait.query for wait in waits] in ([], [steps.properties.get("longest_wait")])


def test_a_link_opens_the_step_of_the_worker_that_lost_most():
    """Of two GPUs that reach a step a second apart, a link goes to one of them."""
    job = job_of([
        {"GPU:0": {Phase.KERNEL_LAUNCH: 100, Phase.COMPUTE_16: 900},
         "GPU:1": {Phase.KERNEL_LAUNCH: 300, Phase.COMPUTE_16: 700}},
        {"GPU:0": {Phase.KERNEL_LAUNCH: 200, Phase.COMPUTE_16: 800},
         "GPU:1": {Phase.KERNEL_LAUNCH: 250, Phase.COMPUTE_16: 750}},
    ])  # fmt: skip
    start = job.start_ps + 10**12 * (job.worker == 1)
    job = dataclasses.replace(job, start_ps=start)
    given = dataclasses.replace(evidence(), job=job, means=step_means(job))
    place = given.worst_step_in(Phase.KERNEL_LAUNCH)
    assert place == {"step": "train 0", "from_ms": "1000.000000000", "to_ms": "1001.000000000"}
    two = dataclasses.replace(job, hosts=("a", "b"), worker_host=job.worker)
    given = dataclasses.replace(given, job=two)
    assert given.worst_step_in(Phase.KERNEL_LAUNCH) == {"hosts": "b", **place}


def test_steps_that_averages_leave_out_are_not_opened():
    split = [{Phase.OTHER: 100}, {Phase.OTHER: 900}]
    job = job_of([{"GPU:0": one} for one in split], truncated=[1])
    given = dataclasses.replace(evidence(), job=job, means=step_means(job))
    assert given.worst_step_in(Phase.OTHER)["step"] == "train 0"
    nothing = job_of([])
    given = dataclasses.replace(given, job=nothing, means=step_means(nothing))
    assert given.worst_step_in(Phase.OTHER) == {}


def test_what_a_link_shows_is_cut_to_its_range(tmp_path: Path):
    """Compilation of 25 in each step of 40; the range holds the end of one and all of the next."""
    engine = one_run(tmp_path, host0=cpu_steps("c" * 25))
    view = {"q": "category:compilation", "from_ms": "0.020", "to_ms": "0.070"}
    [shown] = shown_events(engine, "run", view)
    assert [round(end - begin, -4) // 10**6 for begin, end in shown.events] == [5, 25]
    assert shown.marked_ms == pytest.approx(0.03, rel=1e-4)


@pytest.mark.parametrize(
    ("id_", "tool", "query", "gain_ms"),
    [
        ("python_overhead", "trace_viewer", "q=whole:no such event&from_ms=0&to_ms=1", None),
        ("compilation", "trace_viewer", "q=category:compilation&from_ms=0.03&to_ms=0.05", 0.025),
        ("compilation", "trace_viewer", "from_ms=0&to_ms=1", 0.025),
        ("all_others", "trace_viewer", "step=no such step", None),
        ("all_others", "trace_viewer", "step=train 1&from_ms=0.04&to_ms=0.09", 0.005),
        ("all_others", "trace_viewer", "step=train 1&from_ms=0.04&to_ms=0.08", 0.02),
        ("small_kernels", "kernel_stats", "", None),
        ("input_bound", "input_pipeline_analyzer", "", None),
        ("eager_ops", "framework_op_stats", "f.operation=no such op", None),
    ],
)
def test_a_link_that_shows_less_is_found(tmp_path: Path, id_, tool, query, gain_ms):
    engine = one_run(tmp_path, host0=cpu_steps(f"{'c' * 25}oo"))
    with pytest.raises(AssertionError):
        check_claim(engine, "run", Claim(id_, "", "", gain_ms, tool, query))
    shown = Claim(
        "all_others", "", "", 0.01, "trace_viewer", "step=train 1&from_ms=0.04&to_ms=0.08"
    )
    check_claim(engine, "run", shown)
    [good] = [claim for claim in claims(engine, "run") if claim.id == "compilation"]
    assert dict(parse_qsl(good.query))["q"] == "category:compilation"
