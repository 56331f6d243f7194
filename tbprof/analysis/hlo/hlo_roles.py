"""The roles of a program's instructions: moves of data, dimensions, reductions."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from tbprof.analysis.hlo.hlo_shapes import Shape
from tbprof.analysis.hlo.module import Module
from tbprof.analysis.vocabulary.instruction_roles import Move, Reduction
from tbprof.base.records import NamedTuple

PRODUCTS = frozenset({"dot", "convolution", "ragged-dot", "scaled-dot"})
# Opcodes that cost nothing, or only refer to data.
_NOTHING = frozenset(
    {
        "parameter", "constant", "bitcast", "tuple", "get-tuple-element", "after-all", "iota",
        "opt-barrier", "add-dependency",
    }
)  # fmt: skip
_TRANSPOSES = frozenset({"transpose"})
_RESHAPES = frozenset({"reshape", "dynamic-reshape"})
_SLICES = frozenset({"slice", "dynamic-slice", "dynamic-update-slice", "concatenate", "pad"})
# Opcodes that may accompany moves.
_BESIDE_MOVES = frozenset({"copy", "convert", "bitcast-convert", "broadcast"})
_ELEMENTWISE = frozenset(
    {
        "abs", "add", "and", "atan2", "bitcast-convert", "broadcast", "cbrt", "ceil", "clamp",
        "compare", "convert", "copy", "cosine", "divide", "erf", "exponential",
        "exponential-minus-one", "floor", "is-finite", "log", "log-plus-one", "logistic",
        "maximum", "minimum", "multiply", "negate", "not", "or", "power", "remainder", "reshape",
        "round-nearest-afz", "round-nearest-even", "rsqrt", "select", "sign", "sine", "sqrt",
        "subtract", "tan", "tanh", "xor",
    }
)  # fmt: skip
# A fusion of nothing else moves data.
MOVING = _NOTHING | _TRANSPOSES | _RESHAPES | _SLICES | _BESIDE_MOVES | {"fusion"}
_SCALING = frozenset({"multiply", "divide"})
_PASSING = frozenset({"bitcast", "get-tuple-element", "copy", "reshape", "convert"})
# The greatest depth of nested fusions; deeper files are damaged.
_DEEPEST = 8
# The limits of the search for earlier reductions.
_MOST_STEPS = 6
_MOST_SEEN = 64


class _Sum(NamedTuple):
    """The sizes of a reduction's operand and result, and whether it is a sum."""

    taken: tuple[int, ...]
    returned: tuple[int, ...]
    is_sum: bool


def opcodes_of(module: Module, row: int) -> frozenset[str]:
    """The opcodes of the work of an instruction: its own, or those inside its fusion."""
    return frozenset(map(module.opcode, rows_inside(module, row))) - _NOTHING


def rows_inside(module: Module, row: int, depth: int = 0) -> Iterator[int]:
    """The rows of the instructions inside a fusion; for other instructions, their own row."""
    if row < 0:
        return
    if module.opcode(row) != "fusion":
        yield row
        return
    for computation in module.called_rows(row) if depth < _DEEPEST else ():
        for part in module.rows_in(computation):
            if module.opcode(part) != "fusion":
                yield part
            else:
                yield from rows_inside(module, part, depth + 1)


def move_of(opcodes: frozenset[str], results: Sequence[Shape], operands: Sequence[Shape]) -> Move:
    """How an instruction with these opcodes and arrays moves data; NONE if it also computes."""
    if opcodes & _TRANSPOSES and opcodes <= _TRANSPOSES | _RESHAPES | _SLICES | _BESIDE_MOVES:
        return Move.TRANSPOSE
    if opcodes & _RESHAPES and opcodes <= _RESHAPES | _SLICES | _BESIDE_MOVES:
        return Move.RESHAPE
    if opcodes & _SLICES and opcodes <= _SLICES | _BESIDE_MOVES:
        return Move.SLICE
    is_copy = opcodes == {"copy"} and len(results) == len(operands) == 1
    return Move.LAYOUT if is_copy and _is_relaid(results[0], operands[0]) else Move.NONE


def _is_relaid(result: Shape, operand: Shape) -> bool:
    return result.order != operand.order or result.tiles != operand.tiles


