"""Calls that launch kernels: their device, and whether the kernels were recorded."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.devices.correlation import correlation_ids
from tbprof.analysis.host.host_events import HostThreads
from tbprof.analysis.host.host_roles import host_types
from tbprof.analysis.ops.device_phases import DeviceIntervals
from tbprof.analysis.vocabulary.name_families import name_families
from tbprof.analysis.vocabulary.phases import Phase
from tbprof.base import names
from tbprof.base.lazy import regex
from tbprof.base.records import dataclass
from tbprof.base.values import join_columns, unique

# Calls that launch kernels or graphs of them, except for functions on the host.
_LAUNCH = regex(r"(?:cu|cuda|hip)(?!\w*HostFunc)(?:[A-Z]\w*)?Launch")


@dataclass(frozen=True, slots=True)
class Launches:
    """Launches of kernels [n], unordered.

    `group` is the group of the call, -1 for none, and `start_ps` its time. `device` is the index of
    the given device that has the launched kernel, -1 if the kernel was not recorded. `target` is
    the number of the device that the call names, or else of the thread that made it; `is_named`
    [targets] says which.
    """

    group: NDArray[np.int32]
    start_ps: NDArray[np.int64]
    device: NDArray[np.int64]
    target: NDArray[np.int64]
    is_named: NDArray[np.bool_]


def is_work(device: DeviceIntervals) -> NDArray[np.bool_]:
    """[n] whether an interval is a device's own work rather than a copy."""
    return device.is_kernel | (device.work <= Phase.COLLECTIVES)


def find_launches(hosts: Sequence[HostThreads], devices: Sequence[DeviceIntervals]) -> Launches:
    """The launches on all threads.

    A call launches kernels if its name shows it, or if another call with the same name launched one
    (in traces of 2020, CUPTI's calls have the names of their kernels).
    """
    kernels = _find_kernels(devices)
    parts = [_of_host(plane_index, threads, kernels) for plane_index, threads in enumerate(hosts)]
    group, start_ps, device, plane, named_by, line = join_columns(parts, 6)
    is_named = named_by >= 0
    # Devices have the same name on all planes; threads belong to their plane.
    keys = np.stack((np.where(is_named, -1, plane), np.where(is_named, named_by, line)))
    distinct, target = np.unique(keys, axis=1, return_inverse=True)
    return Launches(group.astype(np.int32), start_ps, device, target.reshape(-1), distinct[0] < 0)


@dataclass(frozen=True, slots=True)
class _Kernels:
    """Device events by correlation id, ascending: the device, and whether the event is work."""

    id: NDArray[np.int64]
    device: NDArray[np.int64]
    is_work: NDArray[np.bool_]


def _find_kernels(devices: Sequence[DeviceIntervals]) -> _Kernels:
    parts = [(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, bool))]
    for index, device in enumerate(devices):
        stat = correlation_ids(device.events)
        if stat is not None:
            id_ = stat.integers()[device.row]
            parts.append((id_, np.full(id_.size, index, np.int64), is_work(device)))
    id_, owner, work = (np.concatenate(column) for column in zip(*parts, strict=True))
    order = np.lexsort((~work, id_))  # work first: a graph's launch may also copy
    order = order[id_[order] != 0]
    is_first = np.append(True, np.diff(id_[order]) != 0)[: order.size]
    order = order[is_first]
    return _Kernels(id_[order], owner[order], work[order])


def _of_host(plane: int, threads: HostThreads, kernels: _Kernels) -> tuple[NDArray[np.int64], ...]:
    """(group, start, device, plane, device that is named or -1, line) of a host's launches."""
    events = threads.events
    stat_names = events.plane.stat_names
    if names.CORRELATION_ID not in stat_names:
        return tuple(np.empty(0, np.int64) for _ in range(6))
    rows = events.rows_of(host_types(events, has_device=True).is_launch)
    wanted = [name for name in (names.CORRELATION_ID, names.DEVICE_ID) if name in stat_names]
    stats = events.stats(wanted, rows)
    id_ = stats[names.CORRELATION_ID].integers()
    named_by = stats[names.DEVICE_ID].integers(-1) if len(stats) > 1 else np.full(id_.size, -1)
    # The entry after the last kernel means no kernel.
    index = np.searchsorted(kernels.id, id_)
    has_kernel = np.append(kernels.id, 0)[index] == id_
    has_kernel &= id_ != 0
    worked = has_kernel & np.append(kernels.is_work, False)[index]
    launches = name_families(events.plane).classify(_LAUNCH.match, np.bool_)
    launches[unique(events.type[rows[worked]])] = True
    keeps = launches[events.type[rows]] & (id_ != 0) & (worked | ~has_kernel)
    rows = rows[keeps]
    return (
        threads.group[rows],
        events.start_ps[rows],
        np.where(worked, np.append(kernels.device, -1)[index], -1)[keeps],
        np.full(rows.size, plane),
        named_by[keeps],
        np.searchsorted(events.first_event, rows, side="right") - 1,
    )
