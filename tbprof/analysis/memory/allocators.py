"""The allocators of all hosts side by side."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tbprof.analysis.memory.memory import Memory
from tbprof.analysis.memory.memory_usage import MemorySummary, summarize
from tbprof.base.records import dataclass


@dataclass(frozen=True, slots=True)
class Allocator:
    """An allocator: row `row` of its host's `memory` and of `summary`."""

    id: str
    host: str
    memory: Memory
    summary: MemorySummary
    row: int

    @property
    def name(self) -> str:
        """Its name on its host."""
        return self.memory.name[self.row]

    @property
    def label(self) -> str:
        """Its display name: recorders identify TPU memory only by the device's ordinal."""
        return f"TPU:{self.name} HBM" if self.name.isdigit() else self.name

    @property
    def is_device(self) -> bool:
        """Whether it is the allocator of an accelerator."""
        return bool(self.memory.is_device[self.row])

    @property
    def peak_event(self) -> int:
        """The row of its first event at peak usage, -1 if usage was not recorded."""
        return int(self.summary.peak_event[self.row])

    def figure(self, name: str) -> int | None:
        """Return its value in a column of the summary, None if it was not recorded."""
        value = int(getattr(self.summary, name)[self.row])
        return value if value >= 0 else None

    @property
    def used_share(self) -> float:
        """Its peak as a fraction of its capacity, -1 if either is unknown."""
        peak, capacity = self.figure("peak_bytes"), self.figure("capacity_bytes")
        return -1.0 if peak is None or not capacity else peak / capacity


def find_allocators(hosts: Sequence[str], memories: Sequence[Memory]) -> list[Allocator]:
    """Return the allocators with events, by host. With several hosts their ids are `host: name`."""
    allocators = []
    for host, memory in zip(hosts, memories, strict=True):
        summary = summarize(memory)
        for row in np.flatnonzero(np.diff(memory.first_event)).tolist():
            name = memory.name[row]
            id_ = f"{host}: {name}" if len(hosts) > 1 else name
            allocators.append(Allocator(id_, host, memory, summary, row))
    return allocators
