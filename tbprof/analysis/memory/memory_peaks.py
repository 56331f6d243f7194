"""Peak memory usage of each allocator, and fragmentation of its free memory."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.hlo.hlo import Programs
from tbprof.analysis.host.host_events import stats_by_pieces
from tbprof.analysis.memory.memory_events import (
    AVAILABLE,
    FRAGMENTATION,
    IN_USE,
    OWNERS,
    bytes_in_use,
    find_memory_events,
    find_owners,
    is_device_name,
    sizes,
)
from tbprof.analysis.spans.groups import group_rows
from tbprof.analysis.vocabulary.lines import host_planes
from tbprof.base.records import dataclass, replace
from tbprof.base.values import join_tables
from tbprof.events.space import Plane, Space
from tbprof.events.stats import StatColumn

# Events per piece, so that its stats fit in the processor's cache.
_PIECE = 1 << 14


@dataclass(frozen=True, slots=True)
class MemoryPeaks:
    """One row per allocator that recorded memory events.

    `peak_bytes` is the maximum in use within the trace, including reserved stacks.
    `capacity_bytes` is the allocator's total. `fragmentation` (0 to 1, NaN if not recorded) is the
    share of free memory outside the largest free block at the peak. `is_device` is true for
    allocators of accelerators.
    """

    name: list[str]
    is_device: NDArray[np.bool_]
    peak_bytes: NDArray[np.int64]
    capacity_bytes: NDArray[np.int64]
    fragmentation: NDArray[np.float64]


def find_memory_peaks(space: Space, _programs: Programs) -> MemoryPeaks:
    """Return the peaks of all allocators of the host and its devices."""
    return join_tables([_table([], []), *map(_of_plane, host_planes(space))])


def merge_memory_peaks(hosts: Sequence[str], parts: Sequence[MemoryPeaks]) -> MemoryPeaks:
    """Return the allocators of all hosts in order, named "host: name" if there are several."""
    if len(parts) == 1:
        return parts[0]
    return join_tables(
        [
            replace(part, name=[f"{host}: {name}" for name in part.name])
            for host, part in zip(hosts, parts, strict=True)
        ]
    )


def _of_plane(plane: Plane) -> MemoryPeaks:
    memory_events = find_memory_events(plane, is_kept=True)
    if memory_events is None:
        return _table([], [])
    events = memory_events.events
    peaks: dict[tuple[int, int], _Peak] = {}
    for piece, stats in stats_by_pieces(events, [*OWNERS, *IN_USE], texts=OWNERS, most=_PIECE):
        _add_piece(piece, stats, events.start_ps[piece], peaks)
    peak_rows = np.array([peak.row for peak in peaks.values()], np.int64)
    stats = events.stats([AVAILABLE, FRAGMENTATION], peak_rows)
    available = np.maximum(sizes(stats[AVAILABLE]), 0).tolist()
    fragmentation = stats[FRAGMENTATION].numbers().tolist()
    return _table(
        [plane.strings[allocator] or str(ordinal) for allocator, ordinal in peaks],
        [
            (peak.bytes, peak.bytes + free, scattered)
            for peak, free, scattered in zip(peaks.values(), available, fragmentation, strict=True)
        ],
    )


@dataclass(slots=True)
class _Peak:
    """The running peak of one allocator; `row` is a row of the host's events."""

    bytes: int = -1
    start_ps: int = 0
    row: int = -1


def _add_piece(
    rows: NDArray[np.int64],
    stats: dict[str, StatColumn],
    start: NDArray[np.int64],
    peaks: dict[tuple[int, int], _Peak],
) -> None:
    """Add the memory events `rows` to `peaks`, which are by (text id of the name, ordinal)."""
    allocator, ordinal = find_owners(stats, rows.size)
    in_use, _ = bytes_in_use(stats, rows.size)
    code, first = group_rows([allocator, ordinal])
    for group, first_row in enumerate(first.tolist()):
        owner = int(allocator[first_row]), int(ordinal[first_row])
        if max(owner) < 0:
            continue  # counters of unknown allocators are meaningless
        own_rows = np.flatnonzero(code == group)
        # Of equal peaks, the earliest.
        highest = own_rows[in_use[own_rows] == in_use[own_rows].max()]
        peak_row = highest[np.argmin(start[highest])]
        peak = peaks.setdefault(owner, _Peak())
        if (-int(in_use[peak_row]), int(start[peak_row])) < (-peak.bytes, peak.start_ps):
            peak.bytes, peak.start_ps, peak.row = (
                int(in_use[peak_row]),
                int(start[peak_row]),
                int(rows[peak_row]),
            )


def _table(owners: list[str], rows: list[tuple[int, int, float]]) -> MemoryPeaks:
    return MemoryPeaks(
        owners,
        np.array([is_device_name(name) for name in owners], bool),
        np.array([peak for peak, _, _ in rows], np.int64),
        np.array([capacity for _, capacity, _ in rows], np.int64),
        np.array([scattered for _, _, scattered in rows], np.float64),
    )
