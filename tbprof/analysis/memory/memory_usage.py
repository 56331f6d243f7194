"""Usage of allocators: peaks, counts, and live allocations at one point in time."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.memory.memory import Memory
from tbprof.base.records import dataclass


@dataclass(frozen=True, slots=True)
class MemorySummary:
    """One row per allocator [a]; -1 if unknown.

    `peak_event` is the row in `Memory` of the first event at peak usage (stack and heap,
    `peak_bytes`); `end_bytes` are in use after the last event. `lifetime_bytes` is the maximum
    since the program started; it is at least the peak, because recorders include reserved stacks in
    only one of the two. `capacity_bytes` is the maximum of memory in use plus free memory.

    `unmatched_frees` counts deallocations of memory that was allocated before the recording or has
    no address; `reused_addresses` counts allocations without a recorded deallocation whose address
    was reused; `addressless` counts allocations without an address, which cannot be matched.
    """

    peak_event: NDArray[np.int64]
    peak_bytes: NDArray[np.int64]
    lifetime_bytes: NDArray[np.int64]
    capacity_bytes: NDArray[np.int64]
    end_bytes: NDArray[np.int64]
    allocations: NDArray[np.int64]
    deallocations: NDArray[np.int64]
    unmatched_frees: NDArray[np.int64]
    reused_addresses: NDArray[np.int64]
    addressless: NDArray[np.int64]


def summarize(memory: Memory) -> MemorySummary:
    """Return the peaks and counts of every allocator."""
    rows = [_summarize(memory, allocator) for allocator in range(len(memory.name))]
    columns = np.array(rows, np.int64).reshape(len(rows), 10).T
    return MemorySummary(*columns)


def allocator_rows(memory: Memory, allocator: int) -> slice:
    """Return the rows of an allocator's events."""
    return slice(int(memory.first_event[allocator]), int(memory.first_event[allocator + 1]))


def in_use(memory: Memory, rows: slice | NDArray[np.int64]) -> NDArray[np.int64]:
    """Return [n] bytes of stack and heap after each of `rows`, -1 if neither is known."""
    stack, heap = memory.stack_bytes[rows], memory.heap_bytes[rows]
    total = np.maximum(stack, 0) + np.maximum(heap, 0)
    total[(stack < 0) & (heap < 0)] = -1
    return total


def own_bytes(memory: Memory, events: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return [n] bytes that each event allocated or freed; otherwise requested; otherwise -1."""
    allocated = memory.allocated_bytes[events]
    return np.where(allocated >= 0, allocated, memory.requested_bytes[events])


def event_at(memory: Memory, allocator: int, at_ps: int) -> int:
    """Return the allocator's last event at or before `at_ps`, -1 if there is none."""
    rows = allocator_rows(memory, allocator)
    index = int(np.searchsorted(memory.time_ps[rows], at_ps, side="right"))
    return rows.start + index - 1 if index else -1


def alive_after(memory: Memory, allocator: int, event: int) -> NDArray[np.int64]:
    """Return the allocations, ascending, that are live right after an event (-1: none).

    Allocations from before the recording are not included, nor those without an address, whose end
    is unknown.
    """
    begin = int(memory.first_event[allocator])
    rows = slice(begin, max(event + 1, begin))
    partner = memory.partner[rows]
    is_alive = memory.is_allocation[rows] & ((partner < 0) | (partner > event))
    is_alive &= memory.address[rows] != 0
    return np.flatnonzero(is_alive) + begin


def _summarize(memory: Memory, allocator: int) -> tuple[int, ...]:
    rows = allocator_rows(memory, allocator)
    used = in_use(memory, rows)
    partner, is_allocation = memory.partner[rows], memory.is_allocation[rows]
    allocations = int(is_allocation.sum())
    peak_index = int(used.argmax()) if used.size else -1
    peak = int(used[peak_index]) if used.size else -1
    free = memory.free_bytes[rows]
    capacity = np.where(free >= 0, np.maximum(used, 0) + free, -1)
    ended_by = partner[is_allocation & (partner >= 0)]
    return (
        rows.start + peak_index if peak >= 0 else -1,
        peak,
        max(int(memory.lifetime_bytes[rows].max(initial=-1)), peak),
        int(capacity.max(initial=-1)),
        int(used[-1]) if used.size else -1,
        allocations,
        used.size - allocations,
        int((~is_allocation & (partner < 0)).sum()),
        int(memory.is_allocation[ended_by].sum()),
        int((is_allocation & (memory.address[rows] == 0)).sum()),
    )
