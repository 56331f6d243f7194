"""The allocators of all hosts side by side."""

from collections.abc import Sequence

import numpy as np

from tbprof.analysis.memory.memory import Memory
from tbprof.analysis.memory.memory_usage import MemorySummary, summarize
from tbprof.base.records import dataclass


@dataclass(frozen=True, slots=True)
class Allocator:
    """One allocator: row `at` of its host's `memory`, whose figures are `summary`."""

    id: str
    host: str
    memory: Memory
    summary: MemorySummary
    at: int

    @property
    def name(self) -> str:
        """What its host calls it."""
        return self.memory.name[self.at]

    @property
    def label(self) -> str:
        """What users call it: recorders name the memory of TPUs only by the device's ordinal."""
        return f"TPU:{self.name} HBM" if self.name.isdigit() else self.name

    @property
    def is_device(self) -> bool:
        """Whether it is an accelerator's."""
        return bool(self.memory.is_device[self.at])

    @property
    def peak_event(self) -> int:
        """The row of its first event with most in use, -1 where that was not recorded."""
        return int(self.summary.peak_event[self.at])

    def figure(self, name: str) -> int | None:
        """A column of the summary; None where it was not recorded."""
        value = int(getattr(self.summary, name)[self.at])
        return value if value >= 0 else None

    @property
    def used_share(self) -> float:
        """Its peak as a part of its capacity, -1 where either is unknown."""
        peak, capacity = self.figure("peak_bytes"), self.figure("capacity_bytes")
        return -1.0 if peak is None or not capacity else peak / capacity


def find_allocators(hosts: Sequence[str], memories: Sequence[Memory]) -> list[Allocator]:
    """The allocators that have events, by host; with several hosts their ids are `host: name`."""
    allocators = []
    for host, memory in zip(hosts, memories, strict=True):
        summary = summarize(memory)
        for row in np.flatnonzero(np.diff(memory.first_event)).tolist():
            name = memory.name[row]
            id_ = f"{host}: {name}" if len(hosts) > 1 else name
            allocators.append(Allocator(id_, host, memory, summary, row))
    return allocators
