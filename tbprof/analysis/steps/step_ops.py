"""Counts how often each instruction ran in each step of a host."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.devices.device_clock import find_core_ops
from tbprof.analysis.hlo.hlo import Programs
from tbprof.analysis.programs.program_ops import SPARSE_CORE, ProgramOps
from tbprof.analysis.spans.groups import group_rows
from tbprof.analysis.steps.steps import Steps
from tbprof.analysis.vocabulary.lines import is_sparse_core
from tbprof.base import names
from tbprof.base.lazy import Later
from tbprof.base.records import dataclass
from tbprof.events.space import Space

_events = Later("tbprof.analysis.programs.instruction_events.all_instruction_events")
_bounds = Later("tbprof.analysis.steps.step_finding.find_step_bounds")


@dataclass(frozen=True, slots=True)
class StepOps:
    """The number of `executions` [m] of an instruction in a step.

    `op` is a row of the host's `ProgramOps`, `step` a row of its `Steps`: a step of one device, or
    of the CPU. An execution belongs to the step in which it begins.
    """

    step: NDArray[np.int64]
    op: NDArray[np.int64]
    executions: NDArray[np.int64]


def find_step_ops(space: Space, programs: Programs, ops: ProgramOps, steps: Steps) -> StepOps:
    """The executions in each step, without those of SparseCores, which run concurrently."""
    keys = zip(ops.program_id, ops.name, strict=True)
    row_of = {key: row for row, key in enumerate(keys) if ops.core[row] != SPARSE_CORE}
    parts = [np.zeros((3, 0), np.int64)]
    if not any(ops.program_id) or not steps.label:
        return StepOps(*parts[0])
    workers = {
        device.plane.name: index for index, device in enumerate(_bounds(space, programs).devices)
    }
    for instructions in _events(space, programs):
        if is_sparse_core(instructions.plane):
            continue
        begin = instructions.events.start_ps
        if instructions.plane.name.startswith(names.TPU_PREFIX):
            begin = find_core_ops(instructions.plane, *names.OP_LINES).begin
        worker = workers.get(instructions.plane.name, -1) if workers else 0
        pairs = zip(
            instructions.program_id, instructions.name, instructions.counts.tolist(), strict=True
        )
        op_of = np.array(
            [row_of.get((program, name), -1) if counts else -1 for program, name, counts in pairs],
            np.int64,
        )
        op = op_of[instructions.code]
        step = _step_of(steps, worker, begin)
        is_inside = (op >= 0) & (step >= 0)
        if is_inside.any():
            code, first = group_rows([step[is_inside], op[is_inside]])
            count = np.bincount(code, minlength=first.size)
            parts.append(np.stack([step[is_inside][first], op[is_inside][first], count]))
    return StepOps(*np.concatenate(parts, axis=1))


def _step_of(steps: Steps, worker: int, begin: NDArray[np.int64]) -> NDArray[np.int64]:
    """[n] the row of `Steps` that contains each time of a worker, -1 for none."""
    rows = np.flatnonzero(steps.worker == worker)
    if not rows.size:
        return np.full(begin.size, -1, np.int64)
    start = steps.start_ps[rows]
    row = np.searchsorted(start, begin, side="right") - 1
    is_inside = (row >= 0) & (begin < start[row] + steps.duration_ps[rows][row])
    return np.where(is_inside, rows[row], -1)
