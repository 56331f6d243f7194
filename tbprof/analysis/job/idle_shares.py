"""Host thread activity in the part of an average step that no phase covers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.host.host_activity import Activity
from tbprof.analysis.job.job_steps import JobSteps
from tbprof.analysis.job.step_means import StepMeans, used_rows
from tbprof.analysis.steps.host_callbacks import HostCallbacks
from tbprof.analysis.vocabulary.python_frames import describe_frame, is_own
from tbprof.base.records import dataclass, replace
from tbprof.base.values import sum_of

if TYPE_CHECKING:  # pages without steps do not import step finding
    from tbprof.analysis.job.idle_time import IdleTime

# If at least this share of a function's open time is uncovered, it does nothing else.
_ALL_OF_IT = 0.8
_NAMED = (Activity.PYTHON, Activity.ANNOTATION)
# Clauses for sentences: "for 12 % of that, tf.data threads worked".
ACTIVITY_CLAUSES = {
    Activity.PYTHON: "Python ran",
    Activity.ANNOTATION: "annotated code ran",
    Activity.COMPILATION: "a compiler ran on another thread",
    Activity.TF_DATA_FUNCTION: "tf.data functions ran",
    Activity.TF_DATA: "tf.data threads worked",
    Activity.TRANSFER: "data was copied",
    Activity.OPS: "ops outside the step ran",
    Activity.EAGER: "calls into the eager runtime were in progress",
    Activity.RUNTIME: "runtime calls were in progress",
    Activity.GARBAGE: "garbage was collected",
    Activity.MEMORY: "memory was allocated",
    Activity.WAIT: "the program's thread waited",
    Activity.COMPLETION: "the program had not yet noticed that its devices were done",
    Activity.UNSTARTED: "launched work had not started",
    Activity.UNCOVERED: "no event was recorded",
}

# Labels on pages.
LABELS = {
    Activity.PYTHON: "Python",
    Activity.ANNOTATION: "Annotations",
    Activity.COMPILATION: "Compilation on other threads",
    Activity.TF_DATA_FUNCTION: "tf.data functions",
    Activity.TF_DATA: "tf.data threads",
    Activity.TRANSFER: "Copies",
    Activity.OPS: "Ops outside the step",
    Activity.EAGER: "Eager dispatch",
    Activity.RUNTIME: "Runtime calls",
    Activity.GARBAGE: "Garbage collection",
    Activity.MEMORY: "Memory allocation",
    Activity.WAIT: "Waiting",
    Activity.COMPLETION: "Completion of device work",
    Activity.UNSTARTED: "Launched work that had not started",
    Activity.UNCOVERED: "Not covered by any recorded event",
}


@dataclass(frozen=True, slots=True)
class IdleShare:
    """One activity: ms of an average step, and its parts (name, ms), longest first.

    `name` is an event name, that of a Python frame or an annotation; "" for kinds without names.
    `is_driver`: the driving thread did it. `open_ms` is how long events with that name are open in
    the average step, 0 if unknown.
    """

    kind: Activity
    name: str
    is_driver: bool
    ms: float
    parts: tuple[tuple[str, float], ...]
    open_ms: float = 0.0

    @property
    def holds_more(self) -> bool:
        """Whether much other work, such as ops, runs inside: a function with the whole loop."""
        return self.ms < _ALL_OF_IT * self.open_ms

    @property
    def event(self) -> str:
        """Name of the counted events: that of a called function if only the call counts."""
        return self.parts[0][0] or self.name if self.holds_more else self.name

    @property
    def subject(self) -> str:
        """The subject of a sentence about this activity."""
        name, part = describe_frame(self.name), self.parts[0][0]
        if not self.holds_more:
            return name
        return f"{describe_frame(part)}, called by {name}," if part else f"{name} itself"

    @property
    def is_named(self) -> bool:
        """Whether it is a function or an annotation on the driving thread.

        A wait counts only if it is in a function of the program.
        """
        is_known = self.kind in _NAMED or (self.kind == Activity.WAIT and is_own(self.name))
        return self.is_driver and bool(self.name) and is_known


def kind_label(kind: Activity) -> str:
    """Return the page label of a kind for use within a sentence."""
    label = LABELS[kind]
    return label if kind == Activity.PYTHON else label[0].lower() + label[1:]


def named_shares(shares: Sequence[IdleShare]) -> tuple[IdleShare, ...]:
    """Return the functions and annotations of the driving thread, longest first.

    Shares of the same name are merged. One that contains much other work (`holds_more`) is reduced
    to the call, or to its own code, that takes most of the uncovered time.
    """
    shares_by_name: dict[str, IdleShare] = {}
    for share in shares:
        if share.is_named:
            previous = shares_by_name.get(share.name)
            if previous is None:
                shares_by_name[share.name] = share
            else:
                parts = tuple(sorted((*previous.parts, *share.parts), key=lambda part: -part[1]))
                kind = min(previous.kind, share.kind)
                shares_by_name[share.name] = replace(
                    previous,
                    kind=kind,
                    ms=previous.ms + share.ms,
                    parts=parts,
                    open_ms=max(previous.open_ms, share.open_ms),
                )
    return tuple(sorted(map(_narrowed, shares_by_name.values()), key=lambda share: -share.ms))


def _narrowed(idle_share: IdleShare) -> IdleShare:
    if not idle_share.holds_more:
        return idle_share
    part, ms = next(((part, ms) for part, ms in idle_share.parts if part), ("", 0.0))
    if ms < idle_share.ms / 2:
        part, ms = "", sum_of(ms for part, ms in idle_share.parts if not part)
    return replace(idle_share, ms=ms, parts=((part, ms),))


def without(shares: Sequence[IdleShare], first: IdleShare | None) -> list[IdleShare]:
    """Return the shares without the time of `first`, one of `named_shares`."""
    out = []
    for share in shares:
        if first is None or not share.is_named or share.name != first.name:
            out.append(share)
        elif first.holds_more:
            remaining = tuple(part for part in share.parts if part[0] != first.parts[0][0])
            out.append(replace(share, ms=sum_of(ms for _, ms in remaining), parts=remaining))
    return [remainder for remainder in out if remainder.ms > 0]


def callbacks_as_runtime(
    shares: Sequence[IdleShare], callbacks: Sequence[HostCallbacks]
) -> list[IdleShare]:
    """Return the shares with callbacks of compiled programs counted as runtime calls.

    Callbacks do not produce input.
    """
    called = {name for callback in callbacks for name in callback.function}
    return [
        replace(share, kind=Activity.RUNTIME, name="") if share.name in called else share
        for share in shares
    ]


def longest_share(shares: Sequence[IdleShare]) -> IdleShare | None:
    """Return the longest of `named_shares`, None if there is none."""
    return next(iter(named_shares(shares)), None)


def idle_shares(
    job: JobSteps, means: StepMeans, hosts: Sequence[IdleTime]
) -> tuple[IdleShare, ...]:
    """Return all activities of the hosts' threads, longest first.

    They add up to the mean `Phase.OTHER`.
    """
    sums: dict[tuple[Activity, str, bool], dict[str, float]] = {}
    opened: dict[str, float] = {}
    for host, weight in zip(hosts, _weights(job, means, hosts), strict=True):
        ms = np.bincount(host.activity, host.time_ps * weight[host.step], len(host.name)) / 1e9
        open_ms = np.bincount(host.activity, host.open_ps * weight[host.step], len(host.name)) / 1e9
        for row in np.flatnonzero(ms).tolist():
            kind = Activity(int(host.kind[row]))
            parts = sums.setdefault((kind, host.name[row], bool(host.is_driver[row])), {})
            parts[host.part[row]] = parts.get(host.part[row], 0.0) + float(ms[row])
        for name, most in _most_open(host, open_ms).items():
            opened[name] = opened.get(name, 0.0) + most
    all_shares = [
        IdleShare(
            *key,
            sum_of(parts.values()),
            tuple(sorted(parts.items(), key=lambda share: -share[1])),
            opened.get(key[1], 0.0) if key[2] else 0.0,
        )
        for key, parts in sums.items()
    ]
    return tuple(sorted(all_shares, key=lambda share: (-share.ms, share.kind, share.name)))


def share_ps(job: JobSteps, hosts: Sequence[IdleTime], idle_share: IdleShare) -> NDArray[np.int64]:
    """Return [rows of the job's steps] the uncovered time in ps of one of `named_shares`."""
    out = np.zeros(job.step.size, np.int64)
    rows_by_host = _by_host(job, np.arange(job.step.size), len(hosts))
    for host, host_rows, rows in zip(hosts, rows_by_host, _row_counts(job, hosts), strict=True):
        is_included = host.is_driver & np.array(
            [
                name == idle_share.name
                and (not idle_share.holds_more or part == idle_share.parts[0][0])
                for name, part in zip(host.name, host.part, strict=True)
            ],
            bool,
        )
        activities = np.flatnonzero(is_included[host.activity])
        time = np.zeros(rows, np.int64)
        np.add.at(time, host.step[activities], host.time_ps[activities])
        out[host_rows] = time[job.row[host_rows]]
    return out


def _row_counts(job: JobSteps, hosts: Sequence[IdleTime]) -> list[int]:
    """Return per host a number of rows that suffices for its steps."""
    last = int(job.row.max(initial=-1))
    return [1 + max(last, int(host.step.max(initial=-1))) for host in hosts]


def _by_host(job: JobSteps, rows: NDArray[np.int64], hosts: int) -> list[NDArray[np.int64]]:
    """Return per host its subset of `rows`, which are rows of the job's steps."""
    host = job.worker_host[job.worker[rows]]
    order = np.argsort(host, kind="stable")
    cuts = np.searchsorted(host[order], np.arange(hosts + 1)).tolist()
    return [rows[order[begin:end]] for begin, end in pairwise(cuts)]


def _most_open(host: IdleTime, open_ms: NDArray[np.float64]) -> dict[str, float]:
    """Return open ms by name: the maximum over its activities, which may lack some steps."""
    out: dict[str, float] = {}
    for name, ms in zip(host.name, open_ms.tolist(), strict=True):
        if ms > 0:
            out[name] = max(out.get(name, 0.0), ms)
    return out


def _weights(
    job: JobSteps, means: StepMeans, hosts: Sequence[IdleTime]
) -> Iterator[NDArray[np.float64]]:
    """Yield per host [rows] the weight of each row of its steps in the average step."""
    used = used_rows(job)
    used = used[means.is_counted[job.step[used]]]
    step_weight = 1 / np.maximum(means.workers, 1) / max(means.steps, 1)
    for host_rows, rows in zip(
        _by_host(job, used, len(hosts)), _row_counts(job, hosts), strict=True
    ):
        weight = np.zeros(rows)
        weight[job.row[host_rows]] = step_weight[job.step[host_rows]]
        yield weight
