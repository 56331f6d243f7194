"""Ops on GPUs and TPUs, from drawn traces."""

from typing import Any

import numpy as np
import pytest
from builders.program_ops import access
from traces import Unsigned, draw, message_of, space_of
from traces.programs import Program

from tbprof.analysis.hlo.hlo import Programs
from tbprof.analysis.ops.op_metrics import OpMetrics, merge_op_metrics
from tbprof.analysis.ops.ops import find_ops

GPU, TPU = "/device:GPU:0", "/device:TPU:0"
US = 1_000_000


def ops_of(content: bytes) -> OpMetrics:
    space = space_of(content)
    return find_ops(space, Programs(space))


def table(ops: OpMetrics) -> dict[str, tuple[str, int, int, int]]:
    """(type, occurrences, total µs, self µs) by device op."""
    return {
        name: (
            ops.type[row],
            int(ops.occurrences[row]),
            int(ops.total_ps[row]) // US,
            int(ops.self_ps[row]) // US,
        )
        for row, name in enumerate(ops.name)
        if ops.is_device[row]
    }


def program(*instructions: tuple[str, str, str]) -> bytes:
    """A serialized HloProto of (instruction, op name, op type)."""
    made = Program()
    for name, op, op_type in instructions:
        made.add(name, "", "f32[]", op=op).metadata.op_type = op_type
    return made.bytes()


# GPUs.


@pytest.mark.parametrize(
    "stats",
    [
        {"tf_op": "m/Add_1:Add"},
        {"level 0": "m/Add_1:Add"},
        {"annotation": "m/Add_1:Add#shape=(float[3])#::#edge_name=x#"},
        {"annotation": "m/Add_1:Add::inner:Op"},
        {"tf_op": "m/Add_1:Add", "level 0": "other:Op", "annotation": "another:Op"},
        {"level 0": "m/Add_1:Add", "annotation": "another:Op"},
        {"tf_op": "m/Add_1"},
    ],
)
def test_the_op_of_a_kernel_is_its_outermost_annotation(stats):
    found = table(ops_of(draw({GPU: "Stream #1 |aaaa"}, stats={"a": stats})))
    assert found == {"m/Add_1": ("Add", 1, 4, 4)}


def test_kernels_of_one_op_add_up_over_names_streams_and_devices():
    trace = draw(
        {GPU: "Stream #1 |aa.a\nStream #2 |.bbb", "/device:GPU:1": "Stream #1 |a"},
        stats={"a": {"tf_op": "x:X"}, "b": {"tf_op": "x:X"}},
    )
    assert table(ops_of(trace)) == {"x": ("X", 4, 7, 7)}


def test_device_time_without_an_op_stands_under_its_own_name():
    names = {"h": "MemcpyH2D", "s": "Memset", "k": "kernel"}
    assert table(ops_of(draw({GPU: "Stream #1 |hh.s.kkk"}, names=names))) == {
        "MemcpyH2D": ("MemcpyHToD", 1, 2, 2),
        "Memset": ("Memset", 1, 1, 1),
        "kernel": ("Unknown", 1, 3, 3),
    }


def test_idle_is_what_no_stream_covers():
    trace = draw({GPU: f"Stream #1 |{'a' * 10}{'.' * 20}\nStream #2 |{'.' * 20}{'b' * 10}"})
    assert ops_of(trace).device_idle_ps == 10 * US  # of 30


def test_streams_that_overlap_leave_no_negative_idle_time():
    ops = ops_of(draw({GPU: "Stream #1 |aaaa.\nStream #2 |.bbbb"}))
    assert (ops.device_idle_ps, int(ops.self_ps.sum())) == (0, 8 * US)


def test_each_device_has_a_window_of_its_own():
    trace = draw({GPU: "Stream #1 |a.a......", "/device:GPU:1": "Stream #1 |......a.a"})
    assert ops_of(trace).device_idle_ps == 2 * US


