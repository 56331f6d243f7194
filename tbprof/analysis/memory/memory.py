"""Allocations and deallocations of a host's allocators."""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from tbprof.analysis.hlo.hlo import Programs
from tbprof.analysis.memory.memory_events import (
    MemoryEvents,
    MemoryStats,
    find_memory_events,
    is_device_name,
    read_memory_stats,
)
from tbprof.analysis.memory.memory_steps import find_memory_steps
from tbprof.analysis.steps.steps import Steps
from tbprof.analysis.vocabulary.lines import host_planes
from tbprof.base import names
from tbprof.base.lazy import Later
from tbprof.base.natural_order import natural_order
from tbprof.base.process.parallel import both
from tbprof.base.records import as_dict, dataclass
from tbprof.events.space import Plane, Space
from tbprof.events.strings import Strings
from tbprof.kernels.analysis.address_pairs import pair_events
from tbprof.kernels.analysis.row_groups import renumber_groups
from tbprof.kernels.analysis.type_marks import mark_types

UNKNOWN_ALLOCATOR = "unknown allocator"
_FEW_ADDRESSES = 1 << 14
# Imported on first use: cached memory is loaded without step finding.
_find_step_times = Later("tbprof.analysis.steps.step_finding.find_step_times")


@dataclass(frozen=True, slots=True)
class Memory:
    """The allocators [a] of a host, and their events [n] by (allocator, time, order in the file).

    Rows `first_event[i]:first_event[i + 1]` belong to allocator i; allocators are in natural order
    of their names. An allocator without a name is named by its device's ordinal; events with
    neither belong to `UNKNOWN_ALLOCATOR`. Times are ps since `Space.start_ns`; `begin_ps` and
    `end_ps` delimit the host's recording. `is_summed` [a]: the allocator did not record its memory
    in use, so `heap_bytes` is the sum of allocations minus deallocations since the recording began.

    `stack_bytes` (reserved), `heap_bytes`, `free_bytes`, `fragmentation` (0 to 1) and
    `lifetime_bytes` (the maximum in use since the program started) are the state after the event:
    -1, or NaN for `fragmentation`, if not recorded. `requested_bytes` and `allocated_bytes` are the
    sizes of the event, -1 if unknown; a deallocation without sizes has those of its allocation.
    `address` is 0 for none.

    `partner` [n] links events. For an allocation it is the event that ended it: its deallocation,
    or the next allocation at its address if the deallocation was not recorded; -1 if the allocation
    is live at the end, or has no address. For a deallocation it is its allocation, -1 for none.

    `op`, `region`, `dtype` and `shape` [n] are indices into the sorted `texts`, -1 for none; a
    deallocation has those of its allocation.

    Rows `first_step[i]:first_step[i + 1]` of the steps [s] belong to allocator i; they are in time
    order and disjoint, and each ends at the start of the next. `step` [n] is the step of an event,
    counted from the allocator's first one, -1 for none.
    """

    name: list[str]
    is_device: NDArray[np.bool_]
    is_summed: NDArray[np.bool_]
    first_event: NDArray[np.int64]
    begin_ps: int
    end_ps: int
    time_ps: NDArray[np.int64]
    is_allocation: NDArray[np.bool_]
    stack_bytes: NDArray[np.int64]
    heap_bytes: NDArray[np.int64]
    free_bytes: NDArray[np.int64]
    fragmentation: NDArray[np.float32]
    lifetime_bytes: NDArray[np.int64]
    requested_bytes: NDArray[np.int64]
    allocated_bytes: NDArray[np.int64]
    address: NDArray[np.uint64]
    partner: NDArray[np.int64]
    step: NDArray[np.int32]
    op: NDArray[np.int32]
    region: NDArray[np.int32]
    dtype: NDArray[np.int32]
    shape: NDArray[np.int32]
    texts: list[str]
    first_step: NDArray[np.int64]
    step_label: list[str]
    step_begin_ps: NDArray[np.int64]
    step_end_ps: NDArray[np.int64]

    def steps_of(self, allocator: int) -> slice:
        """Return the rows of an allocator's steps."""
        return slice(int(self.first_step[allocator]), int(self.first_step[allocator + 1]))

    def label_of(self, allocator: int, step: int) -> str:
        """Return the label of an allocator's step, "" for none (-1)."""
        return self.step_label[int(self.first_step[allocator]) + step] if step >= 0 else ""


