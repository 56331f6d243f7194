"""Eager ops, functions that are traced again, and compilation."""

import dataclasses
import math
from urllib.parse import parse_qsl

import pytest
from builders.evidence import (
    LADDER,
    MS,
    NO_ENVIRONMENT,
    NO_SENDS,
    US,
    claim,
    evidence,
    finding_of,
    host,
    ints,
    ops,
    severities,
    traced,
)
from builders.job_steps import job_of

from tbprof.advice.evidence import Evidence
from tbprof.advice.rules.host.findings_host import eager_shares
from tbprof.analysis.host.single_ops import SingleOps
from tbprof.analysis.job.step_means import step_means
from tbprof.analysis.vocabulary.phases import Phase


def test_eager_ops_on_either_side():
    def of(eager: int, *, on_device: bool) -> Evidence:
        return evidence(ops=ops((on_device, "a", "MatMul", eager, True),
                                (on_device, "b", "Add", 1000 - eager, False)))  # fmt: skip

    for on_device in (False, True):
        ladder = [of(eager, on_device=on_device) for eager in (100, 101, 499, 500, 1000)]
        assert severities("eager_ops", *ladder) == LADDER
    assert finding_of(of(100, on_device=True), "eager_ops") is None  # more than 10 %


def test_eager_calls_count_where_the_ops_leave_no_events():
    facts = host(eager_name=["MatMul", "Relu"], eager_count=ints(60, 2), eager_ps=ints(200 * US, 0))
    given = evidence(host_facts=facts, ops=ops((False, "a", "Sum", 800, False)))
    assert eager_shares(given) == (pytest.approx(20.0), pytest.approx(math.nan, nan_ok=True))
    finding = claim(given, "eager_ops")
    assert "62 calls, most time in MatMul, Relu" in finding.detail
    assert finding.gain_ms is None
    assert finding.evidence.query == "f.eager=%3DEager"


def test_ops_that_write_checkpoints_belong_into_no_function():
    facts = host(
        eager_name=["SaveV2", "MakeIterator"], eager_count=ints(60, 9), eager_ps=ints(300, 200) * US
    )
    given = evidence(host_facts=facts, ops=ops((False, "a", "Sum", 800, False)))
    assert finding_of(given, "eager_ops") is None
    assert eager_shares(given)[0] == pytest.approx(100 * 500 / 1300)


def test_few_calls_beside_a_function_are_not_the_step():
    facts = host(eager_name=["Mul"], eager_count=ints(39), eager_ps=ints(500 * US))
    given = evidence(host_facts=facts, ops=ops((False, "a", "Sum", 800, False)))
    assert finding_of(given, "eager_ops") is None
    many = dataclasses.replace(facts, eager_count=ints(40))
    assert finding_of(dataclasses.replace(given, hosts=[many]), "eager_ops") is not None


def test_ops_one_by_one_count_by_the_time_that_they_take_of_steps():
    """In each step of 1 ms from 100 to 400 µs; devices are idle for 250 µs of it."""
    start = ints(*range(0, 10_000 * US, 1000 * US)) + 100 * US
    called = ints(*[240 * US] * 10)
    runs = SingleOps(
        start,
        start + 300 * US,
        ints(*[20] * 10),
        called,
        ["Mul", "AddV2"],
        ints(150, 50),
        *NO_SENDS,
    )
    split = {Phase.OTHER: 150, Phase.HOST_COMPUTE: 100}
    finding = claim(evidence(split, single_ops=[runs]), "eager_ops")
    assert finding.severity == "high"
    assert finding.value == pytest.approx(25.0)
    assert finding.gain_ms == pytest.approx(0.25)
    assert "take 300 µs (without device work: 250 µs at most)" in finding.detail
    assert "200 calls in total, most of them to Mul, AddV2" in finding.detail
    assert "20.0 % of that time passes between calls" in finding.detail
    assert dict(parse_qsl(finding.evidence.query))["q"] == "EagerExecute"


