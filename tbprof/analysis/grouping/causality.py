"""What the events of a host say of who caused them, and of steps."""

from collections.abc import Sequence
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.grouping.context_links import Ends
from tbprof.analysis.host.host_events import stats_by_pieces
from tbprof.base import names
from tbprof.base.records import dataclass
from tbprof.base.values import unique
from tbprof.events.space import Events
from tbprof.events.stats import StatColumn


class Kind(IntEnum):
    """What the name of an event says of it."""

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


KIND_OF = {
    names.EXECUTOR: Kind.EXECUTOR,
    **dict.fromkeys(names.ITERATOR_NEXT, Kind.ITERATOR_NEXT),
    **dict.fromkeys(names.CAPTURED_FUNCTIONS, Kind.CAPTURED),
    names.TPU_EXECUTE: Kind.TPU_EXECUTE,
    names.ENQUEUE_REQUEST: Kind.ENQUEUE_REQUEST,
    **dict.fromkeys(names.REQUESTS, Kind.REQUEST),
    names.ENQUEUE_PROGRAM: Kind.ENQUEUE_PROGRAM,
    names.COMPLETE_CALLBACKS: Kind.COMPLETE_CALLBACKS,
    **dict.fromkeys(names.IMPLICIT_ROOTS, Kind.EXECUTION),
    **{name: Kind.ROOT_1 + level - 1 for name, level in names.ROOT_LEVELS.items()},
    names.POOL_RECORD: Kind.POOL_RECORD,
    names.POOL_START: Kind.POOL_START,
    names.POOL_STOP: Kind.POOL_STOP,
}

PRODUCER = (names.PRODUCER_ID, names.PRODUCER_TYPE)
CONSUMER = (names.CONSUMER_ID, names.CONSUMER_TYPE)
_SPARSE = (*PRODUCER, *CONSUMER, names.CONSUMER_PROCESS, names.ROOT, names.CORRELATION_ID)

# The stats that events of one execution, one request or one launch of a program have in common.
EXECUTION_KEYS = (names.EXECUTION_ID, names.ITERATION)
REQUEST_KEYS = (names.REQUEST_ID, names.QUEUE_ADDRESS)
LAUNCH_KEYS = (names.RUN_ID, names.QUEUE_ID, names.DEVICE_ORDINAL)
# Runs of a program are numbered differently on host and device beyond these bits.
_RUN_MASK = (1 << 27) - 1

Keys = list[NDArray[np.int64]]


