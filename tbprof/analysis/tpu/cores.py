"""Where the cores of a TPU host are: their chips, and the replicas that they ran."""

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
    """One row per plane of a TPU core, as its `core_details` say; -1 where they do not.

    `name` is that of the worker ("TPU:0"). `chip` counts over the whole pod, `core` is the core's
    number on its chip; `replica` is that of the program that ran longest on it. `doubts` say which
    details contradict the planes or each other: the rows of those have -1.
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
        np.array([-1 if one is None else one.chip for one in trusted], np.int64),
        np.array([-1 if one is None else one.core for one in trusted], np.int64),
        np.array([_replica(plane) for plane in planes], np.int64),
        doubts,
    )


def consistent_details(planes: Sequence[Plane]) -> tuple[list[CoreDetails | None], list[str]]:
    """(details of each plane, None where there are none or they contradict; which contradict)."""
    known = [core_details(plane) for plane in planes]
    doubts = _doubts(planes, known)
    used = [None if plane.name in doubts else one for plane, one in zip(planes, known, strict=True)]
    return used, list(doubts.values())


def _doubts(planes: Sequence[Plane], known: Sequence[CoreDetails | None]) -> dict[str, str]:
    """By the plane's name what is wrong with its details."""
    places = Counter(_place(one) for one in known if one is not None)
    hosts = Counter(one.hostname for one in known if one is not None)
    usual = hosts.most_common(1)[0][0] if hosts else ""
    has_ordinals = any(one is not None and one.ordinal for one in known)
    found: dict[str, str] = {}
    for plane, one in zip(planes, known, strict=True):
        if one is None:
            continue
        own = _worker(plane)
        number = own.removeprefix("TPU:").partition(" ")[0]
        if has_ordinals and number.isdigit() and int(number) != one.ordinal:
            said = f"they are those of device {one.ordinal}"
        elif one.is_sparse_core != is_sparse_core(plane):
            said = f"they are those of a {'SparseCore' if one.is_sparse_core else 'TensorCore'}"
        elif places[_place(one)] > 1:
            said = f"another core has the same place: core {one.core} of chip {one.chip}"
        elif one.hostname != usual:
            said = f"they name the host {one.hostname!r}, others {usual!r}"
        else:
            continue
        found[plane.name] = f"the core details of {own} are left out: {said}"
    return found


def _place(one: CoreDetails) -> tuple[object, ...]:
    return one.hostname, one.chip, one.local_chip, one.core, one.is_sparse_core


def _worker(plane: Plane) -> str:
    return plane.name.removeprefix("/device:")


def _replica(plane: Plane) -> int:
    """The replica that the core ran for most of the time, -1 where no run tells."""
    runs = plane.events(named_lines(plane, names.XLA_MODULES_LINE, names.SPARSE_CORE_MODULES_LINE))
    if names.REPLICA_ID not in plane.stat_names or not len(runs):
        return -1
    stat = runs.stats([names.REPLICA_ID])[names.REPLICA_ID]
    is_known = stat.is_integer & (stat.bits >= 0)
    if not is_known.any():
        return -1
    replica, code = np.unique(stat.bits[is_known], return_inverse=True)
    return int(replica[np.bincount(code, runs.duration_ps[is_known]).argmax()])
