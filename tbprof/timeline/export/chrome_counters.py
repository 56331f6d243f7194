"""Memory in use as counters of a Chrome trace: one value after each event that reports it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from tbprof.events.space import Events
from tbprof.kernels.codes import NUMBER_BYTES
from tbprof.kernels.export.json_bytes import write_points
from tbprof.timeline.build.counters import memory_events, memory_series
from tbprof.timeline.export.chrome_process import TimeRange, overlaps
from tbprof.timeline.export.json_text import joined, json_string
from tbprof.timeline.model.sections import section_of
from tbprof.timeline.model.store import Section
from tbprof.timeline.model.unlaid_tracks import unlaid_events

_PIECE = 1 << 13
_MOST_BYTES = 2.0**53


def memory_text(
    events: Events,
    process: int,
    processes: Mapping[str, int],
    span: TimeRange | None,
    offset_ps: int,
) -> Iterator[bytes]:
    """The bytes in use of each allocator of a host's plane, as text.

    Each value is preceded by a comma. It belongs to the process of the allocator's device if
    that is in `processes` (by plane), else to `process`. Times are shifted by `offset_ps`.
    """
    plane = events.plane
    if section_of(plane).kind != "host":
        return
    sections = [Section(name, name, "device") for name in processes]
    points = memory_events(plane, [unlaid_events(events)])
    for series in memory_series(plane, -1, points, sections):
        owner = processes[sections[series.section].name] if series.section >= 0 else process
        head = b',\n{"name":%b,"ph":"C","cat":"memory","pid":%d,"args":{"bytes":' % (
            json_string(series.name),
            owner,
        )
        words = joined([head, b'},"ts":'])
        for begin in range(0, series.time_ps.size, _PIECE):
            time = series.time_ps[begin : begin + _PIECE] + offset_ps
            rows = np.flatnonzero(overlaps(time, np.zeros_like(time), span))
            value = np.clip(series.value[begin : begin + _PIECE][rows], 0, _MOST_BYTES)
            out = np.empty(rows.size * (words.text.size + 2 * NUMBER_BYTES), np.uint8)
            size = write_points(out, time[rows], value.astype(np.int64), words)
            yield out[: int(size)].tobytes()
