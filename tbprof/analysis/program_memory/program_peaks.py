"""The compiled programs of a host, and their peak memory in each memory space."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.hlo.hlo import Programs
from tbprof.analysis.hlo.module import Module
from tbprof.analysis.hlo_messages.message_fields import Blob
from tbprof.analysis.program_memory.buffer_assignment import (
    BadAssignment,
    BufferAssignment,
    read_assignment,
)
from tbprof.analysis.program_memory.heap_use import HeapUse, has_several_traces, use_heap
from tbprof.analysis.program_memory.memory_spaces import DEVICE_SPACE
from tbprof.analysis.program_memory.programs_that_ran import find_programs_that_ran
from tbprof.analysis.program_memory.schedule import rank_instructions
from tbprof.base.digests import blake2b
from tbprof.base.records import dataclass
from tbprof.events.space import Space


@dataclass(frozen=True, slots=True)
class ProgramPeaks:
    """Programs [p] of a host in the file's order, and the memory spaces [s] that each uses.

    `program_id` is an unsigned decimal number, `digest` a hash of the whole program. `has_run` says
    that an event of the recording belongs to the program; if no event names its program,
    `are_runs_known` is false. `reason` says why its memory is unknown, "" if it is known.

    Each memory space has its `program` (a row), its number, the peak bytes, and the instruction at
    which the peak is reached ("" if the amount never changes).
    """

    name: list[str]
    program_id: list[str]
    digest: list[str]
    has_run: NDArray[np.bool_]
    reason: list[str]
    program: NDArray[np.int32]
    space: NDArray[np.int64]
    peak_bytes: NDArray[np.int64]
    instruction: list[str]
    are_runs_known: bool = False

    @property
    def title(self) -> list[str]:
        """[p] the names that identify programs for users: "jit_f(17)"."""
        return [
            f"{name}({number})" for name, number in zip(self.name, self.program_id, strict=True)
        ]

    def device_bytes(self) -> NDArray[np.int64]:
        """[p] the peak bytes of each program in device memory, -1 if unknown."""
        known = np.array([not reason for reason in self.reason], bool)
        peaks = np.where(known, 0, -1).astype(np.int64)
        rows = np.flatnonzero(self.space == DEVICE_SPACE)
        peaks[self.program[rows]] = self.peak_bytes[rows]
        return peaks


def find_program_peaks(space: Space, programs: Programs) -> ProgramPeaks:
    """The programs of a host."""
    ran = find_programs_that_ran(space)
    listed = programs.listed()
    reasons, digests = [], []
    rows: list[tuple[int, int, int]] = []
    instructions: list[str] = []
    for row, (number, _) in enumerate(listed):
        blob = programs.blob(number)
        digests.append(blake2b(blob).hexdigest()[:16])
        try:
            assignment = read_assignment(blob)
        except BadAssignment as reason:
            reasons.append(str(reason))
            continue
        reasons.append("")
        rank = ranks_of_events(assignment, blob)
        for where in assignment.spaces:
            use = use_heap(assignment, where, assignment.buffers.size_bytes, rank)
            rows.append((row, where, peak_of(assignment, use, where)))
            instructions.append(instruction_at(assignment, use, use.peak))
    columns = np.array(rows, np.int64).reshape(-1, 3).T
    return ProgramPeaks(
        [name for _, name in listed],
        [str(number) for number, _ in listed],
        digests,
        np.array([number in (ran or ()) for number, _ in listed], bool),
        reasons,
        columns[0].astype(np.int32),
        columns[1].copy(),
        columns[2].copy(),
        instructions,
        ran is not None,
    )


def ranks_of_events(assignment: BufferAssignment, blob: Blob) -> NDArray[np.int64] | None:
    """[e] the schedule position of the heap's events, None if traces need not be merged."""
    if not has_several_traces(assignment):
        return None
    module, heap = Module(blob), assignment.heap
    rank = np.append(rank_instructions(module), -1)
    is_named = np.zeros(len(heap.names), bool)
    is_named[heap.instruction] = True
    # The last rank is that of names that the program lacks.
    row = np.full(len(heap.names), -1, np.int64)
    for index in np.flatnonzero(is_named).tolist():
        row[index] = module.index.find(heap.names[index])
    return rank[row[heap.instruction]]


def fixed_bytes(assignment: BufferAssignment, space: int) -> int:
    """The bytes of parameters, results and constants in a memory space."""
    allocations = assignment.allocations
    is_here = allocations.is_fixed & (allocations.space == space)
    return int(allocations.size_bytes[is_here & _has_content(assignment)].sum())


def _has_content(assignment: BufferAssignment) -> NDArray[np.bool_]:
    """[a] whether any buffer in an allocation has a size."""
    buffers = assignment.buffers
    has_content = np.zeros(assignment.allocations.size_bytes.size, bool)
    has_content[buffers.allocation[buffers.size_bytes > 0]] = True
    return has_content


def peak_of(assignment: BufferAssignment, use: HeapUse, space: int) -> int:
    """The peak bytes in a memory space: fixed allocations, and the peak of the heap."""
    return fixed_bytes(assignment, space) + int(use.in_use_bytes.max(initial=0))


def instruction_at(assignment: BufferAssignment, use: HeapUse, event: int) -> str:
    """The instruction of an event of a heap, "" for none (-1)."""
    return assignment.heap.names[use.instruction[event]] if event >= 0 else ""
