"""The times when a program read results of the device and waited for them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.hlo.hlo import Programs
from tbprof.analysis.host.host_events import host_threads
from tbprof.analysis.host.host_roles import is_jitted
from tbprof.analysis.spans.layers import Spans, unite_all
from tbprof.analysis.spans.nesting import nearest_above
from tbprof.analysis.vocabulary.lines import host_planes
from tbprof.analysis.vocabulary.name_families import name_families
from tbprof.analysis.vocabulary.python_frames import checks_results, is_own
from tbprof.base.names import READS_ARRAY
from tbprof.base.records import dataclass
from tbprof.base.values import is_in
from tbprof.events.space import Space


@dataclass(frozen=True, slots=True)
class ResultReads:
    """When threads that call programs were reading [n], from the start of the trace; ascending.

    Nothing waits for a thread that only reads, such as a logger. `reader` holds the Python frames
    that read, longest total time (`reader_ps`) first: the program's innermost one, or that of JAX's
    checks for NaNs.
    """

    start_ps: NDArray[np.int64]
    end_ps: NDArray[np.int64]
    reader: list[str]
    reader_ps: NDArray[np.int64]


def find_result_reads(space: Space, _programs: Programs) -> ResultReads:
    """The reads of a host's threads, united; of all of them if no call of a program is recorded."""
    spans: list[Spans] = []
    readers: dict[str, int] = {}
    for plane in host_planes(space):
        families = name_families(plane)
        is_read = families.classify(READS_ARRAY.__eq__, np.bool_)
        if not is_read.any():
            continue
        events, parent = host_threads(plane)
        rows = events.rows_of(is_read)
        calls = events.rows_of(families.classify(is_jitted, np.bool_))
        if calls.size:
            line, calling = (
                np.searchsorted(events.first_event, each, side="right") for each in (rows, calls)
            )
            rows = rows[is_in(line, calling)]
        spans.append((events.start_ps[rows], events.start_ps[rows] + events.duration_ps[rows]))
        own, checking = (
            nearest_above(parent, events.by_type(families.classify(kind, np.bool_)))[rows]
            for kind in (is_own, checks_results)
        )
        reader = np.where(checking >= 0, checking, own)
        kinds, code = np.unique(events.type[reader[reader >= 0]], return_inverse=True)
        spent = np.bincount(code, events.duration_ps[rows[reader >= 0]]).astype(np.int64)
        for kind, time_ps in zip(kinds.tolist(), spent.tolist(), strict=True):
            frame = plane.types.full_names[kind]
            readers[frame] = readers.get(frame, 0) + time_ps
    ranked = sorted(readers, key=lambda frame: (-readers[frame], frame))
    times = np.array([readers[frame] for frame in ranked], np.int64)
    return ResultReads(*unite_all(spans), ranked, times)
