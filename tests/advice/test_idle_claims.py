"""Step time without ops is said once: by the finding that names most of what it is spent on."""

import dataclasses
from urllib.parse import parse_qsl

import numpy as np
import pytest
from advice.rules.test_findings_outliers import every, of
from builders.evidence import BATCH, claim, evidence, finding_of, host, idle, ints
from traces import drawn_space

from tbprof.advice.bottlenecks import find_bottlenecks
from tbprof.advice.evidence import Evidence
from tbprof.advice.idle_claims import callback_share
from tbprof.analysis.hlo.hlo import Programs
from tbprof.analysis.host.host_activity import Activity
from tbprof.analysis.host.result_reads import ResultReads, find_result_reads
from tbprof.analysis.host.single_ops import SingleOps
from tbprof.analysis.job.idle_shares import IdleShare, callbacks_as_runtime
from tbprof.analysis.job.idle_time import IdleTime
from tbprof.analysis.job.step_calls import NO_CALLS
from tbprof.analysis.steps.host_callbacks import HostCallbacks, find_host_callbacks
from tbprof.analysis.vocabulary.phases import Phase
from tbprof.base.names import RUNS_PROGRAM

US = 10**6
MS = 1000 * US


def each_step(begin: int, end: int) -> tuple[np.ndarray, np.ndarray]:
    """From `begin` to `end` µs of each of ten steps of 1 ms."""
    start = np.arange(10, dtype=np.int64) * MS
    return start + begin * US, start + end * US


def reading(end_us: int, *readers: str) -> ResultReads:
    """Reads from the beginning of each step, all by each of the readers."""
    spent = np.full(len(readers), 10 * end_us * US)
    return ResultReads(*each_step(0, end_us), list(readers), spent)


def waiting(name: str, part: str, ms: float) -> IdleShare:
    return IdleShare(Activity.WAIT, name, is_driver=True, ms=ms, parts=((part, ms),))


@pytest.mark.parametrize(
    ("python", "other", "end"),
    [
        pytest.param("pp.rrr", "p...rrrr", 8, id="two threads of the program"),
        pytest.param("...rrr", "....rrrr", 8, id="no calls are recorded"),
        pytest.param("pp.rrr", "....rrrr", 6, id="the other thread only reads"),
    ],
)
def test_reads_are_those_of_threads_that_call_programs(python: str, other: str, end: int):
    names = {"r": "np.asarray(jax.Array)", "p": "PjitFunction(step)"}
    drawing = f"python |{python}\nother |{other}"
    space = drawn_space({"/host:CPU": drawing}, names=names)
    reads = find_result_reads(space, Programs(space))
    assert (reads.start_ps.tolist(), reads.end_ps.tolist()) == ([3 * US], [end * US])
    assert reads.reader == []


def test_reads_have_the_programs_frame_or_that_of_a_check():
    names = {
        "r": "np.asarray(jax.Array)", "s": "$train.py:9 step", "l": "$train.py:5 log",
        "v": "$array.py:629 _value", "c": "$dispatch.py:294 check_special",
    }  # fmt: skip
    drawing = "python |ssssssssssssss\n |.llll.cccc.vvv\n |..rr..rrrr.rrr"
    space = drawn_space({"/host:CPU": drawing}, names=names)
    reads = find_result_reads(space, Programs(space))
    assert reads.reader == [names["c"], names["s"], names["l"]]
    assert reads.reader_ps.tolist() == [4 * US, 3 * US, 2 * US]


@pytest.mark.parametrize(
    ("readers", "said", "checks"),
    [
        ([], "", False),
        ([BATCH], " Results are read in batch (train.py:14).", False),
        (["$dispatch.py:294 check_special"], "check_special (dispatch.py:294).", True),
        ([BATCH, "$a.py:1 f", "$a.py:2 g"], "(train.py:14), f (a.py:1) and 1 more.", False),
    ],
)
def test_who_reads_is_said(readers: list[str], said: str, checks: bool):
    others = (idle(Activity.PYTHON, 0.3, BATCH),)
    given = evidence({Phase.OTHER: 300}, idle=others, reads=[reading(400, *readers)])
    finding = finding_of(given, "blocking_read")
    assert finding is not None
    assert finding.detail.endswith(said)
    assert ("Results are read" in finding.detail) == bool(readers)
    assert ("jax_debug_nans" in finding.action) == checks


