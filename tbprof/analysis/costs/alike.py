"""Finds equal computations and instructions of a program, since the layers of a model repeat."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.hlo.module import Module
from tbprof.analysis.hlo_messages.program_index import number_ranges
from tbprof.analysis.spans.groups import group_rows
from tbprof.kernels.programs.message_columns import copy_fields

# The cost of these depends on more than the shapes of their arrays and the computations they call.
_BY_ATTRIBUTES = frozenset(
    {
        "convolution", "custom-call", "dot", "fft", "ragged-dot", "reduce-window", "scaled-dot",
        "select-and-scatter", "transpose", "while",
    }
)  # fmt: skip
# Fields that do not affect the cost of an instruction, or that the index has: name, opcode, shape,
# metadata, channel_id, id, operand_ids, control_predecessor_ids, called_computation_ids,
# frontend_attributes. Source: hlo.proto, HloInstructionProto.
_OTHER_FIELDS = np.array([1, 2, 3, 7, 26, 35, 36, 37, 38, 68], np.int64)
# The greatest depth of calls; deeper files are damaged.
_DEEPEST = 64


class Alike:
    """Finds what costs the same in a program.

    `computation` [c] is the first computation with the same instructions and shapes, itself if the
    file lacks parts of it. `instruction` [n] is a number that instructions share if their opcodes,
    shapes, attributes and callees are equal, -1 for one whose shapes or operands the file lacks.
    """

    def __init__(self, module: Module) -> None:
        attributes = _attributes(module)
        computation = _computations(module, attributes)
        self.computation = computation.data
        self.instruction = _instructions(module, attributes, computation).data


def _attributes(module: Module) -> NDArray[np.int32]:
    """[n] a number that instructions share if their fields that may affect the cost are equal.

    These are the fields that are not in the index; 0 for instructions without any.
    """
    index = module.index
    out = np.zeros(index.instructions.id.size, np.int32)
    rows = index.rows_of(_BY_ATTRIBUTES)
    at, end = (side[rows] for side in index.instructions.message)
    fields = np.empty(int((end - at).sum()), np.uint8)
    ends = np.zeros(rows.size + 1, np.int64)
    copy_fields(index.content, at, end, _OTHER_FIELDS, fields, ends)
    out[rows] = 1 + number_ranges(fields, ends)
    return out


def _computations(module: Module, attributes: NDArray[np.int32]) -> NDArray[np.int32]:
    """[c] the first computation that is equal to each."""
    index = module.index
    rows, first = index.instructions, index.computations.first
    operands, called = np.diff(rows.operands), np.diff(rows.called)
    begin, end = (np.repeat(side[index.computation], operands) for side in (first[:-1], first[1:]))
    is_outside = (index.operand < begin) | (index.operand >= end)
    is_unknown = np.zeros(first.size - 1, np.bool_)
    is_unknown[np.repeat(index.computation, operands)[is_outside]] = True
    is_unknown[np.repeat(index.computation, called)[index.callee < 0]] = True
    is_unknown[index.computation[rows.shape < 0]] = True
    # The content of a computation, independent of its position.
    columns = (rows.opcode, rows.shape, rows.parameter, operands, called, attributes)
    content = [
        number_ranges(np.stack(columns, axis=1, dtype=np.int32, casting="same_kind"), first),
        number_ranges(index.operand - begin, rows.operands[first]),
        index.root - first[:-1],
        np.where(is_unknown, np.arange(is_unknown.size), -1),
    ]
    return _with_callees(content, index.callee, rows.called[first])


def _with_callees(
    content: list[NDArray[np.int32]], callee: NDArray[np.int32], called: NDArray[np.int32]
) -> NDArray[np.int32]:
    """[c] the first computation with equal columns of content and equal callees.

    `callee[called[i]:called[i + 1]]` are those of computation i.
    """
    first = np.zeros(1, np.int64)
    code = np.zeros(called.size - 1, np.int32)
    for _ in range(_DEEPEST):
        classes = first.size
        callees = number_ranges(code[callee], called)
        code, first = group_rows([*content, callees])
        if first.size == classes:
            return first[code].astype(np.int32)
    return np.arange(code.size, dtype=np.int32)


def _instructions(
    module: Module, attributes: NDArray[np.int32], computation: NDArray[np.int32]
) -> NDArray[np.int32]:
    """[n] a number that equal instructions share, -1 if unknown; `computation` is of `Alike`."""
    index = module.index
    rows = index.instructions
    # The last entry is that of operands and computations that the file lacks.
    taken = np.append(rows.shape, np.int32(-1))[index.operand]
    callees = np.append(computation, np.int32(-1))[index.callee]
    code, _ = group_rows([
        rows.opcode, rows.shape, attributes,
        number_ranges(taken, rows.operands), number_ranges(callees, rows.called),
    ])  # fmt: skip
    is_unknown = rows.shape < 0
    is_unknown[np.repeat(np.arange(code.size), np.diff(rows.operands))[taken < 0]] = True
    return np.where(is_unknown, np.int32(-1), code)
