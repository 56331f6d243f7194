"""The products in instructions of programs: what they multiply, how small, in how many passes."""

import pytest
from helpers.drawn.computed_parts import compute_part
from traces import draw, space_of
from traces.programs import Program

from tbprof.analysis.programs.matrix_products import tiling_of
from tbprof.analysis.programs.program_ops import ProgramOps
from tbprof.analysis.vocabulary.instruction_roles import Move


def product_of(program: Program, name: str) -> dict[str, object]:
    """What the table says of an instruction that ran on a GPU."""
    trace = draw(
        {"/device:GPU:0": "Stream #1 |k"},
        stats={"k": {"program_id": 7, "hlo_module": "jit_f", "hlo_op": name}},
        programs={"jit_f(7)": program.bytes()},
    )
    ops: ProgramOps = compute_part("program_ops", space_of(trace))
    columns = ("product_dtype", "product_size", "product_passes", "move", "is_of_argument")
    return {column: getattr(ops, column)[0] for column in columns}


def product(left: str, right: str, result: str, *, batch: int = 0) -> Program:
    """A dot that sums over the last dimension of the left one and the first after batches."""
    program = Program()
    program.add("l", "parameter", left)
    program.add("r", "parameter", right)
    numbers = program.add("d", "dot", result, "l", "r").dot_dimension_numbers
    numbers.lhs_contracting_dimensions.append(batch + 1)
    numbers.rhs_contracting_dimensions.append(batch)
    numbers.lhs_batch_dimensions.extend(range(batch))
    numbers.rhs_batch_dimensions.extend(range(batch))
    return program


@pytest.mark.parametrize(
    ("left", "right", "result", "batch", "size"),
    [
        ("bf16[8,512]", "bf16[512,1024]", "bf16[8,1024]", 0, 8),
        ("bf16[512,16]", "bf16[16,1024]", "bf16[512,1024]", 0, 16),  # the sum is short
        ("bf16[512,256]", "bf16[256,4]", "bf16[512,4]", 0, 4),
        # Batches are products of their own.
        ("bf16[2,64,128]", "bf16[2,128,256]", "bf16[2,64,256]", 1, 64),
    ],
)
def test_the_smallest_dimension_of_a_matrix_product(left, right, result, batch, size):
    is_what = product_of(product(left, right, result, batch=batch), "d")
    assert is_what == {
        "product_dtype": "bf16", "product_size": size, "product_passes": 1, "move": Move.NONE,
        "is_of_argument": False,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("precision", "algorithm", "passes"),
    [
        ([], 0, 1), ([0, 0], 0, 1), ([1, 1], 0, 3), ([0, 2], 0, 6),
        ([2, 2], 6, 1), ([], 7, 3), ([], 8, 6), ([], 13, 9),
        ([], 11, 0),  # 32-bit products are not made of 16-bit ones
    ],
)  # fmt: skip
def test_passes_follow_from_the_precision_that_the_program_asks_for(precision, algorithm, passes):
    program = product("f32[8,16]", "f32[16,32]", "f32[8,32]")
    config = program.named["d"].precision_config
    config.operand_precision.extend(precision)
    config.algorithm = algorithm
    is_what = product_of(program, "d")
    assert (is_what["product_dtype"], is_what["product_passes"]) == ("f32", passes)


def test_the_largest_product_of_a_fusion_counts():
    program = Program()
    program.add("x", "parameter", "f32[64,64]")
    program.add("a", "parameter", "bf16[64,64]", within="fused")
    program.add("b", "parameter", "f32[2,64]", within="fused")
    for name, result, left in (("s", "f32[2,64]", "b"), ("l", "bf16[64,64]", "a")):
        dot = program.add(name, "dot", result, left, "a", within="fused")
        dot.dot_dimension_numbers.lhs_contracting_dimensions.append(1)
        dot.dot_dimension_numbers.rhs_contracting_dimensions.append(0)
    program.add("f", "fusion", "bf16[64,64]", "x", calls="fused")
    is_what = product_of(program, "f")
    assert (is_what["product_dtype"], is_what["product_size"]) == ("bf16", 64)


