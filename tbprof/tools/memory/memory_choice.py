"""The allocator and instant of a request."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tbprof.analysis.memory.allocators import Allocator
from tbprof.analysis.memory.memory_usage import event_at
from tbprof.base.texts import whole_number

_MOST_DIGITS = 18  # of times in ps: they stay in int64


def allocator_named(allocators: Sequence[Allocator], params: Mapping[str, str]) -> int:
    """The row of the allocator that a request names, -1 if it names none that exists."""
    wanted = params.get("memory_id", "")
    ids = [allocator.id for allocator in allocators]
    return ids.index(wanted) if wanted in ids else -1


def chosen(allocators: Sequence[Allocator], params: Mapping[str, str]) -> int:
    """The row of the allocator to show: the one named, else the fullest device, else the first."""
    named = allocator_named(allocators, params)
    if named >= 0:
        return named
    devices = [row for row, allocator in enumerate(allocators) if allocator.is_device]
    return max(devices, key=lambda row: allocators[row].used_share, default=0)


def instant(params: Mapping[str, str], name: str) -> int | None:
    """A time of a request in ps, None if it has none."""
    return whole_number(params.get(name, ""), _MOST_DIGITS, is_signed=True)


def wanted_event(allocator: Allocator, params: Mapping[str, str]) -> int:
    """The event whose breakdown is requested: the last up to `at_ps`, else the peak.

    -1 is before the first.
    """
    at_ps = instant(params, "at_ps")
    peak = allocator.peak_event
    if at_ps is None or (peak >= 0 and at_ps == allocator.memory.time_ps[peak]):
        return peak  # even if other events have the same time
    return event_at(allocator.memory, allocator.row, at_ps)
