"""The table of ops that all op tools use, and the merging of several hosts' tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tbprof.base.records import dataclass, field

HOST = 0
DEVICE = 1
SPARSE_CORE = 2
_ORDER = (DEVICE, SPARSE_CORE, HOST)

_MOST = 2**63 - 1
_MERGED_AT_ONCE = 64
# (side, the rows of a host's table on it, their names, their types).
_SideRows = tuple[int, NDArray[np.int64], list[str], list[str]]


@dataclass(frozen=True, slots=True)
class OpMetrics:
    """One row per op and side (host, device or SparseCore), summed over lines and devices.

    `is_device` and `is_sparse_core` state the side. SparseCores run concurrently with TensorCores,
    so their times and rates are separate; without TensorCores, they count as devices. `hbm_bytes`
    is the part of `bytes_accessed` in the device's main memory. `beside_ps` is how much longer the
    work took than the op, for example for a copy that runs concurrently with other ops.
    `is_computed` marks work that is computed from the shapes of a program, which includes bytes
    that caches serve; other figures were recorded. `uncosted_ps` is device time in instructions
    with unknown work. Idle time is the time in the window of each host or device that no op covers;
    overlapping threads and streams count once. `host_window_ps` is the sum of the hosts' windows.
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
    beside_ps: NDArray[np.int64]
    is_eager: NDArray[np.bool_]
    is_sparse_core: NDArray[np.bool_]
    is_computed: NDArray[np.bool_]
    host_idle_ps: int = 0
    device_idle_ps: int = 0
    sparse_core_idle_ps: int = 0
    host_window_ps: int = 0
    uncosted_ps: int = 0

    @property
    def is_host(self) -> NDArray[np.bool_]:
        """[n] whether an op ran on a host."""
        return ~(self.is_device | self.is_sparse_core)


# The columns that are true for an op if they are for any of its rows, and those that are sums.
_FLAGS = ("is_eager", "is_computed")
_SUMS = (
    "occurrences", "total_ps", "self_ps", "flops", "model_flops", "bytes_accessed", "hbm_bytes",
    "beside_ps",
)  # fmt: skip


@dataclass(slots=True)
class _Side:
    """The ops of one side under construction: numbers by name, types, and added rows."""

    number: dict[str, int] = field(default_factory=dict)
    type: list[str] = field(default_factory=list)
    # The names that were added last, and their rows, since hosts of one job have the same ops.
    names: Sequence[str] = ()
    row: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    rows: list[NDArray[np.int64]] = field(default_factory=list)
    sums: list[Mapping[str, NDArray[np.int64]]] = field(default_factory=list)
    flags: list[Mapping[str, NDArray[np.bool_]]] = field(default_factory=list)

    def number_rows(self, names: Sequence[str], types: Sequence[str]) -> None:
        """Sets the rows of the ops with these names, and their types."""
        self.names = names
        distinct = dict(zip(names, range(len(names)), strict=True))
        if not self.number and len(distinct) == len(names):
            self.number, self.type, self.row = distinct, list(types), np.arange(len(names))
            return
        rows = [self.number.setdefault(name, len(self.number)) for name in names]
        self.type += [""] * (len(self.number) - len(self.type))
        for row, type_ in zip(rows, types, strict=True):
            if not self.type[row]:
                self.type[row] = type_
        self.row = np.array(rows, np.int64)

    def total(self, name: str) -> NDArray[np.int64]:
        """[ops] the sums of one column, at most `_MOST`, since counts and sizes may be damaged."""
        out = np.zeros(len(self.type), np.int64)
        if not any(name in sums for sums in self.sums):
            return out
        rows = np.concatenate(self.rows)
        nothing = np.int64(0)
        values = np.concatenate([
            np.broadcast_to(sums.get(name, nothing), rows_of.shape)
            for sums, rows_of in zip(self.sums, self.rows, strict=True)
        ])  # fmt: skip
        np.add.at(out, rows, values)
        approximate = np.bincount(rows, values, out.size)
        is_over = np.abs(approximate - out) > _MOST / 2
        out[is_over] = np.where(approximate > 0, _MOST, -_MOST)[is_over]
        return out

    def flag(self, name: str) -> NDArray[np.bool_]:
        """[ops] whether a flag is set in any added row of the op."""
        out = np.zeros(len(self.type), np.bool_)
        for rows, flags in zip(self.rows, self.flags, strict=True):
            if name in flags:
                out[rows[flags[name]]] = True
        return out


