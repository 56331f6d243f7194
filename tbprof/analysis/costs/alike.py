"""Which computations of a program are alike: layers of a model repeat."""

from typing import Any

from tbprof.analysis.hlo.module import Module

# What these compute or move follows from more than the shapes of their arrays and what they call.
BY_ATTRIBUTES = frozenset(
    {
        "convolution", "custom-call", "dot", "fft", "ragged-dot", "reduce-window", "scaled-dot",
        "select-and-scatter", "transpose", "while",
    }
)  # fmt: skip
# What an instruction does, whatever it is called and wherever it stands.
_BESIDES = (
    "name", "opcode", "shape", "metadata", "id", "operand_ids", "control_predecessor_ids",
    "called_computation_ids", "channel_id", "frontend_attributes",
)  # fmt: skip
_DEEPEST = 64


class AlikeComputations:
    """Finds for each computation the first one that does the same with equal shapes."""

    def __init__(self, module: Module) -> None:
        self._module = module
        self._first: dict[int, int] = {}
        self._by_content: dict[tuple[object, ...], int] = {}
        index = module.index
        rows = index.instructions
        self._columns = (rows.opcode.data, rows.shape.data, rows.parameter.data)
        self._operands, self._operand = rows.operands.data, index.operand.data
        self._called, self._callee = rows.called.data, index.callee.data
        self._has_attributes = [opcode in BY_ATTRIBUTES for opcode in index.opcodes]

    def first(self, computation: int, depth: int = 0) -> int:
        """The first computation like this one; itself if the file lacks some of what it does."""
        known = self._first.get(computation)
        if known is None:
            # Until it is known: a damaged file may have computations that call themselves.
            self._first[computation] = computation
            content = self._content(computation, depth) if depth < _DEEPEST else None
            known = computation
            if content is not None:
                known = self._by_content.setdefault(content, computation)
            self._first[computation] = known
        return known

    def _content(self, computation: int, depth: int) -> tuple[object, ...] | None:
        """Opcodes, shapes, operands, callees and attributes."""
        rows = self._module.rows_in(computation)
        begin, end = rows.start, rows.stop
        opcode, shape, parameter = (column[begin:end] for column in self._columns)
        operand_ends = self._operands[begin : end + 1].tolist()
        callee_ends = self._called[begin : end + 1].tolist()
        operands = self._operand[operand_ends[0] : operand_ends[-1]].tolist()
        callees = self._callee[callee_ends[0] : callee_ends[-1]].tolist()
        is_known = -1 not in callees and -1 not in shape
        least, most = min(operands, default=begin), max(operands, default=begin)
        if not is_known or least < begin or most >= end:
            return None
        return (
            opcode.tobytes(), shape.tobytes(), parameter.tobytes(),
            self._module.root_row(computation) - begin,
            *(row - begin for row in operands), None,
            *(at - operand_ends[0] for at in operand_ends),
            *(at - callee_ends[0] for at in callee_ends),
            *(self.first(callee, depth + 1) for callee in callees),
            *(
                attributes_of(self._module.message(row))
                for row, number in zip(rows, opcode, strict=True)
                if self._has_attributes[number]
            ),
        )  # fmt: skip


def attributes_of(proto: Any) -> bytes:
    """What a message says besides the columns of the index, names, and where it stands."""
    made = type(proto)()
    made.CopyFrom(proto)
    for field in _BESIDES:
        made.ClearField(field)
    return bytes(made.SerializeToString(deterministic=True))
