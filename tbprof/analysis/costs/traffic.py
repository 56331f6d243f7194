"""The bytes that an instruction reads and writes, by its opcode and shapes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

from tbprof.analysis.costs.cost import spaces
from tbprof.analysis.costs.operations import Arrays
from tbprof.analysis.hlo.hlo_shapes import Shape
from tbprof.base.records import NamedTuple

# These only refer to data, and compute nothing.
NOTHING_MOVED = frozenset(
    {
        "add-dependency", "after-all", "bitcast", "constant", "domain", "get-tuple-element",
        "opt-barrier", "parameter", "tuple",
    }
)  # fmt: skip
# Their result is a tuple of operands, results and contexts.
_STARTS = frozenset({"all-gather-start", "collective-permute-start"})


class Traffic(NamedTuple):
    """Bytes that are read and written, by memory space."""

    read: Counter[int]
    written: Counter[int]


def traffic(arrays: Arrays) -> Traffic:
    """The traffic of an instruction that is not a fusion, call, loop, branch or custom call.

    The traffic of an asynchronous copy or exchange counts for the instruction that starts it.
    """
    opcode, nothing = arrays.opcode, Traffic(Counter(), Counter())
    if opcode in NOTHING_MOVED or opcode.endswith(("-done", "-update")):
        return nothing
    try:
        return nothing if _is_relayout(arrays) else _BY_OPCODE.get(opcode, _all)(arrays)
    except IndexError:  # operands or results that the file lacks
        return _all(arrays)


def size_of(shapes: Iterable[Shape]) -> Counter[int]:
    """The bytes of arrays by memory space."""
    return spaces((shape.space, shape.bytes) for shape in shapes)


def _all(arrays: Arrays) -> Traffic:
    read = size_of(shape for shapes in arrays.operands for shape in shapes)
    return Traffic(read, size_of(arrays.results))


def _slice(arrays: Arrays) -> Traffic:
    """A slice reads as many bytes as it returns, and the operand with its positions."""
    returned = arrays.results[0]
    read = [(arrays.operand(0).space, returned.bytes)]
    read += [(shape.space, shape.bytes) for shapes in arrays.operands[1:2] for shape in shapes]
    return Traffic(spaces(read), size_of([returned]))


def _update(arrays: Arrays) -> Traffic:
    """An update in place reads and writes only the update."""
    target, update = arrays.operand(0), arrays.operand(1)
    starts = [shape for shapes in arrays.operands[2:3] for shape in shapes]
    return Traffic(size_of([update, *starts]), spaces([(target.space, update.bytes)]))


def _scatter(arrays: Arrays) -> Traffic:
    """A scatter reads the updates and the elements that they change, and writes the latter."""
    targets = len(arrays.operands) // 2
    updates = [shape for shapes in arrays.operands[targets + 1 :] for shape in shapes]
    changed = [(arrays.operand(0).space, shape.bytes) for shape in updates]
    return Traffic(
        size_of([*updates, *arrays.operands[targets]]) + spaces(changed), spaces(changed)
    )


def _solve(arrays: Arrays) -> Traffic:
    """Half of a triangular matrix is read."""
    matrix = arrays.operand(0)
    read = spaces([(matrix.space, matrix.bytes // 2)])
    return Traffic(read + size_of(arrays.operands[1]), size_of(arrays.results))


def _factor(arrays: Arrays) -> Traffic:
    """Half of a symmetric matrix is read, and half of the result written."""
    matrix = arrays.operand(0)
    half = spaces([(matrix.space, matrix.bytes // 2)])
    return Traffic(half, half)


def _received(arrays: Arrays) -> Traffic:
    return Traffic(Counter(), size_of(arrays.results[:1]))


def _sent(arrays: Arrays) -> Traffic:
    return Traffic(size_of(arrays.operands[0]), Counter())


def _started(arrays: Arrays) -> Traffic:
    """A start returns its operands, then as many results, then contexts."""
    read = [shape for shapes in arrays.operands for shape in shapes]
    return Traffic(size_of(read), size_of(arrays.results[len(read) : 2 * len(read)]))


def _copied(arrays: Arrays) -> Traffic:
    """A copy-start returns (target, source, context)."""
    return Traffic(size_of(arrays.operands[0]), size_of(arrays.results[:1]))


_BY_OPCODE: Mapping[str, Callable[[Arrays], Traffic]] = {
    "cholesky": _factor,
    "copy-start": _copied,
    "dynamic-slice": _slice,
    "dynamic-update-slice": _update,
    "gather": _slice,
    "infeed": _received,
    "outfeed": _sent,
    "recv": _received,
    "scatter": _scatter,
    "send": _sent,
    "slice": _slice,
    "triangular-solve": _solve,
    **dict.fromkeys(_STARTS, _started),
}


def _is_relayout(arrays: Arrays) -> bool:
    """Whether a transpose leaves every element at its place in memory. Raises IndexError."""
    if arrays.opcode != "transpose":
        return False
    taken, returned = arrays.operand(0), arrays.results[0]
    dimensions: Sequence[int] = arrays.proto.dimensions
    if sorted(dimensions) != list(range(len(taken.sizes))):
        return False
    before = [axis for axis in taken.order if taken.sizes[axis] != 1]
    after = [dimensions[axis] for axis in returned.order if returned.sizes[axis] != 1]
    return before == after and taken.tiles == returned.tiles
