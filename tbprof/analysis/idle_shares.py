"""What the hosts' threads did in the part of an average step that nothing covers."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.host_activity import Activity
from tbprof.analysis.idle_time import IdleTime
from tbprof.analysis.job_steps import JobSteps
from tbprof.analysis.step_means import StepMeans, used_rows


@dataclass(frozen=True, slots=True)
class IdleShare:
    """One thing that threads did: ms of an average step, and of what (name, ms), longest first.

    `name` is an event's, "" where a kind has none of its own: a Python frame or an annotation.
    `is_driver` says that the thread that drives the program did it.
    """

    kind: Activity
    name: str
    is_driver: bool
    ms: float
    parts: tuple[tuple[str, float], ...]


def idle_shares(
    job: JobSteps, means: StepMeans, hosts: Sequence[IdleTime]
) -> tuple[IdleShare, ...]:
    """All that the hosts' threads did, longest first; together the mean of `Phase.OTHER`."""
    sums: dict[tuple[Activity, str, bool], dict[str, float]] = {}
    for at, host in enumerate(hosts):
        rows = int(job.parts[at].start_ps.size)
        weight = _weights(job, means, at, rows)
        ms = np.bincount(host.activity, host.time_ps * weight[host.step], len(host.name)) / 1e9
        for row in np.flatnonzero(ms).tolist():
            kind = Activity(int(host.kind[row]))
            parts = sums.setdefault((kind, host.name[row], bool(host.is_driver[row])), {})
            parts[host.part[row]] = parts.get(host.part[row], 0.0) + float(ms[row])
    found = [
        IdleShare(*key, sum(parts.values()), tuple(sorted(parts.items(), key=lambda one: -one[1])))
        for key, parts in sums.items()
    ]
    return tuple(sorted(found, key=lambda one: (-one.ms, one.kind, one.name)))


def _weights(job: JobSteps, means: StepMeans, host: int, rows: int) -> NDArray[np.float64]:
    """[rows] how much a row of the host's steps counts in the average step."""
    out = np.zeros(rows)
    used = used_rows(job)
    step = job.step[used]
    is_mine = (job.worker_host[job.worker[used]] == host) & means.is_counted[step]
    used, step = used[is_mine], step[is_mine]
    out[job.row[used]] = 1 / np.maximum(means.workers[step], 1) / max(means.steps, 1)
    return out
