"""A compiled program: its computations and instructions, each parsed when it is requested."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tbprof._pb import message
from tbprof.analysis.hlo.hlo_shapes import Shape
from tbprof.analysis.hlo.host_channels import HANDLER
from tbprof.analysis.hlo.instruction import Instruction, read_instruction
from tbprof.analysis.hlo.program_shapes import ProgramShapes
from tbprof.analysis.hlo_messages.message_fields import (
    Blob,
    DamagedMessage,
    Fields,
    bytes_in,
    read_fields,
)
from tbprof.analysis.hlo_messages.metadata import Metadata, read_metadata
from tbprof.analysis.hlo_messages.program_index import ProgramIndex
from tbprof.analysis.hlo_messages.stack_frames import StackFrames

_STACK_FRAMES = 17  # of HloModuleProto
# The number of cached messages: callers request the same few repeatedly.
_MESSAGES_KEPT = 1 << 8


class Module:
    """A program with its instructions by name, by id and by row.

    Instructions are messages (HloInstructionProto) that are parsed on request, so compare their
    ids, not the objects. Rows count the instructions of all computations in order. A damaged
    program has only its intact parts (`ProgramIndex`).
    """

    def __init__(self, blob: Blob) -> None:
        self.index = ProgramIndex(blob)
        self.name = self.index.name
        self.shapes = ProgramShapes(self.index)
        self._instructions: dict[str, Instruction] = {}
        self._with: dict[frozenset[str], memoryview] = {}
        self._messages: dict[int, Any] = {}
        # Memoryviews are faster than arrays at reading single numbers.
        rows = self.index.instructions
        self._at, self._end = rows.message[0].data, rows.message[1].data
        self._name_at, self._name_end = rows.name[0].data, rows.name[1].data
        self._metadata_at, self._metadata_end = rows.metadata[0].data, rows.metadata[1].data
        self._opcode, self._parameter = rows.opcode.data, rows.parameter.data
        self._operands, self._called = rows.operands.data, rows.called.data
        self._first = self.index.computations.first.data

    @property
    def blob(self) -> Blob:
        """The HloProto."""
        return self.index.blob

    @cached_property
    def header(self) -> Any:
        """The HloModuleProto without its computations."""
        proto = _parse("xla.HloModuleProto", self._header)
        return message("xla.HloModuleProto")() if proto is None else proto

    @cached_property
    def stack_frames(self) -> StackFrames:
        """The stack frames of its instructions."""
        return StackFrames(bytes_in(_fields(self._header), _STACK_FRAMES))

    def find(self, name: str) -> Any | None:
        """The instruction with that name, None if there is none."""
        row = self.index.find(name)
        return None if row < 0 else self.message(row)

    def row_of(self, proto: Any) -> int:
        """The row of an instruction, the last one if ids are equal; -1 if there is none."""
        return self.index.ids.row(proto.id)

    def instructions(self) -> Instructions:
        """All instructions of all computations, in the order of the file."""
        return Instructions(self, range(len(self._opcode)))

    def called_by(self, proto: Any) -> list[Computation]:
        """The computations that an instruction calls."""
        rows = map(self.index.computation_ids.row, proto.called_computation_ids)
        return [Computation(self, row) for row in rows if row >= 0]

    def entry(self) -> Computation | None:
        """The computation that the program begins with, None if the file lacks it."""
        return self.computation(self.index.entry_id)

    def computation(self, number: int) -> Computation | None:
        """The computation with that id, None if there is none."""
        row = self.index.computation_ids.row(number)
        return None if row < 0 else Computation(self, row)

    def computations(self) -> list[Computation]:
        """All computations, in the order of the file: callees before their callers."""
        return [Computation(self, row) for row in range(len(self._first) - 1)]

    def instruction(self, name: str) -> Instruction | None:
        """The decoded instruction with that name, None if there is none."""
        if name not in self._instructions:
            row = self.index.find(name)
            if row < 0:
                return None
            self._instructions[name] = read_instruction(self, row)
        return self._instructions[name]

    def message(self, row: int) -> Any:
        """The HloInstructionProto of a row; for a damaged one, the fields that the index has."""
        proto = self._messages.get(row)
        if proto is None:
            content = self.blob[self._at[row] : self._end[row]]
            proto = _parse("xla.HloInstructionProto", content)
            proto = self._rest(row) if proto is None else proto
            if len(self._messages) >= _MESSAGES_KEPT:
                self._messages = {}
            self._messages[row] = proto
        return proto

    def fields(self, row: int) -> Fields:
        """The fields of the HloInstructionProto of a row, none if it is damaged."""
        return _fields(self.blob[self._at[row] : self._end[row]])

    def messages(self, rows: Sequence[int]) -> Instructions:
        """The HloInstructionProtos of rows, each parsed when it is requested."""
        return Instructions(self, rows)

    def metadata_of(self, row: int) -> Metadata:
        """The metadata of an instruction."""
        return read_metadata(self.blob[self._metadata_at[row] : self._metadata_end[row]])

    def metadata(self) -> Iterator[Metadata]:
        """The distinct metadata of all instructions."""
        ranges = self.index.instructions.metadata.T.tolist()
        return map(read_metadata, dict.fromkeys(bytes(self.blob[at:end]) for at, end in ranges))

    def name_of(self, row: int) -> str:
        """The name of an instruction."""
        return self.index.text(self._name_at[row], self._name_end[row])

    def opcode(self, row: int) -> str:
        """The opcode of an instruction."""
        return self.index.opcodes[self._opcode[row]]

    def computations_with(self, opcodes: frozenset[str]) -> memoryview:
        """[c] whether each computation has an instruction with one of these opcodes."""
        if opcodes not in self._with:
            has_some = np.zeros(len(self._first) - 1, np.bool_)
            has_some[self.index.computation[self.index.rows_of(opcodes)]] = True
            self._with[opcodes] = has_some.data
        return self._with[opcodes]

    def operand_rows(self, row: int) -> list[int]:
        """The rows of an instruction's operands in order, without those that the file lacks."""
        rows: list[int] = self._operand[self._operands[row] : self._operands[row + 1]].tolist()
        return [operand for operand in rows if operand >= 0] if -1 in rows else rows

    def operand_shapes(self, row: int) -> tuple[Shape, ...]:
        """The shapes of all arrays among an instruction's operands."""
        shapes_of = self.shapes.of
        return tuple(
            [shape for operand in self.operand_rows(row) for shape in shapes_of(operand).shapes]
        )

    def called_rows(self, row: int) -> list[int]:
        """The rows of the computations that an instruction calls."""
        first, last = self._called[row], self._called[row + 1]
        if first == last:
            return []
        rows: list[int] = self._callee[first:last].tolist()
        return [computation for computation in rows if computation >= 0] if -1 in rows else rows

    def calls(self, row: int) -> int:
        """The number of computations that an instruction calls, even if the file lacks some."""
        return self._called[row + 1] - self._called[row]

    def users_of(self, row: int) -> list[int]:
        """The rows of all instructions that have an instruction as an operand, each once."""
        first, user = self._users
        return user[first[row] : first[row + 1]].tolist() if row >= 0 else []

    def parameter(self, row: int) -> int:
        """The parameter number of an instruction that is a parameter."""
        return self._parameter[row]

    def rows_in(self, computation: int) -> range:
        """The rows of a computation's instructions."""
        return range(self._first[computation], self._first[computation + 1])

    def rows_in_order(self, computation: int) -> Sequence[int]:
        """The rows of a computation's instructions in the order in which they run.

        If the schedule does not list all of them, they are in the order of the file.
        """
        rows = self.rows_in(computation)
        schedule = self.header.schedule.sequences
        number = int(self.index.computations.id[computation])
        if number not in schedule:
            return rows
        own = self.index.instructions.id[rows.start : rows.stop].tolist()
        row_of = dict(zip(own, rows, strict=True))
        order = dict.fromkeys(schedule[number].instruction_ids)
        is_whole = len(order) == len(row_of) and order.keys() == row_of.keys()
        return [row_of[number] for number in order] if is_whole else rows

    def root_row(self, computation: int) -> int:
        """The row of a computation's root instruction, -1 if the file lacks it."""
        return self._root[computation]

    def scheduled_rows(self) -> NDArray[np.int64]:
        """The rows of the instructions outside of fusions."""
        index = self.index
        is_fusion = np.zeros(index.instructions.id.size, np.bool_)
        is_fusion[index.rows_of(frozenset({"fusion"}))] = True
        is_from_fusion = np.repeat(is_fusion, np.diff(index.instructions.called))
        called = index.callee[is_from_fusion]
        ids = index.computations.id
        # If ids are equal, the last one counts.
        runs = index.computation_ids.rows(ids) == np.arange(ids.size)
        runs[called[called >= 0]] = False
        return np.flatnonzero(runs[index.computation])

    @cached_property
    def has_handlers(self) -> bool:
        """Whether any instruction states the handler of its transfer."""
        return re.search(re.escape(HANDLER.encode()), self.blob) is not None

    @cached_property
    def _header(self) -> bytes:
        return b"".join(self.blob[at:end] for at, end in self.index.headers.T.tolist())

    @cached_property
    def _operand(self) -> memoryview:
        return self.index.operand.data

    @cached_property
    def _callee(self) -> memoryview:
        return self.index.callee.data

    @cached_property
    def _root(self) -> memoryview:
        return self.index.root.data

    @cached_property
    def _users(self) -> tuple[memoryview, memoryview]:
        first, user = self.index.users
        return first.data, user.data

    def _rest(self, row: int) -> Any:
        rows = self.index.instructions
        proto = message("xla.HloInstructionProto")(
            name=self.index.text(*rows.name[:, row].tolist()),
            opcode=self.opcode(row),
            id=int(rows.id[row]),
            parameter_number=int(rows.parameter[row]),
        )
        operands, called = (slice(*ends[row : row + 2]) for ends in (rows.operands, rows.called))
        proto.operand_ids.extend(rows.operand_id[operands].tolist())
        proto.called_computation_ids.extend(rows.called_id[called].tolist())
        return proto


