"""The memory traffic of fusions, which read only the parts of operands that they use."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from tbprof.analysis.costs.cost import spaces
from tbprof.analysis.costs.traffic import Traffic
from tbprof.analysis.hlo.hlo_shapes import Shape
from tbprof.analysis.hlo.module import Module

_DEEPEST = 32
# Inside a fusion, these only relabel elements.
_RENAMES = ("bitcast", "reshape")
_SLICES = ("slice", "dynamic-slice", "gather")


def fusion_traffic(module: Module, row: int) -> Traffic:
    """The traffic of a fusion, empty if the file lacks its computation.

    `row` is a row of the module's index, and so are all instructions and computations in this file.
    """
    called = module.called_rows(row)
    if not called:
        return Traffic(Counter(), Counter())
    parts = _parameters(module, called[0])
    read = []
    for number, operand in enumerate(module.operand_rows(row)):
        returned = module.shapes.of(operand)
        used = min(_used(module, called[0], parts.get(number, -1)), returned.bytes)
        # An array that is used several times is read once.
        read += [
            (shape.space, used * shape.bytes // max(returned.bytes, 1)) for shape in returned.shapes
        ]
    root = module.root_row(called[0])
    written = () if root < 0 else _written(module, root, module.shapes.of(row).shapes)
    return Traffic(spaces(read), spaces(written))


def _parameters(module: Module, computation: int) -> dict[int, int]:
    return {
        module.parameter(row): row
        for row in module.rows_in(computation)
        if module.opcode(row) == "parameter"
    }


def _used(module: Module, computation: int, array: int, depth: int = 0) -> int:
    """The bytes of an array that the instructions of a fused computation use."""
    if array < 0:
        return 0
    whole = module.shapes.of(array).bytes
    if depth > _DEEPEST or array == module.root_row(computation):
        return whole
    used = 0
    own = module.rows_in(computation)
    for user in module.users_of(array):
        if user not in own:
            continue
        for place, operand in enumerate(module.operand_rows(user)):
            if operand == array:
                used += _used_by(module, computation, user, place, whole, depth)
            if used >= whole:
                return whole
    return used


def _used_by(
    module: Module, computation: int, user: int, place: int, whole: int, depth: int
) -> int:
    """The bytes that a user reads of its operand number `place`, which has `whole` bytes."""
    opcode = module.opcode(user)
    if opcode == "fusion":
        called = module.called_rows(user)
        inner = _parameters(module, called[0]).get(place, -1) if called else -1
        return _used(module, called[0], inner, depth + 1) if called else whole
    if opcode in _RENAMES:
        return _used(module, computation, user, depth + 1)
    if opcode in _SLICES and place == 0:
        return module.shapes.of(user).bytes
    if opcode == "dynamic-update-slice" and place == 0:
        return 0
    return whole


def _written(module: Module, root: int, results: tuple[Shape, ...]) -> Iterable[tuple[int, int]]:
    """(space, bytes) written for each result; for one updated in place, only the update."""
    parts = module.operand_rows(root) if module.opcode(root) == "tuple" else [root]
    if len(parts) != len(results):
        parts = [root] * len(results)
    for part, result in zip(parts, results, strict=True):
        source = _unnamed(module, part)
        operands = module.operand_rows(source)
        if module.opcode(source) == "dynamic-update-slice" and len(operands) > 1:
            yield result.space, module.shapes.of(operands[1]).bytes
        else:
            yield result.space, result.bytes


def _unnamed(module: Module, part: int) -> int:
    """The instruction at the start of a chain of relabelings."""
    for _ in range(_DEEPEST):
        operands = module.operand_rows(part)
        if module.opcode(part) not in _RENAMES or not operands:
            break
        part = operands[0]
    return part
