"""The instructions of kernels in CUDA graphs, by the order in which they run."""

from collections.abc import Sequence

from traces.programs import Program

from tbprof.analysis.gpu.launch_order import InstructionOrder
from tbprof.analysis.hlo.module import Module


def module(*instructions: str, body: Sequence[str] = ()) -> Module:
    """A program of fusions, library calls ("gemm") and, in a loop, a body."""
    made = Program()
    for within, names in (("body", body), ("main", instructions)):
        for name in names:
            is_call = name.startswith("gemm")
            opcode = "custom-call" if is_call else name.partition(".")[0]
            made.add(
                name, opcode if opcode in ("bitcast", "custom-call") else "fusion", "f32[8]",
                within=within,
            )  # fmt: skip
    return Module(made.bytes())


def placed(program: Module, *graphs: str, outside: Sequence[str] = ()) -> list[list[str]]:
    """The instructions of the kernels of graphs, each of a command buffer of its own."""
    kernels = [graph.split() for graph in graphs]
    order = InstructionOrder(program, [[graph] for graph in kernels], outside)
    return [order.place(graph) for graph in kernels]


def test_kernels_have_the_names_of_their_instructions():
    program = module("loop.1", "bitcast.1", "add-b.2", body=["inner.3"])
    assert placed(program, "loop_1 add_b_2 inner_3") == [["loop.1", "add-b.2", "inner.3"]]
    assert placed(program, "loop_1 other inner_3") == [["loop.1", "", "inner.3"]]


def test_library_kernels_belong_to_the_only_call_between_their_neighbors():
    program = module("a", "gemm.1", "bitcast.1", "b", "gemm.2", "c")
    assert placed(program, "a sgemm split_k b nvjet c") == [
        ["a", "gemm.1", "gemm.1", "b", "gemm.2", "c"]
    ]


def test_several_calls_have_one_kernel_each_or_are_unknown():
    program = module("a", "gemm.1", "gemm.2", "b")
    assert placed(program, "a x y b") == [["a", "gemm.1", "gemm.2", "b"]]
    assert placed(program, "a x y z b") == [["a", "", "", "", "b"]]
    assert placed(program, "a x b") == [["a", "", "b"]]


def test_memsets_belong_to_nobody():
    program = module("a", "gemm.1", "b")
    assert placed(program, "a Memset x b") == [["a", "", "gemm.1", "b"]]


def test_instructions_share_the_kernel_of_the_first_of_them():
    program = module("tanh", "gemm.1", "tanh.1", "gemm.2", "tanh.2", "last")
    assert placed(program, "tanh x tanh x tanh last") == [
        ["tanh", "gemm.1", "tanh.1", "gemm.2", "tanh.2", "last"]
    ]


def test_the_first_of_them_may_be_in_another_command_buffer():
    program = module("tanh", "a", "apart", "b", "tanh.1", "gemm.1", "c")
    first, second = placed(program, "tanh a", "b tanh x c", outside=["apart"])
    assert first == ["tanh", "a"]
    assert second == ["b", "tanh.1", "gemm.1", "c"]


def test_the_first_of_them_may_run_outside_of_graphs():
    program = module("tanh", "a", "tanh.1", "b")
    assert placed(program, "a tanh b", outside=["tanh"]) == [["a", "tanh.1", "b"]]


def test_graphs_reach_to_the_instructions_that_run_elsewhere():
    program = module("apart.1", "gemm.1", "a", "gemm.2", "apart.2", "gemm.3")
    outside = ("apart.1", "apart.2")
    assert placed(program, "x a y", outside=outside) == [["gemm.1", "a", "gemm.2"]]
    # Without these, three calls could have run either.
    assert placed(program, "x a y") == [["", "a", ""]]


def test_nothing_is_said_of_kernels_that_ran_in_another_order():
    program = module("a", "gemm.1", "b", "c")
    assert placed(program, "b x a c") == [["b", "", "a", "c"]]


def test_instructions_that_ran_outside_are_not_between():
    program = module("a", "apart", "gemm.1", "b")
    assert placed(program, "a x b", outside=["apart"]) == [["a", "", "b"]]


def test_kernels_of_xla_and_of_libraries_are_counted_apart():
    """The library call before `tanh.1` launches two kernels, that after it one."""
    program = module("a", "tanh", "gemm.1", "tanh.1", "gemm.2", "tanh.2", "b")
    assert placed(program, "a tanh x y tanh z tanh b") == [
        ["a", "tanh", "gemm.1", "gemm.1", "tanh.1", "gemm.2", "tanh.2", "b"]
    ]


def test_asynchronous_instructions_are_those_inside_of_their_starts():
    made = Program()
    made.add("slice.7", "fusion", "f32[8]", within="wrapped")
    made.add("a", "fusion", "f32[8]")
    made.add("slice-start", "async-start", "f32[8]", calls="wrapped")
    made.add("slice-done", "async-done", "f32[8]", "slice-start")
    made.add("b", "fusion", "f32[8]")
    assert placed(Module(made.bytes()), "a memcpy128 b") == [["a", "slice.7", "b"]]


def test_a_changed_command_buffer_is_one():
    program = module("a", "gemm.1", "tanh", "b")
    graphs = [["a", "x", "tanh", "b"], ["a", "y", "y2", "tanh", "b"]]
    order = InstructionOrder(program, [graphs], [])
    assert [order.place(graph) for graph in graphs] == [
        ["a", "gemm.1", "tanh", "b"],
        ["a", "gemm.1", "gemm.1", "tanh", "b"],
    ]
