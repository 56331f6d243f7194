"""What single instructions cost, counted by hand. Bytes are those of the arrays in the shapes."""

from collections.abc import Sequence
from typing import Any

import pytest
from helpers.drawn.program_costs import cost_of, figures
from traces.programs import Program

from tbprof._pb import message

# (opcode, its result, operands): (operations, transcendentals, bytes)
CASES: list[tuple[str, str, Sequence[str], tuple[int, int, int]]] = [
    ("add", "f32[1000]", ["f32[1000]", "f32[1000]"], (1000, 0, 12000)),
    ("exponential", "f32[1000]", ["f32[1000]"], (0, 1000, 8000)),
    ("power", "f32[1000]", ["f32[1000]", "f32[1000]"], (0, 1000, 12000)),
    ("convert", "bf16[1000]", ["f32[1000]"], (1000, 0, 6000)),
    ("compare", "pred[1000]", ["f32[1000]", "f32[1000]"], (1000, 0, 9000)),
    ("concatenate", "f32[150]", ["f32[100]", "f32[50]"], (0, 0, 1200)),
    ("broadcast", "f32[5,100]", ["f32[100]"], (0, 0, 2400)),
    ("bitcast", "f32[100]", ["f32[10,10]"], (0, 0, 0)),
    ("copy-start", "f32[10] f32[10] u32[1]", ["f32[10]"], (0, 0, 80)),
    ("copy-done", "f32[10]", ["f32[10]"], (0, 0, 0)),  # counted where it starts
    ("all-gather-start", "f32[10] f32[40]", ["f32[10]"], (0, 0, 200)),
    ("all-reduce", "f32[10]", ["f32[10]"], (10, 0, 80)),
    # What is taken is read and returned, beside the position.
    ("slice", "f32[10]", ["f32[1000]"], (0, 0, 80)),
    ("dynamic-slice", "f32[10]", ["f32[1000]", "s32[]"], (0, 0, 84)),
    ("dynamic-update-slice", "f32[1000]", ["f32[1000]", "f32[10]", "s32[]"], (0, 0, 84)),
    ("gather", "f32[10,16]", ["f32[1000,16]", "s32[10,1]"], (0, 0, 1320)),
    ("sort", "f32[1024]", ["f32[1024]"], (10240, 0, 8192)),
    ("sort", "f32[1000] s32[1000]", ["f32[1000]", "s32[1000]"], (10000, 0, 16000)),
    ("cholesky", "f32[30,30]", ["f32[30,30]"], (9000, 0, 3600)),
    ("triangular-solve", "f32[30,5]", ["f32[30,30]", "f32[30,5]"], (9000, 0, 3000)),
    ("rng-bit-generator", "u64[2] u32[1000]", ["u64[2]"], (0, 1002, 4032)),
]


def program(opcode: str, result: str, operands: Sequence[str]) -> tuple[Program, Any]:
    made = Program()
    names = [f"p{number}" for number in range(len(operands))]
    for name, shape in zip(names, operands, strict=True):
        made.add(name, "parameter", shape)
    return made, made.add("x", opcode, result, *names)


@pytest.mark.parametrize(("opcode", "result", "operands", "expected"), CASES)
def test_operations_and_bytes_follow_from_shapes(opcode, result, operands, expected):
    assert figures(cost_of(program(opcode, result, operands)[0])) == expected


@pytest.mark.parametrize(
    ("result", "left", "right", "contracted", "expected"),
    [
        ("f32[128,64]", "f32[128,256]", "f32[256,64]", [1], (4_194_304, 0, 229_376)),
        ("f32[8,32,24]", "f32[8,32,16]", "f32[8,16,24]", [2], (196_608, 0, 53_248)),
        ("s32[128,64]", "s8[128,256]", "s8[256,64]", [1], (4_194_304, 0, 81_920)),
    ],
)
def test_a_matrix_product_multiplies_and_adds(result, left, right, contracted, expected):
    made, dot = program("dot", result, [left, right])
    dot.dot_dimension_numbers.lhs_contracting_dimensions.extend(contracted)
    assert figures(cost_of(made)) == expected
    assert list(cost_of(made).flops) == [left.partition("[")[0]]