@dataclass(slots=True)
class OpGatherer:
    """Collects columns of ops by side and name, and idle times by side.

    The type of an op is the first known one.
    """

    idle_ps: dict[int, int] = field(default_factory=dict)
    host_window_ps: int = 0
    uncosted_ps: int = 0
    _sides: dict[int, _Side] = field(default_factory=dict)

    def add_idle(self, side: int, idle_ps: int) -> None:
        """Adds idle time of a side."""
        self.idle_ps[side] = self.idle_ps.get(side, 0) + idle_ps

    def add(
        self,
        side: int,
        names: Sequence[str],
        types: Sequence[str],
        sums: Mapping[str, NDArray[np.int64]],
        flags: Mapping[str, NDArray[np.bool_]] | None = None,
    ) -> None:
        """Adds columns [n] of `OpMetrics`, by column name, to the ops with these names [n].

        Missing sums are 0, missing flags false.
        """
        if not names:
            return
        ops_of_side = self._sides.setdefault(side, _Side())
        if names is not ops_of_side.names:
            ops_of_side.number_rows(names, types)
        ops_of_side.rows.append(ops_of_side.row)
        ops_of_side.sums.append(sums)
        ops_of_side.flags.append(flags or {})

    def table(self) -> OpMetrics:
        """The rows as columns, devices first, in the order in which the ops were first added."""
        sides = [(side, self._sides[side]) for side in _ORDER if side in self._sides]
        side = np.repeat([side for side, _ in sides], [len(ops.type) for _, ops in sides])
        columns: dict[str, Any] = {
            name: np.concatenate([np.zeros(0, np.int64), *(ops.total(name) for _, ops in sides)])
            for name in _SUMS
        }
        columns |= {
            name: np.concatenate([np.zeros(0, np.bool_), *(ops.flag(name) for _, ops in sides)])
            for name in _FLAGS
        }
        return OpMetrics(
            **columns,
            is_device=side == DEVICE,
            is_sparse_core=side == SPARSE_CORE,
            name=[name for _, ops in sides for name in ops.number],
            type=[type_ for _, ops in sides for type_ in ops.type],
            host_idle_ps=self.idle_ps.get(HOST, 0),
            device_idle_ps=self.idle_ps.get(DEVICE, 0),
            sparse_core_idle_ps=self.idle_ps.get(SPARSE_CORE, 0),
            host_window_ps=self.host_window_ps,
            uncosted_ps=self.uncosted_ps,
        )


def merge_op_metrics(parts: Sequence[OpMetrics]) -> OpMetrics:
    """The sum over hosts, per side and op name; idle times add up.

    Hosts are merged in groups, and these again, so that memory does not grow with the number of
    hosts.
    """
    while len(parts) > _MERGED_AT_ONCE:
        firsts = range(0, len(parts), _MERGED_AT_ONCE)
        parts = [_merge(parts[first : first + _MERGED_AT_ONCE]) for first in firsts]
    return parts[0] if len(parts) == 1 else _merge(parts)


def _merge(parts: Sequence[OpMetrics]) -> OpMetrics:
    gatherer = OpGatherer()
    before: OpMetrics | None = None
    sides: list[_SideRows] = []
    for part in parts:
        gatherer.add_idle(HOST, part.host_idle_ps)
        gatherer.host_window_ps += part.host_window_ps
        gatherer.uncosted_ps += part.uncosted_ps
        gatherer.add_idle(DEVICE, part.device_idle_ps)
        gatherer.add_idle(SPARSE_CORE, part.sparse_core_idle_ps)
        if before is None or not _has_rows_of(part, before):
            sides = _rows_of_sides(part)
        before = part
        for side, rows, names, types in sides:
            sums, flags = (
                {name: getattr(part, name)[rows] for name in columns} for columns in (_SUMS, _FLAGS)
            )
            gatherer.add(side, names, types, sums, flags)
    return gatherer.table()


def _has_rows_of(part: OpMetrics, other: OpMetrics) -> bool:
    """Whether two hosts have the same ops in the same order."""
    return (
        (part.name, part.type) == (other.name, other.type)
        and np.array_equal(part.is_device, other.is_device)
        and np.array_equal(part.is_sparse_core, other.is_sparse_core)
    )


def _rows_of_sides(part: OpMetrics) -> list[_SideRows]:
    """The rows of each side, with their names and types."""
    sides = ((DEVICE, part.is_device), (SPARSE_CORE, part.is_sparse_core), (HOST, part.is_host))
    of_sides: list[_SideRows] = []
    for side, is_here in sides:
        rows = np.flatnonzero(is_here)
        own = rows.tolist()
        of_sides.append(
            (side, rows, [part.name[row] for row in own], [part.type[row] for row in own])
        )
    return of_sides
