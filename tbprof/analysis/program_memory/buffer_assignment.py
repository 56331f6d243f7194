"""The buffer assignment of a program: the places of its arrays in memory."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.hlo_messages.message_fields import Blob, DamagedMessage
from tbprof.analysis.hlo_messages.messages import Messages
from tbprof.analysis.hlo_messages.program_index import IdRows
from tbprof.base.records import dataclass
from tbprof.base.values import unique
from tbprof.kernels.codes import HEAP_SHARE_WITH

# Sizes whose sums could exceed int64 are damaged.
_MOST_BYTES = 2**62
# Numbers of fields. Source: OpenXLA's hlo.proto.
_BUFFER_ASSIGNMENT = 3
_LOGICAL_BUFFERS, _ALLOCATIONS, _HEAP_TRACES = 1, 3, 4
_BUFFER_ID, _BUFFER_SIZE, _DEFINED_AT = 1, 2, 3
_OF_INSTRUCTION_NAME, _SHAPE_INDEX, _OF_INSTRUCTION = 2, 3, 4
_INDEX, _SIZE, _COLOR, _PARAMETER, _ASSIGNED = 1, 2, 8, 6, 9
_IS_PARAMETER, _IS_OUTPUT, _IS_CONSTANT, _IS_THREAD_LOCAL, _IS_TUPLE = 5, 7, 12, 3, 11
_PLACED_BUFFER, _OFFSET = 1, 2
_EVENTS = 1
_KIND, _EVENT_BUFFER, _COMPUTATION_NAME, _INSTRUCTION_NAME, _SHARED_WITH = 1, 2, 3, 4, 5


class BadAssignment(Exception):
    """The reason why the memory of a program is unknown, as shown to users."""


@dataclass(frozen=True, slots=True)
class Allocations:
    """Allocations [a]: contiguous memory in one memory space, each used by one or more buffers.

    Those that are `is_fixed` are in use as long as the program runs: parameters, results and
    constants. The simulated heap plans the others, except thread-local ones. `parameter` is the
    number of the entry computation's parameter, -1 for other allocations.
    """

    index: NDArray[np.int64]
    size_bytes: NDArray[np.int64]
    space: NDArray[np.int64]
    is_parameter: NDArray[np.bool_]
    is_output: NDArray[np.bool_]
    is_constant: NDArray[np.bool_]
    is_thread_local: NDArray[np.bool_]
    is_tuple: NDArray[np.bool_]
    parameter: NDArray[np.int64]

    @property
    def is_fixed(self) -> NDArray[np.bool_]:
        """[a] whether an allocation is in use during the whole run."""
        return ~self.is_thread_local & (self.is_parameter | self.is_output | self.is_constant)

    @property
    def is_planned(self) -> NDArray[np.bool_]:
        """[a] whether the simulated heap plans the use of an allocation."""
        return ~self.is_thread_local & ~self.is_fixed


@dataclass(frozen=True, slots=True)
class Buffers:
    """Buffers [b]: arrays, each at an offset of an allocation, by allocation and in its order.

    A buffer contains the result of `instruction` (an id, or `instruction_name` in older programs),
    or the part of it at `shape_index` if that is a tuple. Its size includes padding.
    """

    id: NDArray[np.int64]
    size_bytes: NDArray[np.int64]
    allocation: NDArray[np.int32]
    offset_bytes: NDArray[np.int64]
    instruction: NDArray[np.int64]
    instruction_name: list[str]
    shape_index: list[tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class Heap:
    """Events [e] of the simulated heap, in the order of their traces.

    `buffer` and `shared` are rows of buffers, -1 if there is none or the program lacks it.
    `instruction` and `computation` are rows of `names`.
    """

    trace: NDArray[np.int32]
    kind: NDArray[np.int8]
    buffer: NDArray[np.int32]
    shared: NDArray[np.int32]
    instruction: NDArray[np.int32]
    computation: NDArray[np.int32]
    names: list[str]


@dataclass(frozen=True, slots=True)
class BufferAssignment:
    """The memory of one program."""

    allocations: Allocations
    buffers: Buffers
    heap: Heap

    @property
    def spaces(self) -> list[int]:
        """The memory spaces with allocations, ascending."""
        sizes = self.allocations.size_bytes
        spaces: list[int] = unique(self.allocations.space[sizes > 0]).tolist()
        return spaces


def read_assignment(blob: Blob) -> BufferAssignment:
    """The buffer assignment in a program's HloProto. Raises BadAssignment.

    Parts that refer to something that the program lacks are omitted.
    """
    try:
        _, assigned = Messages.one(blob).parts(_BUFFER_ASSIGNMENT)
        _, made = assigned.parts(_ALLOCATIONS)
        if not len(made):
            raise BadAssignment("the compiler wrote no buffer assignment for the program")
        allocations, buffers = _read_allocations(made), _read_buffers(assigned, made)
        heap = _read_heap(assigned, buffers.id)
    except DamagedMessage as err:
        raise BadAssignment("the program is damaged in the file") from err
    total = sum(buffers.size_bytes.tolist()) + sum(allocations.size_bytes.tolist())
    least = min(buffers.size_bytes.min(initial=0), allocations.size_bytes.min(initial=0))
    if least < 0 or total * (1 + heap.kind.size) > _MOST_BYTES:
        raise BadAssignment("the sizes in the program's buffer assignment are impossible")
    return BufferAssignment(allocations, buffers, heap)


def _read_allocations(made: Messages) -> Allocations:
    index, size, color, parameter = made.numbers(_INDEX, _SIZE, _COLOR, _PARAMETER)
    flags = made.numbers(
        _IS_PARAMETER, _IS_OUTPUT, _IS_CONSTANT, _IS_THREAD_LOCAL, _IS_TUPLE
    ).astype(bool)
    parameter = np.where(flags[0], parameter, -1)
    return Allocations(
        index, size, color, flags[0], flags[1], flags[2], flags[3], flags[4], parameter
    )


def _read_buffers(assigned: Messages, made: Messages) -> Buffers:
    """The buffers that are assigned to an allocation."""
    _, logical = assigned.parts(_LOGICAL_BUFFERS)
    ids, sizes = logical.numbers(_BUFFER_ID, _BUFFER_SIZE)
    allocation, places = made.parts(_ASSIGNED)
    placed, offset = places.numbers(_PLACED_BUFFER, _OFFSET)
    # If ids are equal, the last one counts.
    row = IdRows(ids).rows(placed)
    is_known = (row >= 0) & (IdRows(placed).rows(placed) == np.arange(placed.size))
    rows = row[is_known]
    instruction, name, index = _read_definitions(logical)
    return Buffers(
        ids[rows],
        sizes[rows],
        allocation[is_known],
        offset[is_known],
        instruction[rows],
        [name.get(buffer, "") for buffer in rows.tolist()],
        [tuple(index.get(buffer, ())) for buffer in rows.tolist()],
    )


def _read_definitions(
    logical: Messages,
) -> tuple[NDArray[np.int64], dict[int, str], dict[int, list[int]]]:
    """The definitions of buffers [b]: instruction ids, names by row, and shape indices by row."""
    owner, defined = logical.parts(_DEFINED_AT)
    instruction = np.zeros(len(logical), np.int64)
    instruction[owner] = defined.numbers(_OF_INSTRUCTION)[0]
    names = {
        row: text.decode("utf-8", "replace")
        for row, text in zip(owner.tolist(), defined.texts(_OF_INSTRUCTION_NAME), strict=True)
        if text
    }
    index: dict[int, list[int]] = {}
    rows, places = defined.lists(_SHAPE_INDEX)
    for row, place in zip(owner[rows].tolist(), places.tolist(), strict=True):
        index.setdefault(row, []).append(place)
    return instruction, names, index


def _read_heap(assigned: Messages, buffer_id: NDArray[np.int64]) -> Heap:
    trace, events = assigned.parts(_HEAP_TRACES)[1].parts(_EVENTS)
    kind, buffer, shared = events.numbers(_KIND, _EVENT_BUFFER, _SHARED_WITH)
    known = np.flatnonzero((kind >= 0) & (kind <= HEAP_SHARE_WITH))  # newer kinds are unknown
    instructions, computations = events.texts(_INSTRUCTION_NAME), events.texts(_COMPUTATION_NAME)
    names: dict[bytes, int] = {}
    rows = [
        names.setdefault(text, len(names))
        for row in known.tolist()
        for text in (instructions[row], computations[row])
    ]
    name_rows = np.array(rows, np.int32).reshape(-1, 2)
    row_of = IdRows(buffer_id)
    return Heap(
        trace[known],
        kind[known].astype(np.int8),
        row_of.rows(buffer[known]),
        row_of.rows(shared[known]),
        name_rows[:, 0].copy(),
        name_rows[:, 1].copy(),
        [name.decode("utf-8", "replace") for name in names],
    )