@dataclass(frozen=True, slots=True)
class Facts:
    """Of one plane; rows are counted over all planes, columns of one kind belong together.

    Links go from `producers` to `consumers` of contexts, from `executor` events to the calls of
    iterators in the same execution and iteration (`next_call`) and to `tpu_call`, from `enqueue` to
    `request`, and from `launch` to `callback`. `marked` are rows that the recorder calls roots,
    `executed` those that are roots where nothing is marked. `captured` are the executions that
    tf.data makes. `correlated` are launches of device work.
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


def read_facts(events: Events, kind: NDArray[np.int8], offset: int, process: int) -> Facts:
    """The facts of a plane's events, whose rows are counted from `offset` on.

    `kind` [n] are the events' kinds. The marks of pools of threads are left out.
    """
    found = _Sparse(process)
    others = np.flatnonzero(kind < Kind.POOL_RECORD)
    for rows, stats in stats_by_pieces(events, _SPARSE, others):
        found.take(rows, stats)

    def keyed(wanted: Kind, stats: Sequence[str]) -> Ends:
        rows, keys = keyed_rows(events, np.flatnonzero(kind == wanted), stats)
        return Ends(rows + offset, [*keys, np.full(rows.size, process)])

    def launched(wanted: Kind) -> Ends:
        rows, keys = launch_keys(events, np.flatnonzero(kind == wanted))
        return Ends(rows + offset, [*keys, np.full(rows.size, process)])

    marked, level = _marked(found, kind)
    return Facts(
        found.ends("producer", offset),
        found.ends("consumer", offset),
        keyed(Kind.EXECUTOR, EXECUTION_KEYS),
        keyed(Kind.ITERATOR_NEXT, EXECUTION_KEYS),
        keyed(Kind.TPU_EXECUTE, EXECUTION_KEYS),
        keyed(Kind.ENQUEUE_REQUEST, REQUEST_KEYS),
        keyed(Kind.REQUEST, REQUEST_KEYS),
        launched(Kind.ENQUEUE_PROGRAM),
        launched(Kind.COMPLETE_CALLBACKS),
        marked + offset,
        level,
        np.flatnonzero(kind == Kind.EXECUTION) + offset,
        unique(keyed(Kind.CAPTURED, (names.EXECUTION_ID,)).keys[0]),
        found.column("correlated") + offset,
        found.column("correlation"),
    )


def keyed_rows(
    events: Events, rows: NDArray[np.int64], wanted: Sequence[str]
) -> tuple[NDArray[np.int64], Keys]:
    """(those of `rows` that have all the stats as integers, the values of each stat)."""
    if not rows.size or not set(wanted) <= events.plane.stat_names:
        return np.zeros(0, np.int64), [np.zeros(0, np.int64) for _ in wanted]
    stats = events.stats(wanted, rows)
    has_all = np.logical_and.reduce([stats[name].is_integer for name in wanted])
    return rows[has_all], [stats[name].bits[has_all] for name in wanted]


def launch_keys(
    events: Events, rows: NDArray[np.int64], ordinal: int | None = None
) -> tuple[NDArray[np.int64], Keys]:
    """(rows, keys) of runs of programs: the run, the queue, the device, the kind of core.

    The device is said by a stat, or it is `ordinal`.
    """
    rows, keys = keyed_rows(events, rows, LAUNCH_KEYS if ordinal is None else LAUNCH_KEYS[:2])
    run, queue, *stated = keys
    device = stated[0] if stated else np.full(rows.size, ordinal, np.int64)
    core = np.zeros(rows.size, np.int64)
    if names.CORE_TYPE in events.plane.stat_names:
        core = events.stats([names.CORE_TYPE], rows)[names.CORE_TYPE].integers()
    return rows, [run & _RUN_MASK, queue, device, core]


class _Sparse:
    """Gathers what few events carry, piece by piece."""

    def __init__(self, process: int) -> None:
        self._process = process
        self._found: dict[str, list[NDArray[np.int64]]] = {}

    def take(self, rows: NDArray[np.int64], stats: dict[str, StatColumn]) -> None:
        """Adds what the events `rows` carry."""
        for side, (id_, type_) in (("producer", PRODUCER), ("consumer", CONSUMER)):
            if id_ not in stats or type_ not in stats:
                continue
            is_context = stats[id_].is_integer & stats[type_].is_integer
            has = np.flatnonzero(is_context & (stats[type_].bits != names.POOL_CONTEXT))
            self._add(side, rows[has])
            self._add(f"{side} id", stats[id_].bits[has])
            self._add(f"{side} type", stats[type_].bits[has])
            process = np.full(has.size, self._process)
            if side == "consumer" and names.CONSUMER_PROCESS in stats:
                process = stats[names.CONSUMER_PROCESS].integers(self._process)[has]
            self._add(f"{side} process", process)
        for what, value, name in (
            ("root", "level", names.ROOT),
            ("correlated", "correlation", names.CORRELATION_ID),
        ):
            if name in stats:
                has = np.flatnonzero(stats[name].is_integer)
                self._add(what, rows[has])
                self._add(value, stats[name].bits[has])

    def _add(self, what: str, part: NDArray[np.int64]) -> None:
        self._found.setdefault(what, []).append(part)

    def column(self, what: str) -> NDArray[np.int64]:
        """All that was added to a column."""
        return np.concatenate(self._found.pop(what, [np.zeros(0, np.int64)]))

    def ends(self, side: str, offset: int) -> Ends:
        """The producers or consumers of contexts."""
        keys = [self.column(f"{side} {key}") for key in ("id", "type", "process")]
        return Ends(self.column(side) + offset, keys)


def _marked(found: _Sparse, kind: NDArray[np.int8]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(rows, levels) of roots by a stat or, where that is missing, by a legacy name."""
    by_name = np.flatnonzero((kind == Kind.ROOT_1) | (kind == Kind.ROOT_2))
    rows = np.concatenate((found.column("root"), by_name))
    level = np.concatenate(
        (found.column("level"), kind[by_name].astype(np.int64) - Kind.ROOT_1 + 1)
    )
    rows, at = np.unique(rows, return_index=True)
    return rows, level[at]
