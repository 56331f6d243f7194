"""The steps of all hosts of a job, aligned."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.job.alignment import align
from tbprof.analysis.job.step_hosts import choose_hosts
from tbprof.analysis.job.step_matching import HostSteps
from tbprof.analysis.spans.groups import group_rows, repeats
from tbprof.analysis.steps.recording_gaps import (
    MOST_NAMES,
    lost_notices,
    partial_notices,
    unrecorded_notices,
)
from tbprof.analysis.steps.steps import Steps
from tbprof.analysis.vocabulary.phases import PHASES
from tbprof.base.caches import LatestCache
from tbprof.base.errors import Notice
from tbprof.base.records import dataclass
from tbprof.base.texts import few

CPU = "CPU"
SPARSE_CORE = "SparseCore"
_PER_HOST = 1000


@dataclass(frozen=True, slots=True)
class JobSteps:
    """The rows of several `Steps`, ordered by (step, worker).

    Workers are numbered over all hosts, in the order of hosts. `worker_host` [w] indexes `hosts`;
    `unpaired` are the hosts whose steps could not be matched with those of other hosts. `core_id`
    [w] is the id in the pod viewer: 1000 x host + the TPU plane's id, or + 1, 2, ... for GPUs and
    CPUs. `number` and `label` [steps] describe the job's steps.

    Of each row [n], `step` is the job step, `row` the row in the host's own `Steps` (`parts`), and
    `start_ps` counts from the start of that host's trace. `is_unrecorded`: the trace lacks the
    worker's own work in this step, so the row has times but no figures.
    """

    hosts: tuple[str, ...]
    source: str
    marker: str
    note: str
    worker_name: list[str]
    worker_kind: list[str]
    worker_host: NDArray[np.int64]
    core_id: NDArray[np.int64]
    number: NDArray[np.int64]  # [steps]
    label: list[str]  # [steps]
    step: NDArray[np.int64]
    worker: NDArray[np.int64]
    row: NDArray[np.int64]
    start_ps: NDArray[np.int64]
    duration_ps: NDArray[np.int64]
    own_ps: NDArray[np.int64]
    is_truncated: NDArray[np.bool_]
    is_unrecorded: NDArray[np.bool_]
    phase_ps: NDArray[np.int64]  # [n, PHASES]
    notices: tuple[Notice, ...]
    parts: tuple[Steps, ...]
    unpaired: frozenset[int] = frozenset()

    @property
    def ends_early(self) -> str:
        """Where the first truncated file of the hosts ends, "" if all are complete."""
        return next((part.ends_early for part in self.parts if part.ends_early), "")

    @property
    def step_parts(self) -> list[tuple[str, Steps]]:
        """(host, its `Steps`) for hosts that have steps of the job."""
        has_steps = set(self.worker_host[self.worker].tolist())
        return [
            (host, part)
            for index, (host, part) in enumerate(zip(self.hosts, self.parts, strict=False))
            if index in has_steps
        ]

    @property
    def is_inferred(self) -> bool:
        """Whether nothing in the trace marks the steps."""
        return any(part.is_inferred for _, part in self.step_parts)

    @property
    def is_step_truncated(self) -> NDArray[np.bool_]:
        """[steps] whether a part of the step is missing on any worker.

        SparseCores, which usually wait for the next step, count only if there are no other workers.
        """
        is_core = np.array([kind != SPARSE_CORE for kind in self.worker_kind], bool)
        counts = is_core[self.worker] if is_core.any() else np.ones(self.worker.size, bool)
        out = np.zeros(len(self.label), bool)
        out[self.step[self.is_truncated & counts]] = True
        return out

    @property
    def counted(self) -> NDArray[np.bool_]:
        """[steps] whether averages include a step: complete steps, or all if none is complete.

        A step needs one worker that recorded it; averages are over the workers that did.
        """
        is_recorded = ~self.is_step_unrecorded
        is_whole = is_recorded & ~self.is_step_truncated
        return is_whole if is_whole.any() else is_recorded

    @property
    def is_step_unrecorded(self) -> NDArray[np.bool_]:
        """[steps] whether no worker that has the step recorded work in it."""
        out = np.ones(len(self.label), bool)
        out[self.step[~self.is_unrecorded]] = False
        return out

    def first_start_ms(self) -> NDArray[np.float64]:
        """[steps] when the first worker began, since the start of its host's trace; else NaN."""
        start = np.full(len(self.label), np.inf)
        np.minimum.at(start, self.step, self.start_ps / 1e9)
        return np.where(np.isinf(start), np.nan, start)


