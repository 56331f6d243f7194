"""The cores of a TPU host: their chips, and the replicas that they ran."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.devices.devices import CoreDetails, core_details
from tbprof.analysis.hlo.hlo import Programs
from tbprof.analysis.vocabulary.lines import is_sparse_core, named_lines, tpu_planes
from tbprof.base import names
from tbprof.base.records import dataclass
from tbprof.events.space import Plane, Space


@dataclass(frozen=True, slots=True)
class Cores:
    """One row per plane of a TPU core, from its `core_details`; -1 if unknown.

    `name` is that of the worker ("TPU:0"). `chip` is the chip's number in the whole pod, `core` the
    core's number on its chip; `replica` is that of the program that ran longest on it. `doubts` are
    sentences on details that contradict the planes or each other; their rows have -1.
    """

    name: list[str]
    chip: NDArray[np.int64]
    core: NDArray[np.int64]
    replica: NDArray[np.int64]
    doubts: list[str]


def find_cores(space: Space, _programs: Programs) -> Cores:
    """The cores of a host."""
    planes = tpu_planes(space)
    trusted, doubts = consistent_details(planes)
    return Cores(
        [_worker(plane) for plane in planes],
        np.array([-1 if details is None else details.chip for details in trusted], np.int64),
        np.array([-1 if details is None else details.core for details in trusted], np.int64),
        np.array([_replica(plane) for plane in planes], np.int64),
        doubts,
    )


def consistent_details(planes: Sequence[Plane]) -> tuple[list[CoreDetails | None], list[str]]:
    """(details of each plane, None if missing or contradictory; the contradictions)."""
    stated = [core_details(plane) for plane in planes]
    doubts = _doubts(planes, stated)
    used = [
        None if plane.name in doubts else details
        for plane, details in zip(planes, stated, strict=True)
    ]
    return used, list(doubts.values())


def _doubts(planes: Sequence[Plane], stated: Sequence[CoreDetails | None]) -> dict[str, str]:
    """The problems with the details of planes, in sentences by the plane's name."""
    places = Counter(_place(details) for details in stated if details is not None)
    hosts = Counter(details.hostname for details in stated if details is not None)
    usual = hosts.most_common(1)[0][0] if hosts else ""
    has_ordinals = any(details is not None and details.ordinal for details in stated)
    doubts: dict[str, str] = {}
    for plane, details in zip(planes, stated, strict=True):
        if details is None:
            continue
        worker = _worker(plane)
        number = worker.removeprefix("TPU:").partition(" ")[0]
        if has_ordinals and number.isdigit() and int(number) != details.ordinal:
            problem = f"they are those of device {details.ordinal}"
        elif details.is_sparse_core != is_sparse_core(plane):
            problem = (
                f"they are those of a {'SparseCore' if details.is_sparse_core else 'TensorCore'}"
            )
        elif places[_place(details)] > 1:
            problem = (
                f"another core has the same position: core {details.core} of chip {details.chip}"
            )
        elif details.hostname != usual:
            problem = f"they name the host {details.hostname!r}, others {usual!r}"
        else:
            continue
        doubts[plane.name] = f"the core details of {worker} are ignored: {problem}"
    return doubts


def _place(details: CoreDetails) -> tuple[object, ...]:
    return details.hostname, details.chip, details.local_chip, details.core, details.is_sparse_core


def _worker(plane: Plane) -> str:
    return plane.name.removeprefix("/device:")


def _replica(plane: Plane) -> int:
    """The replica that the core ran for most of the time, -1 if unknown."""
    runs = plane.events(named_lines(plane, *names.MODULE_LINES))
    if names.REPLICA_ID not in plane.stat_names or not len(runs):
        return -1
    stat = runs.stats([names.REPLICA_ID])[names.REPLICA_ID]
    is_known = stat.is_integer & (stat.bits >= 0)
    if not is_known.any():
        return -1
    replica, code = np.unique(stat.bits[is_known], return_inverse=True)
    return int(replica[np.bincount(code, runs.duration_ps[is_known]).argmax()])