@pytest.mark.parametrize(("read_us", "gain_us"), [(400, 300), (100, 100)])
def test_a_read_in_each_step_costs_what_could_go_on_beside_it(read_us: int, gain_us: int):
    """Devices are idle for 300 µs of each step, all of them in `batch`."""
    given = evidence(
        {Phase.OTHER: 300},
        idle=(idle(Activity.PYTHON, 0.3, BATCH),),
        reads=[reading(read_us)],
    )
    finding = claim(given, "blocking_read")
    assert finding.gain_ms == pytest.approx(gain_us / 1000)
    assert "most of it in batch (train.py:14)" in finding.detail
    # One of the two, where they are about the same time.
    assert (finding_of(given, "python_overhead") is None) == (gain_us == 300)
    assert finding_of(given, "all_others") is None


def test_what_waits_for_the_result_itself_is_no_time_that_a_later_read_saves():
    given = evidence(
        {Phase.OTHER: 300},
        idle=(waiting("", "np.asarray(jax.Array)", 0.2), idle(Activity.PYTHON, 0.1, BATCH)),
        reads=[reading(400)],
    )
    finding = claim(given, "blocking_read")
    assert finding.gain_ms == pytest.approx(0.1)
    assert "no device works for 100 µs, most of it in batch (train.py:14)" in finding.detail
    assert "the trace does not show whether it does" in finding.detail


def test_a_read_is_not_what_the_program_does_besides_reading():
    converting = IdleShare(
        Activity.PYTHON, BATCH, is_driver=True, ms=0.1, parts=(("$array.py:631 _value", 0.1),),
        open_ms=1.0,
    )  # fmt: skip
    given = evidence(
        {Phase.OTHER: 300},
        idle=(converting, idle(Activity.UNCOVERED, 0.2)),
        reads=[reading(400)],
    )
    finding = claim(given, "blocking_read")
    assert "while the program does other things" in finding.detail


def test_time_between_the_ops_of_a_run_is_neither_a_gap_nor_saved_by_a_later_read():
    """300 µs of each step, between its end and the next one; 200 of these a program was running."""
    running = IdleShare(Activity.RUNTIME, "", is_driver=False, ms=0.2, parts=((RUNS_PROGRAM, 0.2),))
    nothing = IdleShare(Activity.UNCOVERED, "", is_driver=False, ms=0.1, parts=(("", 0.1),))
    given = evidence(
        {Phase.OTHER: 300},
        gap=300,
        idle=(running, nothing),
        reads=[reading(400)],
    )
    finding = claim(given, "blocking_read")
    assert finding.gain_ms == pytest.approx(0.1)
    without_reads = finding_of(dataclasses.replace(given, reads=()), "gap_between_steps")
    assert without_reads is None or without_reads.gain_ms == pytest.approx(0.1)
    all_of_it = dataclasses.replace(
        given,
        reads=(),
        idle=(dataclasses.replace(running, ms=0.3, parts=((RUNS_PROGRAM, 0.3),)),),
    )
    assert finding_of(all_of_it, "gap_between_steps") is None


def test_callbacks_are_events_of_instructions():
    names = {"p": "pure_callback.1", "d": "debug_callback", "x": "callback_of_mine", "b": BATCH,
             "l": "$train.py:30 log", "D": "debug_print.3", "f": "$debugging.py:5 _flat_callback",
             "c": "$config.py:292 __init__"}  # fmt: skip
    drawing = "pool |pp.dd.xxbb.DDD\n |.l.........fff\n |...........c..."
    space = drawn_space({"/host:CPU": drawing}, names=names)
    found_ones = find_host_callbacks(space, Programs(space))
    assert found_ones.start_ps.tolist() == [0, 3 * US, 11 * US]
    assert found_ones.end_ps.tolist() == [2 * US, 5 * US, 14 * US]
    assert found_ones.name == ["debug_callback", "debug_print.3", "pure_callback.1"]
    assert found_ones.function == ["$train.py:30 log"]


def test_callbacks_of_tensorflow_are_ops_of_steps_but_not_of_tf_data():
    names = {"t": "train", "p": "a/EagerPyFunc:EagerPyFunc", "m": "MatMul:MatMul",
             "n": "PyFunc:PyFunc"}  # fmt: skip
    drawing = (
        "python |tttttttttt\n |.mmppppq..\ntf_data_pool |......nnn\npool |.o\ntf_data_x |....r"
    )
    names |= {"o": "PyFuncStateless:PyFuncStateless", "r": "EagerPyFunc:EagerPyFunc"}
    stats = {"t": {"step_num": 1, "_r": 1}, "q": {"_pt": 1, "_p": 1}, "r": {"_ct": 1, "_c": 1}}
    space = drawn_space({"/host:CPU": drawing}, names=names, stats=stats)
    callbacks = find_host_callbacks(space, Programs(space))
    assert callbacks.name == [names["p"]]
    assert (callbacks.start_ps.tolist(), callbacks.end_ps.tolist()) == ([3 * US], [7 * US])