def test_derived_lines_do_not_count():
    trace = draw(
        {GPU: "Stream #1 |aa\nTensorFlow Ops |aaaaaaaa"},
        line_ids={"TensorFlow Ops": -559038734},
        stats={"a": {"tf_op": "x:X"}},
    )
    ops = ops_of(trace)
    assert (table(ops), ops.device_idle_ps) == ({"x": ("X", 1, 2, 2)}, 0)


def test_work_and_eager_execution_are_those_of_the_events():
    trace = draw(
        {GPU: "Stream #1 |aa.a.bb"},
        stats={
            "a": {"tf_op": "x:X", "flops": 10, "bytes_accessed": 4, "is_eager": 1},
            "b": {"tf_op": "y:Y", "is_eager": 0},
        },
    )
    ops = ops_of(trace)
    assert ops.name == ["x", "y"]
    assert ops.flops.tolist() == ops.model_flops.tolist() == [20, 0]
    assert ops.bytes_accessed.tolist() == ops.hbm_bytes.tolist() == [8, 0]
    assert ops.is_eager.tolist() == [True, False]


XLA = {"hlo_op": "fusion.1", "hlo_module": "jit_f", "program_id": 5, "tf_op": "XlaModule:"}


def xla_ops(*instructions: tuple[str, str, str], **changed: object) -> dict[str, Any]:
    return table(
        ops_of(
            draw(
                {GPU: "Stream #1 |aaaa"},
                names={"a": "loop_fusion"},
                stats={"a": {**XLA, **changed}},
                programs={"jit_f(5)": program(*instructions)},
            )
        )
    )


FUSION = ("fusion.1", "jit(f)/jit(main)/add", "")


def test_the_op_of_an_xla_kernel_is_that_of_its_instruction():
    assert xla_ops(FUSION) == {"jit(f)/jit(main)/add": ("add", 1, 4, 4)}


def test_an_instruction_path_ends_in_the_instruction():
    assert xla_ops(FUSION, hlo_op="while.3::body::fusion.1").keys() == {"jit(f)/jit(main)/add"}


def test_the_type_of_an_instruction_comes_before_its_name():
    ops = xla_ops(("fusion.1", "model/dense/mm", "MatMul"))
    assert ops == {"model/dense/mm": ("MatMul", 1, 4, 4)}


def test_a_program_is_found_by_its_name_where_the_id_is_unknown():
    assert xla_ops(FUSION, program_id=6).keys() == {"jit(f)/jit(main)/add"}


@pytest.mark.parametrize("other", [{"hlo_module": "jit_g", "program_id": 6}, {"hlo_op": "copy.2"}])
def test_kernels_of_unknown_programs_and_instructions_keep_what_is_known(other):
    """The recorder's own `name`, else the instruction; never the `XlaModule` around all of them."""
    instruction = other.get("hlo_op", "fusion.1")
    assert xla_ops(FUSION, **other) == {instruction: ("Unknown", 1, 4, 4)}
    assert xla_ops(FUSION, **other, name="jit(f)/mul") == {"jit(f)/mul": ("mul", 1, 4, 4)}
    assert xla_ops(FUSION, **other, tf_op="c:_XlaRun") == {"c": ("_XlaRun", 1, 4, 4)}


def test_a_damaged_program_hides_nothing():
    trace = draw(
        {GPU: "Stream #1 |aaaa"},
        stats={"a": XLA},
        programs={"jit_f(5)": b"\xff\xff damaged"},
    )
    assert table(ops_of(trace)) == {"fusion.1": ("Unknown", 1, 4, 4)}


def test_program_ids_agree_whatever_their_sign():
    big = 2**64 - 5
    trace = draw(
        {GPU: "Stream #1 |aaaa"},
        stats={"a": {**XLA, "program_id": Unsigned(big), "hlo_module": "other"}},
        programs={f"jit_f({big})": program(FUSION)},
    )
    assert table(ops_of(trace)).keys() == {"jit(f)/jit(main)/add"}


# TPUs.


