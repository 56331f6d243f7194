"""One diagnosis of the input, which all pages show."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from builders.tf_data_calls import ROOT, Made, Node, chain, made
from helpers.drawn.small_runs import one_run
from helpers.tables import columns, records
from traces import drawn_space
from traces.every_trace import every_trace, opened
from traces.runs import RUNS, gpu_steps

from tbprof.advice.input.input_cause import InputCause
from tbprof.advice.input.input_diagnosis import diagnose_input, find_cause
from tbprof.advice.summaries import Summaries
from tbprof.analysis.devices.devices import Devices
from tbprof.analysis.hlo.hlo import Programs
from tbprof.analysis.host.single_ops import SingleOps, find_single_ops
from tbprof.analysis.input.input_ops import InputOps, find_input_ops
from tbprof.analysis.steps.step_finding import find_steps
from tbprof.analysis.steps.steps import Steps
from tbprof.base.errors import NoData
from tbprof.engine.engine import DataRequest, Engine

STEPS = 1
BOTTLENECKS, ADVICE = 2, 3
ANALYZER_ADVICE = 5


def inputs(drawing: str = "t |a", **names: str) -> InputOps:
    space = drawn_space({"/host:CPU": drawing}, names=names)
    return find_input_ops(space, Programs(space))


def cause_of(
    *pipelines: Made,
    ops: InputOps | None = None,
    single: Sequence[SingleOps] = (),
    steps: Sequence[Steps] = (),
    hosts: Sequence[str] = ("h0",),
):
    nan = float("nan")
    parts: dict[str, list[Any]] = {
        "tf_data": [made(*pipelines) for _ in hosts],
        "input_ops": [ops or inputs() for _ in hosts],
        "devices": [Devices(0, 0, "CPU", nan, nan) for _ in hosts],
        "steps": list(steps),
        "single_ops": list(single),
    }
    summaries = Summaries(tuple(hosts), parts)
    cause = find_cause(summaries, diagnose_input(summaries))
    assert isinstance(cause, InputCause)
    return cause


def calls(*nodes: Node, every: int = 1000, times: int = 3, **more) -> Made:
    return Made([(index * every, nodes) for index in range(times)], **more)


ROOT_, BATCH, FILTER, MAP = chain("BatchV2", "Filter", "ParallelMapV2")


def test_a_stage_of_the_slowest_pipeline_with_its_figure():
    slow = calls(Node(ROOT_, 1000, 100), Node(BATCH, 900, 200), Node(FILTER, 700, 700))
    fast = calls(Node(ROOT, 10, 10))
    cause = cause_of(fast, slow)
    assert (cause.kind, cause.pipeline, cause.stage) == ("stage", "Host:1", FILTER)
    assert cause.type == "Filter"
    assert (cause.stage_ms, cause.call_ms) == pytest.approx((0.7, 1.0))
    assert cause.is_most
    assert "filter_parallelization" in cause.action


def test_who_fills_the_pool_is_the_cause_not_who_waits_for_it():
    cause = cause_of(
        calls(
            Node(ROOT_, 1000, 10), Node(BATCH, 990, 20),
            Node(FILTER, 970, 960, 4, queue=940, held=20),
            Node(MAP, 10, 10, 4, worker=1900, wait=10, held=950),
        )
    )  # fmt: skip
    assert cause.stage == MAP
    assert cause.stage_ms == pytest.approx(0.95)
    assert "Make the function cheaper" in cause.action


def test_a_pipeline_that_is_called_for_longer_counts_more_than_one_long_call():
    often = calls(Node(ROOT, 400, 10), Node(f"{ROOT}::Map", 390, 390), every=500, times=20)
    once = Made([(0, [Node(ROOT, 900, 10), Node(f"{ROOT}::Shuffle", 890, 890)]),
                 (950, [Node(ROOT, 10, 10)])])  # fmt: skip
    assert cause_of(once, often).type == "Map"


def test_the_host_is_named_where_there_are_several():
    slow = calls(Node(ROOT, 1000, 100), Node(f"{ROOT}::Map", 900, 900))
    cause = cause_of(slow, hosts=("h0", "h1"))
    assert "pipeline Host:0 on h0 take" in cause.sentence


def test_what_was_made_before_the_recording_has_no_stage():
    cut = calls(Node(ROOT, 1000, 10), Node(f"{ROOT}::Prefetch", 990, 990), cut=(0, 1000, 2000))
    cause = cause_of(cut)
    assert (cause.kind, cause.stage) == ("pipeline", "")
    assert "began before the recording" in cause.sentence


def test_devices_alone_do_not_tell_the_stage():
    name = "Iterator::Prefetch::Generator"
    cause = cause_of(calls(Node("Iterator::Prefetch", 1000, 10), Node(name, 990, 990),
                           is_device=True))  # fmt: skip
    assert (cause.kind, cause.stage) == ("pipeline", "")
    assert "which was not recorded" in cause.sentence


def test_a_pipeline_that_is_fast_is_not_blamed():
    cause = cause_of(calls(Node(ROOT, 20, 20), every=1000, times=9))
    assert (cause.kind, cause.stage) == ("elsewhere", "")
    assert "calls to Host:0 take 20 µs on average, 2.2 % of the time" in cause.sentence


def test_iterators_that_take_longer_to_create_than_to_use_are_the_cause():
    """As in calls of Keras's predict(): each creates a dataset for a single batch."""
    drawing = "t |mmmmmm.gggg.mmmmmm.gggg"
    names = {"m": "MakeIterator::RootDataset", "g": "IteratorGetNextOp::DoCompute"}
    slow = calls(Node(ROOT, 1000, 1000))
    cause = cause_of(slow, ops=inputs(drawing, **names))
    assert (cause.kind, cause.stage) == ("elsewhere", "")
    assert cause.sentence == (
        "Creating 2 iterators took 12 µs, which is more than all requests for a batch took (8 µs)."
    )
    assert "predict_on_batch()" in cause.action
    once = cause_of(slow, ops=inputs(drawing.replace(".mmmmmm.", "........"), **names))
    assert once.kind == "stage"


