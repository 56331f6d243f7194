"""Copies and memsets that a driver implements as kernels, as AMD's does."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.host.host_events import host_events
from tbprof.analysis.vocabulary.lines import host_planes
from tbprof.analysis.vocabulary.name_families import name_families
from tbprof.base import names
from tbprof.base.caches import computed_once
from tbprof.base.lazy import regex
from tbprof.events.space import Events, Plane, Space

# Kernels of AMD's runtime. Source: ROCm/clr, blit kernels (`__amd_rocclr_copyBufferAligned`).
_COPY = "__amd_rocclr_copy"
_SET = "__amd_rocclr_fill"
# Calls whose names state the source and the target of the copy. Source: hip_runtime_api.h.
_CALL = regex(r"hipMemcpy(Peer|[DHA]to[DHA])")
_ENDS = ("D", "H", "A", "P")
# The purposes of a driver's kernels, by code; 0 stands for kernels of the program.
KINDS = (
    "",
    "Memset",
    "Memcpy",
    *(f"Memcpy{source}To{target}" for source in _ENDS for target in _ENDS),
)
_SET_CODE, _ANY_COPY = KINDS.index("Memset"), KINDS.index("Memcpy")


def driver_copy(kernel: str) -> str:
    """The purpose of a driver's kernel by its name, "Memset" or "Memcpy"; "" for other kernels."""
    if not kernel.startswith((_SET, _COPY)):
        return ""
    return KINDS[_SET_CODE if kernel.startswith(_SET) else _ANY_COPY]


def find_driver_copies(space: Space, plane: Plane, events: Events) -> NDArray[np.int64] | None:
    """[n] the driver purpose of each event, as codes of KINDS; None if no event has one.

    The source and target of a copy come from the call that launched it, which has the same
    `correlation_id`: "MemcpyDToD", or "Memcpy" if no such call is known.
    """
    texts = plane.types.full_names
    if not any(text.startswith((_SET, _COPY)) for text in texts):
        return None
    of_type = np.array([KINDS.index(driver_copy(text)) for text in [*texts, ""]], np.int64)
    out = events.by_type(of_type)
    rows = np.flatnonzero(out == _ANY_COPY)
    if rows.size and names.CORRELATION_ID in plane.stat_names:
        key = events.stats([names.CORRELATION_ID], rows)[names.CORRELATION_ID].integers(-1)
        for host in host_planes(space):
            called, kind = _calls(host)
            if called.size:
                index = np.minimum(np.searchsorted(called, key), called.size - 1)
                out[rows] = np.where(called[index] == key, kind[index], out[rows])
    return out


@computed_once
def _calls(plane: Plane) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(correlation ids in order, codes of KINDS) of the runtime's calls that copy."""
    of_type = name_families(plane).classify(_called, np.int64)
    if names.CORRELATION_ID not in plane.stat_names or not of_type.any():
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    events = host_events(plane)
    rows = events.rows_of(of_type > 0)
    key = events.stats([names.CORRELATION_ID], rows)[names.CORRELATION_ID].integers(-1)
    order = np.argsort(key, kind="stable")
    return key[order], events.by_type(of_type)[rows][order]


def _called(call: str) -> int:
    """The code of the copy that a call makes, 0 for calls whose names do not state one."""
    match = _CALL.match(call)
    if match is None:
        return 0
    ends = "PToP" if match[1] == "Peer" else match[1].replace("to", "To")
    return KINDS.index(f"Memcpy{ends}")