def test_a_step_of_few_calls_is_not_said_to_run_op_by_op():
    """Such as that of a compiled function that is called once in each step of one millisecond."""

    def of(calls: int) -> Evidence:
        start = ints(*range(0, 10_000 * US, 1000 * US))
        each = ints(*[calls] * 10)
        counts = ints(10 * calls)
        runs = SingleOps(start, start + 900 * US, each, each, ["step"], counts, *NO_SENDS)
        return evidence({Phase.OTHER: 900}, single_ops=[runs])

    assert finding_of(of(3), "eager_ops") is None
    assert finding_of(of(4), "eager_ops") is not None


@pytest.mark.parametrize(
    ("counts", "advised"),
    [({"predict": 190, "add": 10}, "jax.vmap"), ({"multiply": 150, "add": 50}, "jax.jit")],
)
def test_small_calls_of_one_function_of_jax_are_no_ops(counts: dict[str, int], advised: str):
    runs = SingleOps(
        ints(0), ints(5000 * US), ints(200), ints(4000 * US),
        list(counts), ints(*counts.values()), *NO_SENDS,
    )  # fmt: skip
    given = evidence(
        {Phase.OTHER: 900}, single_ops=[runs], ops=ops((False, "jit(f)/add", "add", 9, False))
    )
    finding = claim(given, "eager_ops")
    assert advised in finding.action
    assert ("small calls of predict" in finding.title) == (advised == "jax.vmap")


def test_a_wait_for_a_batch_is_no_eager_computation():
    given = ops((False, "EagerExecute: IteratorGetNext", "IteratorGetNext", 700, True),
                (False, "a", "MatMul", 300, False))  # fmt: skip
    assert eager_shares(evidence(ops=given))[0] == 0


def test_nothing_is_known_of_eager_ops_without_ops():
    assert all(map(math.isnan, eager_shares(evidence())))


def test_functions_that_are_traced_anew():
    # Over ten steps, 200 µs are 2 % of each.
    assert severities("retracing", *map(traced, (199, 200, 300, 499, 500, 1000))) == [
        None, "low", "moderate", "moderate", "high", "high",
    ]  # fmt: skip
    finding = claim(traced(500), "retracing")
    assert finding.detail == "f: 2 calls, 500 µs, traced 7 times so far."
    assert finding.gain_ms == pytest.approx(0.05)  # 500 µs over ten steps
    assert finding_of(traced(500, "eager"), "retracing") is not None
    assert finding_of(traced(500, "concrete"), "retracing") is None


def test_the_first_call_of_a_function_is_not_traced_anew():
    given = traced(500)
    (facts,) = given.hosts
    once = dataclasses.replace(facts, function_calls=ints(1, 5), tracings=ints(1, 1))
    assert finding_of(dataclasses.replace(given, hosts=[once]), "retracing") is None
    again = dataclasses.replace(facts, function_calls=ints(1, 5), tracings=ints(2, 1))
    finding = claim(dataclasses.replace(given, hosts=[again]), "retracing")
    assert finding.detail == "f: 1 call, 500 µs, traced 2 times so far."


def test_functions_of_one_name_are_not_one():
    given = traced(500)
    facts = dataclasses.replace(given.hosts[0], function_name=["<lambda>", "g"],
                                functions=ints(2, 1))  # fmt: skip
    finding = claim(dataclasses.replace(given, hosts=[facts]), "retracing")
    assert finding.detail == "<lambda> (2 tf.functions or more): 2 calls, 500 µs."


def test_functions_that_run_eagerly_are_not_said_to_be_traced():
    assert claim(traced(500), "retracing").title.endswith("goes to calls that trace them")
    eager = claim(traced(500, "eager"), "retracing")
    assert eager.title.endswith("goes to running them eagerly")


def test_three_of_many_functions_are_named():
    names = list("abcd")
    facts = host(
        function_name=names, function_mode=["traced-xla"] * 4, function_calls=ints(2, 2, 2, 2),
        function_ps=ints(*[250 * US] * 4), tracings=ints(0, 0, 0, 0),
        functions=ints(1, 1, 1, 1),
    )  # fmt: skip
    assert "and 1 more" in claim(evidence(host_facts=facts), "retracing").detail


