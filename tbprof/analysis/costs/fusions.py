"""What a fusion reads and writes: of its operands only what the instructions in it use."""

from collections import Counter
from collections.abc import Iterable
from typing import Any

from tbprof.analysis.costs.cost import spaces
from tbprof.analysis.costs.traffic import Traffic
from tbprof.analysis.hlo.hlo import Module
from tbprof.analysis.hlo.hlo_shapes import Shape, read_shape

_DEEPEST = 32
# Inside a fusion these only rename elements.
_RENAMES = ("bitcast", "reshape")
_SLICES = ("slice", "dynamic-slice", "gather")


def fusion_traffic(module: Module, proto: Any) -> Traffic:
    """What a fusion moves, by memory space; nothing if the file does not hold its computation."""
    called = module.called_by(proto)
    if not called:
        return Traffic(Counter(), Counter())
    parts = _parameters(called[0])
    read = []
    for number, operand in enumerate(module.operands_of(proto)):
        shapes = list(read_shape(operand.shape))
        used = _used(module, called[0], parts.get(number))
        size = sum(shape.bytes for shape in shapes)
        # An array that is used several times is read once.
        read += [(shape.space, min(used, size) * shape.bytes // max(size, 1)) for shape in shapes]
    root = module.root_of(called[0])
    written = () if root is None else _written(module, root, list(read_shape(proto.shape)))
    return Traffic(spaces(read), spaces(written))


def _parameters(computation: Any) -> dict[int, Any]:
    return {
        part.parameter_number: part
        for part in computation.instructions
        if part.opcode == "parameter"
    }


def _used(module: Module, computation: Any, array: Any | None, depth: int = 0) -> int:
    """The bytes that the instructions of a fused computation use of an array in it."""
    if array is None:
        return 0
    whole = sum(shape.bytes for shape in read_shape(array.shape))
    if depth > _DEEPEST or array.id == computation.root_id:
        return whole
    used = 0
    for user in module.users_in(computation, array):
        for place in (place for place, id_ in enumerate(user.operand_ids) if id_ == array.id):
            used += _used_by(module, computation, user, place, whole, depth)
            if used >= whole:
                return whole
    return used


def _used_by(
    module: Module, computation: Any, user: Any, place: int, whole: int, depth: int
) -> int:
    """The bytes that a user takes of its operand number `place`, which has `whole` bytes."""
    if user.opcode == "fusion":
        called = module.called_by(user)
        inner = _parameters(called[0]).get(place) if called else None
        return _used(module, called[0], inner, depth + 1) if called else whole
    if user.opcode in _RENAMES:
        return _used(module, computation, user, depth + 1)
    if user.opcode in _SLICES and place == 0:
        return sum(shape.bytes for shape in read_shape(user.shape))
    if user.opcode == "dynamic-update-slice" and place == 0:
        return 0
    return whole


def _written(module: Module, root: Any, results: list[Shape]) -> Iterable[tuple[int, int]]:
    """(space, bytes) of each array that is returned: of one updated in place the update alone."""
    parts = module.operands_of(root) if root.opcode == "tuple" else [root]
    if len(parts) != len(results):
        parts = [root] * len(results)
    for part, result in zip(parts, results, strict=True):
        source = _unnamed(module, part)
        if source.opcode == "dynamic-update-slice" and len(source.operand_ids) > 1:
            update = module.operands_of(source)[1:2]
            sizes = [shape.bytes for operand in update for shape in read_shape(operand.shape)]
            yield result.space, sum(sizes)
        else:
            yield result.space, result.bytes


def _unnamed(module: Module, part: Any) -> Any:
    """What a chain of renames ends in."""
    for _ in range(_DEEPEST):
        operands = module.operands_of(part)
        if part.opcode not in _RENAMES or not operands:
            break
        part = operands[0]
    return part
