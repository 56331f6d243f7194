"""The times when a program read results of the device and waited for them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.hlo.hlo import Programs
from tbprof.analysis.host.host_events import host_events
from tbprof.analysis.spans.layers import unite
from tbprof.analysis.vocabulary.lines import host_planes
from tbprof.analysis.vocabulary.name_families import name_families
from tbprof.base.names import READS_ARRAY
from tbprof.base.records import dataclass
from tbprof.events.space import Plane, Space


@dataclass(frozen=True, slots=True)
class ResultReads:
    """When any thread of a host was reading [n], from the start of the trace; ascending."""

    start_ps: NDArray[np.int64]
    end_ps: NDArray[np.int64]


def find_result_reads(space: Space, _programs: Programs) -> ResultReads:
    """The reads of all threads of a host, united."""
    spans = [_reads(plane) for plane in host_planes(space)]
    none = np.zeros(0, np.int64)
    start = np.concatenate([none, *(begin for begin, _ in spans)])
    end = np.concatenate([none, *(finish for _, finish in spans)])
    return ResultReads(*unite(start, end))


def _reads(plane: Plane) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    is_read = name_families(plane).classify(READS_ARRAY.__eq__, np.bool_)
    if not is_read.any():
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    events = host_events(plane)
    rows = events.rows_of(is_read)
    return events.start_ps[rows], events.start_ps[rows] + events.duration_ps[rows]
