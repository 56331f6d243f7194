"""How full the memory of each allocator was, and how scattered what was free."""

from collections.abc import Sequence
from dataclasses import fields, replace

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.hlo.hlo import Programs
from tbprof.analysis.host.host_events import stats_by_pieces
from tbprof.analysis.memory.memory_events import (
    AVAILABLE,
    FRAGMENTATION,
    IN_USE,
    LIFETIME,
    OWNERS,
    bytes_in_use,
    find_memory_events,
    find_owners,
    is_device_name,
    sizes,
)
from tbprof.analysis.spans.groups import group_rows
from tbprof.analysis.vocabulary.lines import host_planes
from tbprof.base.records import dataclass
from tbprof.events.space import Plane, Space
from tbprof.events.stats import StatColumn


@dataclass(frozen=True, slots=True)
class MemoryPeaks:
    """One row per allocator that recorded memory events.

    `peak_bytes` is the most in use at once within the trace, reserved stacks included,
    `lifetime_bytes` since the program began; `capacity_bytes` is what the allocator has in all.
    `fragmentation` (0 to 1, NaN where it was not recorded) is that of the peak's moment: the part
    of the free memory that lies outside of its largest piece. `peak_ps` counts from the trace's
    start.
    `is_device` tells allocators of accelerators from those of the host.
    """

    name: list[str]
    is_device: NDArray[np.bool_]
    peak_bytes: NDArray[np.int64]
    lifetime_bytes: NDArray[np.int64]
    capacity_bytes: NDArray[np.int64]
    fragmentation: NDArray[np.float64]
    peak_ps: NDArray[np.int64]
    allocations: NDArray[np.int64]
    deallocations: NDArray[np.int64]


def find_memory_peaks(space: Space, _programs: Programs) -> MemoryPeaks:
    """The peak of every allocator of the host and its devices."""
    parts = [_of_plane(plane) for plane in host_planes(space)]
    return _joined(parts) if parts else _table([], [])


def merge_memory_peaks(hosts: Sequence[str], parts: Sequence[MemoryPeaks]) -> MemoryPeaks:
    """The allocators of all hosts, one behind the other; of several hosts "host: name"."""
    if len(parts) == 1:
        return parts[0]
    return _joined(
        [
            replace(part, name=[f"{host}: {name}" for name in part.name])
            for host, part in zip(hosts, parts, strict=True)
        ]
    )


def _joined(parts: Sequence[MemoryPeaks]) -> MemoryPeaks:
    names = [name for part in parts for name in part.name]
    columns = [one.name for one in fields(MemoryPeaks)[1:]]
    return MemoryPeaks(
        names, *(np.concatenate([getattr(part, one) for part in parts]) for one in columns)
    )


def _of_plane(plane: Plane) -> MemoryPeaks:
    found = find_memory_events(plane, is_kept=True)
    if found is None:
        return _table([], [])
    events = found.events
    peaks: dict[tuple[int, int], _Peak] = {}
    for piece, stats in stats_by_pieces(events, [*OWNERS, *IN_USE, LIFETIME]):
        _add_piece(piece, stats, events.start_ps[piece], found.is_allocation[piece], peaks)
    at = np.array([peak.row for peak in peaks.values()], np.int64)
    stats = events.stats([AVAILABLE, FRAGMENTATION], at)
    available = np.maximum(sizes(stats[AVAILABLE]), 0).tolist()
    fragmentation = stats[FRAGMENTATION].numbers().tolist()
    return _table(
        [plane.strings[allocator] or str(ordinal) for allocator, ordinal in peaks],
        [
            (
                peak.bytes,
                peak.lifetime,
                peak.bytes + free,
                scattered,
                peak.start_ps,
                peak.allocations,
                peak.deallocations,
            )
            for peak, free, scattered in zip(peaks.values(), available, fragmentation, strict=True)
        ],
    )


@dataclass(slots=True)
class _Peak:
    """What has been seen of one allocator: its highest moment, a row of the host's events."""

    bytes: int = -1
    start_ps: int = 0
    row: int = -1
    lifetime: int = 0
    allocations: int = 0
    deallocations: int = 0


def _add_piece(
    rows: NDArray[np.int64],
    stats: dict[str, StatColumn],
    start: NDArray[np.int64],
    allocates: NDArray[np.bool_],
    peaks: dict[tuple[int, int], _Peak],
) -> None:
    """Adds the memory events `rows` to the peaks by owner (id of the name, number)."""
    allocator, ordinal = find_owners(stats, rows.size)
    in_use, _ = bytes_in_use(stats, rows.size)
    lifetime = sizes(stats[LIFETIME]) if LIFETIME in stats else np.full(rows.size, -1)
    code, first = group_rows([allocator, ordinal])
    for group, one in enumerate(first.tolist()):
        owner = int(allocator[one]), int(ordinal[one])
        if max(owner) < 0:
            continue  # no owner: the counters belong to nothing
        mine = np.flatnonzero(code == group)
        # Of equal peaks the first in time.
        highest = mine[in_use[mine] == in_use[mine].max()]
        at = highest[np.argmin(start[highest])]
        peak = peaks.setdefault(owner, _Peak())
        if (-int(in_use[at]), int(start[at])) < (-peak.bytes, peak.start_ps):
            peak.bytes, peak.start_ps, peak.row = int(in_use[at]), int(start[at]), int(rows[at])
        peak.lifetime = max(peak.lifetime, int(lifetime[mine].max()))
        peak.allocations += int(allocates[mine].sum())
        peak.deallocations += int((~allocates[mine]).sum())


def _table(owners: list[str], table: list[tuple[float, ...]]) -> MemoryPeaks:
    def column(at: int) -> NDArray[np.int64]:
        return np.array([row[at] for row in table], np.int64)

    return MemoryPeaks(
        owners,
        np.array([is_device_name(name) for name in owners], bool),
        column(0),
        # Recorders count reserved stacks in the one and not in the other.
        np.maximum(column(1), column(0)),
        column(2),
        np.array([row[3] for row in table], np.float64),
        column(4),
        column(5),
        column(6),
    )
