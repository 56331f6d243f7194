"""The columns that the pass over an HLO proto fills in."""

import cython
from cython.cimports.tbprof.kernels.types import OutFlags, OutInt32s, OutInts, i64


@cython.final
@cython.cclass
class ProgramScan:
    """The state of a pass, which counts, and if it `fills`, also fills in columns.

    `headers` counts the runs of a module's fields between its computations, `damaged` what is left
    out: incomplete instructions, and what follows damage in a computation, a module or the file.
    The pass `is_full` and ends if a table of texts has no room. Byte ranges are empty if a field is
    missing.
    """

    def __init__(self, fills: i64) -> None:
        self.fills = fills
        self.computations = 0
        self.instructions = 0
        self.operands = 0
        self.called = 0
        self.headers = 0
        self.damaged = 0
        self.entry_id = 0
        self.name_at = 0
        self.name_end = 0
        self.is_full = 0


@cython.final
@cython.cclass
class ComputationColumns:
    """Computations [c]: `first` [c + 1] are the rows of their first instructions.

    Names, shapes (of parameters and result), threads and headers are ranges of bytes.
    """

    def __init__(
        self, id: OutInts, root_id: OutInts, first: OutInt32s, name_at: OutInt32s,
        name_end: OutInt32s, shape_at: OutInt32s, shape_end: OutInt32s, thread_at: OutInt32s,
        thread_end: OutInt32s, is_fusion: OutFlags, header_at: OutInt32s, header_end: OutInt32s,
    ) -> None:  # fmt: skip
        self.id = id
        self.root_id = root_id
        self.first = first
        self.name_at = name_at
        self.name_end = name_end
        self.shape_at = shape_at
        self.shape_end = shape_end
        self.thread_at = thread_at
        self.thread_end = thread_end
        self.is_fusion = is_fusion
        self.header_at = header_at
        self.header_end = header_end


@cython.final
@cython.cclass
class InstructionColumns:
    """Instructions [n]: [at, end) is the message of each, by computation and in its order.

    Names and metadata are byte ranges, `opcode` and `shape` are numbers of texts; -1 for a shape
    that is written in several parts. `parameter` is -1 if it is not a valid parameter number.
    `operands_end` and `called_end` are the ends of each instruction's ids in `operand_id` and
    `called_id`.
    """

    def __init__(
        self, id: OutInts, at: OutInt32s, end: OutInt32s, name_at: OutInt32s, name_end: OutInt32s,
        metadata_at: OutInt32s, metadata_end: OutInt32s, opcode: OutInt32s, shape: OutInt32s,
        parameter: OutInt32s, operands_end: OutInt32s, called_end: OutInt32s, operand_id: OutInts,
        called_id: OutInts,
    ) -> None:  # fmt: skip
        self.id = id
        self.at = at
        self.end = end
        self.name_at = name_at
        self.name_end = name_end
        self.metadata_at = metadata_at
        self.metadata_end = metadata_end
        self.opcode = opcode
        self.shape = shape
        self.parameter = parameter
        self.operands_end = operands_end
        self.called_end = called_end
        self.operand_id = operand_id
        self.called_id = called_id
