"""What fusions cost: all operations in them, and of their operands the bytes that they use."""

import pytest
from helpers.drawn.program_costs import cost_of, figures
from traces.programs import Program


def fused(*operands: str) -> Program:
    """A program with a fusion `x` of parameters `p0`, …; its computation has `q0`, …."""
    made = Program()
    for number, shape in enumerate(operands):
        made.add(f"p{number}", "parameter", shape)
        made.add(f"q{number}", "parameter", shape, within="f").parameter_number = number
    return made


def finish(made: Program, result: str, *operands: str) -> Program:
    made.add("x", "fusion", result, *operands, calls="f")
    return made


def test_a_chain_reads_once_and_writes_once():
    made = fused("f32[1000]")
    made.add("t", "tanh", "f32[1000]", "q0", within="f")
    made.add("m", "multiply", "f32[1000]", "t", "t", within="f")
    made.add("a", "add", "f32[1000]", "m", "q0", within="f")
    assert figures(cost_of(finish(made, "f32[1000]", "p0"))) == (2000, 1000, 8000)


@pytest.mark.parametrize(
    ("opcode", "others", "read"),
    [
        ("slice", [], 40),
        ("dynamic-slice", ["s32[]"], 40 + 4),
        ("gather", ["s32[10,1]"], 40 + 40),
        ("reverse", [], 4000),
    ],
)
def test_only_what_is_taken_is_read(opcode, others, read):
    made = fused("f32[1000]", *others)
    inner = [f"q{number}" for number in range(len(others) + 1)]
    made.add("s", opcode, "f32[10]", *inner, within="f")
    made.add("n", "negate", "f32[10]", "s", within="f")
    finish(made, "f32[10]", *(f"p{number}" for number in range(len(others) + 1)))
    assert sum(cost_of(made).read.values()) == read


def test_what_is_renamed_first_is_read_as_little():
    made = fused("f32[10,100]")
    made.add("b", "bitcast", "f32[1000]", "q0", within="f")
    made.add("s", "slice", "f32[10]", "b", within="f")
    assert figures(cost_of(finish(made, "f32[10]", "p0"))) == (0, 0, 80)


def test_no_array_is_read_more_than_once():
    made = fused("f32[100]")
    made.add("b", "broadcast", "f32[7,100]", "q0", within="f")
    made.add("c", "broadcast", "f32[7,100]", "q0", within="f")
    made.add("s", "slice", "f32[99]", "q0", within="f")
    made.add("a", "add", "f32[7,100]", "b", "c", within="f")
    cost = cost_of(finish(made, "f32[7,100]", "p0"))
    assert (sum(cost.read.values()), sum(cost.written.values())) == (400, 2800)


def test_two_slices_of_an_array_are_both_read():
    made = fused("f32[100]")
    made.add("s", "slice", "f32[10]", "q0", within="f")
    made.add("t", "slice", "f32[20]", "q0", within="f")
    made.add("c", "concatenate", "f32[30]", "s", "t", within="f")
    assert figures(cost_of(finish(made, "f32[30]", "p0"))) == (0, 0, 240)


def test_an_update_in_place_moves_the_update():
    made = fused("f32[1000]", "f32[10]", "s32[]")
    made.add("e", "exponential", "f32[10]", "q1", within="f")
    made.add("u", "dynamic-update-slice", "f32[1000]", "q0", "e", "q2", within="f")
    assert figures(cost_of(finish(made, "f32[1000]", "p0", "p1", "p2"))) == (0, 10, 84)


def test_each_array_that_is_returned_is_written():
    made = fused("f32[100]")
    made.add("n", "negate", "f32[100]", "q0", within="f")
    made.add("h", "convert", "bf16[100]", "q0", within="f")
    made.add("t", "tuple", "f32[100] bf16[100]", "n", "h", within="f")
    cost = cost_of(finish(made, "f32[100] bf16[100]", "p0"))
    assert (dict(cost.flops), figures(cost)) == ({"f32": 100, "bf16": 100}, (200, 0, 1000))


def test_what_an_inner_fusion_leaves_is_not_read():
    made = fused("f32[1000]")
    made.add("r", "parameter", "f32[1000]", within="inner")
    made.add("s", "slice", "f32[10]", "r", within="inner")
    made.add("i", "fusion", "f32[10]", "q0", calls="inner", within="f")
    assert figures(cost_of(finish(made, "f32[10]", "p0"))) == (0, 0, 80)


def test_parameters_that_nothing_uses_and_those_that_are_returned():
    made = fused("f32[1000]", "f32[10]")
    made.add("t", "tuple", "f32[10]", "q1", within="f")
    assert figures(cost_of(finish(made, "f32[10]", "p0", "p1"))) == (0, 0, 80)


def test_a_fusion_without_its_computation_is_unknown():
    made = Program()
    made.add("p0", "parameter", "f32[8]")
    made.add("x", "fusion", "f32[8]", "p0").called_computation_ids.append(99)
    assert not cost_of(made).is_known
