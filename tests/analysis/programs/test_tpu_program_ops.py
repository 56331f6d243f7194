"""The instructions that ran on TPU cores, with what the device recorded of them."""

from typing import Any

from builders.program_ops import access, by_name
from helpers.drawn.computed_parts import compute_part
from traces import Unsigned, draw, drawn_space, space_of
from traces.programs import Program

from tbprof.analysis.programs.program_ops import NOT_IN_HLO, ProgramOps

TPU = "/device:TPU:0"
# The unsigned form of -3.
ID = 2**64 - 3
US = 1_000_000


def ops_of(drawing: str, **options: Any) -> ProgramOps:
    ops: ProgramOps = compute_part("program_ops", drawn_space({TPU: drawing}, **options))
    return ops


def recorded(category: str, **stats: Any) -> dict[str, Any]:
    return {"program_id": Unsigned(ID), "hlo_category": category, **stats}


def test_an_instruction_has_what_its_type_and_its_executions_say():
    ops = ops_of(
        """
        XLA Modules |mmmmmmmmmm
        XLA Ops     |.aaa.aaa..
        """,
        names={"m": f"jit_f({ID})", "a": "%fusion.1 = f32[8,4]{1,0} fusion(f32[8]{0} %p)"},
        type_stats={
            "a": recorded(
                "loop fusion", flops=10, model_flops=20, bytes_accessed=100, tf_op="jit(f)/add:",
                memory_access_breakdown=access(1, 1, 40) + access(2, 1, 30) + access(1, 2, 5)
                + access(2, 3, 25), source="train.py:7", source_stack="a.py:1\nb.py:2\n",
                deduplicated_name="fusion",
            )
        },
    )  # fmt: skip
    assert ops.name == ["fusion.1"]
    assert (ops.program_id, ops.program, ops.digest) == ([str(ID)], ["jit_f"], [""])
    assert (ops.opcode, ops.category, ops.core) == (["fusion"], ["loop fusion"], ["TensorCore"])
    assert (ops.scope, ops.source) == (["jit(f)/add:"], ["train.py:7"])
    assert [ops.stacks[row] for row in ops.stack.tolist()] == ["a.py:1\nb.py:2"]
    assert (ops.result, ops.operands) == (["f32[8,4]{1,0}"], ["f32[8]{0}"])
    assert (ops.deduplicated_name, ops.dtype) == (["fusion"], ["f32"])
    assert by_name(
        ops, "occurrences", "total_ps", "self_ps", "span_ps", "flops", "model_flops",
        "transcendentals", "bytes_accessed",
    ) == {"fusion.1": [2, 6 * US, 6 * US, 6 * US, 20, 40, -1, 200]}  # fmt: skip
    assert by_name(
        ops, "hbm_bytes", "cmem_read_bytes", "cmem_written_bytes", "vmem_read_bytes",
        "vmem_written_bytes", "is_computed", "has_inner", "dma_stall_ps",
    ) == {"fusion.1": [140, 10, 0, 0, 50, False, False, -1]}  # fmt: skip
    assert (ops.device_type, ops.devices, ops.window_ps, ops.idle_ps) == ("TPU", 1, 7 * US, US)


def test_a_loop_contains_its_body():
    ops = ops_of(
        """
        XLA Ops |wwwwwwww.c
                |.bb.bbb
        """,
        names={"w": "while.1", "b": "fusion.2", "c": "copy.3"},
        type_stats={
            "w": recorded("while", flops=1000), "b": recorded("loop fusion", flops=8),
            "c": recorded("data formatting"),
        },
    )  # fmt: skip
    assert by_name(ops, "occurrences", "total_ps", "self_ps", "flops", "has_inner") == {
        "while.1": [1, 8 * US, 3 * US, 1000, True],
        "fusion.2": [2, 5 * US, 5 * US, 16, False],
        "copy.3": [1, US, US, -1, False],
    }


def test_a_transfer_costs_once_from_its_start_to_its_end():
    """Each end records all of the bytes; the device, where they went."""
    start = "%copy-start = (f32[8]{0}, f32[8]{0:S(5)}, u32[]) copy-start(f32[8]{0:S(5)} %p)"
    done = "%copy-done = f32[8]{0} copy-done((f32[8]{0}, f32[8]{0:S(5)}, u32[]) %copy-start)"
    ops = ops_of(
        "XLA Ops |s.f.ddd.s.ffff.d",
        names={"s": start, "d": done, "f": "%f = f32[8] fusion(f32[8] %q)"},
        type_stats={
            "s": recorded("copy-start", flops=0, bytes_accessed=50, memory_access_breakdown=b""),
            "d": recorded(
                "copy-done", flops=0, bytes_accessed=50, memory_access_breakdown=access(2, 1, 50)
            ),
            "f": recorded("loop fusion", flops=1, bytes_accessed=3),
        },
    )
    assert by_name(ops, "total_ps", "span_ps", "flops", "bytes_accessed", "hbm_bytes") == {
        "copy-start": [2 * US, 2 * US, 0, 0, 0],
        "copy-done": [4 * US, 15 * US, 0, 100, 100],  # from 0 to 7, and from 8 to 16
        "f": [5 * US, 5 * US, 2, 6, 6],
    }


