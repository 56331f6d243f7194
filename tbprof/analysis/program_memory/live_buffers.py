"""The buffers of a program that use memory at a point in time, and their padding."""

from __future__ import annotations

from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.program_memory.buffer_assignment import Allocations
from tbprof.analysis.program_memory.program_memory import ProgramMemory
from tbprof.base.records import dataclass


class Purpose(IntEnum):
    """The purpose of memory. A donated parameter that is reused for a result is a parameter."""

    PARAMETER = 0
    OUTPUT = 1
    THREAD_LOCAL = 2
    CONSTANT = 3
    TEMPORARY = 4


@dataclass(frozen=True, slots=True)
class LiveBuffers:
    """Memory [n] in use at a point in time: fixed allocations first, then in order of start.

    `buffer` is a row of `ProgramMemory`; for a fixed allocation, it is the largest buffer in it.
    The memory is in use from event `start` (-1: always) until before event `end`.
    """

    buffer: NDArray[np.int64]
    size_bytes: NDArray[np.int64]
    unpadded_bytes: NDArray[np.int64]
    start: NDArray[np.int64]
    end: NDArray[np.int64]


def purposes(allocations: Allocations) -> NDArray[np.int8]:
    """[a] the `Purpose` of each allocation."""
    conditions = [
        allocations.is_parameter, allocations.is_output, allocations.is_thread_local,
        allocations.is_constant,
    ]  # fmt: skip
    choices = [Purpose.PARAMETER, Purpose.OUTPUT, Purpose.THREAD_LOCAL, Purpose.CONSTANT]
    return np.select(conditions, choices, Purpose.TEMPORARY).astype(np.int8)


def live_at(memory: ProgramMemory, event: int) -> LiveBuffers:
    """The memory in use after an event of the heap, or before the first one (-1)."""
    use = memory.use
    return _live(memory, np.flatnonzero((use.start <= event) & (event < use.end)))


def live_ever(memory: ProgramMemory) -> LiveBuffers:
    """The memory in use at any time; memory that is reused has a row for each of its lifetimes."""
    return _live(memory, np.arange(memory.use.start.size))


def _live(memory: ProgramMemory, lives: NDArray[np.int64]) -> LiveBuffers:
    use, unpadded = memory.use, memory.facts.unpadded_bytes
    fixed = _largest_of_fixed(memory)
    throughout = memory.allocations.size_bytes[memory.allocation[fixed]]
    padding = memory.size_bytes[fixed] - unpadded[fixed]
    owner, holder = use.owner[lives], use.holder[lives]
    events = use.instruction.size
    return LiveBuffers(
        np.concatenate([fixed, holder]).astype(np.int64),
        np.concatenate([throughout, memory.size_bytes[owner]]),
        np.concatenate([throughout - padding, unpadded[owner]]),
        np.concatenate([np.full(fixed.size, -1), use.start[lives]]),
        np.concatenate([np.full(fixed.size, events), use.end[lives]]),
    )


def _largest_of_fixed(memory: ProgramMemory) -> NDArray[np.int64]:
    """The row of the largest buffer of each fixed allocation; the first of equals."""
    is_ours = memory.allocations.is_fixed[memory.allocation] & (memory.size_bytes > 0)
    rows = np.flatnonzero(is_ours)
    rows = rows[np.lexsort((rows, -memory.size_bytes[rows], memory.allocation[rows]))]
    allocation = memory.allocation[rows]
    is_first = np.ones(rows.size, bool)
    is_first[1:] = allocation[1:] != allocation[:-1]
    return rows[is_first]