def test_without_a_pipeline_the_trace_does_not_tell_and_an_experiment_does():
    cause = cause_of()
    assert (cause.kind, cause.stage) == ("unknown", "")
    assert "does not show which part of the input is slow" in cause.sentence
    assert "one batch kept in memory" in cause.action
    jax = cause_of(ops=inputs("t |jj", j="PjitFunction(f)"))
    assert "jax.device_put" in jax.action


def test_sending_data_is_the_cause_where_it_takes_longer_than_the_pipeline():
    sent = inputs(f"t |{'h' * 200}", h="MemcpyH2D")
    cause = cause_of(ops=sent)
    assert (cause.kind, cause.stage) == ("transfer", "")
    assert "(MemcpyH2D)" in cause.sentence
    slow = calls(Node(ROOT, 1000, 100), Node(f"{ROOT}::Map", 900, 900))
    assert cause_of(slow, ops=sent).kind == "stage"


@pytest.mark.parametrize(("beside", "is_single"), [("h" * 15, True), ("h" * 17, False)])
def test_what_single_ops_are_given_is_said_where_it_is_most_of_what_is_sent(
    beside: str, is_single: bool
):
    """16 calls send a microsecond each; other sends are not part of any."""
    names = {"p": "PjitFunction(add)", "h": "DevicePut"}
    drawing = f"""
        python |{"ppp." * 16}.{"." * len(beside)}
               |{".h.." * 16}.{beside}
    """
    space = drawn_space({"/host:CPU": drawing}, names=names)
    cause = cause_of(ops=inputs(drawing, **names), single=[find_single_ops(space, Programs(space))])
    assert cause.kind == "transfer"
    assert ("individually" in cause.sentence, "jax.jit" in cause.action) == (is_single, is_single)


@pytest.mark.parametrize(("calls", "is_single"), [(4, True), (3, False)])
def test_steps_that_are_a_small_function_each_have_no_single_ops(calls: int, is_single: bool):
    """A step of one small function, and perhaps of two more calls, is as it should be."""
    names = {"p": "PjitFunction(f)", "h": "DevicePut", "S": "step"}
    drawing = f"""
        python |{f"{'S' * 5 * calls}." * 6}
               |{f"{'pppp.' * calls}." * 6}
               |{f"{'.h...' * calls}." * 6}
    """
    space = drawn_space({"/host:CPU": drawing}, names=names)
    programs = Programs(space)
    steps, single = find_steps(space, programs, "step"), find_single_ops(space, programs)
    assert single.calls.sum() == 6 * calls
    assert steps.steps_per_worker == 6
    cause = cause_of(ops=inputs(drawing, **names), single=[single], steps=[steps])
    assert ("individually" in cause.sentence) == is_single