def dimension_roles(module: Module, row: int) -> dict[tuple[int, ...], dict[int, str]]:
    """The roles of dimensions by the sizes of the arrays of an instruction's convolution."""
    roles: dict[tuple[int, ...], dict[int, str]] = {}
    for part in rows_inside(module, row):
        operands = module.operand_rows(part) if module.opcode(part) == "convolution" else []
        if len(operands) != 2:
            continue
        dims = module.message(part).convolution_dimension_numbers
        result = {dims.output_batch_dimension: "batch", dims.output_feature_dimension: "feature"}
        image = {dims.input_batch_dimension: "batch", dims.input_feature_dimension: "feature"}
        kernel = {
            dims.kernel_input_feature_dimension: "input feature",
            dims.kernel_output_feature_dimension: "output feature",
        }
        for array, names in ((part, result), (operands[0], image), (operands[1], kernel)):
            roles.setdefault(_sizes(module, array), names)
    return roles


class Reductions:
    """The reductions of a program, found when one of them is first requested."""

    def __init__(self, module: Module) -> None:
        self._module = module
        # By row, as all that follows.
        self._known: dict[int, _Sum | None] = {}
        self._beside: set[int] | None = None

    def role(self, row: int) -> Reduction:
        """How an instruction could be merged into another pass."""
        addends = self._sum(row)
        if addends is not None:
            before = self._before(row, _ELEMENTWISE | _PASSING, _MOST_STEPS)
            equal = [other for other in before if other[:2] == addends[:2]]
            if any(other.is_sum for other in equal):
                return Reduction.CHAINED
            # A reduction that waits for a maximum cannot share a pass with it.
            is_beside = not equal and row in self._find_beside()
            return Reduction.BESIDE if is_beside else Reduction.NONE
        opcodes = opcodes_of(self._module, row)
        if opcodes & _SCALING and opcodes <= _ELEMENTWISE:
            sizes = _sizes(self._module, row)
            for other in self._before(row, _PASSING, 3):
                if other.is_sum and math.prod(other.returned) == math.prod(sizes):
                    return Reduction.SCALED
        return Reduction.NONE

    def _sum(self, row: int) -> _Sum | None:
        """The reduction in an instruction or its fusion, None if it has none or also a product."""
        if row not in self._known:
            self._known[row] = self._find_sum(row)
        return self._known[row]

    def _find_sum(self, row: int) -> _Sum | None:
        module = self._module
        if module.opcode(row) not in ("reduce", "fusion"):
            return None
        inside = list(rows_inside(module, row))
        reductions = [part for part in inside if module.opcode(part) == "reduce"]
        if not reductions or any(module.opcode(part) in PRODUCTS for part in inside):
            return None
        operands = module.operand_rows(reductions[0])
        if not operands:
            return None
        taken, returned = _sizes(module, operands[0]), _sizes(module, reductions[0])
        return _Sum(taken, returned, any(map(self._adds, reductions)))

    def _adds(self, row: int) -> bool:
        called = self._module.called_rows(row)
        root = self._module.root_row(called[0]) if called else -1
        return root >= 0 and self._module.opcode(root) == "add"

    def _before(self, row: int, through: frozenset[str], steps: int) -> Iterator[_Sum]:
        """The nearest reductions that an instruction depends on, only `through` these opcodes."""
        visited = {row}
        edge = [row]
        for _ in range(steps):
            following = []
            for row_at_edge in edge:
                for operand in self._module.operand_rows(row_at_edge):
                    if operand in visited or len(visited) > _MOST_SEEN:
                        continue
                    visited.add(operand)
                    reduction = self._sum(operand)
                    if reduction is not None:
                        yield reduction
                    elif opcodes_of(self._module, operand) <= through:
                        following.append(operand)
            edge = following

    def _find_beside(self) -> set[int]:
        """The rows of reductions that read the same array as an earlier one of equal sizes."""
        if self._beside is None:
            beside: set[int] = set()
            known_keys: set[tuple[object, ...]] = set()
            for row in self._module.scheduled_rows().tolist():
                addends = self._sum(row)
                if addends is None:
                    continue
                keys = {
                    (operand, addends.taken, addends.returned)
                    for operand in self._module.operand_rows(row)
                    if math.prod(_sizes(self._module, operand)) == math.prod(addends.taken)
                }
                if keys & known_keys:
                    beside.add(row)
                known_keys |= keys
            self._beside = beside
        return self._beside


def _sizes(module: Module, row: int) -> tuple[int, ...]:
    """The sizes of an instruction's first array."""
    return next((shape.sizes for shape in module.shapes.of(row).shapes), ())