def test_a_loop_holds_its_body():
    trace = draw(
        {TPU: "XLA Ops |wwwwwwwwww\n        |.aaa.aaa.."},
        type_stats={"w": {"tf_op": "jit(f)/while:"}, "a": {"tf_op": "jit(f)/while/body/add:"}},
    )
    assert table(ops_of(trace)) == {
        "jit(f)/while": ("while", 1, 10, 4),
        "jit(f)/while/body/add": ("add", 2, 6, 6),
    }


def test_work_is_per_execution_and_counts_each():
    trace = draw(
        {TPU: "XLA Ops |aa.aa.b"},
        type_stats={
            "a": {"tf_op": "x/a:", "flops": 10, "model_flops": 8, "bytes_accessed": 6},
            "b": {"tf_op": "x/b:", "flops": 7},
        },
    )
    ops = ops_of(trace)
    assert ops.name == ["x/a", "x/b"]
    assert ops.flops.tolist() == [20, 7]
    assert ops.model_flops.tolist() == [16, 7]  # those of the hardware where no others are stated
    assert ops.bytes_accessed.tolist() == [12, 0]
    assert ops.hbm_bytes.tolist() == [12, 0]


def test_a_transfer_beside_other_ops_does_its_work_once():
    """Each end records all of the bytes; the device, where they went."""
    start = "%copy-start = (f32[8]{0}, f32[8]{0:S(5)}, u32[]) copy-start(f32[8]{0:S(5)} %p)"
    done = "%copy-done = f32[8]{0} copy-done((f32[8]{0}, f32[8]{0:S(5)}, u32[]) %copy-start)"
    copy = {"program_id": 7, "flops": 0, "bytes_accessed": 50}
    trace = draw(
        {TPU: "XLA Ops |s.f.ddd.s.ffff.d"},
        names={"s": start, "d": done, "f": "%f = f32[8] fusion(f32[8] %q)"},
        type_stats={
            "s": {**copy, "hlo_category": "copy-start", "memory_access_breakdown": b""},
            "d": {**copy, "hlo_category": "copy-done",
                  "memory_access_breakdown": access(2, 1, 40)},
            "f": {"program_id": 7, "flops": 1, "bytes_accessed": 3},
        },
    )  # fmt: skip
    ops = ops_of(trace)
    columns = ops.total_ps // US, ops.beside_ps // US, ops.bytes_accessed, ops.hbm_bytes
    # The end runs for 4 µs; the transfers take from 0 to 7 µs, and from 8 to 16.
    assert dict(zip(ops.type, np.stack(columns, axis=1).tolist(), strict=True)) == {
        "copy-start": [2, -2, 0, 0], "copy-done": [4, 11, 100, 80], "Unknown": [5, 0, 6, 6],
    }  # fmt: skip
    assert merge_op_metrics([ops, ops]).beside_ps.tolist() == (2 * ops.beside_ps).tolist()


def test_work_that_an_event_states_is_its_own():
    trace = draw(
        {TPU: "XLA Ops |aa.bb"},
        names={"a": "custom-call", "b": "custom-call"},
        stats={"a": {"flops": 100, "bytes_accessed": 9}},
        type_stats={"a": {"tf_op": "x/call:", "flops": 1}},
    )
    ops = ops_of(trace)
    assert (ops.flops.tolist(), ops.bytes_accessed.tolist()) == ([101], [9])


def test_only_what_goes_to_main_memory_loads_it():
    breakdown = access(1, 1, 30) + access(2, 1, 12) + access(1, 3, 100)
    trace = draw(
        {TPU: "XLA Ops |aa.aa"},
        type_stats={"a": {"bytes_accessed": 142, "memory_access_breakdown": breakdown}},
    )
    ops = ops_of(trace)
    assert (ops.bytes_accessed.tolist(), ops.hbm_bytes.tolist()) == ([284], [84])


