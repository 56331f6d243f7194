"""Breakdown of the memory in use at one point in time."""

from __future__ import annotations

from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.memory.memory import Memory
from tbprof.analysis.memory.memory_usage import alive_after, in_use, own_bytes
from tbprof.analysis.spans.groups import group_rows, reduce_groups
from tbprof.base.records import dataclass


class Age(IntEnum):
    """When memory was allocated."""

    STEP = 0  # in the current step
    EARLIER = 1  # in an earlier step
    BEFORE = 2  # before the recording began, or without an address
    STACK = 3  # reserved


@dataclass(frozen=True, slots=True)
class Breakdown:
    """Live allocations [m] merged by op, region, type, shape and step, most bytes first.

    Sizes are totals of `occurrences` allocations, -1 if unknown; `op`, `region`, `dtype` and
    `shape` are indices into `Memory.texts`, -1 for none. `since_ps` is the time of the oldest
    allocation of a row, -1 if not recorded. `allocated_bytes` add up to `in_use_bytes` (-1: not
    recorded) plus `excess_bytes`: allocations that only appear live, because their deallocations
    were not recorded.
    """

    at_ps: int
    in_use_bytes: int
    excess_bytes: int
    op: NDArray[np.int32]
    region: NDArray[np.int32]
    dtype: NDArray[np.int32]
    shape: NDArray[np.int32]
    step: NDArray[np.int32]
    age: NDArray[np.int8]
    allocated_bytes: NDArray[np.int64]
    requested_bytes: NDArray[np.int64]
    occurrences: NDArray[np.int64]
    since_ps: NDArray[np.int64]


def break_down(memory: Memory, allocator: int, event: int) -> Breakdown:
    """Return the memory in use right after an event of an allocator; no rows for -1 (no event)."""
    live = alive_after(memory, allocator, event)
    kinds = [column[live] for column in (memory.op, memory.region, memory.dtype, memory.shape)]
    step = memory.step[live]
    age = _ages(memory, allocator, event, live, step)
    code, first = group_rows([*kinds, step, age])
    total = _totals(code, own_bytes(memory, live), first.size)
    columns = [
        *(column[first] for column in (*kinds, step, age)),
        total,
        _totals(code, memory.requested_bytes[live], first.size),
        np.bincount(code, minlength=first.size),
        memory.time_ps[live[first]],
    ]
    stack, heap, used = _state(memory, event)
    rest = heap - int(np.maximum(total, 0).sum()) if heap >= 0 else 0
    special = [
        [-1, -1, -1, -1, -1, kind, size, size, 1, -1]
        for kind, size in ((Age.BEFORE, rest), (Age.STACK, stack))
        if size > 0
    ]
    table = np.column_stack([np.asarray(column, np.int64) for column in columns])
    table = np.concatenate([table, np.array(special, np.int64).reshape(-1, table.shape[1])])
    table = table[np.lexsort((-table[:, 7], -table[:, 6]))]
    return Breakdown(
        at_ps=int(memory.time_ps[event]) if event >= 0 else -1,
        in_use_bytes=used,
        excess_bytes=max(-rest, 0),
        op=table[:, 0].astype(np.int32),
        region=table[:, 1].astype(np.int32),
        dtype=table[:, 2].astype(np.int32),
        shape=table[:, 3].astype(np.int32),
        step=table[:, 4].astype(np.int32),
        age=table[:, 5].astype(np.int8),
        allocated_bytes=table[:, 6].copy(),
        requested_bytes=table[:, 7].copy(),
        occurrences=table[:, 8].copy(),
        since_ps=table[:, 9].copy(),
    )


def _state(memory: Memory, event: int) -> tuple[int, int, int]:
    """Return bytes (stack, heap, both) after an event, -1 if unknown."""
    if event < 0:
        return -1, -1, -1
    used = in_use(memory, slice(event, event + 1))
    return int(memory.stack_bytes[event]), int(memory.heap_bytes[event]), int(used[0])


def _ages(
    memory: Memory,
    allocator: int,
    event: int,
    live: NDArray[np.int64],
    step: NDArray[np.int32],
) -> NDArray[np.int32]:
    """Return [live] ages. Between steps, allocations since the last step ended have age STEP."""
    if event < 0 or memory.step[event] >= 0:
        is_own = step == (memory.step[event] if event >= 0 else -1)
    else:
        step_ends = memory.step_end_ps[memory.steps_of(allocator)]
        step_ends = step_ends[step_ends <= memory.time_ps[event]]
        is_own = (memory.time_ps[live] >= step_ends.max(initial=np.iinfo(np.int64).min)) & (
            step < 0
        )
    return np.where(is_own, Age.STEP, Age.EARLIER).astype(np.int32)


def _totals(code: NDArray[np.int32], size: NDArray[np.int64], groups: int) -> NDArray[np.int64]:
    """Return [groups] sums of the known sizes, -1 if none is known."""
    known_codes = np.where(size >= 0, code, -1).astype(np.int32)
    count, total, _, _ = reduce_groups(known_codes, size, groups)
    return np.where(count > 0, total, -1)