# The next page of a run shows the same steps. The cached job keeps its parts alive, so that equal
# ids are the same objects.
_MOST_KEPT = 1 << 19
_latest: LatestCache[tuple[tuple[str, ...], tuple[int, ...]], JobSteps] = LatestCache(1, 0)


def merge_steps(hosts: Sequence[str], parts: Sequence[Steps]) -> JobSteps:
    """Return the aligned steps of all hosts that mark steps in the same way (`choose_hosts`).

    The latest result is cached and returned for the same hosts and parts.
    """
    key = tuple(hosts), tuple(map(id, parts))
    job = _latest.get(key)
    if job is None:
        job = _merge(hosts, parts)
        if job.step.size <= _MOST_KEPT:
            _latest.put(key, job)
    return job


def _merge(hosts: Sequence[str], parts: Sequence[Steps]) -> JobSteps:
    """Return the aligned steps of all hosts.

    Hosts whose program numbered its steps are aligned by number, others by `match_steps`; doubts
    become notices. If a host lacks a step, the step has no rows of that host. CPU-only hosts of a
    job with devices are coordinators without steps.
    """
    notices: list[Notice] = []
    has_device = any(kind != CPU for part in parts for kind in part.worker_kind)
    rows = [_rows(part, has_device=has_device) for part in parts]
    used, why_not = choose_hosts(parts, rows)
    excluded = {index for index, chosen in enumerate(rows) if chosen.size} - set(used)
    for host_row, chosen in enumerate(rows):
        if host_row in excluded:
            notices.append(
                Notice("other_steps", f"its steps are excluded: {why_not}", hosts[host_row])
            )
        elif used and not chosen.size and not (has_device and CPU in parts[host_row].worker_kind):
            reason = parts[host_row].note or "its trace marks none"
            text = f"excluded from the step figures because it has no steps: {reason}"
            notices.append(Notice("host_without_steps", text, hosts[host_row]))
    sequences = [_sequence(parts[host_row], rows[host_row]) for host_row in used]
    step_of, order, doubts = align([sequence for sequence, _ in sequences])
    notices.extend(Notice(doubt.code, doubt.message, hosts[used[doubt.host]]) for doubt in doubts)
    workers = _Workers(hosts, parts, excluded, has_device=has_device)
    lead = parts[used[0]] if used else (parts[0] if parts else None)
    pieces = [
        (
            step_of[number][sequences[number][1]],
            workers.first[host_row]
            + workers.place[host_row][parts[host_row].worker[rows[host_row]]],
            rows[host_row],
            parts[host_row].start_ps[rows[host_row]],
            parts[host_row].duration_ps[rows[host_row]],
            parts[host_row].own_ps[rows[host_row]],
            parts[host_row].is_truncated[rows[host_row]],
            parts[host_row].is_unrecorded[rows[host_row]],
            parts[host_row].phase_ps[rows[host_row]],
        )
        for number, host_row in enumerate(used)
    ]
    joined = [np.concatenate(column) for column in zip(*pieces, strict=True)] or [
        *(np.empty(0, np.int64) for _ in range(6)),
        np.empty(0, np.bool_),
        np.empty(0, np.bool_),
        np.empty((0, PHASES), np.int64),
    ]
    by_step = np.lexsort((joined[1], joined[0]))
    step, worker, row, start, duration, own_ps, truncated, unrecorded, phases = (
        values[by_step] for values in joined
    )
    numbers = [sequences[host][0].number[row] for host, row in order]
    labels = [sequences[host][0].label[row] for host, row in order]
    worker_host = np.array(workers.hosts, np.int64)
    notices += _doubt_notices(hosts, parts, used)
    notices += lost_notices(hosts, parts)
    notices += unrecorded_notices(
        hosts, labels, workers.names, worker_host, worker[unrecorded], step[unrecorded]
    )
    worker_keys = list(zip(workers.hosts, workers.kinds, workers.names, strict=True))
    notices += partial_notices(hosts, labels, worker_keys, worker, step)
    return JobSteps(
        tuple(hosts),
        lead.source if lead else "none",
        lead.marker if lead else "",
        lead.note if lead else "",
        workers.names,
        workers.kinds,
        worker_host,
        np.array(workers.core_ids, np.int64),
        np.array(numbers, np.int64),
        labels,
        step,
        worker,
        row,
        start,
        duration,
        own_ps,
        truncated,
        unrecorded,
        phases,
        tuple(notices),
        tuple(parts),
        frozenset(used[doubt.host] for doubt in doubts if doubt.is_unpaired),
    )


