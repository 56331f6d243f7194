"""The instructions that ran on GPUs, and their kernels."""

from typing import Any

import pytest
from builders.program_ops import by_name
from helpers.drawn.computed_parts import compute_part
from traces import draw, drawn_space, space_of
from traces.programs import Program

from tbprof.analysis.programs.instruction_facts import COMMAND_BUFFER, NO_HLO, category_of
from tbprof.analysis.programs.program_ops import NOT_IN_HLO, ProgramOps

GPU = "/device:GPU:0"
US = 1_000_000
DOT_FLOPS, DOT_BYTES = 2 * 128 * 256 * 64, 2 * (128 * 256 + 256 * 64 + 128 * 64)


def program(*, has_loop: bool = True) -> Program:
    """`d` multiplies, `c` is a call of which nothing is known, `w` a loop, `t` transposes."""
    made = Program()
    made.add("p", "parameter", "bf16[128,256]")
    made.add("q", "parameter", "bf16[256,64]")
    dot = made.add("d", "dot", "bf16[128,64]", "p", "q", op="jit(f)/dot_general")
    dot.dot_dimension_numbers.lhs_contracting_dimensions.append(1)
    made.add("c", "custom-call", "bf16[8]", "d").custom_call_target = "mine"
    if has_loop:
        made.add("w", "while", "bf16[128,64]", "d", calls="body")
    made.add("t", "transpose", "bf16[64,128]", "d").metadata.deduplicated_name = "t.1"
    return made


def ops_of(streams: str, instructions: dict[str, str], **options: Any) -> ProgramOps:
    """Kernels that letters of streams stand for, of these instructions."""
    stats = {
        letter: {"program_id": 7, "hlo_module": "jit_f", "hlo_op": name}
        for letter, name in instructions.items()
    }
    trace = draw(
        {GPU: streams},
        names={**options.pop("names", {})},
        stats={**stats, **options.pop("stats", {})},
        programs={"jit_f(7)": options.pop("made", program()).bytes()},
        **options,
    )
    ops: ProgramOps = compute_part("program_ops", space_of(trace))
    return ops


def kernels(ops: ProgramOps, name: str) -> list[tuple[str, int, int]]:
    row = ops.name.index(name)
    some = slice(*ops.first_kernel[row : row + 2].tolist())
    return list(
        zip(
            ops.kernel_name[some], ops.kernel_occurrences[some].tolist(),
            ops.kernel_total_ps[some].tolist(), strict=True,
        )
    )  # fmt: skip


def test_executions_count_not_kernels():
    ops = ops_of("Stream #1 |abbb.abbb.c.t", {"a": "d", "b": "d", "c": "c", "t": "t"})
    assert by_name(
        ops, "occurrences", "kernels", "total_ps", "self_ps", "flops", "bytes_accessed"
    ) == {
        "d": [2, 4, 8 * US, 8 * US, 2 * DOT_FLOPS, 2 * DOT_BYTES],
        "c": [1, 1, US, US, -1, -1],
        "t": [1, 1, US, US, 0, 2 * 2 * 128 * 64],
    }
    assert kernels(ops, "d") == [("b", 2, 6 * US), ("a", 2, 2 * US)]
    assert by_name(ops, "program_id", "program", "category", "deduplicated_name", "is_product") == {
        "d": ["7", "jit_f", "dot", "", True],
        "c": ["7", "jit_f", "custom-call", "", False],
        "t": ["7", "jit_f", "data formatting", "t.1", False],
    }
    assert (ops.device_type, ops.devices, ops.window_ps, ops.idle_ps) == (
        "GPU", 1, 13 * US, 3 * US,
    )  # fmt: skip


def test_work_without_an_instruction_is_kept_by_its_kernel():
    ops = ops_of("Stream #1 |a.k.mm\nStream #2 |..kk", {"a": "d"}, names={"m": "MemcpyH2D"})
    assert by_name(ops, "category", "program_id", "occurrences", "total_ps", "flops") == {
        "d": ["dot", "7", 1, US, DOT_FLOPS],
        "k": [NOT_IN_HLO, "", 2, 3 * US, -1],
        "MemcpyH2D": [NOT_IN_HLO, "", 1, 2 * US, -1],
    }


def test_instructions_of_unknown_programs_and_graphs_are_said_to_be():
    ops = ops_of(
        "Stream #1 |a.b.c.w", {"a": "fusion.9", "b": "command_buffer.1", "c": "x::d", "w": "w"}
    )
    assert by_name(ops, "category", "opcode", "flops", "has_inner") == {
        "fusion.9": [NO_HLO, "", -1, False],
        "command_buffer.1": [COMMAND_BUFFER, "", -1, False],
        "d": ["dot", "dot", DOT_FLOPS, False],
        "w": ["while", "while", -1, True],
    }


def test_calls_of_command_buffers_and_whole_graphs_hide_what_ran():
    made = program()
    made.add("k", "add", "bf16[8]", "c", within="command_buffer.1")
    made.add("g", "call", "bf16[8]", "c", calls="command_buffer.1")
    made.add("h", "call", "bf16[8]", "c", calls="body")
    ops = ops_of(
        "Stream #1 |g.h.x.yy",
        {"g": "g", "h": "h", "x": "w"},
        made=made,
        names={"x": "CudaGraphExec:3", "y": "CudaGraphExec:4"},
    )
    assert by_name(ops, "category", "program_id", "total_ps") == {
        "g": [COMMAND_BUFFER, "7", US],
        "h": ["call", "7", US],
        "w": [COMMAND_BUFFER, "7", US],
        "CudaGraphExec:4": [COMMAND_BUFFER, "", 2 * US],
    }


