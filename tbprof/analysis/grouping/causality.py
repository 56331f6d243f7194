"""Causality between host events, and their steps, according to their stats."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.grouping.context_links import Ends
from tbprof.analysis.host.host_events import execution_stats, stats_by_pieces
from tbprof.base import names
from tbprof.base.records import dataclass
from tbprof.base.values import unique
from tbprof.events.space import Events
from tbprof.events.stats import StatColumn
from tbprof.kernels.analysis.stat_values import find_contexts


class CausalKind:
    """The role of an event in causality, by its name.

    Plain integers: NumPy compares a column of bytes with a member of an `IntEnum` eight times as
    slowly, since it converts both.
    """

    OTHER = 0
    EXECUTOR = 1
    ITERATOR_NEXT = 2
    CAPTURED = 3
    TPU_EXECUTE = 4
    ENQUEUE_REQUEST = 5
    REQUEST = 6
    ENQUEUE_PROGRAM = 7
    COMPLETE_CALLBACKS = 8
    EXECUTION = 9
    ROOT_1 = 10
    ROOT_2 = 11
    POOL_RECORD = 12
    POOL_START = 13
    POOL_STOP = 14


CAUSAL_KINDS = {
    names.EXECUTOR: CausalKind.EXECUTOR,
    **dict.fromkeys(names.ITERATOR_NEXT, CausalKind.ITERATOR_NEXT),
    **dict.fromkeys(names.CAPTURED_FUNCTIONS, CausalKind.CAPTURED),
    names.TPU_EXECUTE: CausalKind.TPU_EXECUTE,
    names.ENQUEUE_REQUEST: CausalKind.ENQUEUE_REQUEST,
    **dict.fromkeys(names.REQUESTS, CausalKind.REQUEST),
    names.ENQUEUE_PROGRAM: CausalKind.ENQUEUE_PROGRAM,
    names.COMPLETE_CALLBACKS: CausalKind.COMPLETE_CALLBACKS,
    **dict.fromkeys(names.IMPLICIT_ROOTS, CausalKind.EXECUTION),
    **{name: CausalKind.ROOT_1 + level - 1 for name, level in names.ROOT_LEVELS.items()},
    names.POOL_RECORD: CausalKind.POOL_RECORD,
    names.POOL_START: CausalKind.POOL_START,
    names.POOL_STOP: CausalKind.POOL_STOP,
}

PRODUCER = (names.PRODUCER_ID, names.PRODUCER_TYPE)
CONSUMER = (names.CONSUMER_ID, names.CONSUMER_TYPE)
_SPARSE = (*PRODUCER, *CONSUMER, names.CONSUMER_PROCESS, names.ROOT, names.CORRELATION_ID)

# Stats that events of one execution, one request or one launch of a program share.
EXECUTION_KEYS = (names.EXECUTION_ID, names.ITERATION)
REQUEST_KEYS = (names.REQUEST_ID, names.QUEUE_ADDRESS)
LAUNCH_KEYS = (names.RUN_ID, names.QUEUE_ID, names.DEVICE_ORDINAL)
# The run ids of host and device agree only in these bits.
_RUN_MASK = (1 << 27) - 1

LinkKeys = list[NDArray[np.int64]]


@dataclass(frozen=True, slots=True)
class CausalStats:
    """The causal stats of one plane; rows are counted over all planes.

    Links lead from `producers` to `consumers` of contexts, from `executor` events to the iterator
    calls of the same execution and iteration (`next_call`) and to `tpu_call`, from `enqueue` to
    `request`, and from `launch` to `callback`. `marked` are the rows that the recorder marked as
    roots, with their `level`. `executed` are the rows that are roots if none are marked. `captured`
    are ids of executions by tf.data. `correlated` are the rows of launches of device work,
    `correlation` their ids.
    """

    producers: Ends
    consumers: Ends
    executor: Ends
    next_call: Ends
    tpu_call: Ends
    enqueue: Ends
    request: Ends
    launch: Ends
    callback: Ends
    marked: NDArray[np.int64]
    level: NDArray[np.int64]
    executed: NDArray[np.int64]
    captured: NDArray[np.int64]
    correlated: NDArray[np.int64]
    correlation: NDArray[np.int64]


def read_causal_stats(
    events: Events, kind: NDArray[np.int8], offset: int, process: int
) -> CausalStats:
    """The causal stats of a plane's events, whose rows are counted from `offset` on.

    `kind` [n] are the events' kinds. The marks of thread pools are excluded.
    """
    sparse = _Sparse(process)
    others = np.flatnonzero(kind < CausalKind.POOL_RECORD)
    for rows, stats in stats_by_pieces(events, _SPARSE, others):
        sparse.take(rows, stats)

    def keyed(wanted: int, stats: Sequence[str]) -> Ends:
        rows, keys = keyed_rows(events, np.flatnonzero(kind == wanted), stats)
        return Ends(rows + offset, [*keys, np.full(rows.size, process)])

    def launched(wanted: int) -> Ends:
        rows, keys = launch_keys(events, np.flatnonzero(kind == wanted))
        return Ends(rows + offset, [*keys, np.full(rows.size, process)])

    marked, level = _marked(sparse, kind)
    executor, captured = _find_executions(events, kind)
    return CausalStats(
        sparse.ends("producer", offset),
        sparse.ends("consumer", offset),
        Ends(executor.row + offset, [*executor.keys, np.full(executor.row.size, process)]),
        keyed(CausalKind.ITERATOR_NEXT, EXECUTION_KEYS),
        keyed(CausalKind.TPU_EXECUTE, EXECUTION_KEYS),
        keyed(CausalKind.ENQUEUE_REQUEST, REQUEST_KEYS),
        keyed(CausalKind.REQUEST, REQUEST_KEYS),
        launched(CausalKind.ENQUEUE_PROGRAM),
        launched(CausalKind.COMPLETE_CALLBACKS),
        marked + offset,
        level,
        np.flatnonzero(kind == CausalKind.EXECUTION) + offset,
        unique(captured),
        sparse.column("correlated") + offset,
        sparse.column("correlation"),
    )


def _find_executions(events: Events, kind: NDArray[np.int8]) -> tuple[Ends, NDArray[np.int64]]:
    """(executor events with their execution and iteration, ids of executions by tf.data)."""
    known = execution_stats(events.plane)
    kinds = kind[known.row]
    has_id = known.id.is_integer
    is_executor = (kinds == CausalKind.EXECUTOR) & has_id & known.iteration.is_integer
    is_captured = (kinds == CausalKind.CAPTURED) & has_id
    keys = [known.id.bits[is_executor], known.iteration.bits[is_executor]]
    return Ends(known.row[is_executor], keys), known.id.bits[is_captured]


def keyed_rows(
    events: Events, rows: NDArray[np.int64], wanted: Sequence[str]
) -> tuple[NDArray[np.int64], LinkKeys]:
    """(the `rows` that have all wanted stats as integers, the values of each stat)."""
    rows, keys, _ = _keyed(events, rows, wanted)
    return rows, keys


def _keyed(
    events: Events, rows: NDArray[np.int64], wanted: Sequence[str], other: str = ""
) -> tuple[NDArray[np.int64], LinkKeys, NDArray[np.int64]]:
    """The result of `keyed_rows`, and another stat of these rows, 0 if it is not an integer."""
    if not rows.size or not set(wanted) <= events.plane.stat_names:
        nothing = np.zeros(0, np.int64)
        return nothing, [nothing for _ in wanted], nothing
    has_other = other in events.plane.stat_names
    stats = events.stats([*wanted, other] if has_other else wanted, rows)
    has_all = np.logical_and.reduce([stats[name].is_integer for name in wanted])
    keys = [stats[name].bits[has_all] for name in wanted]
    values = stats[other].integers() if has_other else np.zeros(rows.size, np.int64)
    return rows[has_all], keys, values[has_all]


def launch_keys(
    events: Events, rows: NDArray[np.int64], ordinal: int | None = None
) -> tuple[NDArray[np.int64], LinkKeys]:
    """(rows, keys) of program runs: the run, the queue, the device, the kind of core.

    The device comes from a stat, or it is `ordinal`.
    """
    wanted = LAUNCH_KEYS if ordinal is None else LAUNCH_KEYS[:2]
    rows, (run, queue, *stated), core = _keyed(events, rows, wanted, names.CORE_TYPE)
    device = stated[0] if stated else np.full(rows.size, ordinal, np.int64)
    return rows, [run & _RUN_MASK, queue, device, core]


def contexts(
    id_: StatColumn, type_: StatColumn, *, of_pools: bool
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """(row, id, type) of the contexts in two columns: of thread pools, or all others."""
    row, ids, types = np.empty((3, id_.kind.size), np.int64)
    count = find_contexts(
        id_.kind, id_.bits, type_.kind, type_.bits, names.POOL_CONTEXT, of_pools, row, ids, types
    )
    return row[:count].copy(), ids[:count].copy(), types[:count].copy()


class _Sparse:
    """Collects, piece by piece, stats that only a few events have."""

    def __init__(self, process: int) -> None:
        self._process = process
        self._found: dict[str, list[NDArray[np.int64]]] = {}

    def take(self, rows: NDArray[np.int64], stats: dict[str, StatColumn]) -> None:
        """Adds the stats of the events `rows`."""
        for side, (id_, type_) in (("producer", PRODUCER), ("consumer", CONSUMER)):
            if id_ not in stats or type_ not in stats:
                continue
            has, ids, types = contexts(stats[id_], stats[type_], of_pools=False)
            self._add(side, rows[has])
            self._add(f"{side} id", ids)
            self._add(f"{side} type", types)
            process = np.full(has.size, self._process)
            if side == "consumer" and names.CONSUMER_PROCESS in stats:
                process = stats[names.CONSUMER_PROCESS].integers(self._process)[has]
            self._add(f"{side} process", process)
        for row_column, value_column, name in (
            ("root", "level", names.ROOT),
            ("correlated", "correlation", names.CORRELATION_ID),
        ):
            if name in stats:
                has = np.flatnonzero(stats[name].is_integer)
                self._add(row_column, rows[has])
                self._add(value_column, stats[name].bits[has])

    def _add(self, column: str, values: NDArray[np.int64]) -> None:
        self._found.setdefault(column, []).append(values)

    def column(self, name: str) -> NDArray[np.int64]:
        """All values that were added to a column."""
        return np.concatenate(self._found.pop(name, [np.zeros(0, np.int64)]))

    def ends(self, side: str, offset: int) -> Ends:
        """The producers or consumers of contexts."""
        keys = [self.column(f"{side} {key}") for key in ("id", "type", "process")]
        return Ends(self.column(side) + offset, keys)


def _marked(sparse: _Sparse, kind: NDArray[np.int8]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(rows, levels) of roots, by a stat or, if it is missing, by a legacy name."""
    by_name = np.flatnonzero((kind == CausalKind.ROOT_1) | (kind == CausalKind.ROOT_2))
    rows = np.concatenate((sparse.column("root"), by_name))
    level = np.concatenate(
        (sparse.column("level"), kind[by_name].astype(np.int64) - CausalKind.ROOT_1 + 1)
    )
    rows, first = np.unique(rows, return_index=True)
    return rows, level[first]
