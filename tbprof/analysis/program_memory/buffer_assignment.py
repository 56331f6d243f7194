"""Where the arrays of a program lie in memory, as its compiler assigned them."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tbprof._pb import message
from tbprof.base.records import dataclass
from tbprof.base.values import unique
from tbprof.kernels.codes import HEAP_SHARE_WITH

# Sizes whose sums could leave int64 are damage.
_MOST_BYTES = 2**62


class BadAssignment(Exception):
    """Why the memory of a program is not known, as users read it."""


@dataclass(frozen=True, slots=True)
class Allocations:
    """Allocations [a]: contiguous memory in one memory space, each held by one or more buffers.

    What `is_fixed` is in use as long as the program runs: its parameters, results and constants.
    The memory of others is planned by the simulated heap, but for what each thread has of its own.
    `parameter` is the number of the entry computation's parameter, -1 for others.
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
        """[a] whether an allocation is in use from begin to end."""
        return ~self.is_thread_local & (self.is_parameter | self.is_output | self.is_constant)

    @property
    def is_planned(self) -> NDArray[np.bool_]:
        """[a] whether the simulated heap says what of an allocation is in use when."""
        return ~self.is_thread_local & ~self.is_fixed


@dataclass(frozen=True, slots=True)
class Buffers:
    """Buffers [b]: arrays, each at a place of an allocation, by allocation and in its order.

    A buffer is what `instruction` (an id, or `instruction_name` in older programs) defines, of a
    tuple the part at `shape_index`. Its size contains padding.
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
    """What the simulated heap did: events [e] in the order of their traces.

    `buffer` and `shared` are rows of buffers, -1 for none or one that the program does not have.
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
        """The memory spaces that it has allocations in, ascending."""
        sizes = self.allocations.size_bytes
        spaces: list[int] = unique(self.allocations.space[sizes > 0]).tolist()
        return spaces


def read_assignment(blob: bytes) -> BufferAssignment:
    """The memory of a program, of its HloProto. Raises BadAssignment.

    Parts that refer to what the program does not have are left out.
    """
    from google.protobuf.message import DecodeError

    proto = message("xla.HloMemoryProto")()
    try:
        proto.ParseFromString(blob)
    except DecodeError as err:
        raise BadAssignment("the program is damaged in the file") from err
    assigned = proto.buffer_assignment
    if not assigned.buffer_allocations:
        raise BadAssignment("the compiler wrote no buffer assignment for the program")
    allocations = _read_allocations(assigned.buffer_allocations)
    buffers = _read_buffers(assigned)
    total = sum(map(int, buffers.size_bytes)) + sum(map(int, allocations.size_bytes))
    least = min(buffers.size_bytes.min(initial=0), allocations.size_bytes.min(initial=0))
    heap = _read_heap(assigned.heap_simulator_traces, buffers.id)
    if least < 0 or total * (1 + heap.kind.size) > _MOST_BYTES:
        raise BadAssignment("the sizes in the program's buffer assignment are impossible")
    return BufferAssignment(allocations, buffers, heap)


def _read_allocations(protos: Iterable[Any]) -> Allocations:
    rows = [
        (
            one.index, one.size, one.color, one.is_entry_computation_parameter, one.maybe_live_out,
            one.is_constant, one.is_thread_local, one.is_tuple,
            one.parameter_number if one.is_entry_computation_parameter else -1,
        )
        for one in protos
    ]  # fmt: skip
    columns = np.ascontiguousarray(np.array(rows, np.int64).T)
    flags = columns[3:8].astype(bool)
    return Allocations(
        columns[0], columns[1], columns[2], flags[0], flags[1], flags[2], flags[3], flags[4],
        columns[8],
    )  # fmt: skip


def _read_buffers(assigned: Any) -> Buffers:
    """The buffers that lie in an allocation."""
    protos = {one.id: one for one in assigned.logical_buffers}
    places = {
        place.logical_buffer_id: (row, place.offset)
        for row, allocation in enumerate(assigned.buffer_allocations)
        for place in allocation.assigned
    }
    known = [number for number in places if number in protos]
    defined = [protos[number].defined_at for number in known]
    return Buffers(
        np.array(known, np.int64),
        np.array([protos[number].size for number in known], np.int64),
        np.array([places[number][0] for number in known], np.int32),
        np.array([places[number][1] for number in known], np.int64),
        np.array([one.instruction_id for one in defined], np.int64),
        [one.instruction_name for one in defined],
        [tuple(one.shape_index) for one in defined],
    )


def _read_heap(traces: Iterable[Any], buffer_id: NDArray[np.int64]) -> Heap:
    row_of = {number: row for row, number in enumerate(buffer_id.tolist())}
    names: dict[str, int] = {}
    rows = [
        (
            trace,
            event.kind,
            row_of.get(event.buffer_id, -1),
            row_of.get(event.share_with_canonical_id, -1),
            names.setdefault(event.instruction_name, len(names)),
            names.setdefault(event.computation_name, len(names)),
        )
        for trace, proto in enumerate(traces)
        for event in proto.events
        if event.kind <= HEAP_SHARE_WITH  # newer kinds are not known
    ]
    columns = np.ascontiguousarray(np.array(rows, np.int32).reshape(-1, 6).T)
    trace, kind, buffer, shared, instruction, computation = columns
    return Heap(trace, kind.astype(np.int8), buffer, shared, instruction, computation, list(names))
