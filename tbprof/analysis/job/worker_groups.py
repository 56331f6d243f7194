"""Workers that wait for each other, and what each of their steps took."""

from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.job.coupling import MOST_NAMES, NO_EXCHANGE, TRANSFER, Coupling
from tbprof.analysis.job.job_steps import CPU, JobSteps
from tbprof.analysis.vocabulary.phases import Phase
from tbprof.base.records import dataclass
from tbprof.base.values import common, is_in, union

# Workers run the same program if they share this much of their names.
_ALIKE = 0.5
# Up to so many programs are compared pair by pair; of more only equal ones are alike.
_MOST_PROGRAMS = 64


@dataclass(frozen=True, slots=True)
class WorkerGroup:
    """What the steps [s] of some workers [w] took, in ps; NaN if a worker does not have a step.

    `wait_ps` is the part in which a worker waits for others, `own_ps` the rest; `waits` are the
    phases of a step in which it waits. `device` is the ordinal of a device simulated by the CPU
    `worker`, -1 for the worker itself.
    """

    worker: NDArray[np.int64]
    device: NDArray[np.int64]
    own_ps: NDArray[np.float64]
    wait_ps: NDArray[np.float64]
    waits: tuple[Phase, ...] = ()


@dataclass(frozen=True, slots=True)
class _Ran:
    """Hashes of the names of what a worker ran, ascending."""

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
    """Groups of at least two workers that exchange data with each other, and of devices of CPUs.

    They run the same collectives, or send and receive, in the same program: most names of what ran
    on them are the same. Hosts whose steps were not paired by number or time form groups of their
    own. `is_counted` [steps] are the steps to compare.
    """
    ran = _what_ran(job, couplings)
    for rows, waits in _alike(ran):
        yield _table(job, is_counted, np.array(sorted(rows), np.int64), waits)
    cpus = _cpus(job)
    for host, coupling in enumerate(couplings):
        group = _met(job, is_counted, cpus[host], coupling) if host in cpus else None
        if group is not None:
            yield group


def everyone(job: JobSteps, is_counted: NDArray[np.bool_]) -> WorkerGroup:
    """All workers that do similar work, as if none waited."""
    return _table(job, is_counted, np.array(_comparable(job), np.int64), ())


def has_unnamed_devices(job: JobSteps, couplings: Sequence[Coupling]) -> bool:
    """Whether devices of a CPU wait for each other and it is not recorded which is which."""
    cpus = _cpus(job)
    return any(
        bool((coupling.device < 0).any()) and host in cpus
        for host, coupling in enumerate(couplings)
    )


def _comparable(job: JobSteps) -> list[int]:
    """The workers to compare: SparseCores do other work than the cores that they serve."""
    return [worker for worker, kind in enumerate(job.worker_kind) if kind != "SparseCore"]


def _what_ran(job: JobSteps, couplings: Sequence[Coupling]) -> dict[int, _Ran]:
    """What ran on each worker that exchanges data."""
    ran: dict[int, _Ran] = {}
    for worker in _comparable(job):
        host = int(job.worker_host[worker])
        coupling = couplings[host] if host < len(couplings) else None
        if coupling is None or job.worker_name[worker] not in coupling.worker:
            continue
        rows = coupling.of == coupling.worker.index(job.worker_name[worker])
        exchanges = rows & (coupling.exchange != NO_EXCHANGE)
        if exchanges.any():
            ran[worker] = _Ran(
                job.worker_kind[worker],
                host if host in job.unpaired else -1,
                np.sort(coupling.hash[exchanges]),
                np.sort(coupling.hash[rows & ~exchanges]),
                bool((coupling.exchange[exchanges] == TRANSFER).any()),
            )
    return ran


def _alike(ran: dict[int, _Ran]) -> Iterator[tuple[list[int], tuple[Phase, ...]]]:
    """(workers, the phases in which they wait) for workers that ran the same program."""
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


def _is_same_program(a: _Ran, b: _Ran) -> bool:
    if (a.kind, a.apart) != (b.kind, b.apart):
        return False
    shared = common(a.exchanges, b.exchanges).size
    if shared < _ALIKE * min(a.exchanges.size, b.exchanges.size):
        return False
    # The least hashes of both are a fair sample of their names.
    sample = union(a.others, b.others)[:MOST_NAMES]
    both = is_in(sample, a.others) & is_in(sample, b.others)
    return sample.size == 0 or float(both.mean()) >= _ALIKE


def _table(
    job: JobSteps,
    is_counted: NDArray[np.bool_],
    workers: NDArray[np.int64],
    waits: tuple[Phase, ...],
) -> WorkerGroup:
    """The steps of workers (ascending)."""
    shape = workers.size, int(is_counted.sum())
    own_ps, wait_ps = np.full(shape, np.nan), np.full(shape, np.nan)
    is_used = is_counted[job.step] & ~job.is_unrecorded
    rows = np.flatnonzero(is_used & is_in(job.worker, workers))
    cells = np.searchsorted(workers, job.worker[rows]), (np.cumsum(is_counted) - 1)[job.step[rows]]
    wait_ps[cells] = job.phase_ps[rows][:, list(waits)].sum(axis=1)
    own_ps[cells] = job.duration_ps[rows] - wait_ps[cells]
    return WorkerGroup(workers, np.full(workers.size, -1, np.int64), own_ps, wait_ps, waits)


def _cpus(job: JobSteps) -> dict[int, int]:
    """By host the worker that is its CPU, the first if there are several."""
    cpus: dict[int, int] = {}
    for worker, (host, kind) in enumerate(
        zip(job.worker_host.tolist(), job.worker_kind, strict=True)
    ):
        if kind == CPU:
            cpus.setdefault(host, worker)
    return cpus


def _met(
    job: JobSteps, is_counted: NDArray[np.bool_], worker: int, coupling: Coupling
) -> WorkerGroup | None:
    """The devices of a CPU: their time until they met the others, and their wait for them.

    A meeting belongs to the step in which the last device arrives. Own time counts from the first
    arrival: the time that all devices spend alike is unknown.
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
    devices, of = np.unique(device[is_inside], return_inverse=True)
    if devices.size < 2:  # no steps where the devices met
        return None
    shape = devices.size, rows.size
    cell = of * rows.size + step_row
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