def test_the_devices_own_clock_counts():
    """Offsets on the host's clock are shifted; the device's are exact, and may nest otherwise."""
    trace = draw(
        {TPU: "XLA Ops |aaaa.bb"},
        stats={
            "a": {"device_offset_ps": 10 * US, "device_duration_ps": 8 * US},
            "b": {"device_offset_ps": Unsigned(12 * US), "device_duration_ps": 3 * US},
        },
    )
    ops = ops_of(trace)
    assert table(ops) == {"a": ("Unknown", 1, 8, 5), "b": ("Unknown", 1, 3, 3)}
    assert ops.device_idle_ps == 0


def test_a_core_waits_within_its_steps_too():
    trace = draw({TPU: "XLA Ops |..aa..aa..\nSteps |.ssssssss."})
    ops = ops_of(trace)
    assert (table(ops)["a"], ops.device_idle_ps) == (("Unknown", 2, 4, 4), 4 * US)


def test_asynchronous_ops_modules_and_trace_annotations_do_not_count():
    trace = draw({TPU: "XLA Ops |.aa\nAsync XLA Ops |bbbb\nXLA Modules |mmmm\nXLA TraceMe |t"})
    ops = ops_of(trace)
    assert (table(ops), ops.device_idle_ps) == ({"a": ("Unknown", 1, 2, 2)}, 0)


def test_sparse_cores_are_devices():
    trace = draw({"/device:TPU:0 SparseCore 0": "Sparse Core Ops |aa.a"})
    ops = ops_of(trace)
    assert (table(ops), ops.device_idle_ps) == ({"a": ("Unknown", 2, 3, 3)}, US)


def test_ops_without_provenance_have_their_display_name():
    trace = draw(
        {TPU: "XLA Ops |aa.bb"},
        names={"a": "%copy.1 = f32[2]{0} copy(...)", "b": "plain"},
        display_names={"a": "copy.1"},
        type_stats={"b": {"tf_op": ":"}},
    )
    assert table(ops_of(trace)).keys() == {"copy.1", "plain"}


def test_what_the_compiler_added_has_its_hlo_category_as_type():
    kinds = {"c": {"hlo_category": "copy-done"}, "d": {"hlo_category": "x", "tf_op": "f/add:"}}
    trace = draw({TPU: "XLA Ops |c.d"}, names={"c": "copy-done.1", "d": "add.1"}, type_stats=kinds)
    ops = ops_of(trace)
    assert dict(zip(ops.name, ops.type, strict=True)) == {
        "copy-done.1": "copy-done",
        "f/add": "add",
    }


def test_aggregated_events_count_their_executions():
    space = message_of(
        draw(
            {TPU: "XLA Ops |aaaaaa.bb"},
            stats={"a": {"self_duration_ps": 2 * US}},
            type_stats={"a": {"flops": 3}},
        )
    )
    for event, times in zip(space.planes[0].lines[0].events, (5, 3), strict=True):
        event.num_occurrences = times
    ops = ops_of(space.SerializeToString())
    assert table(ops) == {"a": ("Unknown", 5, 6, 2), "b": ("Unknown", 3, 2, 2)}
    assert ops.flops.tolist() == [15, 0]


# Several hosts.


def test_hosts_merge_like_devices_of_one():
    """Two hosts with one device each show what one host with both shows."""
    names = {"a": "k1", "b": "k2"}
    stats = {"a": {"tf_op": "x:X"}, "b": {"tf_op": "y:Y", "flops": 5}}
    one, other = "Stream #1 |aaa.b..", "Stream #1 |..b.aa."

    def host(planes: dict[str, str]) -> OpMetrics:
        return ops_of(draw(planes, names=names, stats=stats))

    merged = merge_op_metrics([host({GPU: one}), host({GPU: other})])
    together = host({GPU: one, "/device:GPU:1": other})
    assert table(merged) == table(together) == {"x": ("X", 2, 5, 5), "y": ("Y", 2, 2, 2)}
    assert merged.device_idle_ps == together.device_idle_ps == 2 * US
    assert merged.flops.tolist() == together.flops.tolist()
