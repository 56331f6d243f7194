"""How often each instruction ran in each step of a host."""

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
    """Executions [m] of the instruction `op`, a row of the host's `ProgramOps`, in a step.

    `step` is a row of the host's `Steps`: a step of one device, or of the CPU. An execution belongs
    to the step in which it begins.
    """

    step: NDArray[np.int64]
    op: NDArray[np.int64]
    executions: NDArray[np.int64]


def find_step_ops(space: Space, programs: Programs, ops: ProgramOps, steps: Steps) -> StepOps:
    """The executions in each step; none of SparseCores, which work beside the TensorCores."""
    keys = zip(ops.program_id, ops.name, strict=True)
    row_of = {key: row for row, key in enumerate(keys) if ops.core[row] != SPARSE_CORE}
    found = [np.zeros((3, 0), np.int64)]
    if not any(ops.program_id) or not steps.label:
        return StepOps(*found[0])
    workers = {device.plane.name: at for at, device in enumerate(_bounds(space, programs).devices)}
    for one in _events(space, programs):
        if is_sparse_core(one.plane):
            continue
        begin = one.events.start_ps
        if one.plane.name.startswith(names.TPU_PREFIX):
            begin = find_core_ops(one.plane, *_op_lines()).begin
        worker = workers.get(one.plane.name, -1) if workers else 0
        pairs = zip(one.program_id, one.name, one.counts.tolist(), strict=True)
        op_of = np.array(
            [row_of.get((program, name), -1) if counts else -1 for program, name, counts in pairs],
            np.int64,
        )
        op = op_of[one.code]
        step = _step_of(steps, worker, begin)
        is_in = (op >= 0) & (step >= 0)
        if is_in.any():
            code, first = group_rows([step[is_in], op[is_in]])
            count = np.bincount(code, minlength=first.size)
            found.append(np.stack([step[is_in][first], op[is_in][first], count]))
    return StepOps(*np.concatenate(found, axis=1))


def _op_lines() -> tuple[str, ...]:
    from tbprof.analysis.tpu.tpu_kinds import OP_LINES

    return OP_LINES


def _step_of(steps: Steps, worker: int, begin: NDArray[np.int64]) -> NDArray[np.int64]:
    """[n] the row of `Steps` in which each time of a worker lies, -1 for none."""
    rows = np.flatnonzero(steps.worker == worker)
    if not rows.size:
        return np.full(begin.size, -1, np.int64)
    start = steps.start_ps[rows]
    at = np.searchsorted(start, begin, side="right") - 1
    is_in = (at >= 0) & (begin < start[at] + steps.duration_ps[rows][at])
    return np.where(is_in, rows[at], -1)
