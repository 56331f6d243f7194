"""Groups of workers that wait for each other, with the durations of their steps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.job.coupling import MOST_NAMES, NO_EXCHANGE, TRANSFER, Coupling
from tbprof.analysis.job.job_steps import CPU, JobSteps
from tbprof.analysis.vocabulary.phases import Phase
from tbprof.base.records import dataclass
from tbprof.base.values import common, is_in, union

# Workers run the same program if they have at least this share of their event names in common.
_ALIKE = 0.5
# Up to this many programs are compared pairwise; of more, only identical ones are grouped.
_MOST_PROGRAMS = 64


@dataclass(frozen=True, slots=True)
class WorkerGroup:
    """The times [w, s] of the steps s of some workers w in ps; NaN if a worker lacks a step.

    `wait_ps` is the part in which a worker waits for others, `own_ps` the rest; `waits` are the
    phases in which workers wait. `worker` [w] are workers of the job; `device` [w] is the ordinal
    of a device that the CPU `worker` simulates, -1 for the worker itself.
    """

    worker: NDArray[np.int64]
    device: NDArray[np.int64]
    own_ps: NDArray[np.float64]
    wait_ps: NDArray[np.float64]
    waits: tuple[Phase, ...] = ()


@dataclass(frozen=True, slots=True)
class _WorkerPrograms:
    """The event names of a worker.

    `exchanges` and `others` are hashes of names, ascending. `apart` is the host if its steps could
    not be matched with those of other hosts, else -1. `transfers`: it sends or receives.
    """

    kind: str
    apart: int
    exchanges: NDArray[np.int64]
    others: NDArray[np.int64]
    transfers: bool

    @property
    def key(self) -> tuple[object, ...]:
        return self.kind, self.apart, self.exchanges.tobytes(), self.others.tobytes()


def coupled_groups(
    job: JobSteps, is_counted: NDArray[np.bool_], couplings: Sequence[Coupling]
) -> Iterator[WorkerGroup]:
    """Yield groups of two or more workers, or simulated CPU devices, that exchange data.

    They run the same collectives, or send and receive, in the same program: most of their event
    names are the same. Hosts whose steps were not matched by number or time form their own groups.
    `is_counted` [steps] are the steps to compare.
    """
    ran = _what_ran(job, couplings)
    for rows, waits in _same_program_groups(ran):
        yield _table(job, is_counted, np.array(sorted(rows), np.int64), waits)
    cpus = _cpus(job)
    for host, coupling in enumerate(couplings):
        group = _simulated_devices(job, is_counted, cpus[host], coupling) if host in cpus else None
        if group is not None:
            yield group


def all_workers(job: JobSteps, is_counted: NDArray[np.bool_]) -> WorkerGroup:
    """Return all workers that do similar work as one group in which none waits."""
    return _table(job, is_counted, np.array(_comparable(job), np.int64), ())


def has_unnamed_devices(job: JobSteps, couplings: Sequence[Coupling]) -> bool:
    """Whether simulated devices of a CPU wait for each other without recorded ordinals."""
    cpus = _cpus(job)
    return any(
        bool((coupling.device < 0).any()) and host in cpus
        for host, coupling in enumerate(couplings)
    )


def _comparable(job: JobSteps) -> list[int]:
    """Return the workers to compare: SparseCores do other work than the cores that they serve."""
    return [worker for worker, kind in enumerate(job.worker_kind) if kind != "SparseCore"]


def _what_ran(job: JobSteps, couplings: Sequence[Coupling]) -> dict[int, _WorkerPrograms]:
    """Return the event names of each worker that exchanges data."""
    ran: dict[int, _WorkerPrograms] = {}
    for worker in _comparable(job):
        host = int(job.worker_host[worker])
        coupling = couplings[host] if host < len(couplings) else None
        if coupling is None or job.worker_name[worker] not in coupling.worker:
            continue
        rows = coupling.worker_of == coupling.worker.index(job.worker_name[worker])
        exchanges = rows & (coupling.exchange != NO_EXCHANGE)
        if exchanges.any():
            ran[worker] = _WorkerPrograms(
                job.worker_kind[worker],
                host if host in job.unpaired else -1,
                np.sort(coupling.hash[exchanges]),
                np.sort(coupling.hash[rows & ~exchanges]),
                bool((coupling.exchange[exchanges] == TRANSFER).any()),
            )
    return ran


def _same_program_groups(
    ran: dict[int, _WorkerPrograms],
) -> Iterator[tuple[list[int], tuple[Phase, ...]]]:
    """Yield (workers, the phases in which they wait) for workers that ran the same program."""
    same: dict[tuple[object, ...], list[int]] = {}
    for worker, programs in ran.items():
        same.setdefault(programs.key, []).append(worker)
    groups = list(same.values())
    merged = list(range(len(groups)))
    if len(groups) <= _MOST_PROGRAMS:
        for a, b in combinations(range(len(groups)), 2):
            if merged[a] != merged[b] and _is_same_program(ran[groups[a][0]], ran[groups[b][0]]):
                merged = [merged[a] if programs == merged[b] else programs for programs in merged]
    for number in dict.fromkeys(merged):
        workers = [
            programs
            for index, group in enumerate(groups)
            if merged[index] == number
            for programs in group
        ]
        if len(workers) > 1:
            transfers = all(ran[worker].transfers for worker in workers)
            more = (Phase.DEVICE_TO_DEVICE,) if transfers else ()
            yield workers, (Phase.COLLECTIVES, *more)


def _is_same_program(a: _WorkerPrograms, b: _WorkerPrograms) -> bool:
    if (a.kind, a.apart) != (b.kind, b.apart):
        return False
    shared = common(a.exchanges, b.exchanges).size
    if shared < _ALIKE * min(a.exchanges.size, b.exchanges.size):
        return False
    # The lowest hashes of both are an unbiased sample of their names.
    sample = union(a.others, b.others)[:MOST_NAMES]
    both = is_in(sample, a.others) & is_in(sample, b.others)
    return sample.size == 0 or float(both.mean()) >= _ALIKE


def _table(
    job: JobSteps,
    is_counted: NDArray[np.bool_],
    workers: NDArray[np.int64],
    waits: tuple[Phase, ...],
) -> WorkerGroup:
    """Return the counted steps of `workers`, which are ascending."""
    shape = workers.size, int(is_counted.sum())
    own_ps, wait_ps = np.full(shape, np.nan), np.full(shape, np.nan)
    is_used = is_counted[job.step] & ~job.is_unrecorded
    rows = np.flatnonzero(is_used & is_in(job.worker, workers))
    cells = np.searchsorted(workers, job.worker[rows]), (np.cumsum(is_counted) - 1)[job.step[rows]]
    wait_ps[cells] = job.phase_ps[rows][:, list(waits)].sum(axis=1)
    own_ps[cells] = job.duration_ps[rows] - wait_ps[cells]
    return WorkerGroup(workers, np.full(workers.size, -1, np.int64), own_ps, wait_ps, waits)


def _cpus(job: JobSteps) -> dict[int, int]:
    """Return the CPU worker of each host, the first if there are several."""
    cpus: dict[int, int] = {}
    for worker, (host, kind) in enumerate(
        zip(job.worker_host.tolist(), job.worker_kind, strict=True)
    ):
        if kind == CPU:
            cpus.setdefault(host, worker)
    return cpus


def _simulated_devices(
    job: JobSteps, is_counted: NDArray[np.bool_], worker: int, coupling: Coupling
) -> WorkerGroup | None:
    """Return the simulated devices of a CPU as a group, None if fewer than two met.

    `own_ps` is the time until a device arrives at a collective, `wait_ps` the time until the last
    one does. A meeting belongs to the step in which the last device arrives. Own time counts from
    the first arrival, because earlier time that all devices spend equally is unknown.
    """
    is_named = coupling.device >= 0
    meeting, device = coupling.meeting[is_named], coupling.device[is_named].astype(np.int64)
    if not meeting.size:
        return None
    arrive = coupling.arrive_ps[is_named]
    first = np.full(int(meeting.max()) + 1, np.iinfo(np.int64).max, np.int64)
    np.minimum.at(first, meeting, arrive)
    last = np.full(first.size, np.iinfo(np.int64).min, np.int64)
    np.maximum.at(last, meeting, arrive)
    rows = np.flatnonzero((job.worker == worker) & is_counted[job.step])
    rows = rows[np.argsort(job.start_ps[rows], kind="stable")]
    step_row = np.searchsorted(job.start_ps[rows], last[meeting], "right") - 1
    end = np.append(job.start_ps[rows] + job.duration_ps[rows], np.iinfo(np.int64).min)
    is_inside = (step_row >= 0) & (last[meeting] <= end[step_row])
    meeting, arrive, step_row = meeting[is_inside], arrive[is_inside], step_row[is_inside]
    devices, device_row = np.unique(device[is_inside], return_inverse=True)
    if devices.size < 2:  # no steps where the devices met
        return None
    shape = devices.size, rows.size
    cell = device_row * rows.size + step_row
    count = np.bincount(cell, minlength=shape[0] * shape[1])

    def table(values: NDArray[np.int64]) -> NDArray[np.float64]:
        total = np.bincount(cell, values.astype(np.float64), shape[0] * shape[1])
        return np.where(count > 0, total, np.nan).reshape(shape)

    # A device that is missing from one of the step's meetings was not recorded in all of it.
    own_ps, wait = table(arrive - first[meeting]), table(last[meeting] - arrive)
    is_whole = count.reshape(shape) == count.reshape(shape).max(axis=0, initial=0)
    return WorkerGroup(
        np.full(devices.size, worker, np.int64),
        devices,
        np.where(is_whole, own_ps, np.nan),
        np.where(is_whole, wait, np.nan),
    )
