"""A heap as a list of names, against the kernel that replays one."""

from collections.abc import Sequence

import numpy as np

from tbprof.analysis.program_memory.buffer_assignment import (
    Allocations,
    BufferAssignment,
    Buffers,
    Heap,
)
from tbprof.analysis.program_memory.heap_use import HeapUse, use_heap

_KINDS = {"+": 0, "-": 1, "=": 2}

# "+", "-" or "=", a buffer, and the one whose memory it shares; -1 for one that is not there.
Event = tuple[str, int, int]


def replay(events: Sequence[Event], sizes: Sequence[int]) -> HeapUse:
    """What the package makes of events, by the kernel."""
    count = len(sizes)
    flags = np.zeros(1, bool)
    assignment = BufferAssignment(
        Allocations(
            np.zeros(1, np.int64),
            np.array([sum(sizes)], np.int64),
            np.zeros(1, np.int64),
            flags, flags, flags, flags, flags,
            np.full(1, -1),
        ),
        Buffers(
            np.arange(count),
            np.array(sizes, np.int64),
            np.zeros(count, np.int32),
            np.zeros(count, np.int64),
            np.arange(count),
            [""] * count,
            [()] * count,
        ),
        Heap(
            np.zeros(len(events), np.int32),
            np.array([_KINDS[kind] for kind, _, _ in events], np.int8),
            np.array([buffer for _, buffer, _ in events], np.int32),
            np.array([shared for _, _, shared in events], np.int32),
            np.zeros(len(events), np.int32),
            np.zeros(len(events), np.int32),
            [""],
        ),
    )  # fmt: skip
    return use_heap(assignment, 0, assignment.buffers.size_bytes)


def replay_slowly(events: Sequence[Event], sizes: Sequence[int]) -> list[int]:
    """The bytes in use after each event on a known buffer, by lists of users."""
    owner = {buffer: buffer for buffer in range(len(sizes))}
    users: dict[int, int] = dict.fromkeys(owner, 0)
    in_use = []
    for kind, buffer, shared in events:
        if buffer < 0:
            continue
        if kind == "+":
            owner[buffer] = buffer
            users[buffer] += 1
        elif kind == "=" and shared >= 0 and not users[buffer]:
            owner[buffer] = _root(owner, shared)
            users[owner[buffer]] += 1
        elif kind == "-" and users[_root(owner, buffer)]:
            users[_root(owner, buffer)] -= 1
        in_use.append(sum(size for at, size in enumerate(sizes) if users[at]))
    return in_use


def _root(owner: dict[int, int], buffer: int) -> int:
    for _ in range(len(owner) + 1):
        if owner[buffer] == buffer:
            return buffer
        buffer = owner[buffer]
    raise AssertionError("a circle")
