"""The time until the program notices that its devices are done."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.host.host_events import HostThreads
from tbprof.analysis.ops.device_phases import DeviceIntervals
from tbprof.analysis.spans.layers import Spans, join_spans, unite, unite_all
from tbprof.analysis.vocabulary.phases import Phase

# A thread that records nothing for longer after the devices' work does something else.
_LONGEST_PS = 2_000_000_000
# After shorter pauses of the devices, the host was launching.
_SHORTEST_PS = 10_000_000
# The devices worked for this share of the time in which the thread recorded nothing.
_MOSTLY = 0.5
_NEVER = np.iinfo(np.int64).max


def find_completion(
    threads: HostThreads,
    line: int,
    devices: Sequence[DeviceIntervals],
    unstarted: Sequence[Spans],
    start: NDArray[np.int64],
    end: NDArray[np.int64],
    phase: NDArray[np.int32],
) -> tuple[Spans, Spans]:
    """From the end of device work to the next event of the program's thread, as disjoint spans.

    The thread waited for that work: it recorded nothing (no event began or ended on it) from before
    the end of the work, the devices worked for most of that time or had not started launched work
    (`unstarted`), and did nothing after it until the thread went on. The second result has such
    spans in calls that read a result. `start`, `end` and `phase` are the thread's intervals: time
    of other known phases is neither.

        thread  |lll......bbb     l: launches the work, b: the next thing that it does
        device  |.wwwwww.....  -> the two after the work
    """
    begin, stop = _find_waits(threads, line, devices, unstarted)
    index = np.searchsorted(start, begin, side="right") - 1
    is_known = np.append(end, -_NEVER)[index] > begin
    reads = is_known & (np.append(phase, 0)[index] == Phase.OUTPUT)
    return (begin[~is_known], stop[~is_known]), (begin[reads], stop[reads])


def _find_waits(
    threads: HostThreads,
    line: int,
    devices: Sequence[DeviceIntervals],
    unstarted: Sequence[Spans],
) -> Spans:
    """The same, whatever the thread was doing."""
    begin, end = unite(*_work(devices))
    next_begin = np.append(begin[1:], _NEVER)[: end.size]
    rows = np.flatnonzero(next_begin - end >= _SHORTEST_PS)
    done = end[rows]
    previous, following = _edges_around(threads, line, done)
    waited = unite_all([(begin, end), *unstarted])
    worked = _time_before(*waited, done) - _time_before(*waited, previous)
    is_wait = (
        (previous > -_NEVER)
        & (following <= next_begin[rows])
        & (following - done >= _SHORTEST_PS)
        & (following - done <= _LONGEST_PS)
        & (worked > _MOSTLY * (following - previous))
    )
    return done[is_wait], following[is_wait]


def _work(devices: Sequence[DeviceIntervals]) -> Spans:
    """When devices did anything; GPUs may copy input for later steps, which nothing waits for."""
    spans: list[Spans] = []
    for device in devices:
        rows = (device.phase != Phase.OTHER) & (device.phase >= 0)
        if device.kind == "GPU":
            rows &= device.phase != Phase.INPUT
        spans.append((device.start_ps[rows], device.start_ps[rows] + device.duration_ps[rows]))
    return join_spans(spans)


def _edges_around(
    threads: HostThreads, line: int, at: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """[n] the last time up to each one, and the first after it, at which an event began or ended.

    Only events of a thread; `-_NEVER` and `_NEVER` for none.
    """
    events, apart = threads.events, threads.apart
    first, last = int(events.first_event[line]), int(events.first_event[line + 1])
    index = first + np.searchsorted(events.start_ps[first:last], at, side="right") - 1
    previous, following = np.full(at.size, -_NEVER), np.full(at.size, _NEVER)
    has_previous, has_next = index >= first, index + 1 < last
    previous[has_previous] = events.start_ps[index[has_previous]]
    following[has_next] = events.start_ps[index[has_next] + 1]
    # Events that contain the last one may have ended since.
    inner, rows = index[has_previous], np.flatnonzero(has_previous)
    while rows.size:
        end = events.start_ps[inner] + events.duration_ps[inner]
        is_over = end <= at[rows]
        previous[rows[is_over]] = np.maximum(previous[rows[is_over]], end[is_over])
        following[rows[~is_over]] = np.minimum(following[rows[~is_over]], end[~is_over])
        inner = threads.parent[inner[is_over]].astype(np.int64)
        rows = rows[is_over][inner >= 0]
        inner = inner[inner >= 0]
    on_line = np.searchsorted(events.first_event, apart.row, side="right") - 1
    calls = apart.row[apart.thread[on_line] == line]
    if calls.size:
        start = events.start_ps[calls]
        edges = np.sort(np.concatenate([start, start + events.duration_ps[calls]]), kind="stable")
        index = np.searchsorted(edges, at, side="right")
        padded = np.concatenate([[-_NEVER], edges, [_NEVER]])
        previous = np.maximum(previous, padded[index])
        following = np.minimum(following, padded[index + 1])
    return previous, following


def _time_before(
    begin: NDArray[np.int64], end: NDArray[np.int64], at: NDArray[np.int64]
) -> NDArray[np.int64]:
    """[n] how much of disjoint, ascending spans lies before each time."""
    whole = np.concatenate([[0], np.cumsum(end - begin)])
    index = np.searchsorted(begin, at, side="right")
    over = np.maximum(end[np.maximum(index - 1, 0)] - at, 0)
    return whole[index] - np.where(index > 0, over, 0)
