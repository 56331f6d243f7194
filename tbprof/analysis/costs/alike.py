"""Finds equal computations of a program, since the layers of a model repeat."""

from typing import Any

import numpy as np

from tbprof.analysis.hlo.module import Module

# The cost of these depends on more than the shapes of their arrays and the computations they call.
BY_ATTRIBUTES = frozenset(
    {
        "convolution", "custom-call", "dot", "fft", "ragged-dot", "reduce-window", "scaled-dot",
        "select-and-scatter", "transpose", "while",
    }
)  # fmt: skip
# Fields that do not affect the cost of an instruction, or that the index has.
_OTHER_FIELDS = (
    "name", "opcode", "shape", "metadata", "id", "operand_ids", "control_predecessor_ids",
    "called_computation_ids", "channel_id", "frontend_attributes",
)  # fmt: skip
_DEEPEST = 64


class AlikeComputations:
    """Finds, for each computation, the first one with the same instructions and shapes."""

    def __init__(self, module: Module) -> None:
        self._module = module
        self._first: dict[int, int] = {}
        self._by_content: dict[tuple[object, ...], int] = {}
        index = module.index
        rows, first = index.instructions, index.computations.first
        operands, called = np.diff(rows.operands), np.diff(rows.called)
        begin, end = (
            np.repeat(side[index.computation], operands) for side in (first[:-1], first[1:])
        )
        is_outside = (index.operand < begin) | (index.operand >= end)
        unknown = np.zeros(first.size - 1, np.bool_)
        unknown[np.repeat(index.computation, operands)[is_outside]] = True
        unknown[np.repeat(index.computation, called)[index.callee < 0]] = True
        unknown[index.computation[rows.shape < 0]] = True
        self._is_unknown = unknown.data
        # The content of a computation, independent of its position.
        columns = (rows.opcode, rows.shape, rows.parameter, operands, called)
        self._columns = np.stack(columns, axis=1, dtype=np.int32, casting="same_kind").data
        self._operand = (index.operand - begin).data
        self._root = (index.root - first[:-1]).data
        self._operands, self._called, self._callee = (
            rows.operands.data, rows.called.data, index.callee.data,
        )  # fmt: skip
        has_attributes = np.array([opcode in BY_ATTRIBUTES for opcode in index.opcodes], np.bool_)
        self._has_attributes = has_attributes[rows.opcode].data

    def first(self, computation: int, depth: int = 0) -> int:
        """The first computation equal to this one; itself if the file lacks parts of it."""
        known = self._first.get(computation)
        if known is None:
            # Set first, since in a damaged file a computation may call itself.
            self._first[computation] = computation
            known = computation
            if depth < _DEEPEST and not self._is_unknown[computation]:
                content = self._content(computation, depth)
                known = self._by_content.setdefault(content, computation)
            self._first[computation] = known
        return known

    def _content(self, computation: int, depth: int) -> tuple[object, ...]:
        """The opcodes, shapes, operands, callees and attributes of a computation."""
        rows = self._module.rows_in(computation)
        begin, end = rows.start, rows.stop
        callees = self._callee[self._called[begin] : self._called[end]].tolist()
        return (
            self._columns[begin:end].tobytes(),
            self._operand[self._operands[begin] : self._operands[end]].tobytes(),
            self._root[computation],
            *(self.first(callee, depth + 1) for callee in callees),
            *(
                attributes_of(self._module.message(row))
                for row in rows
                if self._has_attributes[row]
            ),
        )  # fmt: skip


class AlikeShapes:
    """Identifies instructions whose operands and results have equal shapes."""

    def __init__(self, module: Module) -> None:
        index = module.index
        rows = index.instructions
        # The last entry is the shape of operands that the file lacks.
        taken = np.append(rows.shape, np.int32(-1))[index.operand]
        unknown = rows.shape < 0
        unknown[np.repeat(np.arange(unknown.size), np.diff(rows.operands))[taken < 0]] = True
        self._is_unknown = unknown.data
        self._taken, self._returned = taken.data, rows.shape.data
        self._operands = rows.operands.data

    def of(self, row: int) -> bytes | None:
        """A key that instructions with equal operand and result shapes share, None if unknown."""
        if self._is_unknown[row]:
            return None
        taken = self._taken[self._operands[row] : self._operands[row + 1]]
        return bytes(taken) + bytes(self._returned[row : row + 1])


def attributes_of(proto: Any) -> bytes:
    """The fields of a message that may affect its cost and are not in the index, serialized."""
    attributes = type(proto)()
    attributes.CopyFrom(proto)
    for field in _OTHER_FIELDS:
        attributes.ClearField(field)
    return bytes(attributes.SerializeToString(deterministic=True))
