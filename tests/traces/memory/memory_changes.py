"""Spaces that hold nothing but changes of memory, and what is found in them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tbprof.analysis.hlo.hlo import Programs
from tbprof.analysis.memory.memory import Memory, find_memory
from tbprof.analysis.steps.step_finding import find_steps
from tbprof.base.records import field_names
from tbprof.events.space import Space
from traces import Stats, Unsigned, space_of
from traces.space_writer import PlaneWriter, SpaceWriter

US = 1_000_000  # ps
GPU = "GPU_0_bfc"


@dataclass(frozen=True)
class Change:
    """One memory event at `at` µs after its line's start; stats that are None are not written."""

    at: int
    is_allocation: bool = True
    owner: str | int | None = GPU
    address: int | None = 1
    size: int | None = None
    requested: int | None = None
    heap: int | None = None
    stack: int | None = None
    free: int | None = None
    op: str | None = None
    group: int | None = None
    more: Stats | None = None

    def stats(self) -> Stats:
        """What is written; numbers over 63 bits are unsigned."""
        owner = "allocator_name" if isinstance(self.owner, str) else "index_on_host"
        known: dict[str, str | bytes | int | float | None] = {
            owner: self.owner,
            "bytes_reserved": self.stack,
            "bytes_allocated": self.heap,
            "bytes_available": self.free,
            "requested_bytes": self.requested,
            "allocation_bytes": self.size,
            "addr": self.address,
            "tf_op": self.op,
            "group_id": self.group,
            **(self.more or {}),
        }
        return {
            name: Unsigned(value) if isinstance(value, int) and value >= 2**63 else value
            for name, value in known.items()
            if value is not None
        }


def take(at: int, address: int | None, size: int | None = 1, **more: Any) -> Change:
    return Change(at, is_allocation=True, address=address, size=size, **more)


def give(at: int, address: int | None, **more: Any) -> Change:
    return Change(at, is_allocation=False, address=address, **more)


def memory_space(
    *lines: Sequence[Change],
    line_start_ns: Sequence[int] = (),
    processes: Mapping[str, Sequence[Change]] | None = None,
) -> Space:
    """A host's space of these lines, which start at `line_start_ns` (0 by default).

    `processes` are planes of one line each, by their names.
    """
    space = SpaceWriter()
    _write(space.plane("/host:CPU"), lines, line_start_ns)
    for name, changes in (processes or {}).items():
        _write(space.plane(name), [changes], ())
    return space_of(space.bytes())


def _write(plane: PlaneWriter, lines: Sequence[Sequence[Change]], starts: Sequence[int]) -> None:
    for at, changes in enumerate(lines):
        start_ns = starts[at] if at < len(starts) else 0
        line = plane.line("", start_ns=start_ns)
        for change in changes:
            kind = "MemoryAllocation" if change.is_allocation else "MemoryDeallocation"
            plane.event(line, kind, start_ns * 1000 + change.at * US, 0, change.stats())


def memory_of(space: Space) -> Memory:
    """The memory, which is the same whether the steps are known before or not."""
    memory = find_memory(space, Programs(space))
    known = find_memory(space, Programs(space), find_steps(space, Programs(space)))
    for name in field_names(Memory):
        np.testing.assert_array_equal(getattr(memory, name), getattr(known, name), name)
    return memory


def texts(memory: Memory, column: np.ndarray) -> list[str]:
    """The text of each row of a column, "" for none."""
    return [memory.texts[row] if row >= 0 else "" for row in column]
