"""Ops on host threads, from drawn traces."""

from collections.abc import Callable
from pathlib import Path

import pytest
from helpers.promises.growth import is_linear
from hypothesis import given
from hypothesis import strategies as st
from traces import draw, listed, message_of, space_of
from traces.programs import Program

from tbprof.analysis.hlo.hlo import Programs
from tbprof.analysis.ops.op_metrics import OpMetrics
from tbprof.analysis.ops.ops import find_ops
from tbprof.xplane.reader import read_space

HOST = "/host:CPU"
US = 1_000_000


def ops_of(content: bytes) -> OpMetrics:
    space = space_of(content)
    return find_ops(space, Programs(space))


def host_ops(drawing: str, names=None, **more) -> dict[str, tuple[int, int, int]]:
    """(occurrences, total µs, self µs) by op of a host."""
    return table(ops_of(draw({HOST: drawing}, names=names, **more)))


def table(ops: OpMetrics) -> dict[str, tuple[int, int, int]]:
    return {
        name: (int(ops.occurrences[row]), int(ops.total_ps[row]) // US, int(ops.self_ps[row]) // US)
        for row, name in enumerate(ops.name)
    }


OPS = {letter: f"{letter}:Op" for letter in "abcdef"}


def test_self_time_leaves_out_nested_ops():
    drawing = """
        thread |aaaaaaaaaa.aaa
               |.bbbb.ccc.....
               |..dd..........
    """
    assert host_ops(drawing, OPS) == {
        "a": (2, 13, 6), "b": (1, 4, 2), "c": (1, 3, 3), "d": (1, 2, 2),
    }  # fmt: skip


def test_a_child_that_ends_with_its_parent_is_its_child():
    assert host_ops("t |aaaaaaaaaa\n  |.....bbbbb", OPS) == {"a": (1, 10, 5), "b": (1, 5, 5)}


def test_events_that_are_no_ops_are_transparent():
    """A session run, say, between an op and the ops within it."""
    drawing = "t |aaaaaaaa\n  |.xxxxxx.\n  |..bbb..."
    assert host_ops(drawing, OPS | {"x": "ExecutorState::Process"}) == {
        "a": (1, 8, 5), "b": (1, 3, 3),
    }  # fmt: skip


def test_threads_do_not_nest_in_each_other_and_add_up():
    drawing = "one |aaaa\n   |.bb.\ntwo |.aaa"
    assert host_ops(drawing, OPS) == {"a": (2, 7, 5), "b": (1, 2, 2)}


def test_derived_lines_do_not_count():
    drawing = "t |aaaa\nTensorFlow Ops |aaaa"
    assert host_ops(drawing, OPS, line_ids={"TensorFlow Ops": -559038734}) == {"a": (1, 4, 4)}


@pytest.mark.parametrize("plane", ["/host:CPU", "/host:CPU [1234]"])
def test_planes_of_hosts_and_of_their_subprocesses_count(plane):
    assert table(ops_of(draw({plane: "t |aaaa"}, names=OPS))) == {"a": (1, 4, 4)}


def test_memory_events_are_no_executions():
    drawing = "t |aaaa\n  |.m.."
    ops = host_ops(drawing, OPS | {"m": "MemoryAllocation"}, stats={"m": {"tf_op": "a"}})
    assert ops == {"a": (1, 4, 4)}


def test_python_functions_and_annotations_are_no_ops():
    names = {"a": "$profiler.py:151 start", "b": "train", "c": "MakeIterator::Map"}
    assert host_ops("t |aaa.bb.c", names) == {}


def test_types_and_names_follow_the_grammar():
    names = {"a": "x/Relu_1:", "b": "jit(f)/add:", "c": "Iterator::Root::Map", "d": "MEMCPYHtoD"}
    ops = ops_of(draw({HOST: "t |a.b.c.d"}, names=names))
    assert dict(zip(ops.name, ops.type, strict=True)) == {
        "x/Relu_1": "Relu",
        "jit(f)/add": "add",
        "Iterator::Root::Map": "Dataset",
        "MEMCPYHtoD": "MemcpyHToD",
    }
    assert not ops.is_device.any()


def test_idle_is_what_no_thread_covers():
    drawing = """
        one |..aaa......
        two |...bb....b.
        x   |zzzzzzzzzzz
    """
    ops = ops_of(draw({HOST: drawing}, names=OPS | {"z": "not an op"}))
    assert ops.host_idle_ps == 4 * US  # 2-10 less 2-5 and 9-10


@given(
    st.lists(
        st.lists(st.tuples(st.integers(0, 30), st.integers(1, 6)), max_size=8), max_size=3
    ).filter(any)
)
def test_idle_and_busy_make_up_the_window(threads):
    lines = {
        f"t{number}": [("a:A", start, length) for start, length in events]
        for number, events in enumerate(threads)
    }
    moments = {
        moment
        for events in threads
        for start, length in events
        for moment in range(start, start + length)
    }
    ops = ops_of(listed({HOST: lines}))
    assert ops.host_idle_ps == max(moments) + 1 - min(moments) - len(moments)
    assert ops.occurrences.tolist() == [sum(map(len, threads))]
    assert ops.total_ps.tolist() == [sum(length for events in threads for _, length in events)]


def test_aggregated_events_give_their_own_counts_and_self_time():
    space = message_of(
        draw({HOST: "t |aaaaaa.bb"}, names=OPS, stats={"a": {"self_duration_ps": 2 * US}})
    )
    for event, times in zip(space.planes[0].lines[0].events, (5, 3), strict=True):
        event.num_occurrences = times
    assert table(ops_of(space.SerializeToString())) == {"a": (5, 6, 2), "b": (3, 2, 2)}


# Eager execution.


def eager(ops: OpMetrics) -> dict[str, bool]:
    return dict(zip(ops.name, ops.is_eager.tolist(), strict=True))


def test_grouped_traces_say_what_ran_eagerly():
    stats = {"a": {"is_eager": 1}, "b": {"is_eager": 0}}
    assert eager(ops_of(draw({HOST: "t |a.b"}, names=OPS, stats=stats))) == {"a": True, "b": False}


def test_an_op_is_eager_when_the_nearest_eager_execution_around_it_runs_no_function():
    drawing = """
        t |EEEEEE.FFFFFFFF.cc
          |.aaaa...bbbbbb....
          |............e.....
          |............d.....
    """
    names = OPS | {"E": "EagerExecute", "F": "EagerExecute", "e": "EagerExecute"}
    stats = {"E": {"is_func": 0}, "F": {"is_func": 1}, "e": {"is_func": 0}}
    content = draw({HOST: drawing}, names=names, stats=stats)
    ops = ops_of(content)
    assert eager(ops) == {"a": True, "b": False, "c": False, "d": True}
    assert table(ops)["a"] == (1, 4, 4)  # markers are not ops: they take no time from anything
    assert table(ops)["b"] == (1, 6, 5)


def test_only_ops_are_eager():
    drawing = "t |EEEE\n  |.i.."
    names = {"E": "EagerExecute", "i": "Iterator::Root"}
    found = eager(ops_of(draw({HOST: drawing}, names=names, stats={"E": {"is_func": 0}})))
    assert found == {"Iterator::Root": False}


def test_eager_calls_stand_for_ops_that_left_no_event():
    """Which op ran only the call says; a call of a function is none, nor is one around an op."""
    drawing = """
        t |EE.EEE.M.FFFF.GGGG
          |...............a..
    """
    names = {**dict.fromkeys("EMFG", "EagerExecute"), "a": "Add:Add"}
    stats = {
        "E": {"is_func": 0, "eager_op": "MatMul"}, "M": {"is_func": 0, "eager_op": "Mul"},
        "F": {"is_func": 1, "eager_op": "__inference_f_1"}, "G": {"is_func": 0, "eager_op": "Add"},
    }  # fmt: skip
    ops = ops_of(draw({HOST: drawing}, names=names, stats=stats))
    assert table(ops) == {
        "EagerExecute: MatMul": (2, 5, 5), "EagerExecute: Mul": (1, 1, 1), "Add": (1, 1, 1),
    }  # fmt: skip
    assert dict(zip(ops.name, ops.type, strict=True))["EagerExecute: MatMul"] == "MatMul"
    assert all(eager(ops).values())
    assert ops.host_idle_ps == (16 - 7) * 1_000_000


def test_device_ops_are_eager_where_the_host_ran_them_eagerly():
    trace = draw(
        {HOST: "t |EEEE\n  |.a..", "/device:GPU:0": "Stream #1 |..a.b"},
        names={"E": "EagerExecute", "a": "MatMul:MatMul", "b": "kernel"},
        stats={"E": {"is_func": 0}, "a": {"tf_op": "MatMul:MatMul"}, "b": {"tf_op": "Add:Add"}},
    )
    ops = ops_of(trace)
    assert {
        (name, bool(side)): bool(flag)
        for name, side, flag in zip(ops.name, ops.is_device, ops.is_eager, strict=True)
    } == {("MatMul", False): True, ("MatMul", True): True, ("Add", True): False}


# Input pipelines.


def test_ops_of_input_pipeline_stages_are_kept_apart_and_typed_by_stage():
    stats = {
        "a": {"_ipl_stage_id": 1, "_ipl_stage_cat": "Read"},
        "b": {"_ipl_stage_id": 2, "_ipl_stage_cat": "Preprocess"},
    }
    ops = ops_of(
        draw({HOST: "t |aa.bbb.c"}, names={"a": "m:M", "b": "m:M", "c": "m:M"}, stats=stats)
    )
    assert {name: (kind, *table(ops)[name]) for name, kind in zip(ops.name, ops.type, strict=True)
            } == {
        "m (stage 1)": ("Read", 1, 2, 2),
        "m (stage 2)": ("Preprocess", 1, 3, 3),
        "m": ("M", 1, 1, 1),
    }  # fmt: skip


# XLA on the CPU.


@pytest.mark.parametrize(
    ("module", "stats"),
    [("jit_f(8)", {}), ("jit_f", {"program_id": 8}), ("jit_f(77)", {"program_id": 8})],
)
def test_instructions_on_the_cpu_are_the_ops_of_their_program(module, stats):
    program = Program()
    program.add("dot_1", "dot", "f32[]", op="jit(f)/dot_general")
    trace = draw(
        {"/host:metadata": "none |", HOST: "t |dddd.x.e"},
        names={"d": "dot_1", "e": "end: dot_1", "x": "copy", "P": module},
        stats={
            "d": {"hlo_op": "call::dot_1", "hlo_module": "jit_f", "program_id": 8},
            "x": {"hlo_op": "copy", "hlo_module": "jit_f", "program_id": 8},
            "e": {"hlo_op": "dot_1", "hlo_module": "jit_f", "program_id": 8},
        },
        type_stats={"P": {"Hlo Proto": program.bytes(), **stats}},
    )
    ops = ops_of(trace)
    assert table(ops) == {"jit(f)/dot_general": (1, 4, 4), "copy": (1, 1, 1)}
    assert ops.type == ["dot_general", "Unknown"]


def test_hundred_thousand_names_stay_cheap():
    """A Python tracer's trace: names, not events, are what costs Python time."""

    def finding(names: int) -> Callable[[], object]:
        events = [
            (f"$module_{index}.py:{index} function_{index}" + "x" * 60, index, 1)
            for index in range(names)
        ]
        opened = space_of(listed({HOST: {"python": events}}))
        find_ops(opened, Programs(opened))  # names are decoded
        return lambda: find_ops(opened, Programs(opened))

    assert is_linear(finding, 100_000)


def test_instructions_without_an_op_have_the_type_that_the_program_tells():
    """Of a fusion what it was made of; several kinds are a fusion."""
    program = Program()
    program.add("p", "parameter", "f32[4,8]{1,0}")
    program.add("r", "reduce", "f32[8]{0}", within="sum", op="jit(f)/transpose(jvp())/dot_general")
    program.add("a", "add", "f32[8]{0}", within="mixed", op="jit(f)/add")
    program.add("m", "multiply", "f32[8]{0}", "a", within="mixed", op="jit(f)/mul")
    program.add("loop_reduce_fusion.3", "fusion", "f32[8]{0}", "p", calls="sum")
    program.add("loop_fusion", "fusion", "f32[8]{0}", "p", calls="mixed")
    program.add("copy.1", "copy", "f32[8]{0}", "p")
    launched = {"hlo_module": "jit_f", "program_id": 8}
    ops = ops_of(
        draw(
            {HOST: "t |aabbccdd"},
            stats={
                letter: {"hlo_op": name, **launched}
                for letter, name in (
                    ("a", "loop_reduce_fusion.3"), ("b", "loop_fusion"), ("c", "copy.1"),
                    ("d", "gone"),
                )
            },
            programs={"jit_f(8)": program.bytes()},
        )
    )  # fmt: skip
    assert dict(zip(ops.name, ops.type, strict=True)) == {
        "loop_reduce_fusion.3": "dot_general", "loop_fusion": "fusion", "copy.1": "copy",
        "gone": "Unknown",
    }  # fmt: skip


def test_host_rows_of_an_instinct_have_types(amd_trace: Path):
    space = read_space(amd_trace)
    ops = find_ops(space, Programs(space))
    assert "Unknown" not in ops.type
    of = dict(zip(ops.name, ops.type, strict=True))
    assert of["loop_reduce_fusion.3"] == "transpose"
