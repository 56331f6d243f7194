"""The number of operations of an instruction, by its opcode and shapes.

A multiply-add counts as two operations. Source of the conventions: XLA, hlo_cost_analysis.cc.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tbprof.analysis.costs.cost import NOTHING, UNKNOWN, Cost, counter
from tbprof.analysis.costs.windows import convolution_products
from tbprof.analysis.hlo.hlo_shapes import Shape
from tbprof.analysis.hlo.module import Module

_ELEMENTWISE = frozenset(
    {
        "abs", "add", "and", "bitcast-convert", "ceil", "clamp", "compare", "complex", "convert",
        "count-leading-zeros", "divide", "floor", "imag", "is-finite", "maximum", "minimum",
        "multiply", "negate", "not", "or", "popcnt", "real", "reduce-precision", "remainder",
        "round-nearest-afz", "round-nearest-even", "select", "shift-left",
        "shift-right-arithmetic", "shift-right-logical", "sign", "stochastic-convert", "subtract",
        "xor",
    }
)  # fmt: skip
_TRANSCENDENTAL = frozenset(
    {
        "acos", "acosh", "asin", "asinh", "atan2", "atanh", "cbrt", "cosh", "cosine", "erf",
        "exponential", "exponential-minus-one", "log", "log-plus-one", "logistic", "power", "rng",
        "rng-bit-generator", "rsqrt", "sine", "sinh", "sqrt", "tan", "tanh",
    }
)  # fmt: skip
# These move data or do nothing.
_MOVES = frozenset(
    {
        "add-dependency", "after-all", "all-gather", "all-gather-start", "all-to-all",
        "batch-norm-grad", "batch-norm-inference", "batch-norm-training", "bitcast", "broadcast",
        "collective-broadcast", "collective-permute", "collective-permute-start", "concatenate",
        "constant", "copy", "copy-start", "domain", "dynamic-reshape", "dynamic-slice",
        "dynamic-update-slice", "gather", "get-dimension-size", "get-tuple-element", "infeed",
        "iota", "opt-barrier", "outfeed", "pad", "parameter", "partition-id", "ragged-all-to-all",
        "recv", "reduce-scatter", "replica-id", "reshape", "reverse", "rng-get-and-update-state",
        "send", "set-dimension-size", "slice", "topk", "transpose", "tuple",
    }
)  # fmt: skip


_KEEPS_SIZE = (_ELEMENTWISE | _TRANSCENDENTAL) - {"bitcast-convert", "rng", "rng-bit-generator"}


def is_elementwise(opcode: str) -> bool:
    """Whether an instruction computes each element independently and keeps its size."""
    return opcode in _KEEPS_SIZE


class Arrays:
    """An instruction with the arrays of its operands and results, and the computations it calls.

    `called` is the work of each of these computations. The message is parsed on request.
    """

    __slots__ = ("_module", "_row", "called", "opcode", "operands", "results")

    def __init__(self, module: Module, row: int, called: Sequence[Cost]) -> None:
        self._module, self._row = module, row
        self.opcode = module.opcode(row)
        self.operands = [module.shapes.of(operand).shapes for operand in module.operand_rows(row)]
        self.results = module.shapes.of(row).shapes
        self.called = called

    @property
    def proto(self) -> Any:
        """The HloInstructionProto."""
        return self._module.message(self._row)

    def operand(self, number: int) -> Shape:
        """The array of an operand. Raises IndexError if there is none."""
        return self.operands[number][0]


def operations(arrays: Arrays) -> Cost:
    """The operations of an instruction that is not a fusion, call, loop, branch or custom call."""
    opcode = arrays.opcode
    if opcode in _ELEMENTWISE:
        return of_type(arrays.results[:1], sum(shape.elements for shape in arrays.results))
    if opcode in _TRANSCENDENTAL:
        elements = sum(shape.elements for shape in arrays.results)
        return NOTHING._replace(transcendentals=elements)
    if opcode in _MOVES or opcode.endswith(("-done", "-update")):
        return NOTHING
    count = _BY_OPCODE.get(opcode)
    if count is None:
        return UNKNOWN
    try:
        return count(arrays)
    except IndexError:  # operands or dimensions that the file lacks
        return UNKNOWN


def of_type(shapes: Sequence[Shape], count: int | None) -> Cost:
    """`count` operations on elements of the first array's type, unknown if None."""
    if count is None:
        return UNKNOWN
    flops = counter({shapes[0].dtype: count} if shapes and count else {})
    return Cost(flops, 0, NOTHING.read, NOTHING.written)


def product_operations(left: Shape, returned: Shape, contracted: Sequence[int]) -> int:
    """The operations of a matrix product that sums over these dimensions of the left operand."""
    return 2 * returned.elements * math.prod(left.sizes[axis] for axis in contracted)


