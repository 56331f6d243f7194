"""The memory profile for scripts for the profile plugin."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.memory.allocators import Allocator
from tbprof.analysis.memory.memory import Memory
from tbprof.analysis.memory.memory_breakdown import Age
from tbprof.analysis.memory.memory_samples import sample_events
from tbprof.analysis.memory.memory_usage import alive_after, allocator_rows, in_use
from tbprof.analysis.spans.groups import group_rows
from tbprof.analysis.tpu.program_runs import ProgramRuns

Record = dict[str, object]

BEFORE_OP = "allocated before the recording began"
STACK_OP = "stack"
AGES = {Age.STEP: "step", Age.EARLIER: "earlier", Age.BEFORE: "before", Age.STACK: "stack"}
# The most points of an allocator's use over time for scripts.
_MOST_SNAPSHOTS = 1000
# The profile plugin's texts for an unknown data type and shape.
# Source: xprof, convert/xplane_to_memory_profile.cc.
_NO_DTYPE = "INVALID"
_NO_SHAPE = "unknown"


def profile_records(
    hosts: Sequence[str], allocators: Sequence[Allocator], runs: Sequence[ProgramRuns]
) -> Record:
    """The whole answer; 64-bit numbers are texts, as protocol buffers write them in JSON."""
    return {
        "memoryProfilePerAllocator": {
            allocator.id: profile_record(allocator) for allocator in allocators
        },
        "numHosts": len(hosts),
        "memoryIds": [allocator.id for allocator in allocators],
        "version": 1,
        "hloModules": _programs(hosts, runs),
    }


def profile_record(allocator: Allocator) -> Record:
    """One allocator: its figures, what was in use at its peak, and its use over time.

    In use at the peak are all live allocations, from any step. A row joins allocations that agree
    in all its fields; its sizes are those of one of them.
    """
    memory, peak = allocator.memory, allocator.peak_event
    rows = alive_after(memory, allocator.row, peak)
    sizes = _sizes(memory, rows)
    special = _special(memory, peak, int(sizes.sum())) if peak >= 0 else []
    first, occurrences = _merged(memory, rows, sizes)
    return {
        "memoryProfileSnapshots": _snapshots(memory, first),
        "profileSummary": {
            "peakBytesUsageLifetime": _text(allocator.figure("lifetime_bytes")),
            "peakStats": _stats(memory, [peak], [_used(memory, peak)])[0] if peak >= 0 else None,
            "peakStatsTimePs": str(int(memory.time_ps[peak])) if peak >= 0 else None,
            "memoryCapacity": _text(allocator.figure("capacity_bytes")),
            "numAllocations": _text(allocator.figure("allocations")),
            "numDeallocations": _text(allocator.figure("deallocations")),
        },
        "activeAllocations": [
            {"snapshotIndex": str(-1 - index), "specialIndex": str(index), "numOccurrences": "1"}
            for index in range(len(special))
        ]
        + [
            {"snapshotIndex": str(index), "specialIndex": "-1", "numOccurrences": str(count)}
            for index, count in enumerate(occurrences)
        ],
        "specialAllocations": special,
        "sampledTimelineSnapshots": _snapshots(memory, _sampled(allocator)),
    }


def _sampled(allocator: Allocator) -> list[int]:
    memory = allocator.memory
    time = memory.time_ps[allocator_rows(memory, allocator.row)]
    rows = sample_events(memory, allocator.row, int(time[0]), int(time[-1]), _MOST_SNAPSHOTS)
    sampled: list[int] = rows.tolist()
    return sampled


def _sizes(memory: Memory, rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """[rows] allocated sizes, or requested sizes if only these were recorded."""
    allocated, requested = memory.allocated_bytes[rows], memory.requested_bytes[rows]
    return np.maximum(np.where(allocated >= 0, allocated, requested), 0)


def _merged(
    memory: Memory, rows: NDArray[np.int64], sizes: NDArray[np.int64]
) -> tuple[list[int], list[int]]:
    """(one allocation of each row, how many it stands for), largest first, then by name."""
    requested = memory.requested_bytes[rows]
    kinds = [column[rows] for column in (memory.op, memory.region, memory.dtype, memory.shape)]
    code, first = group_rows([sizes, requested, *kinds])
    counts = np.bincount(code, minlength=first.size)
    numbers = [(-column[first]).tolist() for column in (sizes, requested)]
    keys = list(zip(*numbers, *(_texts(memory, kind[first]) for kind in kinds), strict=True))
    order = sorted(range(first.size), key=keys.__getitem__)
    return rows[first][order].tolist(), counts[order].tolist()


def _special(memory: Memory, peak: int, tracked: int) -> list[Record]:
    """What is in use at the peak without an allocation in the trace."""
    before = int(memory.heap_bytes[peak]) - tracked
    pieces = ((BEFORE_OP, before, ""), (STACK_OP, int(memory.stack_bytes[peak]), "stack"))
    return [
        {
            "memoryActivity": "ALLOCATION",
            "requestedBytes": str(size),
            "allocationBytes": str(size),
            "address": "0",
            "tfOpName": op,
            "stepId": str(int(memory.step[peak])),
            "regionType": region,
            "dataType": _NO_DTYPE,
            "tensorShape": _NO_SHAPE,
        }
        for op, size, region in pieces
        if size > 0
    ]


def _snapshots(memory: Memory, rows: Sequence[int]) -> list[Record]:
    """Each event, and the state after it."""
    index = np.array(rows, np.int64)
    dtypes = [text or _NO_DTYPE for text in _texts(memory, memory.dtype[index])]
    events = zip(
        memory.time_ps[index].tolist(),
        _stats(memory, rows, _counts(memory.lifetime_bytes[index])),
        memory.is_allocation[index].tolist(),
        _counts(memory.requested_bytes[index]),
        _counts(memory.allocated_bytes[index]),
        memory.address[index].tolist(),
        _texts(memory, memory.op[index]),
        memory.step[index].tolist(),
        _texts(memory, memory.region[index]),
        dtypes,
        _texts(memory, memory.shape[index]),
        strict=True,
    )
    return [
        {
            "timeOffsetPs": str(time_ps),
            "aggregationStats": stats,
            "activityMetadata": {
                "memoryActivity": "ALLOCATION" if is_allocation else "DEALLOCATION",
                "requestedBytes": requested,
                "allocationBytes": allocated,
                "address": str(address),
                "tfOpName": op,
                "stepId": str(step),
                "regionType": region,
                "dataType": dtype,
                "tensorShape": shape,
            },
        }
        for (
            time_ps, stats, is_allocation, requested, allocated, address, op, step,
            region, dtype, shape,
        ) in events
    ]  # fmt: skip


def _stats(memory: Memory, rows: Sequence[int], peaks: Sequence[str | None]) -> list[Record]:
    """The state after each event, and the peak until then."""
    index = np.array(rows, np.int64)
    columns = (memory.stack_bytes, memory.heap_bytes, memory.free_bytes)
    state = zip(
        *(_counts(column[index]) for column in columns),
        memory.fragmentation[index].tolist(),
        peaks,
        strict=True,
    )
    return [
        {
            "stackReservedBytes": stack,
            "heapAllocatedBytes": heap,
            "freeMemoryBytes": free,
            "fragmentation": None if math.isnan(fragmentation) else fragmentation,
            "peakBytesInUse": peak,
        }
        for stack, heap, free, fragmentation, peak in state
    ]


def _texts(memory: Memory, numbers: NDArray[np.int32]) -> list[str]:
    # The entry after the last text is for -1: empty.
    return list(map([*memory.texts, ""].__getitem__, numbers.tolist()))


def _used(memory: Memory, row: int) -> str | None:
    return _text(int(in_use(memory, slice(row, row + 1))[0]))


def _counts(values: NDArray[np.int64]) -> list[str | None]:
    """[n] 64-bit numbers, None if they were not recorded."""
    return [str(value) if value >= 0 else None for value in values.tolist()]


def _text(value: int | None) -> str | None:
    """A 64-bit number, None if it was not recorded."""
    return None if value is None or value < 0 else str(value)


def _programs(hosts: Sequence[str], runs: Sequence[ProgramRuns]) -> list[Record]:
    """The programs that TPU cores ran, numbered consecutively."""
    records: list[Record] = []
    for host, run in zip(hosts, runs, strict=True):
        prefix = f"{host}: " if len(hosts) > 1 else ""
        columns = run.plane.tolist(), run.program.tolist(), run.start_ps.tolist()
        for plane, program, start, end in zip(*columns, run.end_ps.tolist(), strict=True):
            records.append(
                {
                    "name": run.programs[program],
                    "startTimePs": str(start),
                    "endTimePs": str(end),
                    "id": str(len(records)),
                    "planeName": prefix + run.planes[plane],
                }
            )
    return records
