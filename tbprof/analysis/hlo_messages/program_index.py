"""An index of the computations and instructions in an HLO proto: columns over its bytes."""

from __future__ import annotations

import math
import os
from bisect import bisect_right
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.hlo_messages.message_fields import Blob
from tbprof.base.records import dataclass
from tbprof.base.values import unique
from tbprof.kernels.programs.name_table import NameTable, fill_names, find_name
from tbprof.kernels.programs.program_columns import (
    ComputationColumns,
    InstructionColumns,
    ProgramScan,
)
from tbprof.kernels.programs.program_scan import scan_program
from tbprof.kernels.xplane.equal_texts import KnownTexts
from tbprof.kernels.xplane.equal_texts import number_ranges as _number_ranges

# Protobuf's own limit, so positions fit into 32 bits.
_LARGEST = 2**31 - 1
# The initial capacity for distinct texts, and its growth factor.
_FEW_TEXTS, _FEW_BYTES, _GROWTH = 1 << 10, 1 << 15, 8
# In large programs, there is at first room for one distinct shape per so many instructions.
_PER_SHAPE, _SHAPE_BYTES = 4, 32
# The number of slots for the most recent texts.
_LATEST = 1 << 11


@dataclass(frozen=True, slots=True)
class ComputationRows:
    """The computations of a program [c]; instructions `first[i]` to `first[i + 1]` are those of i.

    `name`, `shape` (ProgramShapeProto) and `thread` are ranges of bytes [2, c], empty if missing.
    """

    id: NDArray[np.int64]
    root_id: NDArray[np.int64]
    first: NDArray[np.int32]
    name: NDArray[np.int32]
    shape: NDArray[np.int32]
    thread: NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class InstructionRows:
    """The instructions of a program [n], by computation and in its order.

    `message`, `name` and `metadata` are byte ranges [2, n]. `opcode` is a row of the index's
    opcodes, `shape` a row of its shapes, -1 for a shape that is split into several fields.
    `parameter` is -1 beyond 32 bits. `operand_id[operands[i]:operands[i + 1]]` are the ids of the
    operands of i, `called_id[called[i]:called[i + 1]]` those of the computations that it calls.
    """

    id: NDArray[np.int64]
    message: NDArray[np.int32]
    name: NDArray[np.int32]
    metadata: NDArray[np.int32]
    opcode: NDArray[np.int32]
    shape: NDArray[np.int32]
    parameter: NDArray[np.int32]
    operands: NDArray[np.int32]
    operand_id: NDArray[np.int64]
    called: NDArray[np.int32]
    called_id: NDArray[np.int64]