def test_kernels_of_a_graph_belong_to_the_instructions_that_recorded_them():
    graph = {"cuda_graph_id": 3, "cuda_graph_exec_id": 4}
    of_program = {"program_id": 7, "hlo_module": "jit_f"}
    ops = ops_of(
        "Stream #1 |a.a.bb.c",
        {},
        stats={
            "a": {**graph, **of_program, "hlo_op": "command_buffer.1::d"},
            "b": {**graph, **of_program, "hlo_op": "command_buffer.1"},
            "c": graph,
        },
    )
    assert by_name(ops, "category", "program_id", "occurrences", "total_ps", "flops") == {
        "d": ["dot", "7", 2, 2 * US, 2 * DOT_FLOPS],
        "command_buffer.1": [COMMAND_BUFFER, "7", 1, 2 * US, -1],
        "c": [NOT_IN_HLO, "", 1, US, -1],
    }


def test_recorded_work_goes_before_that_of_the_program():
    ops = ops_of(
        "Stream #1 |a.a",
        {},
        stats={
            "a": {
                "program_id": 7, "hlo_module": "jit_f", "hlo_op": "d", "flops": 5,
                "bytes_accessed": 6,
            }
        },
    )  # fmt: skip
    assert by_name(ops, "flops", "model_flops", "bytes_accessed", "is_computed") == {
        "d": [10, 10, 12, False]
    }


def test_without_xla_what_runs_on_a_gpu_is_in_no_program():
    ops = compute_part("program_ops", drawn_space({GPU: "Stream #1 |aa.a"}))
    assert (ops.name, ops.devices) == ([], 0)


def test_gpus_add_up_and_those_that_ran_nothing_do_not_count():
    trace = draw(
        {
            GPU: "Stream #1 |aa.a",
            "/device:GPU:1": "Stream #1 |.aaa",
            "/device:GPU:2": "Stream #1 |",
        },
        stats={"a": {"hlo_op": "a"}},
    )
    ops = compute_part("program_ops", space_of(trace))
    assert (ops.name, ops.occurrences.tolist(), ops.total_ps.tolist()) == (["a"], [3], [6 * US])
    assert (ops.devices, ops.window_ps, ops.idle_ps) == (2, 7 * US, US)


@pytest.mark.parametrize(
    ("opcode", "kind", "category"),
    [
        ("fusion", "kLoop", "loop fusion"),
        ("fusion", "kInput", "input fusion"),
        ("fusion", "kOutput", "output fusion"),
        ("fusion", "kCustom", "custom fusion"),
        ("fusion", "new", "fusion"),
        ("copy", "", "data formatting"),
        ("reshape", "", "data formatting"),
        ("add", "", "non-fusion elementwise"),
        ("tanh", "", "non-fusion elementwise"),
        ("convert", "", "non-fusion elementwise"),
        ("bitcast-convert", "", "bitcast-convert"),
        ("broadcast", "", "broadcast"),
        ("all-reduce-start", "", "all-reduce-start"),
    ],
)
def test_categories_are_those_of_xla(opcode, kind, category):
    assert category_of(opcode, kind) == category


def in_graph(node: int, buffer: str = "command_buffer.1", **more: Any) -> dict[str, Any]:
    """The stats of a kernel that a node of a graph launched."""
    return {
        "program_id": 7, "hlo_module": "jit_f", "hlo_op": buffer, "correlation_id": 1,
        "cuda_graph_id": 3, "cuda_graph_node_id": node, **more,
    }  # fmt: skip


def test_kernels_of_nodes_belong_to_the_instructions_of_the_program():
    """`c` is a call of a library, whose kernel `sgemm` runs between those of `d` and `t`."""
    ops = ops_of(
        "Stream #1 |abc.abc.x",
        {},
        names={"a": "d", "b": "sgemm", "c": "t", "x": "CudaGraphExec:9"},
        stats={"a": in_graph(1), "b": in_graph(2), "c": in_graph(3), "x": in_graph(4)},
        made=program(has_loop=False),
    )
    assert by_name(ops, "category", "program_id", "occurrences", "total_ps", "flops") == {
        "d": ["dot", "7", 2, 2 * US, 2 * DOT_FLOPS],
        "c": ["custom-call", "7", 2, 2 * US, -1],
        "t": ["data formatting", "7", 2, 2 * US, 0],
        "command_buffer.1": [COMMAND_BUFFER, "7", 1, US, -1],
    }
    assert kernels(ops, "c") == [("sgemm", 2, 2 * US)]


def test_the_order_is_that_of_a_launch_that_was_recorded_whole():
    """The recording begins within a launch: the first kernel is the last one of that graph."""
    early, launches = in_graph(3, correlation_id=1), in_graph(1, correlation_id=2)
    ops = ops_of(
        "Stream #1 |e.abc",
        {},
        names={"e": "t", "a": "d", "b": "sgemm", "c": "t"},
        stats={
            "e": early, "a": launches, "b": in_graph(2, correlation_id=2),
            "c": in_graph(3, correlation_id=2),
        },
        made=program(has_loop=False),
    )  # fmt: skip
    assert by_name(ops, "occurrences", "total_ps") == {
        "d": [1, US], "c": [1, US], "t": [2, 2 * US],
    }  # fmt: skip


def test_kernels_of_unknown_programs_stay_in_their_command_buffer():
    ops = ops_of("Stream #1 |ab", {}, stats={"a": in_graph(1), "b": in_graph(2)}, made=Program())
    assert by_name(ops, "category", "total_ps") == {"command_buffer.1": [COMMAND_BUFFER, 2 * US]}
