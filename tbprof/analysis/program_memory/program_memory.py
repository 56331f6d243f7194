"""The memory of one program in one memory space: its use over time, and its contents."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.hlo.hlo import Programs
from tbprof.analysis.hlo.module import Module
from tbprof.analysis.program_memory.buffer_assignment import (
    Allocations,
    BadAssignment,
    BufferAssignment,
    read_assignment,
)
from tbprof.analysis.program_memory.buffer_facts import (
    BufferFacts,
    Definitions,
    describe_buffers,
    unpadded_sizes,
)
from tbprof.analysis.program_memory.heap_use import HeapUse, use_heap
from tbprof.analysis.program_memory.memory_spaces import VMEM_SPACE, parse_space, space_name
from tbprof.analysis.program_memory.program_peaks import (
    ProgramPeaks,
    fixed_bytes,
    ranks_of_events,
)
from tbprof.base.records import dataclass, replace
from tbprof.base.texts import whole_number
from tbprof.base.values import take_rows
from tbprof.events.space import Space

_SCOPED = b"used_scoped_memory_configs"


@dataclass(frozen=True, slots=True)
class ProgramMemory:
    """A program's buffers [b] in one memory space, and the use of its heap over its events [e].

    If there is nothing to show, `space` is -1, `reason` says why, and all else is empty. `spaces`
    are those that the program uses. `allocation` is a row of `allocations`; in `use`, owners and
    holders are buffers, and instructions are rows of `instructions`.

    `fixed_bytes` are in use as long as the program runs (`Allocations.is_fixed`). `scoped_bytes` is
    the most vector memory that a single instruction, `scoped_instruction`, reserves, -1 if none
    states it.
    """

    name: str
    program_id: str
    digest: str
    entry: str
    space: int
    reason: str
    spaces: NDArray[np.int64]
    allocations: Allocations
    id: NDArray[np.int64]
    size_bytes: NDArray[np.int64]
    allocation: NDArray[np.int32]
    offset_bytes: NDArray[np.int64]
    facts: BufferFacts
    use: HeapUse
    instructions: list[str]
    fixed_bytes: int = 0
    scoped_bytes: int = -1
    scoped_instruction: str = ""

    @property
    def title(self) -> str:
        """The name that identifies it for users: "jit_f(17)"."""
        return f"{self.name}({self.program_id})"

    @property
    def peak_bytes(self) -> int:
        """The most bytes in use at once."""
        return self.fixed_bytes + int(self.use.in_use_bytes.max(initial=0))


def find_program_memory(
    _space: Space,
    programs: Programs,
    peaks: ProgramPeaks,
    module: str = "",
    number: str = "",
    space: str = "",
) -> ProgramMemory:
    """The memory of the program and the memory space in a request.

    `row_of_program` describes `module` and `number`; without `space`, it is device memory.
    """
    row = row_of_program(peaks, module, number)
    if row < 0:
        asked = number or module
        missing = f"program {asked[:200]!r} is not in the trace"
        return _nothing(missing if asked else "the trace has no compiled programs")
    program = int(peaks.program_id[row])
    found = programs.module(program, peaks.name[row])
    blob = programs.blob(program) if found is None else found.blob
    head = (peaks.name[row], peaks.program_id[row], peaks.digest[row], _entry_name(found))
    try:
        assignment = read_assignment(blob)
    except BadAssignment as reason:
        return _nothing(str(reason), *head)
    where = parse_space(space)
    scoped = _scoped_memory(found) if where == VMEM_SPACE else (-1, "")
    spaces = assignment.spaces
    if scoped[0] >= 0:
        spaces = sorted({*spaces, VMEM_SPACE})
    if where is None or where not in spaces:
        what = space_name(where) if where is not None else f"memory space {space[:40]!r}"
        return _nothing(f"the program uses no {what}", *head, spaces=spaces)
    named = _nothing("", *head, space=where, spaces=spaces)
    memory: ProgramMemory = replace(
        _describe(named, assignment, found, ranks_of_events(assignment, blob)),
        scoped_bytes=scoped[0],
        scoped_instruction=scoped[1],
    )
    return memory


def row_of_program(peaks: ProgramPeaks, module: str, number: str) -> int:
    """The row of the program with that id, or else that module; -1 if there is none.

    A module is named "jit_f(17)", or "jit_f" if only one program has that name. If neither is
    given, it is the program that uses the most device memory, preferably one that ran.
    """
    if number:
        whole = whole_number(number, 20, is_signed=True)
        ids = [number] if whole is None else [number, str(whole % 2**64)]
        return next((peaks.program_id.index(id_) for id_ in ids if id_ in peaks.program_id), -1)
    if module:
        if module in peaks.title:
            return peaks.title.index(module)
        return peaks.name.index(module) if peaks.name.count(module) == 1 else -1
    bytes_ = peaks.device_bytes()
    order = sorted(range(bytes_.size), key=lambda row: (not peaks.has_run[row], -bytes_[row]))
    known = [row for row in order if not peaks.reason[row]]
    return [*known, *order, -1][0]


def _describe(
    nothing: ProgramMemory,
    assignment: BufferAssignment,
    module: Module | None,
    rank: NDArray[np.int64] | None,
) -> ProgramMemory:
    """The memory of a program in the space of `nothing`, which identifies the program."""
    allocations, buffers = assignment.allocations, assignment.buffers
    definitions = Definitions(module, buffers)
    unpadded = unpadded_sizes(definitions, buffers)
    use = use_heap(assignment, nothing.space, unpadded, rank)
    is_here = allocations.space == nothing.space
    rows = np.flatnonzero(is_here[buffers.allocation])
    row_of = np.full(buffers.id.size, -1, np.int32)
    row_of[rows] = np.arange(rows.size)
    memory: ProgramMemory = replace(
        nothing,
        allocations=take_rows(allocations, is_here),
        id=buffers.id[rows],
        size_bytes=buffers.size_bytes[rows],
        allocation=(np.cumsum(is_here) - 1).astype(np.int32)[buffers.allocation[rows]],
        offset_bytes=buffers.offset_bytes[rows],
        facts=describe_buffers(definitions, buffers, rows, unpadded),
        use=replace(use, owner=row_of[use.owner], holder=row_of[use.holder]),
        instructions=assignment.heap.names,
        fixed_bytes=fixed_bytes(assignment, nothing.space),
    )
    return memory


def _nothing(
    reason: str,
    name: str = "",
    program_id: str = "",
    digest: str = "",
    entry: str = "",
    *,
    space: int = -1,
    spaces: Sequence[int] = (),
) -> ProgramMemory:
    """An empty result for a program, with a reason."""
    whole, row, flag = np.zeros(0, np.int64), np.zeros(0, np.int32), np.zeros(0, bool)
    return ProgramMemory(
        name,
        program_id,
        digest,
        entry,
        space,
        reason,
        np.array(spaces, np.int64),
        Allocations(whole, whole, whole, flag, flag, flag, flag, flag, whole),
        whole,
        whole,
        row,
        whole,
        BufferFacts(whole, row, row, row, row, row, row, row, row, [""]),
        HeapUse(row, whole, whole, row, row, whole, whole),
        [],
    )


def _entry_name(module: Module | None) -> str:
    entry = None if module is None else module.entry()
    return "" if entry is None else str(entry.name)


def _scoped_memory(module: Module | None) -> tuple[int, str]:
    """(bytes, instruction) of the most vector memory that one instruction reserves; -1 for none.

    Source: XLA for TPUs, `used_scoped_memory_configs` of the backend's configuration.
    """
    most, name = -1, ""
    for instruction in () if module is None else module.instructions():
        if _SCOPED in instruction.backend_config:
            size = max(_scoped_sizes(instruction.backend_config), default=-1)
            if size > most:
                most, name = size, str(instruction.name)
    return most, name


def _scoped_sizes(config: bytes) -> Iterator[int]:
    try:
        parsed = json.loads(config)
    except (ValueError, RecursionError):
        return
    entries = parsed.get(_SCOPED.decode()) if isinstance(parsed, dict) else None
    for entry in entries if isinstance(entries, list) else ():
        if isinstance(entry, dict) and str(entry.get("memory_space")) == str(VMEM_SPACE):
            size = whole_number(str(entry.get("size", "")), 15)
            if size is not None:
                yield size
