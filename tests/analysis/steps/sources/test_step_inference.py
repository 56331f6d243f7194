"""Steps that nothing marks, in traces drawn after real ones."""

from typing import Any

import pytest
from helpers.drawn.drawn_groups import threads_of
from traces import drawn_space, listed, space_of
from traces.programs import Program

from tbprof.analysis.hlo.hlo import Programs
from tbprof.analysis.steps.sources.step_inference import InferredSteps, infer_steps
from tbprof.events.space import Space

US = 1_000_000
KERAS = """
    python/1         |aaaaaa.aaaaaa.aaaaaa.aaaaaa
                     |.bbbb...bbbb...bbbb...bbbb.
                     |..ee....e.ee...ee.....e..e.
    tf_data_iter/2   |pppppppppppppp.pp.pp.p.p.p.
"""
NAMES = {
    "a": "Profiled batch", "b": "multi_step_on_iterator", "e": "EagerExecute",
    "p": "PrefetchProduce",
}  # fmt: skip


def infer(drawing: str, **more: Any) -> Any:
    """The steps, or None: tests of steps look into them."""
    return infer_in(drawn_space({"/host:CPU": drawing}, **more))


def infer_in(space: Space, programs: Programs | None = None) -> InferredSteps | None:
    return infer_steps(threads_of(space), programs)