class ProgramIndex:
    """The contents of an HLO proto, found in one pass without parsing instructions.

    `opcodes` and `shapes` (ShapeProtos) are the distinct ones of its instructions; `headers` [2, k]
    are the byte ranges of the module's fields other than computations. If ids or names are equal,
    the last one counts. If not `is_whole`, the proto is truncated or damaged, and incomplete parts
    are omitted.
    """

    def __init__(self, blob: Blob) -> None:
        self.blob = blob
        self.content = np.frombuffer(blob if len(blob) <= _LARGEST else b"", np.uint8)
        scan, tables, opcodes, shapes = _scan(self.content)
        self.computations = tables.computations
        self.instructions = tables.instructions
        self.headers = tables.headers
        self.opcodes = [text.decode("utf-8", "replace") for text in opcodes.texts()]
        self.shapes = shapes.texts()
        self.name = self.text(scan.name_at, scan.name_end)
        self.entry_id = int(scan.entry_id)
        self.is_whole = scan.damaged == 0 and len(blob) <= _LARGEST

    def text(self, at: int, end: int) -> str:
        """The text in a range of bytes."""
        return str(self.blob[at:end], "utf-8", "replace")

    def find(self, name: str) -> int:
        """The row of the instruction with that name, -1 if there is none."""
        return int(find_name(self._names, name.encode("utf-8", "replace")))

    @cached_property
    def ids(self) -> IdRows:
        """The rows of instructions by id."""
        return IdRows(self.instructions.id)

    @cached_property
    def computation_ids(self) -> IdRows:
        """The rows of computations by id."""
        return IdRows(self.computations.id)

    @cached_property
    def computation(self) -> NDArray[np.int32]:
        """The computation [n] that each instruction is in."""
        counts = np.diff(self.computations.first)
        return np.repeat(np.arange(counts.size, dtype=np.int32), counts)

    @cached_property
    def operand(self) -> NDArray[np.int32]:
        """The row of each of `operand_id`, -1 where the file lacks it."""
        return self.ids.rows(self.instructions.operand_id)

    @cached_property
    def callee(self) -> NDArray[np.int32]:
        """The computation of each of `called_id`, -1 where the file lacks it."""
        return self.computation_ids.rows(self.instructions.called_id)

    @cached_property
    def root(self) -> NDArray[np.int32]:
        """[c] the row of each computation's root instruction, -1 where the file lacks it."""
        return self.ids.rows(self.computations.root_id)

    @cached_property
    def users(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """(first [n + 1], user): the users of instruction i are `user[first[i]:first[i + 1]]`.

        Each is listed once, in order.
        """
        rows = self.instructions.id.size
        user = np.repeat(np.arange(rows), np.diff(self.instructions.operands))
        is_held = self.operand >= 0
        pairs = unique(self.operand[is_held] * np.int64(max(rows, 1)) + user[is_held])
        taken, user = np.divmod(pairs, max(rows, 1))
        first = np.searchsorted(taken, np.arange(rows + 1))
        return first.astype(np.int32), user.astype(np.int32)

    def rows_of(self, opcodes: frozenset[str]) -> NDArray[np.int64]:
        """The rows of the instructions with one of these opcodes, ascending."""
        is_wanted = np.array([opcode in opcodes for opcode in self.opcodes], np.bool_)
        return np.flatnonzero(is_wanted[self.instructions.opcode])

    @cached_property
    def _names(self) -> NameTable:
        at, end = self.instructions.name
        slots = np.full(2 << (2 * at.size).bit_length(), -1, np.int32)
        table = NameTable(self.content, at, end, _multiplier(), slots)
        fill_names(table)
        return table


class IdRows:
    """Rows by id; if ids are equal, the last row counts."""

    def __init__(self, ids: NDArray[np.int64]) -> None:
        order = np.argsort(ids, kind="stable")
        self._ids = ids[order]
        self._rows = order.astype(np.int32)
        # Memoryviews are faster than arrays at reading single numbers.
        self._each_id, self._each_row = self._ids.data, self._rows.data

    def row(self, id_: int) -> int:
        """The row of an id, -1 if there is none."""
        index = bisect_right(self._each_id, id_) - 1
        return self._each_row[index] if index >= 0 and self._each_id[index] == id_ else -1

    def rows(self, ids: NDArray[np.int64]) -> NDArray[np.int32]:
        """The row of each id, -1 where there is none."""
        if not self._ids.size:
            return np.full(ids.size, -1, np.int32)
        index = np.searchsorted(self._ids, ids, side="right") - 1
        return np.where(self._ids[index] == ids, self._rows[index], np.int32(-1))


class _Tables:
    """Columns with the sizes that one pass has counted, which the next pass fills."""

    def __init__(self, counts: ProgramScan) -> None:
        rows, parts = counts.instructions, counts.computations
        places = np.zeros((7, rows), np.int32)
        codes = np.zeros((2, rows), np.int32)
        # The ranges of the first row begin at 0.
        operands, called = np.zeros((2, rows + 1), np.int32)
        ids = np.zeros(rows, np.int64)
        operand_id = np.zeros(counts.operands, np.int64)
        called_id = np.zeros(counts.called, np.int64)
        self.instructions = InstructionRows(
            ids, places[0:2], places[2:4], places[4:6], codes[0], codes[1], places[6],
            operands, operand_id, called, called_id,
        )  # fmt: skip
        ranges = np.zeros((6, parts), np.int32)
        part_ids, roots = np.zeros((2, parts), np.int64)
        first = np.zeros(parts + 1, np.int32)
        is_fusion = np.zeros(parts, np.uint8)
        self.headers = np.zeros((2, counts.headers), np.int32)
        self.computations = ComputationRows(
            part_ids,
            roots,
            first,
            ranges[0:2],
            ranges[2:4],
            ranges[4:6],
        )
        of_computations = [part_ids, roots, first, *ranges, is_fusion, *self.headers]
        of_instructions = [
            ids, *places[:6], *codes, places[6], operands[1:], called[1:], operand_id, called_id,
        ]  # fmt: skip
        self.columns = (
            ComputationColumns(*of_computations), InstructionColumns(*of_instructions),
        )  # fmt: skip


class _TextTable:
    """A table of distinct texts; the hash is random for each pass."""

    def __init__(self, texts: int, content: int) -> None:
        self._content = np.empty(content, np.uint8)
        self._ends = np.zeros(texts + 1, np.int64)
        slots = np.full(2 << texts.bit_length(), -1, np.int32)
        latest = np.full(_LATEST, -1, np.int32)
        self.known = KnownTexts(_multiplier(), 0, self._content, self._ends, slots, latest)

    def texts(self) -> list[bytes]:
        """The texts that a pass has found, by number."""
        ends = self._ends[: self.known.texts + 1].tolist()
        return [self._content[begin:end].tobytes() for begin, end in pairwise(ends)]

    def larger(self, most_texts: int, most_bytes: int) -> _TextTable:
        """An empty table with more capacity."""
        return _TextTable(
            min(_GROWTH * self._ends.size, most_texts),
            min(_GROWTH * self._content.size + self.known.needed, most_bytes),
        )


def _scan(content: NDArray[np.uint8]) -> tuple[ProgramScan, _Tables, _TextTable, _TextTable]:
    """Counts the contents, then reads them, again while the tables of texts are too small."""
    opcodes = _TextTable(_FEW_TEXTS, _FEW_BYTES)
    counts = ProgramScan(0)
    scan_program(content, counts, *_Tables(counts).columns, opcodes.known, opcodes.known)
    texts = max(_FEW_TEXTS, counts.instructions // _PER_SHAPE)
    shapes = _TextTable(texts, max(_FEW_BYTES, texts * _SHAPE_BYTES))
    while True:
        tables, scan = _Tables(counts), ProgramScan(1)
        scan_program(content, scan, *tables.columns, opcodes.known, shapes.known)
        if not scan.is_full:
            return scan, tables, opcodes, shapes
        most = counts.instructions + 1, content.size
        opcodes, shapes = opcodes.larger(*most), shapes.larger(*most)


def number_ranges(
    values: NDArray[np.int32] | NDArray[np.uint8], ends: NDArray[Any]
) -> NDArray[np.int32]:
    """[n] a number for each `values[ends[i]:ends[i + 1]]`, the same for equal ones."""
    content = np.ascontiguousarray(values).view(np.uint8).ravel()
    code = np.empty(ends.size - 1, np.int32)
    width = values.itemsize * math.prod(values.shape[1:])
    known = _TextTable(ends.size, content.size).known
    _number_ranges(content, ends.astype(np.int64) * width, known, code)
    return code


def _multiplier() -> int:
    return 2**29 | int.from_bytes(os.urandom(4), "little") >> 3