def test_a_program_that_puts_data_on_devices_is_not_told_to_begin_with_it():
    names = {"d": "DevicePutWithSharding", "p": "$api.py:2035 device_put"}
    cause = cause_of(ops=inputs("python |.pppppp.\n       |..dddd..", **names))
    assert cause.kind == "transfer"
    assert cause.sentence.startswith("The program sends data with jax.device_put ")
    assert "If the program already does, the copies take longer" in cause.action
    without = cause_of(ops=inputs("python |..dddd..", **names))
    assert "inputs or other arguments" in without.sentence


@pytest.mark.parametrize(("device", "kind"), [("hhhhhhkk", "transfer"), ("hhkkkk", "unknown")])
def test_what_gpus_copy_is_the_cause_where_steps_wait_for_that(
    device: str, kind: str, tmp_path: Path
):
    """Of steps of 40 a batch takes 4, whose loader left no other event, and copies 6 or 2."""
    engine = one_run(tmp_path, h0=gpu_steps(device, f"{'.' * 10}iiii"))
    for tool in ("overview_page", "input_pipeline_analyzer"):
        properties = engine.tables(DataRequest("run", tool))[STEPS].properties
        assert properties["input_cause"] == kind
    findings = engine.tables(DataRequest("run", "overview_page"))[7]
    ids, details = columns(findings, "id", "detail").values()
    assert ("copies_to_device" in ids) == (kind == "unknown")
    assert ("3 copies" in details[ids.index("input_bound")]) == (kind == "transfer")


def check_pages_agree(engine: Engine, run: str) -> None:
    """The overview, the input pipeline's page and that of tf.data name one cause, one figure."""
    overview = engine.tables(DataRequest(run, "overview_page"))
    analyzer = engine.tables(DataRequest(run, "input_pipeline_analyzer"))
    said = [
        {name: value for name, value in table.properties.items() if name.startswith("input_cause")}
        for table in (overview[STEPS], analyzer[STEPS])
    ]
    assert said[0] == said[1]
    cause = said[0]
    findings = {row["id"]: row for row in records(overview[7])}
    if "input_bound" in findings:
        finding = findings["input_bound"]
        assert cause["input_cause_sentence"] in finding["detail"]
        next_step = analyzer[STEPS].properties["summary_nextstep"]
        assert next_step.endswith(f"{cause['input_cause_sentence']} {finding['action']}")
        if "above all" in finding["title"]:
            assert finding["title"].endswith(f"mostly for {cause['input_cause_type']}")
    try:
        tables = engine.tables(DataRequest(run, "tf_data_bottleneck_analysis"))
    except NoData:
        assert cause.get("input_cause", "unknown") in ("unknown", "transfer")
        return
    verdict = tables[BOTTLENECKS].properties
    assert {name: verdict[name] for name in cause} == cause
    if cause["input_cause"] != "stage":
        return
    assert cause["input_cause_sentence"] in verdict["summary_message"]
    assert tables[BOTTLENECKS].column("usual_long_name").cells()[0] == cause["input_cause_stage"]
    held_us = tables[BOTTLENECKS].column("usual_held_us").cells()[0]
    assert held_us == pytest.approx(1e3 * float(cause["input_cause_ms"]), rel=1e-4)
    first = tables[ADVICE].column("title").cells()[0]
    assert analyzer[ANALYZER_ADVICE].column("title").cells()[0] == first
    if "input_bound" in findings:
        assert tables[ADVICE].column("action").cells()[0] == findings["input_bound"]["action"]


@every_trace
def test_all_pages_name_the_same_cause_with_the_same_figure(
    trace: str, request: pytest.FixtureRequest
):
    check_pages_agree(*opened(trace, request))


@pytest.mark.parametrize("run", RUNS)
def test_all_pages_agree_on_drawn_runs(run: str, tmp_path: Path):
    check_pages_agree(one_run(tmp_path, **RUNS[run]()), "run")