def starts(steps: InferredSteps | None) -> list[int]:
    assert steps is not None
    return (steps.start_ps // US).tolist()


def test_keras_steps_are_the_calls_of_its_train_function():
    inferred = infer(KERAS, names=NAMES, stats={"b": {"tf_function_call": "concrete"}})
    assert starts(inferred) == [1, 8, 15, 22]
    assert (inferred.source, inferred.name, inferred.program) == (
        "executions",
        NAMES["b"],
        NAMES["b"],
    )
    assert (inferred.duration_ps // US).tolist() == [4] * 4
    assert (inferred.plane, inferred.line) == (0, 0)
    assert inferred.note == (
        "Nothing in this trace marks steps, so they are inferred. One step is one execution of "
        "'multi_step_on_iterator', which takes the most time; 4 were recorded."
    )


def test_jax_steps_are_the_calls_of_the_program_whose_instructions_take_most_time():
    """Calls only dispatch: what they cost says little."""
    drawing = """
        python |t.m.mm..t.m.mm..t.m.mm
        pool   |.dddddx..dddddx..dddddx
    """
    names = {"t": "PjitFunction(train-step)", "m": "PjitFunction(metric)", "d": "dot", "x": "add"}
    stats = {
        "d": {"hlo_op": "dot", "hlo_module": "jit_train_step"},
        "x": {"hlo_op": "add", "hlo_module": "jit_metric"},
    }
    inferred = infer(drawing, names=names, stats=stats)
    assert starts(inferred) == [0, 8, 16]
    assert inferred.program == "train-step"
    without = infer(drawing.partition("pool")[0], names=names)
    assert without.program == "metric"


def test_calls_within_the_call_that_is_traced_are_no_executions():
    """A first call traces the function; what it calls meanwhile executes nothing."""
    names = {"s": "PjitFunction(step)", "m": "PjitFunction(matmul)", "t": "$pjit.py:9 trace"}
    traced = "python |ssssss.\n       |tttttt.\n       |mm..mm."
    assert infer(traced, names=names) is None
    dispatched = infer(traced.replace("ssssss.", "ssssss.mm.mm.mm"), names=names)
    assert starts(dispatched) == [7, 10, 13]


@pytest.mark.parametrize(("frame", "steps"), [("$pjit.py:9 trace", 0), ("$train.py:3 batch", 3)])
def test_frames_of_libraries_are_no_pattern(frame: str, steps: int):
    inferred = infer("python |f.gf.gf.g", names={"f": frame, "g": "$builtins len"})
    assert (0 if inferred is None else inferred.row.size) == steps


def test_calls_that_another_one_follows_every_few_may_be_parts_of_a_step():
    """Gradients of four calls, then an update; the trace looks the same with an evaluation."""
    names = {"m": "PjitFunction(micro)", "u": "PjitFunction(update)"}
    inferred = infer("python |mm.mm.mm.mm.uu.mm.mm.mm.mm.uu.mm.mm.mm.mm.uu.", names=names)
    assert inferred.program == "micro"
    (doubt,) = inferred.doubts
    assert doubt.startswith("'update' runs after every 4 executions of 'micro'.")
    each = infer("python |mm.uu.mm.uu.mm.uu.", names=names)
    now_and_then = infer("python |mm.mm.uu.mm.mm.mm.uu.mm.mm.uu.", names=names)
    assert each.doubts == now_and_then.doubts == ()


def test_graphs_of_one_name_are_not_rounds_of_each_other():
    names = {"f": "<lambda>", "a": "EagerLocalExecute: __inference_<lambda>_7",
             "b": "EagerLocalExecute: __inference_<lambda>_9"}  # fmt: skip
    drawing = f"python |{'fff.fff.' * 4}\n       |{'aa..bb..' * 4}"
    inferred = infer(drawing, names=names, stats={"f": {"tf_function_call": "notTraced-nonXla"}})
    (doubt,) = inferred.doubts
    assert doubt.startswith("'<lambda>' ran as 2 different graphs")


def named_alike(*lines: int) -> Space:
    """Calls of functions without a name, which were compiled on some lines of a file."""
    programs = {}
    for id_, line in enumerate(lines):
        program = Program()
        program.name("jit__lambda", id_)
        metadata = program.add("add.1", "add", "f32[8]", op="jit(<lambda>)/add").metadata
        metadata.source_file, metadata.source_line = "/src/train.py", line
        programs[f"jit__lambda({id_})"] = program.bytes()
    planes, names = {"/host:CPU": "python |ff.ff.ff"}, {"f": "PjitFunction(<lambda>)"}
    return drawn_space(planes, names=names, programs=programs)


def test_executions_of_functions_with_one_name_may_be_mixed():
    one, several = named_alike(5, 5), named_alike(5, 8)
    inferred = infer_in(one, Programs(one))
    assert inferred is not None
    assert (inferred.program, inferred.doubts) == ("<lambda>", ())
    inferred = infer_in(several, Programs(several))
    assert inferred is not None
    (doubt,) = inferred.doubts
    assert doubt == (
        "2 functions are called '<lambda>' (train.py line 5, train.py line 8), and so are their "
        "executions: steps may mix them. Mark the steps to be sure."
    )


@pytest.mark.parametrize(
    ("calls", "runs"),
    [
        ("aabbaabb", "2 different graphs, the most frequent or longest ones 4 and 4 times"),
        ("aaaaabbaaaaa", ""),
    ],
)
def test_graphs_of_one_name_may_be_those_of_functions(calls: str, runs: str):
    """As of Keras, whose functions for training and evaluation have one name."""
    names = {"f": "multi_step", **{letter: f"EagerLocalExecute: __inference_multi_step_{number}"
                                   for letter, number in (("a", 7), ("b", 90))}}  # fmt: skip
    drawing = {
        "python": "".join("fff." for _ in calls),
        "": ".".join(f".{call}." for call in calls),
    }
    inferred = infer(
        "\n".join(f"{line:7}|{row}" for line, row in drawing.items()),
        names=names,
        stats={"f": {"tf_function_call": "concrete"}},
    )
    assert (inferred.program, len(inferred.row)) == ("multi_step", len(calls))
    doubts = [doubt.partition(".")[0] for doubt in inferred.doubts]
    assert doubts == ([f"'multi_step' ran as {runs}"] if runs else [])


@pytest.mark.parametrize(
    ("pool", "runs"), [("a.b.c.d.e.....", "3 and 2"), ("a..c..e..h.bbbb", "4 and 1"), ("aceh", "")]
)
def test_programs_of_one_name_may_be_those_of_functions(pool: str, runs: str):
    """Functions without a name on one line; one that runs rarely counts if it takes long."""
    stats = {
        letter: {"hlo_op": "dot", "hlo_module": "jit__lambda", "program_id": id_, "run_id": at}
        for at, (letter, id_) in enumerate(zip("abcdeh", (3, 4, 3, 4, 3, 3), strict=True))
    }
    names = {"f": "PjitFunction(<lambda>)", **dict.fromkeys("abcdeh", "dot")}
    inferred = infer(f"python |f.f.f.f.f.f.f.f\npool   |{pool}", names=names, stats=stats)
    doubts = [doubt.partition(". ")[0] for doubt in inferred.doubts]
    text = f"'<lambda>' ran as 2 different graphs, the most frequent or longest ones {runs} times"
    assert doubts == ([text] if runs else [])


def test_eager_calls_of_functions_are_named_without_their_number():
    names = {"t": "EagerLocalExecute: __inference_train_step_1410"}
    inferred = infer("python |tt.tt.tt", names=names)
    assert (inferred.program, starts(inferred)) == ("train_step", [0, 3, 6])


def test_a_program_that_says_no_name_must_cover_some_of_the_trace():
    names = {"r": "SessionRun"}
    inferred = infer("python |rrrr.rrrr", names=names)
    assert (inferred.source, inferred.program, starts(inferred)) == ("executions", "", [0, 5])
    assert infer("python |r" + "." * 80 + "r\nother |" + "u" * 90, names=names) is None


def test_executions_of_input_pipelines_are_none():
    names = {"f": "FunctionRun", "p": "PrefetchProduce"}
    drawing = "python |u\ntf_data_iterator_resource/7 |ppppppppp\n  |ff.ff.ff."
    assert infer(drawing, names=names) is None


def test_what_happens_over_and_over_is_a_step():
    """Op by op: input once per step, other ops several times."""
    names = {
        "i": "EagerLocalExecute: IteratorGetNext", "m": "EagerLocalExecute: MatMul",
        "a": "EagerLocalExecute: Add", "l": "EagerLocalExecute: Loss", "z": "Initialize",
    }  # fmt: skip
    inferred = infer("python |zz.iiima.m.lim.a.ml.iiiiima.mlimaml.im.am.l", names=names)
    assert (inferred.source, inferred.name) == ("pattern", names["i"])
    assert starts(inferred) == [3, 12, 20, 30, 36]
    assert inferred.note == (
        "Nothing in this trace marks steps, so they are inferred. 3 kinds of event repeat 5 "
        "times on the thread 'python'; a "
        "step begins with each 'EagerLocalExecute: IteratorGetNext'."
    )


def test_a_single_op_marks_steps_only_where_nothing_else_repeats():
    names = {"m": "dense/MatMul:MatMul", "r": "dense/Relu:Relu", "b": "next batch"}
    inferred = infer("python |mmmrrbmmmrrbmmmrrbmmmrrb", names=names)
    assert (inferred.name, starts(inferred)) == ("next batch", [5, 11, 17, 23])
    inferred = infer("python |mmmrr.mmmrr.mmmrr.mmmrr.", names=names)
    assert (inferred.name, starts(inferred)) == ("dense/MatMul:MatMul", [0, 6, 12, 18])


def infer_jitted(drawing: str, programs: dict[str, int]) -> Any:
    """Calls of functions by their first letter, each compiled to so many instructions."""
    names = {program[0]: f"PjitFunction({program})" for program in programs}
    compiled = {}
    for id_, (one, count) in enumerate(programs.items()):
        made = Program()
        made.add("x", "parameter", "f32[8]")
        for number in range(count):
            made.add(f"fusion.{number}", "fusion", "f32[8]", "x")
        compiled[f"jit_{one}({id_})"] = made.bytes()
    space = drawn_space({"/host:CPU": drawing}, names=names, programs=compiled)
    return infer_in(space, Programs(space))


def test_an_op_that_jax_compiled_marks_steps_only_where_nothing_else_repeats():
    """Of three ops that come once per round, the first one begins it; multiply comes twice."""
    ops = {"multiply": 1, "add": 1, "tanh": 1, "_mean": 2}
    inferred = infer_jitted("python |" + "m.a.m.t._." * 4, ops)
    assert (inferred.source, inferred.name) == ("pattern", "PjitFunction(add)")
    assert starts(inferred) == [2, 12, 22, 32]
    # A program of more instructions is not an op, and one op alone is what there is.
    inferred = infer_jitted("python |" + "m.a.m.t._." * 4, {**ops, "multiply": 3})
    assert (inferred.source, inferred.program) == ("executions", "multiply")
    inferred = infer_jitted("python |" + "m.a.m.t._." * 4, {**ops, "tanh": 9, "add": 9})
    assert (inferred.source, inferred.program) == ("executions", "multiply")
    # So it is where nothing comes evenly.
    inferred = infer_jitted("python |m.a.tt.m.m.__.m", ops)
    assert (inferred.source, inferred.program) == ("executions", "multiply")


def test_nothing_repeats():
    assert infer("python |abcdefg") is None
    assert infer("python |.") is None
    assert infer_steps([]) is None


def every(period_ps: int, *names: str) -> Space:
    """2,000 rounds on one thread, in which events follow each other at once."""
    length = period_ps // len(names)
    events = [(name, at * length, length * 4 // 5) for at, name in enumerate(names * 2000)]
    return space_of(listed({"/host:CPU": {"main": events}}))


@pytest.mark.parametrize("names", [["tiny"], ["one", "two"], ["PjitFunction(f)"]])
def test_what_comes_again_at_once_is_no_step(names: list[str]):
    assert infer_in(every(US // 10, *names)) is None
    inferred = infer_in(every(US, *names))
    assert inferred is not None
    assert inferred.row.size == 2000
