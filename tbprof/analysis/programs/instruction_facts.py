"""Facts about the instructions of programs: category, type, shapes, source location."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.costs.cost import Cost
from tbprof.analysis.costs.operations import is_elementwise
from tbprof.analysis.costs.program_costs import ProgramCosts
from tbprof.analysis.hlo.awaited import awaited_start
from tbprof.analysis.hlo.hlo import Programs
from tbprof.analysis.hlo.hlo_roles import MOVING, PRODUCTS, move_of, opcodes_of
from tbprof.analysis.hlo.hlo_shapes import largest_dtype, parse_shapes, shapes_text
from tbprof.analysis.hlo.hlo_shapes import split_text as split_hlo
from tbprof.analysis.hlo.instruction import fusion_kind, multiplies
from tbprof.analysis.hlo.module import Computation, Module
from tbprof.analysis.hlo_messages.device_groups import read_device_groups
from tbprof.analysis.hlo_messages.metadata import Metadata
from tbprof.analysis.hlo_messages.program_index import ProgramIndex
from tbprof.analysis.hlo_text.hlo_devices import numbers, replica_groups
from tbprof.analysis.programs.matrix_products import MatrixProduct, product_in
from tbprof.analysis.vocabulary.collectives import is_collective_op
from tbprof.analysis.vocabulary.instruction_roles import Move
from tbprof.base import names
from tbprof.base.digests import blake2b
from tbprof.base.records import NamedTuple
from tbprof.base.texts import cut

# The category of an instruction whose program is not in the trace.
NO_HLO = "HLO not in the trace"
# CUDA graphs whose instructions the trace does not show.
COMMAND_BUFFER = "inside a command buffer"
_MOVED = frozenset({"copy", "dynamic-reshape", "reshape", "transpose"})
_FUSIONS = {
    "kLoop": "loop fusion", "kInput": "input fusion", "kOutput": "output fusion",
    "kCustom": "custom fusion",
}  # fmt: skip


_MOST_TEXT = 400


class InstructionFacts(NamedTuple):
    """Facts about an instruction; unknown texts are "".

    `stack` has one line per frame, innermost first. `replica_groups` are the devices among which a
    collective exchanges data: "{{0,1},{2,3}}". `cost` is that of one execution, None if the program
    is not in the trace. `product_rows` and `product_columns` are as in `MatrixProduct`, the others
    as in `ProgramOps`.
    """

    opcode: str = ""
    category: str = NO_HLO
    deduplicated_name: str = ""
    scope: str = ""
    source: str = ""
    stack: str = ""
    dtype: str = ""
    result: str = ""
    operands: str = ""
    is_product: bool = False
    cost: Cost | None = None
    replica_groups: str = ""
    product_dtype: str = ""
    product_size: int = -1
    product_passes: int = 0
    product_rows: int = -1
    product_columns: int = -1
    tiling: str = ""
    tile_waste_ppm: int = 0
    move: int = Move.NONE
    is_of_argument: bool = False
    is_entry: bool = False


class InstructionReader:
    """Reads the instructions of a space's programs, each once."""

    def __init__(self, programs: Programs) -> None:
        self._programs = programs
        self._readers: dict[int, _ProgramReader] = {}
        self._digests: dict[int, str] = {}

    def read(self, program_id: int, module: str, name: str) -> InstructionFacts | None:
        """The facts of the instruction, None if no program in the trace has it."""
        program = self._programs.module(program_id, module)
        if program is None:
            return None
        reader = self._readers.get(id(program))
        if reader is None:
            reader = self._readers[id(program)] = _ProgramReader(program)
        return reader.read(name)

    def digest(self, program_id: int, module: str) -> str:
        """A hash of the instructions of a program, "" if it is not in the trace."""
        program = self._programs.module(program_id, module)
        if program is None:
            return ""
        if id(program) not in self._digests:
            self._digests[id(program)] = _digest(program)
        return self._digests[id(program)]


def _digest(program: Module) -> str:
    """A hash of names, opcodes and shapes; other fields may be serialized in a different order."""
    index, columns = program.index, program.index.instructions
    unread = np.flatnonzero(columns.shape < 0).tolist()
    parts = (
        # Numbered in the order of the instructions.
        columns.opcode.tobytes(),
        *(opcode.encode() for opcode in index.opcodes),
        columns.shape.tobytes(),
        *index.shapes,
        *(program.message(row).shape.SerializeToString() for row in unread),
    )
    digest = blake2b(_names(index).data)
    digest.update(b"\0".join(parts))
    return digest.hexdigest()[:16]


def _names(index: ProgramIndex) -> NDArray[np.uint8]:
    """The names of all instructions, each followed by a zero."""
    at, end = index.instructions.name
    sizes = end - at + 1
    ends = np.cumsum(sizes)
    # Of the byte after each name, a zero takes the place.
    place = np.arange(int(sizes.sum())) + np.repeat(at - ends + sizes, sizes)
    out: NDArray[np.uint8] = index.content.take(place, mode="clip")
    out[ends - 1] = 0
    return out


