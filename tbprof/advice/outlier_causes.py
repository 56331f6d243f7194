"""Why some steps take much longer than the others: a phase, a function."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tbprof.advice.sentences import milliseconds, shortened
from tbprof.analysis.host.host_activity import Activity
from tbprof.analysis.job.idle_shares import ACTIVITY_CLAUSES
from tbprof.analysis.job.idle_time import IdleTime
from tbprof.analysis.job.job_steps import JobSteps
from tbprof.analysis.job.step_means import StepMeans, used_rows
from tbprof.analysis.job.step_outliers import MOST_OF_IT, StepOutliers, phase_of
from tbprof.analysis.vocabulary.phases import COMPUTE, Phase
from tbprof.analysis.vocabulary.python_frames import describe_frame
from tbprof.base import names
from tbprof.base.records import dataclass
from tbprof.base.values import is_in, sum_of

LABELS = {
    **dict.fromkeys(COMPUTE, "device compute"),
    Phase.COLLECTIVES: "collective communication",
    Phase.DEVICE_TO_DEVICE: "copies between devices",
    Phase.HOST_TRANSFER: "copies between device and host memory",
    Phase.HOST_CALLBACK: "waiting for callbacks on the host",
    Phase.INPUT: "waiting for input",
    Phase.OUTPUT: "output",
    Phase.COMPILATION: "compilation",
    Phase.KERNEL_LAUNCH: "kernel launch",
    Phase.HOST_COMPUTE: "host compute",
    Phase.OTHER: "time that no op covers",
}
_WRITING = "ops that write checkpoints and summaries"
# These activities are not causes: the thread waited for something else, or nothing is known.
_NO_CAUSE = (Activity.UNCOVERED, Activity.WAIT, Activity.RUNTIME, Activity.COMPLETION)
_NAME_LENGTH = 60
# Typical steps hardly make a call if they spend at most this share of its mean time in it.
_HARDLY = 0.1
# A call is the step itself if typical steps spend this share of their time in it.
_WHOLE = 0.8


def reasons(
    job: JobSteps, means: StepMeans, outliers: StepOutliers, idle_time: Sequence[IdleTime]
) -> list[str]:
    """[steps] what makes each outlier slow, as text; "" for other steps.

    `idle_time` has one entry per host, empty if unknown. Steps that recur share one cause, as in
    the finding about them.
    """
    groups = [*(period.step for period in outliers.periods), *outliers.once[:, None]]
    causes = causes_of_outliers(job, means, outliers, idle_time, groups)
    out = [""] * outliers.is_outlier.size
    for steps, cause in zip(groups, causes, strict=True):
        phase = phase_of(outliers, steps)
        for step in steps.tolist():
            longer = f"{milliseconds(float(outliers.excess_ps[step]) / 1e9)} longer than a typical"
            out[step] = f"{longer} step{where(outliers, outliers.step[outliers.step == step])}"
            if cause and outliers.phase[step] == phase:
                out[step] += f": {cause}"
    for period in outliers.periods:
        for step in period.step.tolist():
            out[step] = f"{out[step]}; this recurs in every {ordinal(period.period)} step"
    return out


def where(outliers: StepOutliers, steps: NDArray[np.int64], subject: str = "it") -> str:
    """The clause on the phase with most of the excess, "" if there is none; `subject` names it."""
    phase = phase_of(outliers, steps)
    return "" if phase is None else f", most of {subject} {LABELS[phase]}"


def excess_ps(
    means: StepMeans, outliers: StepOutliers, steps: NDArray[np.int64]
) -> NDArray[np.float64]:
    """[PHASES] how much longer each phase is in outliers than in typical steps, on average."""
    is_typical = means.is_whole & ~outliers.is_outlier
    if not is_typical.any() or not steps.size:
        return np.zeros(means.phase_ps.shape[1])
    more = means.phase_ps[steps].mean(axis=0) - means.phase_ps[is_typical].mean(axis=0)
    return np.asarray(np.maximum(more, 0.0), np.float64)


def causes_of_outliers(
    job: JobSteps,
    means: StepMeans,
    outliers: StepOutliers,
    idle_time: Sequence[IdleTime],
    groups: Sequence[NDArray[np.int64]],
) -> list[str]:
    """What takes most of the excess of each group of outliers, "" if the events do not show it.

    It is a function or an annotation of the thread that drives the program, garbage collection, or,
    on a CPU, the ops that write checkpoints and summaries. A step is in one group at most.
    """
    excess = [excess_ps(means, outliers, steps) for steps in groups]
    uncovered_ps = [
        float(more[Phase.OTHER]) if more[Phase.OTHER] >= MOST_OF_IT * more.sum() > 0 else np.inf
        for more in excess
    ]
    group = np.full(means.is_whole.size, -1, np.int64)
    group[means.is_whole & ~outliers.is_outlier] = 0
    for index, steps in enumerate(groups, 1):
        group[steps] = index
    weights = [
        _weights(job, means, host, idle, group) for host, idle in enumerate(idle_time) if groups
    ]
    functions = _functions(idle_time, weights, np.array(uncovered_ps))
    total_ps = np.array([float(outliers.excess_ps[steps].mean()) for steps in groups])
    callers = _callers(idle_time, weights, total_ps, outliers.typical_ps)
    return [
        _WRITING
        if not means.has_device and phase_of(outliers, steps) == Phase.OUTPUT
        else function or caller
        for steps, function, caller in zip(groups, functions, callers, strict=True)
    ]


@dataclass(frozen=True, slots=True)
class _Weights:
    """By row of a host's steps: its group (-1: none), and its weight in the group's mean step."""

    group: NDArray[np.int64]
    weight: NDArray[np.float64]

    def sums(
        self, step: NDArray[np.int64], row: NDArray[np.int64], time_ps: NDArray[np.int64],
        rows: int, groups: int,
    ) -> NDArray[np.float64]:  # fmt: skip
        """[rows, groups] the time of each row in the mean step of each group."""
        is_used = self.group[step] >= 0
        step, row, time_ps = step[is_used], row[is_used], time_ps[is_used]
        cell = row * groups + self.group[step]
        summed = np.bincount(cell, time_ps * self.weight[step], rows * groups).astype(np.float64)
        return summed.reshape(rows, groups)


def _functions(
    idle_time: Sequence[IdleTime],
    weights: Sequence[_Weights],
    uncovered_ps: NDArray[np.float64],
) -> list[str]:
    """The activity that takes most of each group's uncovered excess, "" if none does."""
    groups = uncovered_ps.size
    times_of_activity: dict[tuple[Activity, str], dict[str, NDArray[np.float64]]] = {}
    for idle, weight in zip(idle_time, weights, strict=False):
        for row, time_ps in _driver_ps(idle, weight, groups + 1):
            key = Activity(int(idle.kind[row])), idle.name[row]
            parts = times_of_activity.setdefault(key, {})
            parts[idle.part[row]] = parts.get(idle.part[row], 0.0) + time_ps
    if not times_of_activity:
        return [""] * groups
    spent_ps = np.array([sum(parts.values()) for parts in times_of_activity.values()])
    more_ps = spent_ps[:, 1:] - spent_ps[:, :1]
    most = more_ps.argmax(axis=0)
    is_cause = more_ps[most, np.arange(groups)] >= MOST_OF_IT * uncovered_ps
    activities = list(times_of_activity)
    return [
        _called(activities[cause], times_of_activity[activities[cause]], index) if is_it else ""
        for index, (cause, is_it) in enumerate(
            zip(most.tolist(), is_cause.tolist(), strict=True), 1
        )
    ]