def find_memory(space: Space, programs: Programs, steps: Steps | None = None) -> Memory:
    """Return the memory of a host and its devices; without allocators if it was not recorded.

    `steps` are the steps of the host, which are found here by default.
    """
    hosts = host_planes(space)

    def read() -> tuple[list[tuple[Plane, MemoryEvents]], list[MemoryStats]]:
        # Step finding needs the decoded events of the host, too.
        by_plane = [(plane, find_memory_events(plane, is_kept=steps is None)) for plane in hosts]
        recorded = [(plane, events) for plane, events in by_plane if events is not None]
        return recorded, [read_memory_stats(events) for _, events in recorded]

    (recorded, stats), times = both(
        read,
        lambda: steps or _find_step_times(space, programs),
        sum(int(plane.line_bytes.sum()) for plane in hosts),
    )
    name, owner = _allocators([plane for plane, _ in recorded], stats)
    time = _joined([events.events.start_ps for _, events in recorded], np.int64)
    is_allocation = _joined([events.is_allocation for _, events in recorded], np.bool_)
    begin = min((events.begin_ps for _, events in recorded), default=0)
    end = max((events.end_ps for _, events in recorded), default=0)
    recorded = []  # the other columns of the events are large
    # The events of a line are already in time order.
    order = np.lexsort((time, owner))
    owner, time, is_allocation = owner[order], time[order], is_allocation[order]
    unordered = [as_dict(columns_of) for columns_of in stats]
    del stats

    spare: dict[int, NDArray[Any]] = {}

    def column(field: str, dtype: DTypeLike = np.int64) -> NDArray[Any]:
        # Pop columns, so that none is in memory twice, and reuse the pages of earlier ones.
        joined = _joined([columns.pop(field) for columns in unordered], dtype)
        out = spare.pop(joined.itemsize, np.empty_like(joined)).view(joined.dtype)
        spare[joined.itemsize] = joined
        return np.take(joined, order, out=out, mode="clip")  # "raise" would allocate a buffer

    address = column("address", np.uint64)
    first_event = np.searchsorted(owner, np.arange(len(name) + 1)).astype(np.int64)
    partner = find_partners(first_event, address, is_allocation)
    kinds = [column(field, np.int32) for field in ("op", "region", "dtype", "shape")]
    texts = compact_texts(kinds, space.strings)
    requested, allocated = column("requested_bytes"), column("allocated_bytes")
    _inherit(kinds, [requested, allocated], is_allocation, partner)
    heap = column("heap_bytes")
    sizes = np.where(allocated >= 0, allocated, np.maximum(requested, 0))
    own_steps, step = find_memory_steps(space, times, name, first_event, column("group"), time)
    return Memory(
        name=name,
        is_device=np.array([is_device_name(text) for text in name], np.bool_),
        is_summed=_sum_heaps(heap, first_event, sizes, address, is_allocation, partner),
        first_event=first_event,
        begin_ps=begin,
        end_ps=end,
        time_ps=time,
        is_allocation=is_allocation,
        stack_bytes=column("stack_bytes"),
        heap_bytes=heap,
        free_bytes=column("free_bytes"),
        fragmentation=column("fragmentation", np.float32),
        lifetime_bytes=column("lifetime_bytes"),
        requested_bytes=requested,
        allocated_bytes=allocated,
        address=address,
        partner=partner,
        step=step,
        op=kinds[0],
        region=kinds[1],
        dtype=kinds[2],
        shape=kinds[3],
        texts=texts,
        first_step=np.cumsum([0, *(len(steps.label) for steps in own_steps)]).astype(np.int64),
        step_label=[label for steps in own_steps for label in steps.label],
        step_begin_ps=_joined([steps.begin_ps for steps in own_steps], np.int64),
        step_end_ps=_joined([steps.end_ps for steps in own_steps], np.int64),
    )


def find_partners(
    first_event: NDArray[np.int64], address: NDArray[np.uint64], is_allocation: NDArray[np.bool_]
) -> NDArray[np.int64]:
    """Return [n] `Memory.partner` for events ordered by (allocator, time).

    At one address, where `a` allocates and `f` frees:

        f  a  a  f  f
        -1 2  3  2  -1
    """
    partner = np.empty(address.size, np.int64)
    # Most allocators reuse few addresses.
    size, is_complete = _FEW_ADDRESSES, False
    while not is_complete:
        keys = np.zeros(size + 2, np.int64)
        # Random keys, so that no file can contain addresses that collide on purpose.
        keys[size:] = np.frombuffer(os.urandom(16), np.int64) | 1
        is_complete = pair_events(
            first_event, address.view(np.int64), is_allocation.view(np.uint8), keys,
            np.full(size, -1, np.int64), partner,
        )  # fmt: skip
        size *= 16
    return partner