def test_ops_that_call_python_are_said_to_be_of_functions():
    called = HostCallbacks(*each_step(0, 400), ["a/EagerPyFunc:EagerPyFunc"], [BATCH])
    given = evidence({Phase.HOST_COMPUTE: 900}, callbacks=[called])
    finding = claim(given, "host_callbacks")
    assert finding.title == "Functions call Python for 40.0 % of step time"
    assert "400 µs is spent in EagerPyFunc, until Python returns from batch" in finding.detail
    assert finding.action.startswith("Replace tf.py_function")
    assert dict(parse_qsl(finding.evidence.query))["q"] == "_callback|debug_print|PyFunc"


def test_callbacks_of_input_are_reported_as_input():
    """900 µs of each step of 1 ms are input."""
    called = HostCallbacks(*each_step(0, 400), ["PyFunc:PyFunc"], [])
    given = evidence({Phase.INPUT: 900, Phase.HOST_COMPUTE: 20}, callbacks=[called])
    assert callback_share(given) == pytest.approx(10)
    assert finding_of(given, "host_callbacks") is None


def test_a_callback_in_each_step_is_said_with_the_function_that_was_recorded_in_it():
    called = HostCallbacks(*each_step(0, 400), ["pure_callback.1"], [BATCH])
    split = {Phase.HOST_COMPUTE: 150, Phase.OTHER: 250}
    idle_in = (idle(Activity.PYTHON, 0.25, BATCH),)
    given = evidence(split, idle=idle_in, callbacks=[called])
    finding = claim(given, "host_callbacks")
    assert (finding.severity, finding.gain_ms) == ("high", pytest.approx(0.4))
    assert "pure_callback.1" in finding.detail
    assert "batch (train.py:14)" in finding.detail
    assert finding_of(given, "python_overhead") is None
    assert finding_of(given, "all_others") is None


def test_functions_that_programs_call_make_no_input():
    called = HostCallbacks(*each_step(0, 400), ["pure_callback.1"], [BATCH])
    means = evidence({Phase.OTHER: 250}).means
    shares = (idle(Activity.PYTHON, 0.25, BATCH),)
    assert (
        "batch (train.py:14) takes 25.0 %" in find_bottlenecks(means, idle=shares).input.statement
    )
    found_with = find_bottlenecks(means, idle=callbacks_as_runtime(shares, [called]))
    assert found_with.input.level == "device"
    assert "runtime calls were in progress" in found_with.other.statement


def test_a_gap_that_a_function_fills_is_no_finding_of_its_own():
    shares = (idle(Activity.PYTHON, 0.3, BATCH),)
    assert (
        finding_of(evidence({Phase.OTHER: 300}, gap=300, idle=shares), "gap_between_steps") is None
    )
    # Time elsewhere in the step explains no gap.
    both = evidence({Phase.OTHER: 600}, gap=300, idle=shares)
    assert finding_of(both, "gap_between_steps") is not None
    assert finding_of(both, "all_others") is None


def test_a_gap_that_calls_of_the_runtime_fill_is_not_idle():
    """JAX 0.4 runs programs inside of their calls on a CPU, without an event of an op."""
    calls = IdleShare(Activity.RUNTIME, "", is_driver=True, ms=0.55, parts=(("", 0.55),))
    shares = (calls, idle(Activity.UNCOVERED, 0.05))
    given = evidence({Phase.OTHER: 600}, gap=300, idle=shares)
    assert finding_of(given, "gap_between_steps") is None
    rest = claim(given, "all_others")
    assert rest.gain_ms == pytest.approx(0.6)
    # Calls elsewhere in the step fill no gap.
    short = (dataclasses.replace(calls, ms=0.3, parts=(("", 0.3),)), idle(Activity.UNCOVERED, 0.3))
    given = evidence({Phase.OTHER: 600}, gap=300, idle=short)
    assert finding_of(given, "gap_between_steps") is not None


def test_a_gap_in_which_input_is_waited_for_is_input():
    assert finding_of(evidence({Phase.INPUT: 300}, gap=300), "gap_between_steps") is None


def test_ops_one_by_one_are_not_told_as_time_without_ops_too():
    def of_runs(end: int) -> Evidence:
        each = ints(*[20] * 10)
        counts = ints(200), ints(), ints()
        runs = SingleOps(*each_step(0, end), each, ints(*[US] * 10), ["Mul"], *counts)
        return evidence({Phase.OTHER: 300}, single_ops=[runs])

    assert finding_of(of_runs(300), "all_others") is None
    left = claim(of_runs(200), "all_others")
    assert left.gain_ms == pytest.approx(0.1)