def _callers(
    idle_time: Sequence[IdleTime],
    weights: Sequence[_Weights],
    total_ps: NDArray[np.float64],
    typical_ps: float,
) -> list[str]:
    """The call that contains most of each group's excess, whatever happens in it; "" if none does.

    Of calls that typical steps hardly make, the outermost; else the innermost, except calls that
    span the whole step. If there is none, compiled functions that only these steps call.
    """
    groups = total_ps.size
    times: dict[str, NDArray[np.float64]] = {}
    for idle, weight in zip(idle_time, weights, strict=False):
        made = idle.calls
        sums = weight.sums(made.step, made.name, made.time_ps, len(made.names), groups + 1)
        for name, time_ps in zip(made.names, sums, strict=True):
            times[name] = times.get(name, 0.0) + time_ps
    if not times:
        return [""] * groups
    calls = list(times)
    spent_ps = np.array(list(times.values()))
    out = []
    for index, total in enumerate(total_ps.tolist(), 1):
        mean, typical = spent_ps[:, index], spent_ps[:, 0]
        is_cause = (mean - typical >= MOST_OF_IT * total) & (typical < _WHOLE * typical_ps)
        is_special = is_cause & (typical <= _HARDLY * mean)
        if is_special.any():
            call = int(np.where(is_special, mean, -1.0).argmax())
        else:
            call = int(np.where(is_cause, mean, np.inf).argmin())
        out.append(
            _frame_name(calls[call]) if is_cause.any() else _only_called(calls, mean, typical)
        )
    return out