def test_rows_of_a_ragged_product_meet_one_group_each():
    made, dot = program("ragged-dot", "f32[12,7]", ["f32[12,5]", "f32[3,5,7]", "s32[3]"])
    ragged = dot.ragged_dot_dimension_numbers
    ragged.dot_dimension_numbers.lhs_contracting_dimensions.append(1)
    ragged.dot_dimension_numbers.rhs_contracting_dimensions.append(1)
    ragged.lhs_ragged_dimensions.append(0)
    ragged.rhs_group_dimensions.append(0)
    assert cost_of(made).all_flops == 2 * 12 * 5 * 7


def test_a_ragged_contraction_takes_each_element_once():
    """Gradients of the groups: 12 rows are summed over, in 3 groups."""
    made, dot = program("ragged-dot", "f32[3,5,7]", ["f32[12,5]", "f32[12,7]", "s32[3]"])
    ragged = dot.ragged_dot_dimension_numbers
    ragged.dot_dimension_numbers.lhs_contracting_dimensions.append(0)
    ragged.dot_dimension_numbers.rhs_contracting_dimensions.append(0)
    ragged.lhs_ragged_dimensions.append(0)
    assert cost_of(made).all_flops == 2 * 12 * 5 * 7


@pytest.mark.parametrize(("lengths", "levels"), [([1024], 10), ([16, 64], 24)])
def test_a_fourier_transform_has_levels(lengths, levels):
    """Those of several dimensions are multiplied, as XLA counts them."""
    made, transform = program("fft", "c64[64,1024]", ["c64[64,1024]"])
    transform.fft_length.extend(lengths)
    assert figures(cost_of(made)) == (8 * levels * 65536, 0, 1_048_576)


# With a computation for each element.


def applied(opcode: str, result: str, operands: Sequence[str], inner: str) -> tuple[Program, Any]:
    made, proto = program(opcode, result, operands)
    for name in ("a", "b"):
        made.add(name, "parameter", "f32[]", within="f")
    made.add("c", inner, "f32[]", "a", "b", within="f")
    proto.called_computation_ids.append(made.computation("f").id)
    return made, proto


@pytest.mark.parametrize(("inner", "work"), [("add", (6336, 0)), ("power", (0, 6336))])
def test_a_reduction_takes_a_step_for_each_element_but_one(inner, work):
    made, _ = applied("reduce", "f32[64]", ["f32[64,100]", "f32[]"], inner)
    assert figures(cost_of(made)) == (*work, 25_860)


def test_a_scatter_applies_each_update():
    made, _ = applied("scatter", "f32[1000,16]", ["f32[1000,16]", "s32[10,1]", "f32[10,16]"], "add")
    assert figures(cost_of(made)) == (160, 0, 3 * 640 + 40)


def windowed(opcode: str, result: str, operands: Sequence[str], *sizes: int) -> tuple[Program, Any]:
    made, proto = applied(opcode, result, operands, "add")
    for size in sizes:
        proto.window.dimensions.add(size=size, stride=1, window_dilation=1, base_dilation=1)
    return made, proto


def test_a_pooling_takes_the_steps_of_its_windows():
    made, _ = windowed("reduce-window", "f32[1,4,4,4]", ["f32[1,8,8,4]", "f32[]"], 1, 2, 2, 1)
    assert figures(cost_of(made)) == (192, 0, 1284)


def test_a_sum_that_is_broadcast_is_taken_once():
    """A window over the whole dimension, padded so that it fits everywhere: 9 sums, then copies."""
    made, proto = windowed("reduce-window", "f32[3,10]", ["f32[3,10]", "f32[]"], 1, 19)
    proto.window.dimensions[1].padding_low = proto.window.dimensions[1].padding_high = 9
    assert cost_of(made).all_flops == 3 + 9


def test_the_gradient_of_a_pooling_selects_and_adds():
    made, proto = windowed(
        "select-and-scatter", "f32[8,8]", ["f32[8,8]", "f32[4,4]", "f32[]"], 2, 2
    )
    proto.called_computation_ids.append(made.computation("f").id)
    assert cost_of(made).all_flops == 16 * 3 + 16


# Convolutions, against a loop over every pair of positions.


def brute_positions(window: Any, taken: int, returned: int) -> int:
    count = 0
    for kernel in range(window.size):
        for output in range(returned):
            at = output * window.stride - window.padding_low + kernel * window.window_dilation
            count += at % window.base_dilation == 0 and 0 <= at // window.base_dilation < taken
    return count


