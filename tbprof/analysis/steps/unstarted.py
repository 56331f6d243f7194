"""The time in which idle devices had not started launched work."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.devices.correlation import correlation_ids
from tbprof.analysis.host.host_events import HostThreads
from tbprof.analysis.host.host_roles import host_types
from tbprof.analysis.ops.device_phases import DeviceIntervals
from tbprof.analysis.spans.layers import NO_SPANS, Spans, unite_all
from tbprof.base import names
from tbprof.base.values import is_in, join_columns, joined
from tbprof.events.space import Events

# Devices start launched work within some microseconds, or as soon as earlier work is done. If none
# of it starts within this time, the clocks of host and devices may differ.
_SHORTEST_PS = 200_000_000
# Look at this many starts of work to decide whether some of it is late.
_SAMPLE = 512


def find_unstarted(hosts: Sequence[HostThreads], devices: Sequence[DeviceIntervals]) -> list[Spans]:
    """The spans for each device, disjoint and ascending.

    They begin when the call that launches the work returns, or when the devices finish earlier
    work, and end when the launched work starts. Meanwhile no device did anything that was recorded.

        thread  |lll...........   l: launches the work
        device  |.........wwww.   -> from the end of the call to the work
    """
    if not devices:
        return []
    busy_start, busy_end = unite_all(
        (device.start_ps, device.start_ps + device.duration_ps) for device in devices
    )
    idle_start = np.append(busy_start[:1], busy_end[:-1])
    is_late = busy_start - idle_start >= _SHORTEST_PS
    idle_start, first_start = idle_start[is_late], busy_start[is_late]
    # Reading the ids of all calls takes long, and most work starts while it is launched.
    if _follow_calls(hosts, first_start):
        return [NO_SPANS for _ in devices]
    works = [_work_from(device, first_start) for device in devices]
    call_id, call_end = _calls(hosts, joined(id_ for id_, _ in works))
    spans, soonest = [], np.iinfo(np.int64).max
    for id_, start in works:
        index = np.searchsorted(call_id, id_)
        has_call = np.append(call_id, 0)[index] == id_
        start, end = start[has_call], call_end[index[has_call]]
        soonest = min(soonest, int((start - end).min(initial=soonest)))
        begin = np.maximum(end, idle_start[np.searchsorted(first_start, start)])
        is_long = start - begin >= _SHORTEST_PS
        spans.append((begin[is_long], start[is_long]))
    return spans if soonest < _SHORTEST_PS else [NO_SPANS for _ in devices]


def _follow_calls(hosts: Sequence[HostThreads], start: NDArray[np.int64]) -> bool:
    """Whether a call that may launch work began shortly before each time, or each of a sample."""
    sample = start[:: start.size // _SAMPLE + 1]
    follows = np.zeros(sample.size, np.bool_)
    for threads in hosts:
        events = threads.events
        if names.CORRELATION_ID not in events.plane.stat_names:
            continue
        launches = host_types(events, has_device=True).is_launch
        for first, last in pairwise(events.first_event.tolist()):
            line_start = events.start_ps[first:last]
            begin = first + np.searchsorted(line_start, sample - _SHORTEST_PS)
            count = first + np.searchsorted(line_start, sample, side="right") - begin
            row = np.repeat(begin - np.cumsum(count) + count, count) + np.arange(count.sum())
            follows[np.repeat(np.arange(sample.size), count)[launches[events.type[row]]]] = True
    return bool(follows.all())


def _launches(events: Events) -> NDArray[np.int64]:
    """The rows of calls that may launch work."""
    if names.CORRELATION_ID not in events.plane.stat_names:
        return np.empty(0, np.int64)
    return events.rows_of(host_types(events, has_device=True).is_launch)


def _work_from(
    device: DeviceIntervals, start: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(correlation id, start) of the device's work that begins at one of these times, by start."""
    stat = correlation_ids(device.events)
    if stat is None or not start.size:
        return start[:0], start[:0]
    rows = np.flatnonzero(is_in(device.start_ps, start))
    id_ = stat.integers()[device.row[rows]]
    begin, index = np.unique(device.start_ps[rows[id_ != 0]], return_index=True)
    return id_[id_ != 0][index], begin


def _calls(
    hosts: Sequence[HostThreads], wanted: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(id, end) of the calls that launched work with these ids, by id."""
    calls: list[tuple[NDArray[np.int64], NDArray[np.int64]]] = []
    for threads in hosts if wanted.size else ():
        events = threads.events
        rows = _launches(events)
        if not rows.size:
            continue
        id_ = events.stats([names.CORRELATION_ID], rows)[names.CORRELATION_ID].integers()
        is_wanted = is_in(id_, wanted)
        rows = rows[is_wanted]
        calls.append((id_[is_wanted], events.start_ps[rows] + events.duration_ps[rows]))
    id_, end = join_columns(calls, 2)
    order = np.argsort(id_, kind="stable")
    return id_[order], end[order]