def compact_texts(columns: Sequence[NDArray[np.int32]], strings: Strings) -> list[str]:
    """Return the sorted texts that the columns use; replaces text ids by indices into them.

    Missing and empty texts become -1.
    """
    is_used = np.zeros(len(strings), np.uint8)
    for column in columns:
        mark_types(column, is_used)
    ids = np.flatnonzero(is_used)
    texts = strings.take(ids.tolist())
    if "" in texts:
        ids = np.delete(ids, texts.index(""))
        texts.remove("")
    order = sorted(range(len(texts)), key=texts.__getitem__)
    row_of = np.full(is_used.size, -1, np.int32)
    row_of[ids[order]] = np.arange(ids.size)
    for column in columns:
        renumber_groups(column, row_of)
    return [texts[index] for index in order]


def _joined(columns: Sequence[NDArray[Any]], dtype: DTypeLike) -> NDArray[Any]:
    if len(columns) == 1:
        return columns[0]
    return np.concatenate([np.empty(0, dtype), *columns])


def _allocators(
    planes: Sequence[Plane], stats: Sequence[MemoryStats]
) -> tuple[list[str], NDArray[np.int32]]:
    """Return (the ordered allocator names of all planes; the allocator of each event)."""
    keys = [
        (plane.name.removeprefix(names.HOST_PLANE), plane.strings[allocator], ordinal)
        for plane, plane_stats in zip(planes, stats, strict=True)
        for allocator, ordinal in plane_stats.owners
    ]
    texts = [(process, text) for process, text, _ in keys]
    name = []
    for process, text, ordinal in keys:  # a process of its own is `/host:CPU [pid]`
        label = text or (str(ordinal) if ordinal >= 0 else UNKNOWN_ALLOCATOR)
        is_shared = bool(text) and texts.count((process, text)) > 1
        name.append(f"{label} ({ordinal}){process}" if is_shared else label + process)
    order = sorted(
        range(len(name)),
        key=lambda index: (not is_device_name(name[index]), natural_order(name[index])),
    )
    rank = np.empty(len(name), np.int32)
    rank[order] = np.arange(len(name))
    begins = np.cumsum([0, *(len(plane_stats.owners) for plane_stats in stats)]).tolist()
    owner = [
        rank[begin : begin + len(plane_stats.owners)][plane_stats.owner]
        for begin, plane_stats in zip(begins, stats, strict=False)
    ]
    return [name[index] for index in order], _joined(owner, np.int32)


def _inherit(
    kinds: Sequence[NDArray[np.int32]],
    sizes: Sequence[NDArray[np.int64]],
    is_allocation: NDArray[np.bool_],
    partner: NDArray[np.int64],
) -> None:
    """Copy kinds and missing sizes from allocations to their deallocations, in place."""
    deallocation = np.flatnonzero(~is_allocation & (partner >= 0))
    allocation = partner[deallocation]
    for kind in kinds:
        kind[deallocation] = kind[allocation]
    for size in sizes:
        own_size = size[deallocation]
        size[deallocation] = np.where(own_size >= 0, own_size, size[allocation])


def _sum_heaps(
    heap: NDArray[np.int64],
    first_event: NDArray[np.int64],
    event_bytes: NDArray[np.int64],
    address: NDArray[np.uint64],
    is_allocation: NDArray[np.bool_],
    partner: NDArray[np.int64],
) -> NDArray[np.bool_]:
    """Return [a] whether an allocator did not record its heap; fills in sums of event sizes.

    Deallocations at addresses without an allocation in the trace do not count, because the memory
    was allocated before the recording. Deallocations without an address are subtracted.
    """
    is_summed = np.zeros(first_event.size - 1, np.bool_)
    for allocator, (begin, end) in enumerate(pairwise(first_event.tolist())):
        if heap[begin:end].max(initial=-1) >= 0:
            continue
        is_summed[allocator] = True
        is_counted = is_allocation[begin:end] | (address[begin:end] == 0)
        change = np.where(is_counted, event_bytes[begin:end], 0)
        np.negative(change, out=change, where=~is_allocation[begin:end])
        ended = np.flatnonzero(is_allocation[begin:end] & (partner[begin:end] >= 0)) + begin
        # An event ends at most one allocation.
        change[partner[ended] - begin] -= event_bytes[ended]
        total = np.cumsum(change)
        heap[begin:end] = total - np.minimum(np.minimum.accumulate(total), 0)
    return is_summed
