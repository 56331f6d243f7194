"""The events that are executions of each instruction."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.gpu.gpu_events import GpuKinds, find_gpu_kinds
from tbprof.analysis.gpu.gpu_work import executions_of, rows_by_instruction
from tbprof.analysis.hlo.hlo import Programs
from tbprof.analysis.programs.cpu_program_ops import find_executions
from tbprof.analysis.programs.op_rows import id_text
from tbprof.analysis.spans.groups import group_rows
from tbprof.analysis.tpu.tpu_kinds import instruction_name
from tbprof.analysis.vocabulary.lines import gpu_planes, host_planes, named_lines, tpu_planes
from tbprof.analysis.vocabulary.op_names import instruction_of
from tbprof.base import names
from tbprof.base.records import NamedTuple
from tbprof.events.space import Events, Plane, Space


class InstructionEvents(NamedTuple):
    """The events [n] of one plane that are executions of instructions, or kernels of those.

    `code` [n] is an index into `name` and `program_id`, which are as in `ProgramOps`. `counts`
    marks codes with one event per execution; for an instruction on a GPU, that is one of its
    kernels.
    """

    plane: Plane
    events: Events
    code: NDArray[np.int64]
    name: list[str]
    program_id: list[str]
    counts: NDArray[np.bool_]


def instruction_events(
    space: Space, programs: Programs, name: str, program_id: str | None
) -> Iterator[tuple[Plane, NDArray[np.int64]]]:
    """(plane, sources of the instruction's events there), on GPUs those of its kernels.

    `program_id` is as in `ProgramOps`, None for any.
    """
    for executions in all_instruction_events(space, programs):
        keys = zip(executions.name, executions.program_id, strict=True)
        is_wanted = [own_name == name and program_id in (None, number) for own_name, number in keys]
        yield (
            executions.plane,
            executions.events.source[np.array(is_wanted, np.bool_)[executions.code]],
        )


def all_instruction_events(space: Space, programs: Programs) -> Iterator[InstructionEvents]:
    """The executions on each device; those on the CPU if no GPU or TPU ran anything."""
    has_devices = False
    for plane in gpu_planes(space):
        executions = _of_gpu(plane, find_gpu_kinds(plane, programs))
        has_devices |= bool(executions.name)
        yield executions
    for plane in tpu_planes(space):
        executions = _of_tpu(plane)
        has_devices |= bool(len(executions.events))
        yield executions
    for plane in host_planes(space) if not has_devices else ():
        yield _of_cpu(plane)


def _of_gpu(plane: Plane, kinds: GpuKinds) -> InstructionEvents:
    counts = np.array([not instruction for instruction in kinds.instruction], np.bool_)
    for rows in rows_by_instruction(kinds):
        launches: dict[str, int] = {}
        for row in rows:
            kernel = kinds.event_name[row]
            launches[kernel] = launches.get(kernel, 0) + int(kinds.occurrences[row])
        executions = executions_of(kinds, rows)
        chosen = next(kernel for kernel, count in launches.items() if count == executions)
        counts[[row for row in rows if kinds.event_name[row] == chosen]] = True
    both = list(zip(kinds.instruction, kinds.event_name, kinds.program_id, strict=True))
    return InstructionEvents(
        plane,
        kinds.events,
        kinds.code.astype(np.int64),
        [instruction or event or "(unnamed)" for instruction, event, _ in both],
        [id_text(number) if instruction else "" for instruction, _, number in both],
        counts,
    )


def _of_tpu(plane: Plane) -> InstructionEvents:
    events = plane.events(named_lines(plane, *names.OP_LINES))
    types = int(plane.types.id.size)
    program = plane.types.stats([names.PROGRAM_ID])[names.PROGRAM_ID].integers(-1)
    # The last entry is for events without a type.
    rows = [*events.used_types(types).tolist(), -1]
    code_of = np.full(types + 1, len(rows) - 1, np.int64)
    code_of[rows] = np.arange(len(rows))
    return InstructionEvents(
        plane,
        events,
        events.by_type(code_of),
        [instruction_name(plane, row) for row in rows],
        [id_text(int(program[row])) if row >= 0 else "" for row in rows],
        np.ones(len(rows), np.bool_),
    )


def _of_cpu(plane: Plane) -> InstructionEvents:
    executions, (op, _, program, _) = find_executions(plane)
    code, first = group_rows([op, program])
    return InstructionEvents(
        plane,
        executions,
        code.astype(np.int64),
        [instruction_of(plane.strings[text]) for text in op[first].tolist()],
        [id_text(number) for number in program[first].tolist()],
        np.ones(first.size, np.bool_),
    )
