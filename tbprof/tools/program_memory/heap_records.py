"""The memory of a program for scripts for the profile plugin.

Source: the JSON of xprof 2.24, `memory_viewer`: PreprocessResult of memory_viewer_preprocess.proto.
Fields without a value (0, "", []) are left out, as its JSON does.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.program_memory.live_buffers import Purpose, live_at, purposes
from tbprof.analysis.program_memory.program_memory import ProgramMemory
from tbprof.base.values import unique

Record = dict[str, object]

PURPOSES = {
    Purpose.PARAMETER: "Parameter",
    Purpose.OUTPUT: "Output",
    Purpose.CONSTANT: "Constant",
    Purpose.TEMPORARY: "Temporary",
    Purpose.THREAD_LOCAL: "Thread-local",
}
_MIB = 2**20
# Smaller buffers are one entry of the peak.
_SMALL_BYTES = 16384
_NO_BUFFER = -1


def heap_record(memory: ProgramMemory) -> Record:
    """The whole answer for one program and memory space."""
    use, fixed = memory.use, memory.fixed_bytes
    heap, by_size, order = _peak_objects(memory)
    rank = np.argsort(order)
    total = memory.allocations.size_bytes
    kinds = memory.allocations
    has_events = use.instruction.size > 0
    names = [memory.instructions[row] for row in use.instruction.tolist()]
    unpadded = int(use.unpadded_bytes[use.peak]) if has_events else 0
    record: Record = {
        "heapSizes": _samples(use.in_use_bytes, fixed),
        "unpaddedHeapSizes": _samples(use.unpadded_bytes, fixed),
        "maxHeap": heap,
        "maxHeapBySize": by_size,
        "logicalBufferSpans": _spans(memory),
        "maxHeapToBySize": rank.tolist(),
        "bySizeToMaxHeap": order.tolist(),
        "moduleName": memory.name,
        "entryComputationName": memory.entry,
        "peakHeapMib": memory.peak_bytes / _MIB,
        "peakUnpaddedHeapMib": (fixed + unpadded) / _MIB,
        "peakHeapSizePosition": max(use.peak, 0),
        "entryComputationParametersMib": int(total[kinds.is_parameter].sum()) / _MIB,
        "nonReusableMib": int(total[kinds.is_thread_local | kinds.is_tuple].sum()) / _MIB,
        "maybeLiveOutMib": int(total[kinds.is_output].sum()) / _MIB,
        "indefiniteLifetimes": [*_fixed_allocations(memory)],
        "totalBufferAllocationMib": int(total[~kinds.is_thread_local].sum()) / _MIB,
        "indefiniteBufferAllocationMib": fixed / _MIB,
        "maxScopedVmemAllocationMib": max(memory.scoped_bytes, 0) / _MIB,
        "maxScopedVmemInstructionName": memory.scoped_instruction,
        "hloInstructionNames": [*names, ""] if has_events else [],
        "bufferBlocks": [*_blocks(memory)] if has_events else [],
    }
    return _without_defaults(record)


def _without_defaults(record: Record) -> Record:
    return {name: value for name, value in record.items() if value not in (0, "", [], {})}


def _samples(bytes_: NDArray[np.int64], fixed: int) -> list[float]:
    """Before each event and after the last one, in MiB."""
    if not bytes_.size:
        return []
    samples: list[float] = ((np.append(0, bytes_) + fixed) / _MIB).tolist()
    return samples


def _peak_objects(memory: ProgramMemory) -> tuple[list[Record], list[Record], NDArray[np.int64]]:
    """What is in use at the peak, the same by size, and the order of that."""
    rows = live_at(memory, memory.use.peak).buffer
    sizes = memory.size_bytes[rows]
    is_large = sizes >= _SMALL_BYTES
    small = int(sizes[~is_large].sum())
    objects = [_object(memory, row, number) for number, row in enumerate(rows[is_large].tolist())]
    ordered = sizes[is_large]
    if small:
        objects.append(
            {
                "numbered": len(objects),
                "label": f"small (<{_SMALL_BYTES} bytes)",
                "logicalBufferId": _NO_BUFFER,
                "logicalBufferSizeMib": small / _MIB,
            }
        )
        ordered = np.append(ordered, small)
    order = np.argsort(-ordered, kind="stable")
    return objects, [objects[index] for index in order.tolist()], order


def _object(memory: ProgramMemory, row: int, number: int) -> Record:
    facts = _texts(memory, row)
    return _without_defaults(
        {
            "label": f"{facts['instruction']}: {facts['shape']} # {facts['op']}",
            "logicalBufferId": int(memory.id[row]),
            "logicalBufferSizeMib": int(memory.size_bytes[row]) / _MIB,
            "unpaddedShapeMib": int(memory.facts.unpadded_bytes[row]) / _MIB,
            "instructionName": facts["instruction"] + facts["part"],
            "shapeString": facts["shape"],
            "tfOpName": facts["op"],
            "groupName": _purpose(memory, row),
            "opCode": facts["opcode"],
            **_source(facts),
        }
    ) | {"numbered": number}


def _texts(memory: ProgramMemory, row: int) -> dict[str, str]:
    facts = memory.facts
    names = ("instruction", "part", "opcode", "shape", "op", "source", "stack")
    return {name: facts.texts[int(getattr(facts, name)[row])] for name in names}


def _source(facts: dict[str, str]) -> Record:
    if not facts["source"]:
        return {}
    file, _, line = facts["source"].rpartition(":")
    source: Record = {"fileName": file, "lineNumber": int(line) if line.isdecimal() else 0}
    return {"sourceInfo": source | ({"stackFrame": facts["stack"]} if facts["stack"] else {})}


def _purpose(memory: ProgramMemory, row: int) -> str:
    return PURPOSES[Purpose(purposes(memory.allocations)[memory.allocation[row]])]


def _spans(memory: ProgramMemory) -> dict[str, Record]:
    """When the memory of each buffer in the heap is in use, by the buffer that it is held for."""
    use = memory.use
    lives: dict[int, list[int]] = {}
    for holder, start, end in zip(
        memory.id[use.holder].tolist(), use.start.tolist(), use.end.tolist(), strict=True
    ):
        lives.setdefault(holder, [start])[1:] = [end]
    return {
        str(holder): _without_defaults({"start": start, "limit": end})
        for holder, (start, end) in lives.items()
    }


def _fixed_allocations(memory: ProgramMemory) -> Iterator[Record]:
    """Each allocation that is in use throughout, with its buffers."""
    kinds = memory.allocations
    order = np.argsort(memory.allocation, kind="stable")
    first = np.searchsorted(memory.allocation[order], np.arange(kinds.index.size + 1))
    for index in np.flatnonzero(kinds.is_fixed).tolist():
        rows = order[first[index] : first[index + 1]].tolist()
        shapes = {int(memory.facts.shape[row]) for row in rows}
        attributes = {
            "entry computation parameter": kinds.is_parameter[index],
            "may-be live out": kinds.is_output[index],
            "reusable": not kinds.is_tuple[index],
        }
        yield _without_defaults(
            {
                "id": _whole(kinds.index[index]),
                "sizeMib": int(kinds.size_bytes[index]) / _MIB,
                "attributes": [name for name, holds in attributes.items() if holds],
                "logicalBuffers": [_fixed_buffer(memory, row) for row in rows],
                "commonShape": memory.facts.texts[shapes.pop()] if len(shapes) == 1 else "",
            }
        )


def _fixed_buffer(memory: ProgramMemory, row: int) -> Record:
    facts = _texts(memory, row)
    part = facts["part"].strip("{}")
    return _without_defaults(
        {
            "id": _whole(memory.id[row]),
            "shape": facts["shape"],
            "sizeMib": int(memory.size_bytes[row]) / _MIB,
            "hloName": facts["instruction"],
            "shapeIndex": part.split(",") if part else [],
        }
    )


def _whole(number: np.int64) -> str:
    """A 64-bit number as protocol buffers write it in JSON."""
    return str(int(number)) if number else ""


def _blocks(memory: ProgramMemory) -> Iterator[Record]:
    """A block per allocation of the heap, and one per buffer in it, over its lifetime."""
    use, kinds = memory.use, memory.allocations
    allocation = memory.allocation[use.holder]
    in_heap = unique(allocation)
    base = np.zeros(kinds.index.size, np.int64)
    base[in_heap] = np.cumsum(kinds.size_bytes[in_heap]) - kinds.size_bytes[in_heap]
    for index in in_heap.tolist():
        yield _without_defaults(
            {
                "logicalBufferId": _NO_BUFFER,
                "name": PURPOSES[Purpose.TEMPORARY],
                "offset": int(base[index]),
                "size": int(kinds.size_bytes[index]),
                "endStep": use.instruction.size,
                "category": PURPOSES[Purpose.TEMPORARY],
            }
        )
    for life in np.argsort(memory.id[use.holder], kind="stable").tolist():
        row = int(use.holder[life])
        facts = _texts(memory, row)
        yield _without_defaults(
            {
                "logicalBufferId": int(memory.id[row]),
                "name": facts["instruction"] + facts["part"],
                "offset": int(base[memory.allocation[row]] + memory.offset_bytes[row]),
                "size": int(memory.size_bytes[row]),
                "startStep": int(use.start[life]),
                "endStep": int(use.end[life]),
                "tfOpName": facts["op"],
                "category": _purpose(memory, row),
                "shapeString": facts["shape"],
                "unpaddedSize": int(memory.facts.unpadded_bytes[row]),
                **_source(facts),
            }
        )
