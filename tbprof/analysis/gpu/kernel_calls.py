"""Every call of every GPU kernel: its duration, the idle time before it, and its launch latency."""

from __future__ import annotations

from enum import IntEnum
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.gpu.gpu_facts import gaps_before
from tbprof.analysis.gpu.kernels import Kernels, kernel_rows
from tbprof.analysis.hlo.hlo import Programs
from tbprof.analysis.host.host_events import host_events
from tbprof.analysis.host.host_roles import host_types
from tbprof.analysis.vocabulary.lines import host_planes
from tbprof.base import names
from tbprof.base.records import dataclass
from tbprof.base.values import join_columns
from tbprof.events.space import Events, Space
from tbprof.events.stats import StatColumn

UNKNOWN = -1


class Unlinked(IntEnum):
    """The reason why there is no launch latency.

    NO_ID: the kernel has no correlation id. NO_LAUNCH: no recorded call of the host has that id.
    EARLY: the kernel starts before the call that launched it, so the clocks differ. FOLLOWS: the
    call launched several kernels or copies, such as a graph, and another one started first.
    """

    NO_ID = -1
    NO_LAUNCH = -2
    EARLY = -3
    FOLLOWS = -4


@dataclass(frozen=True, slots=True)
class KernelCalls:
    """The calls of the kernels of one host [n], those of row r of `Kernels` at `first[r:r + 2]`.

    Within a row they are ordered by device, stream and time. `stream` is an index into
    `stream_device` and `stream_name`. Times in ps:

    `idle_ps`: how long nothing ran on the device before the call, neither a kernel nor a copy.
        Of events that start together one has it, so that it can be summed over streams.
    `pause_ps`: from the end of what ran on its stream before it to its start, 0 if they overlap.
    `latency_ps`: from the start of the host's call that launched it to its start, or `Unlinked`.
    `queue_ps`: from the end of that call, 0 if the kernel starts before it returns, or `Unlinked`.

    The first two are `UNKNOWN` for the first event of the device or stream.

        host      |.LLL.......      L launches k: latency 8, queue 5
        Stream #1 |mmmm.....kk      pause 5
        Stream #2 |..cccc             idle 3, until which c was copied
    """

    stream_device: list[str]
    stream_name: list[str]
    first: NDArray[np.int64]
    stream: NDArray[np.int32]
    duration_ps: NDArray[np.int64]
    idle_ps: NDArray[np.int64]
    pause_ps: NDArray[np.int64]
    latency_ps: NDArray[np.int64]
    queue_ps: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class _LaunchCalls:
    """Calls on the host by correlation id and start."""

    id: NDArray[np.int64]
    start_ps: NDArray[np.int64]
    end_ps: NDArray[np.int64]


def find_kernel_calls(space: Space, programs: Programs, kernels: Kernels) -> KernelCalls:
    """The calls of the `kernels` of all GPUs.

    The launch of a kernel is the call with its correlation id; if there are several, the latest
    that starts before it, since ids are reused.
    """
    devices: list[str] = []
    streams: list[str] = []
    columns: list[tuple[NDArray[np.int64], ...]] = []
    for kinds, row_of in kernel_rows(space, programs):
        events = kinds.events
        columns.append((
            row_of[kinds.code],
            events.line.astype(np.int64) + len(streams),
            events.start_ps,
            events.duration_ps,
            _idle_before(events),
            _pause_before(events),
            _correlations(events, None),
        ))  # fmt: skip
        texts = events.plane.strings.take(events.lines.name.tolist())
        devices += [events.plane.name.removeprefix("/device:")] * len(texts)
        streams += texts
    row, stream, start, duration, idle, pause, id_ = join_columns(columns, 7)
    latency, queue = _latencies(_find_launches(space), id_, start)
    order = np.argsort(row, kind="stable")
    order = order[np.searchsorted(row[order], 0) :]  # copies have no row
    return KernelCalls(
        devices,
        streams,
        np.searchsorted(row[order], np.arange(len(kernels.name) + 1)).astype(np.int64),
        stream[order].astype(np.int32),
        duration[order],
        idle[order],
        pause[order],
        latency[order],
        queue[order],
    )