class Computation:
    """A computation of a module."""

    def __init__(self, module: Module, row: int) -> None:
        self._module = module
        self._columns = module.index.computations
        self.row = row
        self.id = int(self._columns.id[row])
        self.root_id = int(self._columns.root_id[row])
        self.rows = module.rows_in(row)

    @property
    def name(self) -> str:
        """Its name."""
        return self._text(self._columns.name)

    @property
    def execution_thread(self) -> str:
        """The thread that it runs on, "" for the main one."""
        return self._text(self._columns.thread)

    @property
    def instructions(self) -> Instructions:
        """Its instructions in order."""
        return Instructions(self._module, self.rows)

    @property
    def program_shape(self) -> Any:
        """Its parameters and its result (ProgramShapeProto), empty if not in the file."""
        at, end = self._columns.shape[:, self.row].tolist()
        proto = _parse("xla.ProgramShapeProto", self._module.blob[at:end])
        return message("xla.ProgramShapeProto")() if proto is None else proto

    def _text(self, ranges: NDArray[np.int32]) -> str:
        return self._module.index.text(*ranges[:, self.row].tolist())


class Instructions(Sequence[Any]):
    """Rows of a module as messages, parsed on request."""

    def __init__(self, module: Module, rows: Sequence[int]) -> None:
        self._module = module
        self._rows = rows

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, row: Any) -> Any:
        if isinstance(row, slice):
            return Instructions(self._module, self._rows[row])
        return self._module.message(self._rows[row])

    def __iter__(self) -> Iterator[Any]:
        return map(self._module.message, self._rows)


def _fields(content: Blob) -> Fields:
    """The fields of a message, none if it is damaged."""
    try:
        return read_fields(content)
    except DamagedMessage:
        return {}


def _parse(name: str, content: Blob) -> Any | None:
    """A message, None if it is damaged."""
    kind, damage = _kind(name)
    proto = kind()
    try:
        proto.ParseFromString(content)
    except damage:
        return None
    return proto


@functools.cache
def _kind(name: str) -> tuple[Callable[[], Any], type[Exception]]:
    """A class of messages, and the exception that parsing raises."""
    from google.protobuf.message import DecodeError

    return message(name), DecodeError
