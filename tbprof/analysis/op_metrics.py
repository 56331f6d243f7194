"""The table of ops that every op tool rests on, and how tables of several hosts combine."""

from collections.abc import Sequence
from operator import attrgetter

import numpy as np
from numpy.typing import NDArray

from tbprof.base.records import dataclass, field

HOST = 0
DEVICE = 1
SPARSE_CORE = 2
_ORDER = (DEVICE, SPARSE_CORE, HOST)

_MOST = 2**63 - 1


@dataclass(slots=True)
class OpRow:
    """What is known of one op on one side while rows are gathered; times in ps."""

    type: str
    occurrences: int = 0
    total_ps: int = 0
    self_ps: int = 0
    flops: int = 0
    model_flops: int = 0
    bytes_accessed: int = 0
    hbm_bytes: int = 0
    is_eager: bool = False


@dataclass(frozen=True, slots=True)
class OpMetrics:
    """One row per op and side (host, device or SparseCore), summed over lines and devices.

    `is_device` and `is_sparse_core` tell the side. SparseCores work beside TensorCores, so that
    neither's times and rates are those of the other; without TensorCores they are devices.
    `hbm_bytes` is the part of `bytes_accessed` that went to the device's main memory. Idle times
    are what no op covers of each host's (device's) own window: the union of busy intervals is taken
    first, so threads and streams that overlap count once.
    """

    is_device: NDArray[np.bool_]
    name: list[str]
    type: list[str]
    occurrences: NDArray[np.int64]
    total_ps: NDArray[np.int64]
    self_ps: NDArray[np.int64]
    flops: NDArray[np.int64]
    model_flops: NDArray[np.int64]
    bytes_accessed: NDArray[np.int64]
    hbm_bytes: NDArray[np.int64]
    is_eager: NDArray[np.bool_]
    is_sparse_core: NDArray[np.bool_]
    host_idle_ps: int = 0
    device_idle_ps: int = 0
    sparse_core_idle_ps: int = 0

    @property
    def is_host(self) -> NDArray[np.bool_]:
        """[n] whether an op ran on a host."""
        return ~(self.is_device | self.is_sparse_core)


@dataclass(slots=True)
class OpGatherer:
    """Collects rows keyed by (side, op name), and idle times by side.

    The first type of an op that is known counts.
    """

    rows: dict[tuple[int, str], OpRow] = field(default_factory=dict)
    idle_ps: dict[int, int] = field(default_factory=dict)

    def add_idle(self, side: int, idle_ps: int) -> None:
        """Adds idle time of a side."""
        self.idle_ps[side] = self.idle_ps.get(side, 0) + idle_ps

    def row(self, side: int, name: str, type_: str) -> OpRow:
        """The row of an op, made when it is new."""
        found = self.rows.get((side, name))
        if found is None:
            found = self.rows[side, name] = OpRow(type_)
        elif not found.type:
            found.type = type_
        return found

    def table(self) -> OpMetrics:
        """The rows as columns, devices first, in the order in which the ops were first seen."""
        keys = sorted(self.rows, key=lambda key: _ORDER.index(key[0]))
        rows = [self.rows[key] for key in keys]

        def column(name: str) -> NDArray[np.int64]:
            sums = list(map(attrgetter(name), rows))
            try:
                return np.array(sums, np.int64)
            except OverflowError:  # of damaged counts and sizes
                return np.array([max(-_MOST, min(_MOST, value)) for value in sums], np.int64)

        return OpMetrics(
            np.array([side == DEVICE for side, _ in keys], bool),
            [name for _, name in keys],
            [row.type for row in rows],
            column("occurrences"),
            column("total_ps"),
            column("self_ps"),
            column("flops"),
            column("model_flops"),
            column("bytes_accessed"),
            column("hbm_bytes"),
            np.array([row.is_eager for row in rows], bool),
            np.array([side == SPARSE_CORE for side, _ in keys], bool),
            *(self.idle_ps.get(side, 0) for side in (HOST, DEVICE, SPARSE_CORE)),
        )


def merge_op_metrics(parts: Sequence[OpMetrics]) -> OpMetrics:
    """The sum over hosts, per side and op name; idle times add up."""
    if len(parts) == 1:
        return parts[0]
    gatherer = OpGatherer()
    for part in parts:
        gatherer.add_idle(HOST, part.host_idle_ps)
        gatherer.add_idle(DEVICE, part.device_idle_ps)
        gatherer.add_idle(SPARSE_CORE, part.sparse_core_idle_ps)
        side = np.where(part.is_device, DEVICE, np.where(part.is_sparse_core, SPARSE_CORE, HOST))
        for at, name in enumerate(part.name):
            row = gatherer.row(int(side[at]), name, part.type[at])
            row.occurrences += int(part.occurrences[at])
            row.total_ps += int(part.total_ps[at])
            row.self_ps += int(part.self_ps[at])
            row.flops += int(part.flops[at])
            row.model_flops += int(part.model_flops[at])
            row.bytes_accessed += int(part.bytes_accessed[at])
            row.hbm_bytes += int(part.hbm_bytes[at])
            row.is_eager |= bool(part.is_eager[at])
    return gatherer.table()