def _only_called(
    calls: Sequence[str], mean: NDArray[np.float64], typical: NDArray[np.float64]
) -> str:
    """A clause on compiled functions that a group of steps calls and typical steps do not, or "".

    Their work may run asynchronously, so the duration of a call is not compared.
    """
    only = [
        _frame_name(calls[row])
        for row in np.argsort(-mean, kind="stable").tolist()
        if mean[row] > 0 and typical[row] == 0 and calls[row].startswith(names.JITTED)
    ]
    return f"only these steps call {' and '.join(only[:2])}" if only else ""


def _weights(
    job: JobSteps, means: StepMeans, host: int, idle: IdleTime, group: NDArray[np.int64]
) -> _Weights:
    """The weights of a host's rows, given the `group` of each step of the job (-1: none)."""
    used = used_rows(job)
    used = used[(job.worker_host[job.worker[used]] == host) & (group[job.step[used]] >= 0)]
    step = job.step[used]
    last = (job.row, idle.step, idle.calls.step)
    rows = 1 + max(int(column.max(initial=-1)) for column in last)
    of_row = np.full(rows, -1, np.int64)
    of_row[job.row[used]] = group[step]
    steps = np.bincount(group[group >= 0])
    weight = np.zeros(rows)
    weight[job.row[used]] = 1 / np.maximum(means.workers[step], 1) / steps[group[step]]
    return _Weights(of_row, weight)


def _driver_ps(
    idle: IdleTime, weights: _Weights, groups: int
) -> list[tuple[int, NDArray[np.float64]]]:
    """(activity, [groups] its time in the mean step of each) for activities that may be causes."""
    is_cause = idle.is_driver & ~is_in(idle.kind, _NO_CAUSE)
    pieces = np.flatnonzero(is_cause[idle.activity])
    by_activity = weights.sums(
        idle.step[pieces], idle.activity[pieces], idle.time_ps[pieces], idle.kind.size, groups
    )
    return [(row, by_activity[row]) for row in np.flatnonzero(by_activity.any(axis=1)).tolist()]


def what_takes_longer(
    job: JobSteps,
    means: StepMeans,
    idle_time: Sequence[IdleTime],
    workers: tuple[int, int],
    late_ps: float,
) -> str:
    """What takes most of the `late_ps` by which the first worker is slower than the second.

    Causes are as in `causes_of_outliers`; "" if the events of their hosts do not show any.
    """
    if not idle_time:
        return ""
    late, reference = (_driver_times(job, means, idle_time, worker) for worker in workers)
    more_ps = {key: time_ps - reference.get(key, 0.0) for key, time_ps in late.items()}
    most = max(more_ps, key=lambda key: more_ps[key], default=None)
    if most is None or more_ps[most] < MOST_OF_IT * late_ps:
        return ""
    kind, name, part = most
    return _called((kind, name), {part: np.array([more_ps[most]])}, 0)


def _driver_times(
    job: JobSteps, means: StepMeans, idle_time: Sequence[IdleTime], worker: int
) -> dict[tuple[Activity, str, str], float]:
    """The time in ps of what a worker's driving thread did in its mean step: (kind, name, part)."""
    idle = idle_time[int(job.worker_host[worker])]
    is_used = (job.worker == worker) & means.is_counted[job.step] & ~job.is_unrecorded
    rows = job.row[is_used]
    is_cause = idle.is_driver & ~is_in(idle.kind, _NO_CAUSE)
    pieces = np.flatnonzero(is_cause[idle.activity] & is_in(idle.step, rows))
    sums = np.bincount(idle.activity[pieces], idle.time_ps[pieces], idle.kind.size)
    return {
        (Activity(int(idle.kind[row])), idle.name[row], idle.part[row]): float(sums[row])
        / rows.size
        for row in np.flatnonzero(sums).tolist()
    }


def _called(
    activity: tuple[Activity, str], parts: dict[str, NDArray[np.float64]], group: int
) -> str:
    """An activity in words, with the call inside it that takes most of a group's time."""
    kind, name = activity
    part = max(parts, key=lambda part_name: parts[part_name][group])
    whole_ps = sum_of(time_ps[group] for time_ps in parts.values())
    is_inside = bool(part) and parts[part][group] >= MOST_OF_IT * whole_ps
    inner = f", in {_frame_name(part)}" if is_inside else ""
    return f"{_frame_name(name) if name else ACTIVITY_CLAUSES[kind]}{inner}"


def _frame_name(name: str) -> str:
    if name.startswith(names.JITTED):
        name = name[len(names.JITTED) : -1]
    return shortened(describe_frame(name), _NAME_LENGTH)


def ordinal(number: int) -> str:
    """1st, 2nd, 3rd, 4th, …, 11th, …, 21st."""
    ending = {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{'th' if 10 < number % 100 < 14 else ending}"
