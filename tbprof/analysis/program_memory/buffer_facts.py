"""The contents of a program's buffers: the instruction, its shape, its op and its source."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.hlo.hlo_shapes import read_shape
from tbprof.analysis.hlo.module import Module
from tbprof.analysis.hlo_text.hlo_shape_text import shape_text
from tbprof.analysis.program_memory.buffer_assignment import Buffers
from tbprof.base.records import NamedTuple, dataclass
from tbprof.base.texts import NumberedTexts

_TUPLE = 13  # PrimitiveType
_POINTER_BYTES = 8


@dataclass(frozen=True, slots=True)
class BufferFacts:
    """Facts about buffers [b].

    `unpadded_bytes` is the size of the elements alone, or that of the buffer if its shape is
    unknown. The other columns are rows of `texts`, whose first is "" (unknown): `instruction` and
    `part` ("{0,1}" of a tuple), `opcode`, `fusion_kind` ("kLoop"), `shape` with its layout, `op`
    ("jit(f)/add"), `source` ("file:line") and `stack`, one line per frame, innermost first.
    """

    unpadded_bytes: NDArray[np.int64]
    instruction: NDArray[np.int32]
    part: NDArray[np.int32]
    opcode: NDArray[np.int32]
    fusion_kind: NDArray[np.int32]
    shape: NDArray[np.int32]
    op: NDArray[np.int32]
    source: NDArray[np.int32]
    stack: NDArray[np.int32]
    texts: list[str]


class ShapeFacts(NamedTuple):
    """A shape as HLO text, and the bytes of its elements."""

    text: str
    bytes: int


class Definitions:
    """The instructions that define the buffers [b] of a program, and the shapes of the buffers.

    `rows` are rows of the program's index, -1 if the file lacks the instruction.
    """

    def __init__(self, module: Module | None, buffers: Buffers) -> None:
        self.module = module
        self.rows: list[int] = []
        self.shapes: list[ShapeFacts | None] = []
        # Programs have few shapes.
        known: dict[tuple[int, tuple[int, ...]], ShapeFacts | None] = {}
        for number, name, index in zip(
            buffers.instruction.tolist(), buffers.instruction_name, buffers.shape_index, strict=True
        ):
            row, shape = -1, None
            if module is not None:
                row = module.index.find(name) if name else module.index.ids.row(number)
            if module is not None and row >= 0:
                key = (module.shapes.number(row), index)
                if key not in known or key[0] < 0:
                    known[key] = _shape_facts(module.shapes.proto(row), index)
                shape = known[key]
            self.rows.append(-1 if shape is None else row)
            self.shapes.append(shape)


def _shape_facts(shape: Any, index: tuple[int, ...]) -> ShapeFacts | None:
    """The part of a shape at an index, None if there is none."""
    for position in index:
        if not 0 <= position < len(shape.tuple_shapes):
            return None
        shape = shape.tuple_shapes[position]
    return ShapeFacts(shape_text(shape), _bytes_of(shape))


def unpadded_sizes(definitions: Definitions, buffers: Buffers) -> NDArray[np.int64]:
    """[b] the bytes of the elements of each buffer, at most those of the buffer."""
    sizes = [-1 if shape is None else min(shape.bytes, 2**62) for shape in definitions.shapes]
    known = np.array(sizes, np.int64)
    return np.where(known < 0, buffers.size_bytes, np.minimum(known, buffers.size_bytes))


def describe_buffers(
    definitions: Definitions,
    buffers: Buffers,
    rows: NDArray[np.int64],
    unpadded_bytes: NDArray[np.int64],
) -> BufferFacts:
    """The facts about the buffers at `rows`."""
    texts = NumberedTexts("")
    number = texts.number
    places: dict[tuple[str, int, int], tuple[int, int]] = {}
    facts = np.zeros((rows.size, 8), np.int32)
    module = definitions.module
    for out, row in enumerate(rows.tolist()):
        defined, shape = definitions.rows[row], definitions.shapes[row]
        index = buffers.shape_index[row]
        part = number(f"{{{','.join(map(str, index))}}}") if index else 0
        if shape is None or module is None:
            facts[out, :2] = number(buffers.instruction_name[row]), part
            continue
        instruction = module.message(defined)
        metadata = instruction.metadata
        place = (metadata.source_file, metadata.source_line, metadata.stack_frame_id)
        if place not in places:
            places[place] = _place(module, *place, number)
        facts[out] = (
            number(instruction.name), part, number(instruction.opcode),
            number(instruction.fusion_kind), number(shape.text), number(metadata.op_name),
            *places[place],
        )  # fmt: skip
    columns = np.ascontiguousarray(facts.T)
    return BufferFacts(
        unpadded_bytes[rows], columns[0], columns[1], columns[2], columns[3], columns[4],
        columns[5], columns[6], columns[7], texts.all(),
    )  # fmt: skip


def _place(
    module: Module, file: str, line: int, frame: int, number: Callable[[str], int]
) -> tuple[int, int]:
    """(source, stack) as text numbers; without a stated source, that of the innermost frame."""
    frames = module.stack_frames.of(frame)
    stack = [f"{frame.file}:{frame.line}:{frame.column}" for frame in frames if frame.file]
    source = f"{file}:{line}" if file else (stack or [""])[0].rpartition(":")[0]
    return number(source), number("\n".join(stack))


def _bytes_of(shape: Any) -> int:
    """The bytes of an array's elements; for a tuple, those of the pointers to its parts."""
    if shape.element_type == _TUPLE:
        return _POINTER_BYTES * len(shape.tuple_shapes)
    array = next(read_shape(shape), None)
    return 0 if array is None else array.bytes
