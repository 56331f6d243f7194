"""Finds the devices for which each thread of a host launches work."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.devices.correlation import correlation_ids
from tbprof.analysis.host.host_events import HostThreads
from tbprof.analysis.host.host_roles import HostTypes
from tbprof.analysis.ops.device_phases import DeviceIntervals
from tbprof.base import names
from tbprof.base.process.parallel import in_parallel
from tbprof.base.values import is_in, unique

# The number of a thread's launches that are examined.
_SAMPLE = 256


def lines_for_devices(
    threads: HostThreads, types: HostTypes, devices: Sequence[DeviceIntervals]
) -> NDArray[np.bool_]:
    """[devices, lines] whether a thread can explain why a device is idle.

    A thread that launches work only on other devices cannot: if there is one thread per device
    (`tf_gpu_private_0`, ...), each waits for its own device. Other threads can explain all devices.
    Driver calls on separate lines count for the thread that made them.
    """
    lines = threads.events.first_event.size - 1
    launches = np.zeros((len(devices), lines), np.bool_)
    if len(devices) > 1 and lines:
        line, ids = _launches(threads, types)
        own = in_parallel(
            lambda index: is_in(ids, _correlations(devices[index])),
            range(len(devices)),
            sum(int(device.plane.line_bytes.sum()) for device in devices),
        )
        for index, is_own in enumerate(own):
            own_lines = line[is_own]
            launches[index, own_lines] = True
            launches[index, threads.apart.thread[own_lines]] = True
    return launches | ~launches.any(axis=0)


def _launches(
    threads: HostThreads, types: HostTypes
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(line, correlation id) of launches, evenly chosen on each thread."""
    events = threads.events
    rows = events.rows_of(types.is_launch)
    cuts = np.searchsorted(rows, events.first_event)
    chosen = [
        unique(np.linspace(begin, end - 1, _SAMPLE).astype(np.int64))
        for begin, end in zip(cuts[:-1].tolist(), cuts[1:].tolist(), strict=True)
        if end > begin
    ]
    if not chosen:
        return np.empty(0, np.int64), np.empty(0, np.int64)
    rows = rows[np.concatenate(chosen)]
    stat = events.stats([names.CORRELATION_ID], rows)[names.CORRELATION_ID]
    line = np.searchsorted(events.first_event, rows, side="right") - 1
    return line[stat.is_integer], stat.bits[stat.is_integer]


def _correlations(device: DeviceIntervals) -> NDArray[np.int64]:
    stat = correlation_ids(device.events)
    if stat is None:
        return np.empty(0, np.int64)
    ids: NDArray[np.int64] = stat.bits[stat.is_integer & (stat.bits != 0)]
    return ids