def test_a_convolution_and_a_librarys_product():
    program = Program()
    program.add("i", "parameter", "f32[8,32,32,3]")
    program.add("k", "parameter", "f32[3,3,3,64]")
    program.add("c", "convolution", "f32[8,30,30,64]", "i", "k")
    is_what = product_of(program, "c")
    assert (is_what["product_dtype"], is_what["product_size"]) == ("f32", -1)
    program = Program()
    program.add("l", "parameter", "f32[512,16]")
    program.add("r", "parameter", "f32[16,64]")
    call = program.add("g", "custom-call", "f32[512,64], s8[4096]", "l", "r")
    call.custom_call_target = "__cublas$gemm"
    is_what = product_of(program, "g")
    assert is_what == {
        "product_dtype": "f32", "product_size": 16, "product_passes": 0, "move": Move.NONE,
        "is_of_argument": False,
    }  # fmt: skip


def test_what_only_moves_data_and_whether_it_is_an_argument():
    program = Program()
    program.add("x", "parameter", "f32[8,16]{1,0}")
    program.add("t", "transpose", "f32[16,8]{1,0}", "x")
    program.add("c", "copy", "f32[16,8]{0,1}", "t")
    program.add("s", "copy", "f32[16,8]{0,1}", "c")  # the same layout
    program.add("p", "parameter", "f32[16,8]", within="fused")
    program.add("r", "reshape", "f32[128]", "p", within="fused")
    program.add("f", "fusion", "f32[128]", "s", calls="fused")
    program.add("z", "parameter", "f32[8,16]{1,0}")
    program.add("u", "transpose", "f32[16,8]{1,0}", "z")
    program.add("a", "add", "f32[8,16]{1,0}", "z", "z")
    program.add("y", "parameter", "f32[16,8]", within="body")
    program.add("b", "transpose", "f32[8,16]", "y", within="body")
    moves = {name: tuple(product_of(program, name).values())[3:] for name in "tcsfub"}
    assert moves == {
        "t": (Move.TRANSPOSE, True), "c": (Move.LAYOUT, False), "s": (Move.NONE, False),
        "f": (Move.RESHAPE, False),
        "u": (Move.TRANSPOSE, False),  # something else takes the argument as it is
        "b": (Move.TRANSPOSE, False),  # the body of a loop has parameters, and no arguments
    }  # fmt: skip


@pytest.mark.parametrize(
    ("rows", "columns", "tile", "tiling"),
    [
        (256, 128, (128, 128), ("256 × 128 in tiles of 128 × 128", 0)),
        (129, 128, (128, 128), ("129 × 128 in tiles of 128 × 128", 496_094)),  # 127 of 256 rows
        # In tiles of 64 × 256, 128 of 256 columns lie outside.
        (64, 128, (64, 256), ("64 × 128 in tiles of 64 × 256", 500_000)),
        (256, 64, (64, 256), ("256 × 64 in tiles of 256 × 64", 0)),  # the better orientation
        (-1, -1, (64, 256), ("", 0)),
        (64, 64, None, ("", 0)),
    ],
)
def test_a_tiling_wastes_what_lies_outside_of_the_result(rows, columns, tile, tiling):
    assert tiling_of(rows, columns, tile) == tiling


def test_the_tiles_are_those_of_the_longest_kernel():
    trace = draw(
        {"/device:GPU:0": "Stream #1 |kkkks"},
        names={"k": "ampere_h1688gemm_128x64_nn", "s": "splitKreduce_32x32"},
        stats={letter: {"program_id": 7, "hlo_module": "jit_f", "hlo_op": "d"} for letter in "ks"},
        programs={"jit_f(7)": product("f16[96,32]", "f16[32,64]", "f16[96,64]").bytes()},
    )
    ops: ProgramOps = compute_part("program_ops", space_of(trace))
    assert ops.tiling == ["96 × 64 in tiles of 128 × 64"]
    assert ops.tile_waste_ppm.tolist() == [250_000]
