"""The memory in use on the simulated heap of a program, event by event."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.program_memory.buffer_assignment import BufferAssignment, Heap
from tbprof.base.records import dataclass
from tbprof.base.values import unique
from tbprof.kernels.programs.heap_replay import HeapEvents, HeapLives, replay_heap


@dataclass(frozen=True, slots=True)
class HeapUse:
    """Events [e] of one memory space's heap, and the lifetimes [l] of the memory in it.

    `in_use_bytes` and `unpadded_bytes` are in use after each event, which happens at an
    `instruction` (a row of `Heap.names`). Memory of buffer `owner` contains buffer `holder`, which
    may reuse it, from event `start` until before event `end`, which is `e` if the memory is never
    freed. Lifetimes are ordered by their start.
    """

    instruction: NDArray[np.int32]
    in_use_bytes: NDArray[np.int64]
    unpadded_bytes: NDArray[np.int64]
    owner: NDArray[np.int32]
    holder: NDArray[np.int32]
    start: NDArray[np.int64]
    end: NDArray[np.int64]

    @property
    def peak(self) -> int:
        """The first event after which the most memory is in use, -1 without events."""
        return int(self.in_use_bytes.argmax()) if self.in_use_bytes.size else -1


def use_heap(
    assignment: BufferAssignment,
    space: int,
    unpadded_bytes: NDArray[np.int64],
    rank: NDArray[np.int64] | None = None,
) -> HeapUse:
    """The use of a memory space; `unpadded_bytes` [b] is the size of each buffer without padding.

    If several traces plan the space, each for its own buffers, their events are merged by `rank`
    [events of the heap]: the position of an event's instruction in the schedule, -1 if unknown. A
    buffer in several traces is planned by the first of them.
    """
    heap, size = assignment.heap, assignment.buffers.size_bytes
    rows = _events_of(assignment, space)
    if rank is not None and heap.trace[rows].size and np.ptp(heap.trace[rows]):
        rows = rows[_in_order(heap.trace[rows], rank[rows])]
    buffers, events = size.size, rows.size
    in_use, unpadded = np.empty(events, np.int64), np.empty(events, np.int64)
    owner, holder = np.empty(events, np.int32), np.empty(events, np.int32)
    start, end = np.empty(events, np.int64), np.empty(events, np.int64)
    lives = replay_heap(
        HeapEvents(heap.kind[rows], heap.buffer[rows], heap.shared[rows], size, unpadded_bytes),
        np.arange(buffers, dtype=np.int32),
        np.zeros(buffers, np.int64),
        np.empty(buffers, np.int64),
        HeapLives(owner, holder, start, end),
        in_use,
        unpadded,
    )
    return HeapUse(
        heap.instruction[rows],
        in_use,
        unpadded,
        owner[:lives],
        holder[:lives],
        start[:lives],
        end[:lives],
    )


def has_several_traces(assignment: BufferAssignment) -> bool:
    """Whether any memory space has more than one trace, so that ranks are needed."""
    return any(
        unique(assignment.heap.trace[_events_of(assignment, space)]).size > 1
        for space in assignment.spaces
    )


def _events_of(assignment: BufferAssignment, space: int) -> NDArray[np.int64]:
    """The rows of events on buffers that the heap plans in a memory space."""
    allocations, heap = assignment.allocations, assignment.heap
    is_planned = allocations.is_planned & (allocations.space == space)
    is_here = np.append(is_planned[assignment.buffers.allocation], False)  # the last: no buffer
    is_ours: NDArray[np.bool_] = is_here[heap.buffer] & _is_first_trace(heap, is_here.size)
    return np.flatnonzero(is_ours)


def _is_first_trace(heap: Heap, size: int) -> NDArray[np.bool_]:
    """[e] whether an event is in the first trace that has its buffer."""
    first = np.full(size, np.iinfo(np.int32).max, np.int32)
    np.minimum.at(first, heap.buffer, heap.trace)
    is_first: NDArray[np.bool_] = heap.trace == first[heap.buffer]
    return is_first


def _in_order(trace: NDArray[np.int32], rank: NDArray[np.int64]) -> NDArray[np.int64]:
    """The order of events by rank, which keeps the order within each trace."""
    reached = rank.copy()
    for number in unique(trace).tolist():
        rows = np.flatnonzero(trace == number)
        reached[rows] = np.maximum.accumulate(rank[rows])
    return np.lexsort((np.arange(trace.size), reached))