class _ProgramReader:
    """Reads the instructions of one program, each once."""

    def __init__(self, program: Module) -> None:
        self._program = program
        self._costs = ProgramCosts(program)
        self._facts: dict[str, InstructionFacts] = {}
        entry = program.entry()
        self._entry = entry.rows if entry is not None else range(0)
        others = frozenset(program.index.opcodes) - MOVING
        self._computes = program.computations_with(others)
        self._places: dict[tuple[str, int, int], tuple[str, str]] = {}

    def read(self, name: str) -> InstructionFacts | None:
        """The facts of the instruction, None if the program does not have it."""
        if name not in self._facts:
            row = self._program.index.find(name)
            if row < 0:
                return None
            self._facts[name] = self._read(row)
        return self._facts[name]

    def _read(self, row: int) -> InstructionFacts:
        program, cost = self._program, self._costs.of_row(row)
        metadata, opcode = program.metadata_of(row), program.opcode(row)
        results, operands = program.shapes.of(row).shapes, program.operand_shapes(row)
        is_product = multiplies(program, row)
        product = product_in(program, row, self._costs) if is_product else MatrixProduct()
        is_entry = row in self._entry
        computes = any(map(self._computes.__getitem__, program.called_rows(row)))
        move = Move.NONE if computes else move_of(opcodes_of(program, row), results, operands)
        return InstructionFacts(
            opcode,
            _category(program, row),
            metadata.deduplicated_name,
            _scope(metadata),
            *self._place(metadata),
            cost.dtype or largest_dtype((*results, *operands)),
            shapes_text(results),
            shapes_text(operands),
            is_product,
            cost,
            _groups(program, row),
            product.dtype,
            product.size,
            product.passes,
            product.rows,
            product.columns,
            "",
            0,
            move,
            is_entry and move != Move.NONE and _is_of_argument(program, row),
            is_entry,
        )

    def _place(self, metadata: Metadata) -> tuple[str, str]:
        """`place_of` with a cache, since instructions share few source locations."""
        key = (metadata.source_file, metadata.source_line, metadata.stack_frame_id)
        if key not in self._places:
            self._places[key] = place_of(self._program, metadata)
        return self._places[key]


def _category(program: Module, row: int) -> str:
    opcode = program.opcode(row)
    if opcode == "fusion":
        return category_of(opcode, fusion_kind(program, row))
    if opcode == "call":
        called = [Computation(program, computation) for computation in program.called_rows(row)]
        if any(callee.name.startswith(names.COMMAND_BUFFER) for callee in called):
            return COMMAND_BUFFER
    return category_of(opcode)


def _is_of_argument(program: Module, row: int) -> bool:
    """Whether an instruction of the entry computation takes only arguments of its own."""
    rows = program.operand_rows(row)
    operands = [operand for operand in rows if program.opcode(operand) != "constant"]
    return bool(operands) and all(
        program.opcode(operand) == "parameter" and program.users_of(operand) == [row]
        for operand in operands
    )


def _groups(program: Module, row: int) -> str:
    """The groups of a collective, or of the one that an instruction completes; "" for others."""
    is_done = program.opcode(row).endswith("-done")
    if not is_done and not is_collective_op(program.opcode(row)):
        return ""
    start = awaited_start(program, row) if is_done else -1
    collective = start if start >= 0 else row
    if not is_collective_op(program.opcode(collective)):
        return ""
    groups = read_device_groups(program.fields(collective))
    pairs = [numbers((pair.source, pair.target)) for pair in groups.source_target_pairs]
    text = f"{{{','.join(pairs)}}}" if pairs else replica_groups(groups)
    if text == "{}":
        return "all devices"
    return cut(text, _MOST_TEXT)


def category_of(opcode: str, fusion_kind: str = "") -> str:
    """The category of an instruction. Source: XLA, HloInstruction::ToCategory."""
    if opcode == "fusion":
        return _FUSIONS.get(fusion_kind, "fusion")
    if opcode in _MOVED:
        return "data formatting"
    return "non-fusion elementwise" if is_elementwise(opcode) else opcode


def _scope(metadata: Any) -> str:
    type_ = f":{metadata.op_type}" if metadata.op_type else ""
    return f"{metadata.op_name}{type_}" if metadata.op_name else ""


def place_of(program: Module, metadata: Any) -> tuple[str, str]:
    """("file:line", the stack): the location as stated, else that of the innermost frame.

    The stack has one line "function file:line" per frame, innermost first.
    """
    frames = [frame for frame in program.stack_frames.of(metadata.stack_frame_id) if frame.file]
    texts = [f"{frame.function} {frame.file}:{frame.line}".strip() for frame in frames]
    if metadata.source_file:
        source = f"{metadata.source_file}:{metadata.source_line}"
    else:
        source = texts[0].rpartition(" ")[2] if texts else ""
    return source, "\n".join(texts)


def facts_of_text(text: str) -> InstructionFacts:
    """The facts in the text of an instruction, for programs that are not in the trace."""
    result, opcode, operand_text = split_hlo(text)
    results, operands = parse_shapes(result), parse_shapes(operand_text)
    return InstructionFacts(
        opcode,
        category_of(opcode) or NO_HLO,
        dtype=largest_dtype((*results, *operands)),
        result=shapes_text(results),
        operands=shapes_text(operands),
        is_product=opcode in PRODUCTS,
        move=move_of(frozenset({opcode}), results, operands),
    )