def _idle_before(events: Events) -> NDArray[np.int64]:
    out = gaps_before(events.start_ps, events.duration_ps)
    if out.size:
        out[np.argmin(events.start_ps)] = UNKNOWN
    return out


def _pause_before(events: Events) -> NDArray[np.int64]:
    out = np.full(len(events), UNKNOWN, np.int64)
    for begin, end in pairwise(events.first_event.tolist()):
        start = events.start_ps[begin:end]
        until = np.maximum.accumulate(start + events.duration_ps[begin:end])
        out[begin + 1 : end] = np.maximum(start[1:] - until[:-1], 0)
    return out


def _correlations(events: Events, rows: NDArray[np.int64] | None) -> NDArray[np.int64]:
    """The correlation ids of some events, all by default; 0 for none."""
    if names.CORRELATION_ID not in events.plane.stat_names:
        return np.zeros(len(events) if rows is None else rows.size, np.int64)
    stat: StatColumn = events.stats([names.CORRELATION_ID], rows)[names.CORRELATION_ID]
    return np.where(stat.is_integer, stat.bits, 0)


def _find_launches(space: Space) -> _LaunchCalls:
    launches: list[tuple[NDArray[np.int64], ...]] = []
    for plane in host_planes(space):
        events = host_events(plane, is_kept=False)
        rows = events.rows_of(host_types(events, has_device=True).is_launch)
        id_ = _correlations(events, rows)
        rows, id_ = rows[id_ != 0], id_[id_ != 0]
        start = events.start_ps[rows]
        launches.append((id_, start, start + events.duration_ps[rows]))
    id_, start, end = join_columns(launches, 3)
    order = np.lexsort((end, start, id_))
    return _LaunchCalls(id_[order], start[order], end[order])


def _latencies(
    launches: _LaunchCalls, id_: NDArray[np.int64], start: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(latency, queue) [n] of the GPU events with these ids and starts."""
    launch = _launch_of(launches, id_, start)
    linked = launch >= 0
    first_start = np.full(launches.id.size, np.iinfo(np.int64).max)
    np.minimum.at(first_start, launch[linked], start[linked])
    latency = launch.copy()
    latency[linked] = start[linked] - launches.start_ps[launch[linked]]
    queue = launch.copy()
    queue[linked] = np.maximum(start[linked] - launches.end_ps[launch[linked]], 0)
    follows = np.flatnonzero(linked)
    follows = follows[start[follows] > first_start[launch[follows]]]
    latency[follows] = queue[follows] = Unlinked.FOLLOWS
    return latency, queue


def _launch_of(
    launches: _LaunchCalls, id_: NDArray[np.int64], start: NDArray[np.int64]
) -> NDArray[np.int64]:
    """[n] the latest launch with the id that starts no later, else the `Unlinked` reason."""
    calls = launches.id.size
    out = np.full(id_.size, Unlinked.NO_LAUNCH, np.int64)
    out[id_ == 0] = Unlinked.NO_ID
    if not calls:
        return out
    index = np.minimum(np.searchsorted(launches.id, id_), calls - 1)
    out[(launches.id[index] == id_) & (id_ != 0)] = Unlinked.EARLY
    ids = np.concatenate([launches.id, id_])
    is_work = np.arange(ids.size) >= calls
    order = np.lexsort((is_work, np.concatenate([launches.start_ps, start]), ids))
    latest = np.maximum.accumulate(np.where(is_work[order], -1, order))
    work = is_work[order]
    latest, rows = latest[work], order[work] - calls
    is_same = (latest >= 0) & (launches.id[latest] == id_[rows])
    out[rows[is_same]] = latest[is_same]
    return out