def _doubt_notices(
    hosts: Sequence[str], parts: Sequence[Steps], used: Sequence[int]
) -> list[Notice]:
    """Return doubts about the steps of individual hosts; without hosts if it applies to all."""
    having: dict[str, list[str]] = {}
    for host in used:
        for text in parts[host].doubts:
            having.setdefault(text, []).append(hosts[host])
    return [
        Notice("doubtful_steps", text, "" if len(names) == len(used) else few(names, MOST_NAMES))
        for text, names in having.items()
    ]


def _rows(part: Steps, *, has_device: bool) -> NDArray[np.int64]:
    """Return the rows of workers that count: CPUs only if the whole job has no device."""
    is_used = np.array([kind != CPU or not has_device for kind in part.worker_kind], bool)
    if not is_used.size:
        return np.empty(0, np.int64)
    return np.flatnonzero(is_used[part.worker])


class _Workers:
    """The workers of all hosts.

    `first` is the number of a host's first worker, and `place` maps a worker's index in the host's
    part to its position after that, -1 if it is not used.
    """

    def __init__(
        self,
        hosts: Sequence[str],
        parts: Sequence[Steps],
        excluded: set[int],
        *,
        has_device: bool,
    ) -> None:
        self.names: list[str] = []
        self.kinds: list[str] = []
        self.hosts: list[int] = []
        self.core_ids: list[int] = []
        self.first: list[int] = []
        self.place: list[NDArray[np.int64]] = []
        for host, part in zip(range(len(hosts)), parts, strict=True):
            self.first.append(len(self.names))
            place = np.full(len(part.worker_name), -1, np.int64)
            taken_ids: set[int] = set()
            for index, kind in enumerate(part.worker_kind):
                if host in excluded or (kind == CPU and has_device):
                    continue
                place[index] = len(self.names) - self.first[-1]
                self.names.append(part.worker_name[index])
                self.kinds.append(kind)
                self.hosts.append(host)
                core_id = int(part.worker_id[index]) if kind in ("TPU", SPARSE_CORE) else 1
                if core_id in taken_ids or not 0 <= core_id < _PER_HOST:
                    core_id = next(free for free in count(1) if free not in taken_ids)
                taken_ids.add(core_id)
                self.core_ids.append(host * _PER_HOST + core_id)
            self.place.append(place)


def _sequence(part: Steps, rows: NDArray[np.int64]) -> tuple[HostSteps, NDArray[np.int64]]:
    """Return (the host's steps in time order, the step of each of `rows`)."""
    texts = {text: index for index, text in enumerate(dict.fromkeys(part.label))}
    label = np.array([texts[part.label[row]] for row in rows.tolist()], np.int64)
    number, worker = part.number[rows], part.worker[rows]
    repeat = repeats([worker, number, label])
    code, first = group_rows([number, label, repeat])
    steps = first.size
    start = np.full(steps, np.iinfo(np.int64).max, np.int64)
    end = np.full(steps, np.iinfo(np.int64).min, np.int64)
    # Unrecorded rows have no times of their own: use those of other workers.
    has_times = np.zeros(steps, bool)
    has_times[code[~part.is_unrecorded[rows]]] = True
    timed = ~part.is_unrecorded[rows] | ~has_times[code]
    np.minimum.at(start, code[timed], part.start_ps[rows[timed]])
    np.maximum.at(end, code[timed], (part.start_ps + part.duration_ps)[rows[timed]])
    order = np.argsort(start, kind="stable")
    place = np.empty(steps, np.int64)
    place[order] = np.arange(steps)
    names = list(texts)
    sequence = HostSteps(
        number[first][order],
        [names[index] for index in label[first][order].tolist()],
        repeat[first][order],
        start[order],
        end[order],
        part.epoch_ns,
        part.has_explicit_numbers,
    )
    return sequence, place[code]