def test_a_wait_for_another_thread_is_named():
    given = evidence({Phase.OTHER: 300}, idle=(waiting(BATCH, "$queue.py:154 get", 0.3),))
    finding = claim(given, "python_overhead")
    assert "queue.get" in finding.title
    assert finding.gain_ms == pytest.approx(0.3)


def test_outliers_name_the_function_that_makes_them_long():
    given = of(every(5, {Phase.OTHER: 42}))
    rows = [int(row) for row in given.outliers.step]
    spent = IdleTime(
        step=ints(*rows), activity=ints(*[0] * len(rows)), time_ps=ints(*[42 * US] * len(rows)),
        kind=ints(int(Activity.PYTHON)), name=[BATCH], part=["$gc collect"],
        is_driver=np.array([True]), open_ps=ints(*[42 * US] * len(rows)), calls=NO_CALLS,
    )  # fmt: skip
    given = dataclasses.replace(given, idle_time=[spent])
    finding = claim(given, "periodic_steps")
    assert "time that no op covers: batch (train.py:14), in gc.collect." in finding.detail


def test_what_is_compiled_in_outliers_is_told_of_them_alone():
    given = of(every(5, {Phase.COMPILATION: 90}))
    facts = host(compile_ps=500 * MS, compilations=3, compile_name=["backend_compile"])
    given = dataclasses.replace(given, hosts=[facts])
    assert finding_of(given, "periodic_steps") is not None
    assert finding_of(given, "compilation") is None
    usual = dataclasses.replace(evidence({Phase.COMPILATION: 100}), hosts=[facts])
    assert finding_of(usual, "compilation") is not None


LOOP = "$train.py:50 body"


def loop(ms: float, **parts: float) -> IdleShare:
    """A function that is open all step long; `parts` are frames of C functions and their ms."""
    return dataclasses.replace(idle(Activity.PYTHON, ms, LOOP, **parts), open_ms=0.9)


def test_of_a_function_that_holds_the_loop_what_it_calls_is_named():
    """The loop leaves 400 µs of its 900 to ops; of the others a call of `sleep` takes 450."""
    given = evidence({Phase.OTHER: 500}, idle=(loop(0.5, sleep=0.45),))
    finding = claim(given, "python_overhead")
    assert finding.title == "time.sleep, called by body (train.py:50), takes 450 µs of each step"
    assert finding.gain_ms == pytest.approx(0.45)
    assert dict(parse_qsl(finding.evidence.query))["q"] == "whole:$time sleep"
    rest = claim(given, "all_others")
    assert rest.gain_ms == pytest.approx(0.05)
    assert "Python 50 µs" in rest.detail


def test_of_a_function_that_holds_the_loop_its_own_code_is_named_where_no_call_takes_most():
    given = evidence({Phase.OTHER: 200}, idle=(loop(0.2, sleep=0.05),))
    finding = claim(given, "python_overhead")
    assert finding.title == "body (train.py:50) itself takes 150 µs of each step"
    assert "have no frames" in finding.action
    # What holds the step makes no input by itself.
    means = given.means
    assert find_bottlenecks(means, idle=given.idle).input.level == "device"


def test_a_function_that_holds_a_loop_leaves_the_name_to_one_that_takes_longer():
    shares = (loop(0.2, sleep=0.11), idle(Activity.PYTHON, 0.15, BATCH))
    finding = claim(evidence({Phase.OTHER: 350}, idle=shares), "python_overhead")
    assert dict(parse_qsl(finding.evidence.query))["q"] == f"whole:{BATCH}"
    assert finding.gain_ms == pytest.approx(0.15)
    assert "Also: time.sleep, called by body (train.py:50), 110 µs." in finding.detail


def test_a_function_of_few_steps_is_not_said_to_be_in_each():
    shares = (idle(Activity.PYTHON, 0.3, BATCH, sleep=0.15),)
    spent = IdleTime(
        step=ints(2, 5, 8), activity=ints(0, 0, 0), time_ps=ints(*[1000 * US] * 3),
        kind=ints(int(Activity.PYTHON)), name=[BATCH], part=[""], is_driver=np.array([True]),
        open_ps=ints(*[1000 * US] * 3), calls=NO_CALLS,
    )  # fmt: skip
    given = evidence({Phase.OTHER: 300}, idle=shares, idle_time=[spent])
    finding = claim(given, "python_overhead")
    assert finding.title == (
        "batch (train.py:14) takes 1 ms in 3 of 10 steps, 500 µs of that in time.sleep"
    )
    assert finding.gain_ms == pytest.approx(0.3)
    # The step that opens is one of them.
    assert dict(parse_qsl(finding.evidence.query))["step"] == "train 2"
