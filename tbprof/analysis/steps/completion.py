"""The time until the program notices that its devices are done."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.host.host_events import HostThreads
from tbprof.analysis.ops.device_phases import DeviceIntervals
from tbprof.analysis.spans.layers import Spans, unite
from tbprof.analysis.vocabulary.phases import Phase

# A thread that records nothing for longer after the devices' work does something else.
_LONGEST_PS = 2_000_000_000
# The devices worked for this share of the time in which the thread recorded nothing.
_MOSTLY = 0.5

NO_COMPLETION: Spans = np.empty(0, np.int64), np.empty(0, np.int64)


def find_completion(threads: HostThreads, line: int, devices: Sequence[DeviceIntervals]) -> Spans:
    """From the end of device work to the next event of the program's thread, as disjoint spans.

    The thread waited for that work: it recorded nothing (no event began or ended on it) from before
    the end of the work, the devices worked for most of that time, and did nothing after it until
    the thread went on.

        thread  |lll......bbb     l: launches the work, b: the next thing that it does
        device  |.wwwwww.....  -> the two after the work
    """
    begin, end = unite(*_work(devices))
    edges = _edges(threads, line)
    if not begin.size or edges.size < 2:
        return NO_COMPLETION
    following = np.searchsorted(edges, end, side="right")
    is_inside = (following > 0) & (following < edges.size)
    work = np.flatnonzero(is_inside)
    previous, following_ps = edges[following[work] - 1], edges[following[work]]
    next_begin = np.append(begin[1:], np.iinfo(np.int64).max)[work]
    worked = _time_before(begin, end, end[work]) - _time_before(begin, end, previous)
    is_wait = (
        (next_begin >= following_ps)
        & (following_ps - end[work] <= _LONGEST_PS)
        & (worked > _MOSTLY * (following_ps - previous))
    )
    return end[work[is_wait]], following_ps[is_wait]


def _work(devices: Sequence[DeviceIntervals]) -> Spans:
    """When devices did anything; GPUs may copy input for later steps, which nothing waits for."""
    starts, ends = [NO_COMPLETION[0]], [NO_COMPLETION[1]]
    for device in devices:
        rows = (device.phase != Phase.OTHER) & (device.phase >= 0)
        if device.kind == "GPU":
            rows &= device.phase != Phase.INPUT
        starts.append(device.start_ps[rows])
        ends.append(device.start_ps[rows] + device.duration_ps[rows])
    return np.concatenate(starts), np.concatenate(ends)


def _edges(threads: HostThreads, line: int) -> NDArray[np.int64]:
    """The times at which events of a thread begin or end, ascending."""
    events, apart = threads.events, threads.apart
    own = np.arange(int(events.first_event[line]), int(events.first_event[line + 1]))
    on_line = np.searchsorted(events.first_event, apart.row, side="right") - 1
    rows = np.concatenate([own, apart.row[apart.thread[on_line] == line]])
    start = events.start_ps[rows]
    return np.sort(np.concatenate([start, start + events.duration_ps[rows]]), kind="stable")


def _time_before(
    begin: NDArray[np.int64], end: NDArray[np.int64], at: NDArray[np.int64]
) -> NDArray[np.int64]:
    """[n] how much of disjoint, ascending spans lies before each time."""
    whole = np.concatenate([[0], np.cumsum(end - begin)])
    index = np.searchsorted(begin, at, side="right")
    over = np.maximum(end[np.maximum(index - 1, 0)] - at, 0)
    return whole[index] - np.where(index > 0, over, 0)