def test_both_ends_of_a_transfer_within_the_device_count():
    start, done = "%copy-start = f32[8] copy-start(f32[8] %p)", "%d = f32[8] copy-done(%copy-start)"
    ops = ops_of(
        "XLA Ops |s.d.d",
        names={"s": start, "d": done},
        type_stats={
            "s": recorded("copy-start", bytes_accessed=5, memory_access_breakdown=access(1, 1, 5)),
            "d": recorded("copy-done", bytes_accessed=5, memory_access_breakdown=access(2, 3, 5)),
        },
    )
    # An end whose start was not recorded takes as long as the other one.
    assert by_name(ops, "span_ps", "bytes_accessed", "hbm_bytes", "vmem_written_bytes") == {
        "copy-start": [US, 0, 0, 0],
        "d": [6 * US, 10, 5, 10],
    }


def test_what_is_not_recorded_follows_from_the_program_or_is_unknown():
    made = Program()
    made.add("p", "parameter", "bf16[128,256]")
    made.add("q", "parameter", "bf16[256,64]")
    dot = made.add("d", "dot", "bf16[128,64]", "p", "q", op="jit(f)/dot_general")
    dot.dot_dimension_numbers.lhs_contracting_dimensions.append(1)
    dot.metadata.source_file, dot.metadata.source_line = "model.py", 12
    made.add("e", "exponential", "bf16[128,64]", "d")
    made.add("c", "custom-call", "bf16[8]", "d").custom_call_target = "mine"
    trace = draw(
        {TPU: "XLA Ops |dd.e.c.x"},
        type_stats={
            "d": {"program_id": Unsigned(ID)},
            "e": recorded("non-fusion elementwise", flops=7, bytes_accessed=9),
            "c": recorded("custom-call", flops=0, bytes_accessed=0),
        },
        programs={f"jit_f({ID})": made.bytes()},
    )
    ops = compute_part("program_ops", space_of(trace))
    flops, moved = 2 * 128 * 256 * 64, 2 * (128 * 256 + 256 * 64 + 128 * 64)
    assert by_name(
        ops, "flops", "transcendentals", "bytes_accessed", "hbm_bytes", "is_computed"
    ) == {
        "d": [flops, 0, moved, moved, True],
        "e": [7, 128 * 64, 9, 9, False],
        "c": [-1, -1, -1, -1, False],
        "x": [-1, -1, -1, -1, False],
    }
    assert by_name(ops, "program", "category", "scope", "source", "dtype", "is_product") == {
        "d": ["jit_f", "dot", "jit(f)/dot_general", "model.py:12", "bf16", True],
        "e": ["jit_f", "non-fusion elementwise", "", "", "bf16", False],
        "c": ["jit_f", "custom-call", "", "", "bf16", False],
        "x": ["", NOT_IN_HLO, "", "", "", False],
    }
    assert len(set(ops.digest[:3])) == 1
    assert ops.digest[0]


def test_sparse_cores_have_rows_and_windows_of_their_own():
    trace = draw(
        {TPU: "XLA Ops |aa.a", "/device:TPU:0 SparseCore 0": "Sparse Core Ops |..aaa..a"},
        type_stats={"a": recorded("loop fusion", flops=1)},
    )
    ops = compute_part("program_ops", space_of(trace))
    assert ops.core == ["TensorCore", "SparseCore"]
    assert ops.total_ps.tolist() == [3 * US, 4 * US]
    assert (ops.devices, ops.window_ps, ops.idle_ps) == (1, 4 * US, US)
    assert (ops.sparse_cores, ops.sparse_core_idle_ps) == (1, 2 * US)


def test_waits_for_transfers_are_those_recorded():
    ops = ops_of(
        "XLA Ops |aa.a.b",
        stats={"a": {"dma_stall_duration_ps": 5}},
        type_stats={"a": recorded("loop fusion"), "b": recorded("loop fusion")},
    )
    assert ops.dma_stall_ps.tolist() == [10, -1]