@pytest.mark.parametrize("stride", [1, 2, 3, 4])
@pytest.mark.parametrize("padding", [-2, 0, 1, 5])
def test_convolutions_do_not_multiply_with_padding(stride, padding):
    from tbprof.analysis.costs.windows import valid_positions

    for size in (0, 1, 2, 5):
        for taken in (1, 4, 9):
            for base in (1, 2, 3, 6):
                for dilation in (1, 2, 3):
                    window = message("xla.WindowDimension")(
                        size=size, stride=stride, padding_low=padding, base_dilation=base,
                        window_dilation=dilation,
                    )  # fmt: skip
                    for returned in (0, 1, 7):
                        expected = brute_positions(window, taken, returned)
                        assert valid_positions(window, taken, returned) == expected


def convolution(
    result: str, left: str, right: str, *, groups: int = 1, batch_groups: int = 1, **window: int
) -> Program:
    """NHWC by HWIO."""
    made, proto = program("convolution", result, [left, right])
    numbers = proto.convolution_dimension_numbers
    numbers.input_feature_dimension = numbers.kernel_output_feature_dimension = 3
    numbers.kernel_input_feature_dimension = 2
    numbers.input_spatial_dimensions.extend([1, 2])
    numbers.kernel_spatial_dimensions.extend([0, 1])
    numbers.output_spatial_dimensions.extend([1, 2])
    proto.feature_group_count, proto.batch_group_count = groups, batch_groups
    fields = {"size": 3, "stride": 1, "window_dilation": 1, "base_dilation": 1}
    for _ in range(2):
        proto.window.dimensions.add(**{**fields, **window})
    return made


@pytest.mark.parametrize(
    ("made", "operations"),
    [
        # 3 × 8 positions, of which 2 meet padding, along each dimension.
        (convolution("f32[1,8,8,16]", "f32[1,8,8,3]", "f32[3,3,3,16]", padding_low=1),
         2 * 3 * 16 * 22 * 22),
        (convolution("f32[1,6,6,16]", "f32[1,8,8,3]", "f32[3,3,3,16]"), 2 * 3 * 16 * 18 * 18),
        (convolution("f32[2,4,4,16]", "f32[2,8,8,3]", "f32[3,3,3,16]", stride=2),
         2 * 2 * 3 * 16 * 11 * 11),
        (convolution("f32[1,8,8,8]", "f32[1,8,8,8]", "f32[3,3,1,8]", groups=8, padding_low=1),
         2 * 8 * 22 * 22),
        (convolution("f32[2,6,6,16]", "f32[4,8,8,3]", "f32[3,3,3,16]", batch_groups=2),
         2 * 3 * 16 * 2 * 18 * 18),
    ],
)  # fmt: skip
def test_groups_of_features_and_batches_share_a_convolution(made, operations):
    assert cost_of(made).all_flops == operations


# What is not known.


@pytest.mark.parametrize(
    ("opcode", "operands"),
    [
        ("dot", []),
        ("quantum-sort", ["f32[8]"]),
        ("reduce", ["f32[8]"]),
        ("convolution", ["f32[8]"]),
        # Without the computations that they call.
        ("map", ["f32[8]"]),
        ("reduce-window", ["f32[8]", "f32[]"]),
        ("scatter", ["f32[8]", "s32[8]", "f32[8]"]),
        ("select-and-scatter", ["f32[8]", "f32[8]", "f32[]"]),
    ],
)
def test_what_the_file_does_not_hold_is_unknown(opcode, operands):
    assert not cost_of(program(opcode, "f32[8]", operands)[0]).is_known


def test_a_transpose_without_a_result_moves_what_it_takes():
    """The shape of the result is damaged."""
    assert cost_of(program("transpose", "", ["f32[8]"])[0]).bytes == 32


def test_a_transpose_that_moves_nothing_is_free():
    made, proto = program("transpose", "f32[3,5]{0,1}", ["f32[5,3]{1,0}"])
    proto.dimensions.extend([1, 0])
    assert cost_of(made).bytes == 0
    made, proto = program("transpose", "f32[3,5]{1,0}", ["f32[5,3]{1,0}"])
    proto.dimensions.extend([1, 0])
    assert cost_of(made).bytes == 120


def test_bytes_are_of_the_memory_where_arrays_lie():
    made, _ = program("copy-start", "f32[10]{0:S(5)} f32[10] u32[1]", ["f32[10]"])
    assert (dict(cost_of(made).read), dict(cost_of(made).written)) == ({0: 40}, {5: 40})
