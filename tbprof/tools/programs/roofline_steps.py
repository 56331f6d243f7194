"""The rows of the roofline by step: what all instructions in a step did together."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.bounds.causes import LINKS
from tbprof.analysis.bounds.op_work import OpWork, Values, longest_link, work_of
from tbprof.analysis.devices.peaks import Peaks
from tbprof.analysis.job.job_steps import JobSteps
from tbprof.analysis.job.step_means import step_means, used_rows
from tbprof.analysis.programs.program_ops import ProgramOps
from tbprof.analysis.steps.step_ops import StepOps
from tbprof.base.records import replace
from tbprof.base.values import ratio
from tbprof.tools.programs.roofline_rows import PROGRAM, RooflineRows

AVERAGE = "Average"
STEP = "Step"


def step_rows(
    hosts: Sequence[ProgramOps], ran: Sequence[StepOps], job: JobSteps, peaks: Peaks
) -> tuple[list[str], RooflineRows] | None:
    """The label of each row, and the rows: the average of all complete steps, then each of them.

    Times are those of the devices' steps, idle time included. An execution counts in the step in
    which it begins, with the work of one execution. None if no step is complete.
    """
    is_whole = step_means(job).is_whole
    steps = np.flatnonzero(is_whole)
    if not steps.size:
        return None
    used = used_rows(job)
    sums_ps = np.bincount(job.step[used], job.duration_ps[used], is_whole.size)
    device_ps = sums_ps[steps].astype(np.float64)
    sums: list[OpWork] = []
    linked_ps = np.zeros((len(LINKS), is_whole.size))
    for host, (ops, part) in enumerate(zip(hosts, ran, strict=True)):
        step = _job_step(job, used, host, part)
        is_in = (step >= 0) & ~ops.has_inner[part.op]
        own_step, op, executions = step[is_in], part.op[is_in], part.executions[is_in]
        work = work_of(ops, peaks)
        sums.append(_summed(work, ops, (own_step, op, executions), is_whole.size))
        each_ps = np.nan_to_num(
            ratio(ops.self_ps.astype(np.float64), ops.occurrences.astype(float))
        )
        for number, sums_of_link in enumerate(linked_ps, 1):
            time_ps = np.where(work.link == number, each_ps, 0)[op] * executions
            sums_of_link += np.bincount(own_step, time_ps, is_whole.size)
    each = _together(sums).select(steps)
    link = longest_link(linked_ps[:, steps], device_ps)
    labels = [job.label[step] for step in steps.tolist()]
    return [AVERAGE, *labels], _rows(labels, replace(each, link=link), device_ps, hosts)


def _job_step(
    job: JobSteps, used: NDArray[np.int64], host: int, part: StepOps
) -> NDArray[np.int64]:
    """[m] the job's step of each entry of a host's part, -1 for rows that do not count."""
    rows = used[job.worker_host[job.worker[used]] == host]
    most = max(int(part.step.max(initial=-1)), int(job.row[rows].max(initial=-1)))
    step_of = np.full(most + 1, -1, np.int64)
    step_of[job.row[rows]] = job.step[rows]
    return step_of[part.step]


def _summed(
    work: OpWork, ops: ProgramOps, ran: tuple[NDArray[np.int64], ...], steps: int
) -> OpWork:
    """What one host's instructions did in each step; NaN where nothing of it is known."""
    step, op, executions = ran
    count = ops.occurrences.astype(np.float64)

    def summed(values: Values) -> Values:
        amounts = ratio(values, count)[op] * executions
        known = np.isfinite(amounts)
        total = np.bincount(step[known], amounts[known], steps)
        return np.where(np.bincount(step[known], minlength=steps) > 0, total, np.nan)

    memories = {name: summed(values) for name, values in work.by_memory.items()}
    return OpWork(
        np.zeros(steps), summed(work.flops), summed(work.model_flops), summed(work.bytes),
        memories, summed(work.flop_ps), [""] * steps, np.zeros(steps, np.int64),
    )  # fmt: skip


def _together(parts: Sequence[OpWork]) -> OpWork:
    """The sum over hosts; what is not known of one counts as none if another's is."""

    def added(values: Sequence[Values]) -> Values:
        table = np.array(values)
        return np.where(np.isnan(table).all(axis=0), np.nan, np.nansum(table, axis=0))

    first = parts[0]
    return OpWork(
        first.span_ps,
        added([part.flops for part in parts]),
        added([part.model_flops for part in parts]),
        added([part.bytes for part in parts]),
        {name: added([part.by_memory[name] for part in parts]) for name in first.by_memory},
        added([part.flop_ps for part in parts]),
        first.roof,
        first.link,
    )


def _rows(
    labels: list[str], each: OpWork, device_ps: Values, hosts: Sequence[ProgramOps]
) -> RooflineRows:
    count = len(labels)

    def averaged(values: Values) -> Values:
        return np.append(values.mean(), values)

    nothing = [""] * (count + 1)
    unknown = np.full(count + 1, np.nan)
    time_ps = averaged(device_ps)
    linked_ps = np.array([[device_ps[each.link == link].sum()] for link in (1, 2)])
    work = OpWork(
        time_ps, averaged(each.flops), averaged(each.model_flops), averaged(each.bytes),
        {name: averaged(values) for name, values in each.by_memory.items()},
        averaged(each.flop_ps), nothing,
        np.append(longest_link(linked_ps, device_ps.sum(keepdims=True)), each.link),
    )  # fmt: skip
    return RooflineRows(
        [PROGRAM, *labels],
        [PROGRAM, *(STEP for _ in labels)],
        ["0"] * (count + 1),
        nothing,
        nothing,
        nothing,
        nothing,
        nothing,
        np.arange(count + 1),
        np.ones(count + 1, np.int64),
        time_ps,
        np.append(np.nan, device_ps),
        unknown,
        unknown,
        np.full(count + 1, any(bool(ops.is_computed.any()) for ops in hosts)),
        work,
        float(device_ps.sum()),
        sum(ops.devices for ops in hosts),
    )