def _dot(arrays: Arrays) -> Cost:
    left = arrays.operand(0)
    contracted = arrays.proto.dot_dimension_numbers.lhs_contracting_dimensions
    return of_type([left], product_operations(left, arrays.results[0], contracted))


def _ragged_dot(arrays: Arrays) -> Cost:
    """The cost of a ragged product: each row is multiplied with one group's matrix."""
    ragged = arrays.proto.ragged_dot_dimension_numbers
    left, right = arrays.operand(0), arrays.operand(1)
    numbers = ragged.dot_dimension_numbers
    if list(ragged.rhs_group_dimensions):
        return of_type(
            [left], product_operations(left, arrays.results[0], numbers.lhs_contracting_dimensions)
        )
    # The groups split the contracted or a batch dimension, so each element of both is used once.
    kept = [
        right.sizes[axis]
        for axis in range(len(right.sizes))
        if axis not in numbers.rhs_contracting_dimensions
        and axis not in numbers.rhs_batch_dimensions
    ]
    return of_type([left], 2 * left.elements * math.prod(kept))


def _convolution(arrays: Arrays) -> Cost:
    left = arrays.operand(0)
    products = convolution_products(arrays.proto, left, arrays.operand(1), arrays.results[0])
    return of_type([left], None if products is None else 2 * products)


def _reduce(arrays: Arrays) -> Cost:
    steps = arrays.operand(0).elements - arrays.results[0].elements
    return arrays.called[0].times(max(steps, 0))


def _reduce_window(arrays: Arrays) -> Cost:
    returned = arrays.results[0]
    windows = arrays.proto.window.dimensions
    steps = (math.prod(window.size for window in windows) - 1) * returned.elements
    wide = [axis for axis, window in enumerate(windows) if window.size != 1]
    padded = [
        axis for axis, window in enumerate(windows) if window.padding_low or window.padding_high
    ]
    if len(wide) == 1 and wide == padded and _is_total(windows[wide[0]], returned.sizes[wide[0]]):
        # The sum over a whole dimension, broadcast.
        size = returned.sizes[wide[0]]
        steps = returned.elements // max(size, 1) + size - 1
    return arrays.called[0].times(max(steps, 0))


def _is_total(window: Any, size: int) -> bool:
    padding = window.padding_low
    return bool(
        padding == window.padding_high == size - 1 and window.size == 2 * padding + 1 and padding
    )


def _select_and_scatter(arrays: Arrays) -> Cost:
    select, scatter = arrays.called[0], arrays.called[1]
    source = arrays.operand(1).elements
    window = math.prod(window.size for window in arrays.proto.window.dimensions)
    selected = select.times(source * max(window - 1, 0))
    added = scatter.times(source)
    return NOTHING._replace(
        flops=selected.flops + added.flops,
        transcendentals=selected.transcendentals + added.transcendentals,
        is_known=selected.is_known and added.is_known,
    )


def _map(arrays: Arrays) -> Cost:
    return arrays.called[0].times(arrays.results[0].elements)


def _scatter(arrays: Arrays) -> Cost:
    updates = arrays.operands[len(arrays.operands) // 2 + 1 :]
    return arrays.called[0].times(updates[0][0].elements)


def _sort(arrays: Arrays) -> Cost:
    elements = arrays.operand(0).elements
    return of_type(arrays.operands[0], elements * max(elements - 1, 0).bit_length())


def _fft(arrays: Arrays) -> Cost:
    taken = arrays.operand(0)
    levels = math.prod(max(size, 1).bit_length() - 1 for size in arrays.proto.fft_length)
    return of_type([taken], 8 * levels * taken.elements)


def _triangular_solve(arrays: Arrays) -> Cost:
    matrix, right = arrays.operand(0), arrays.operand(1)
    return of_type([matrix], 2 * matrix.sizes[-1] * right.elements)


def _cholesky(arrays: Arrays) -> Cost:
    matrix = arrays.operand(0)
    return of_type([matrix], matrix.sizes[-1] * matrix.elements // 3)


def _all_reduce(arrays: Arrays) -> Cost:
    """The additions of one participant, as if there were two participants."""
    return of_type(arrays.results[:1], sum(shape.elements for shape in arrays.results))


_BY_OPCODE: Mapping[str, Callable[[Arrays], Cost]] = {
    "all-reduce": _all_reduce,
    "all-reduce-start": _all_reduce,
    "cholesky": _cholesky,
    "convolution": _convolution,
    "dot": _dot,
    "fft": _fft,
    "map": _map,
    "ragged-dot": _ragged_dot,
    "reduce": _reduce,
    "reduce-window": _reduce_window,
    "scaled-dot": _dot,
    "scatter": _scatter,
    "select-and-scatter": _select_and_scatter,
    "sort": _sort,
    "triangular-solve": _triangular_solve,
}
