"""Memory events: their allocator, the requested size, and the memory in use after them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.host.host_events import host_events
from tbprof.analysis.spans.groups import group_rows
from tbprof.analysis.vocabulary.name_families import name_families
from tbprof.base import names
from tbprof.base.columns import empty_column
from tbprof.base.process.parallel import in_parallel
from tbprof.base.records import dataclass
from tbprof.events.space import Events, Plane
from tbprof.events.stats import STATS_PIECE, StatColumn
from tbprof.kernels.analysis.stat_values import fill_sizes

# The owner: an allocator by name, or the number of a TPU. Source: xplane_schema.h.
OWNERS = ("allocator_name", "index_on_host", "device_ordinal")
# The reserved stack, and the heap.
IN_USE = ("bytes_reserved", "bytes_allocated")
LIFETIME = "peak_bytes_in_use"
AVAILABLE = "bytes_available"
FRAGMENTATION = "fragmentation"
_REQUESTED = "requested_bytes"
_ALLOCATED = "allocation_bytes"
_ADDRESS = "addr"
_OP = names.TF_OP
_REGION = "region_type"
_DTYPE = "data_type"
_SHAPE = "shape"
_TEXTS = (OWNERS[0], _OP, _REGION, _SHAPE)
_COLUMNS = (
    *OWNERS, *IN_USE, LIFETIME, AVAILABLE, FRAGMENTATION, _REQUESTED, _ALLOCATED, _ADDRESS, _OP,
    _REGION, _DTYPE, _SHAPE, names.GROUP_ID,
)  # fmt: skip

_ALLOCATION, _RELEASE = 1, 2
_KINDS = {names.MEMORY_ALLOCATION: _ALLOCATION, names.MEMORY_DEALLOCATION: _RELEASE}
# Limits sizes so that the sum of stack, heap and free memory fits in int64.
MOST_BYTES = 2**60
NO_GROUP = int(np.iinfo(np.int64).min)

# Names of types 1, 2, ...; numbers of reference types are 100 higher.
_DTYPES = (
    "float", "double", "int32", "uint8", "int16", "int8", "string", "complex64", "int64", "bool",
    "qint8", "quint8", "qint32", "bfloat16", "qint16", "quint16", "uint16", "complex128", "half",
    "resource", "variant", "uint32", "uint64", "float8_e5m2", "float8_e4m3fn", "float8_e4m3fnuz",
    "float8_e4m3b11fnuz", "float8_e5m2fnuz", "int4", "uint4", "int2", "uint2",
)  # fmt: skip
_REFERENCE = 100


@dataclass(frozen=True, slots=True)
class MemoryEvents:
    """The memory events [n] of a host plane, by line, then by time.

    `begin_ps` and `end_ps` delimit all events of the plane.
    """

    events: Events
    is_allocation: NDArray[np.bool_]
    begin_ps: int
    end_ps: int


@dataclass(frozen=True, slots=True)
class MemoryStats:
    """The stats of memory events [n]. If not recorded, sizes are -1 and `fragmentation` is NaN.

    `owner` [n] are indices into `owners`: (text id of the allocator's name, device ordinal), -1 for
    none. `group` is `NO_GROUP` for none. Texts are ids of the space's strings, -1 for none.
    """

    owners: list[tuple[int, int]]
    owner: NDArray[np.int32]
    stack_bytes: NDArray[np.int64]
    heap_bytes: NDArray[np.int64]
    free_bytes: NDArray[np.int64]
    fragmentation: NDArray[np.float32]
    lifetime_bytes: NDArray[np.int64]
    requested_bytes: NDArray[np.int64]
    allocated_bytes: NDArray[np.int64]
    address: NDArray[np.uint64]
    group: NDArray[np.int64]
    op: NDArray[np.int32]
    region: NDArray[np.int32]
    dtype: NDArray[np.int32]
    shape: NDArray[np.int32]


def find_memory_events(plane: Plane, *, is_kept: bool = False) -> MemoryEvents | None:
    """Return the memory events of a host plane, None if it has none.

    With `is_kept`, all events of the plane stay decoded for other analyses.
    """
    kind = name_families(plane).look_up(_KINDS)
    if not kind.any():
        return None
    events = host_events(plane, is_kept=is_kept)
    rows = events.rows_of(kind != 0)
    if not rows.size:
        return None
    selected = events.select(rows)
    return MemoryEvents(selected, kind[selected.type] == _ALLOCATION, *_window(events))


def read_memory_stats(memory_events: MemoryEvents) -> MemoryStats:
    """Return the stats of the events. Each piece of events is read in one pass over its bytes."""
    events = memory_events.events
    out = _room(len(events))
    stat_names = [name for name in _COLUMNS if name in events.plane.stat_names]

    def read(begin: int) -> list[tuple[int, int]]:
        piece = slice(begin, min(begin + STATS_PIECE, len(events)))
        stats = events.stats(stat_names, np.arange(piece.start, piece.stop), _TEXTS)
        _fill(out, piece, stats, events.plane)
        allocator, ordinal = find_owners(stats, piece.stop - piece.start)
        out.owner[piece], first = group_rows([allocator, ordinal])
        return list(zip(allocator[first].tolist(), ordinal[first].tolist(), strict=True))

    begins = range(0, len(events), STATS_PIECE)
    number: dict[tuple[int, int], int] = {}
    # A stat takes about 16 bytes.
    size = 16 * len(stat_names) * len(events)
    for begin, owners in zip(begins, in_parallel(read, begins, size), strict=True):
        numbers = [number.setdefault(owner, len(number)) for owner in owners]
        piece = out.owner[begin : begin + STATS_PIECE]
        piece[:] = np.array(numbers, np.int32)[piece]
    out.owners.extend(number)
    return out


def _fill(out: MemoryStats, piece: slice, stats: Mapping[str, StatColumn], plane: Plane) -> None:
    """Write the stats of a piece of events, except their owners, to `out`."""
    # Limit sizes so that sums over all events fit in int64.
    most = min(MOST_BYTES, 2**62 // out.owner.size)
    for size_of, name, limit in (
        (out.stack_bytes, IN_USE[0], MOST_BYTES),
        (out.heap_bytes, IN_USE[1], MOST_BYTES),
        (out.free_bytes, AVAILABLE, MOST_BYTES),
        (out.lifetime_bytes, LIFETIME, MOST_BYTES),
        (out.requested_bytes, _REQUESTED, most),
        (out.allocated_bytes, _ALLOCATED, most),
    ):
        if name in stats:
            fill_sizes(stats[name].kind, stats[name].bits, limit, size_of[piece])
        else:
            size_of[piece] = -1
    for column, name in ((out.op, _OP), (out.region, _REGION), (out.shape, _SHAPE)):
        column[piece] = stats[name].texts() if name in stats else -1
    out.dtype[piece] = _dtypes(stats[_DTYPE], plane) if _DTYPE in stats else -1
    has_shares = FRAGMENTATION in stats
    out.fragmentation[piece] = _shares(stats[FRAGMENTATION]) if has_shares else np.nan
    out.address[piece] = stats[_ADDRESS].integers().view(np.uint64) if _ADDRESS in stats else 0
    group = names.GROUP_ID
    out.group[piece] = stats[group].integers(NO_GROUP) if group in stats else NO_GROUP


def find_owners(
    stats: Mapping[str, StatColumn], rows: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return (text id of the allocator's name, device ordinal) of events [rows], -1 for none.

    `stats` are the available columns of `OWNERS`.
    """
    allocator = np.full(rows, -1, np.int64)
    if OWNERS[0] in stats:
        allocator[:] = stats[OWNERS[0]].texts()
    return allocator, _ordinals(stats, rows)


def bytes_in_use(
    stats: Mapping[str, StatColumn], rows: int
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return (bytes in use after each event [rows], whether they were recorded).

    `stats` are the available columns of `IN_USE`.
    """
    is_known = np.zeros(rows, np.bool_)
    total = np.zeros(rows, np.int64)
    for name in IN_USE:
        if name in stats:
            is_known |= stats[name].is_integer
            total += np.maximum(sizes(stats[name]), 0)
    return total, is_known


def sizes(column: StatColumn, most: int = MOST_BYTES) -> NDArray[np.int64]:
    """Return [n] sizes in bytes, at most `most`; -1 if missing or negative."""
    out = np.empty(column.kind.size, np.int64)
    fill_sizes(column.kind, column.bits, most, out)
    return out


def is_device_name(name: str) -> bool:
    """Whether an allocator's name is that of a device: `GPU_4_bfc`, or the ordinal of a TPU.

    `gpu_host_bfc`, `cpu` and `mklcpu` are not. Source: observed names;
    tensorflow/core/common_runtime/gpu/gpu_process_state.cc.
    """
    low = name.lower()
    return low.isdigit() or (low.startswith(("gpu_", "tpu_")) and "host" not in low)


def _room(size: int) -> MemoryStats:
    """Return uninitialized columns."""
    sizes_ = [empty_column(size, np.int64) for _ in range(6)]
    ids = [empty_column(size, np.int32) for _ in range(5)]
    return MemoryStats(
        owners=[],
        owner=ids[0],
        stack_bytes=sizes_[0],
        heap_bytes=sizes_[1],
        free_bytes=sizes_[2],
        fragmentation=empty_column(size, np.float32),
        lifetime_bytes=sizes_[3],
        requested_bytes=sizes_[4],
        allocated_bytes=sizes_[5],
        address=empty_column(size, np.uint64),
        group=empty_column(size, np.int64),
        op=ids[1],
        region=ids[2],
        dtype=ids[3],
        shape=ids[4],
    )


def _window(events: Events) -> tuple[int, int]:
    """Return (first start, last end) in ps of events, of which there is at least one."""
    first = events.first_event[:-1][np.diff(events.first_event) > 0]
    begin = int(events.start_ps[first].min())
    end = begin
    # Ends of all rows at once would take much memory.
    for row in range(0, len(events), STATS_PIECE):
        part = slice(row, row + STATS_PIECE)
        end = max(end, int((events.start_ps[part] + events.duration_ps[part]).max()))
    return begin, end


def _ordinals(stats: Mapping[str, StatColumn], rows: int) -> NDArray[np.int64]:
    ordinal = np.full(rows, -1, np.int64)
    for name in OWNERS[:0:-1]:
        if name in stats:
            ordinal = np.where(stats[name].is_integer, stats[name].bits, ordinal)
    return ordinal


def _shares(column: StatColumn) -> NDArray[np.float32]:
    numbers = column.numbers()
    with np.errstate(invalid="ignore"):
        is_share = (numbers >= 0) & (numbers <= 1)
    return np.where(is_share, numbers, np.nan).astype(np.float32)


def _dtypes(column: StatColumn, plane: Plane) -> NDArray[np.int32]:
    """Return [n] text ids of data type names, from numbers or texts; -1 for none."""
    out = column.texts()
    number = column.integers()
    table = np.full(_REFERENCE + len(_DTYPES) + 1, -1, np.int32)
    ids = plane.strings.intern([*_DTYPES, *(f"{name}_ref" for name in _DTYPES)])
    table[1 : len(_DTYPES) + 1] = ids[: len(_DTYPES)]
    table[_REFERENCE + 1 :] = ids[len(_DTYPES) :]
    is_listed = (number > 0) & (number < table.size)
    out = np.where(is_listed, table[np.where(is_listed, number, 0)], out)
    others = np.flatnonzero((number != 0) & (out < 0))
    if others.size:
        distinct, code = np.unique(number[others], return_inverse=True)
        out[others] = plane.strings.intern([f"type {other}" for other in distinct.tolist()])[code]
    return out.astype(np.int32, copy=False)