def test_compilation_within_the_trace():
    def of(time: int) -> Evidence:
        facts = host(compilations=2, compile_ps=time * MS, compile_first_ps=0,
                     compile_last_ps=900 * MS, compile_name=["XlaCompile"])  # fmt: skip
        return evidence({Phase.COMPILATION: share}, host_facts=facts)

    share = 30
    assert severities("compilation", *map(of, (30, 149, 150, 2000))) == LADDER[1:]
    share = 20
    assert severities("compilation", of(29), of(2000)) == [None, "low"]  # outside of the steps
    finding = claim(of(150), "compilation")
    assert "2 compilations, 150 ms in total, from 0 µs to 900 ms of the trace" in finding.detail
    assert finding.gain_ms == pytest.approx(0.02)
    assert claim(of(2000), "compilation").value == 100.0
    facts = host(
        compilations=2, compile_ps=300 * MS, compile_name=["XlaCompile"],
        compiled_name=["decode", "f", "g", "h"], compiled_calls=ints(20, 1, 1, 1),
    )  # fmt: skip
    detail = claim(evidence({Phase.COMPILATION: 300}, host_facts=facts), "compilation").detail
    assert "Compiled functions: decode (20 calls), f (1 call), g (1 call) and 1 more." in detail


def test_steps_that_trace_are_found_without_a_recorded_compiler():
    """As where Keras creates a dataset in each call of predict()."""
    shares = (29, 30, 149, 150, 900)
    steps = [evidence({Phase.COMPILATION: permille}) for permille in shares]
    assert severities("compilation", *steps) == LADDER
    finding = claim(steps[-2], "compilation")
    assert finding.title == "Tracing and compiling functions take 15.0 % of step time"
    assert finding.gain_ms == pytest.approx(0.15)
    assert "predict_on_batch()" in finding.action


def test_steps_that_keep_compiling_are_not_a_warm_up():
    """Step by step, 1 if it compiles for 300 of its 1,000 µs."""

    def of(steps: str) -> str:
        facts = host(compilations=2, compile_ps=300 * MS, compile_first_ps=0,
                     compile_last_ps=900 * MS, compile_name=["XlaCompile"])  # fmt: skip
        job = job_of(
            [
                {"GPU:0": {Phase.COMPILATION: 300 * int(does), Phase.COMPUTE_16: 700}}
                for does in steps
            ],
            marker="train",
        )
        given = evidence({Phase.COMPILATION: 300}, host_facts=facts)
        return claim(
            dataclasses.replace(given, job=job, means=step_means(job)), "compilation"
        ).title

    assert of("111111") == "6 of 6 steps compile: 30.0 % of step time"
    assert of("010101").startswith("3 of 6 steps compile: ")
    assert of("011010").startswith("3 of 6 steps compile: ")
    for warm_up in ("111100", "001010", "1111"):
        assert of(warm_up).startswith("Compilation was in progress for")


def test_the_host_that_compiled_most_is_told():
    quiet, busy = host(), host(compilations=1, compile_ps=40 * MS, compile_name=["X"])
    given = dataclasses.replace(
        evidence(), hosts=[quiet, busy], environments=[NO_ENVIRONMENT, NO_ENVIRONMENT]
    )
    assert claim(given, "compilation").value == pytest.approx(4.0)


def test_ops_outside_of_compilation():
    def of(share: int, name: str, kind: str) -> Evidence:
        return evidence(ops=ops((True, name, kind, share, False), (True, "b", "Add", 1000 - share,
                        False), (False, "c", "XlaSendToHost", 9000, False)))  # fmt: skip

    ladder = [of(share, "a", "XlaSendToHost") for share in (50, 51, 199, 200, 500)]
    assert severities("outside_compilation", *ladder) == LADDER
    assert finding_of(of(51, "x:XlaRecvFromHost", "Unknown"), "outside_compilation") is not None
    assert finding_of(of(51, "x", "Add"), "outside_compilation") is None
