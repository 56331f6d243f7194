"""The allocators of all hosts side by side: how they are called, and which one is meant."""

from collections.abc import Mapping, Sequence

import numpy as np

from tbprof.analysis.memory.memory import Memory
from tbprof.analysis.memory.memory_usage import MemorySummary, event_at, summarize
from tbprof.base.records import dataclass

_MOST_DIGITS = 18  # of times in ps: they stay in int64


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
    def is_device(self) -> bool:
        """Whether it is an accelerator's."""
        return bool(self.memory.is_device[self.at])

    @property
    def peak_event(self) -> int:
        """The row of its first event with most in use, -1 where that was not recorded."""
        return int(self.summary.peak_event[self.at])

    def figure(self, name: str) -> int | None:
        """A column of the summary; None where it was not recorded."""
        found = int(getattr(self.summary, name)[self.at])
        return found if found >= 0 else None

    @property
    def used_share(self) -> float:
        """Its peak as a part of its capacity, -1 where either is unknown."""
        peak, capacity = self.figure("peak_bytes"), self.figure("capacity_bytes")
        return -1.0 if peak is None or not capacity else peak / capacity


def find_allocators(hosts: Sequence[str], memories: Sequence[Memory]) -> list[Allocator]:
    """The allocators that have events, by host; with several hosts their ids are `host: name`."""
    found = []
    for host, memory in zip(hosts, memories, strict=True):
        summary = summarize(memory)
        for at in np.flatnonzero(np.diff(memory.first_event)).tolist():
            name = memory.name[at]
            id_ = f"{host}: {name}" if len(hosts) > 1 else name
            found.append(Allocator(id_, host, memory, summary, at))
    return found


def named(allocators: Sequence[Allocator], params: Mapping[str, str]) -> int:
    """The row of the allocator that a request names, -1 where it names none that there is."""
    wanted = params.get("memory_id", "")
    ids = [one.id for one in allocators]
    return ids.index(wanted) if wanted in ids else -1


def chosen(allocators: Sequence[Allocator], params: Mapping[str, str]) -> int:
    """The row of the allocator to show: the one named, else the fullest device, else the first."""
    at = named(allocators, params)
    if at >= 0:
        return at
    devices = [row for row, one in enumerate(allocators) if one.is_device]
    return max(devices, key=lambda row: allocators[row].used_share, default=0)


def instant(params: Mapping[str, str], name: str) -> int | None:
    """A time of a request in ps, None where it has none."""
    given = params.get(name, "")
    is_time = given.isascii() and given.removeprefix("-").isdigit() and len(given) <= _MOST_DIGITS
    return int(given) if is_time else None


def wanted_event(allocator: Allocator, params: Mapping[str, str]) -> int:
    """The event after which the breakdown is wanted: the last up to `at_ps`, else the peak.

    -1 is before the first.
    """
    at_ps = instant(params, "at_ps")
    peak = allocator.peak_event
    if at_ps is None or (peak >= 0 and at_ps == allocator.memory.time_ps[peak]):
        return peak  # whatever else happened at the same time
    return event_at(allocator.memory, allocator.at, at_ps)
