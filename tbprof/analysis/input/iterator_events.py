"""Calls of tf.data iterators on a host's threads, with the call that each one serves."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.host.host_events import EXECUTIONS, function_runs, stats_by_pieces
from tbprof.analysis.spans.groups import group_rows
from tbprof.analysis.spans.nesting import nearest_above, nest
from tbprof.analysis.vocabulary import input_names
from tbprof.analysis.vocabulary.name_families import name_families
from tbprof.base import names
from tbprof.base.digests import blake2b
from tbprof.base.records import dataclass
from tbprof.base.texts import whole_number
from tbprof.base.values import is_in
from tbprof.events.space import Events, Plane
from tbprof.events.stats import StatColumn
from tbprof.kernels.analysis.iterator_walk import cut_loops, find_calls_above

_ID = "id"
_PARENT_ID = "parent_id"
_ELEMENT_ID = "element_id"
# Stages that hold a lock record at least one of these stats; without the lock it is not a number.
_GUARDED = ("parallelism", "buffer_limit", "buffered_elements")


class _Kind:
    """The role of an event in iterator calls: plain integers, as in `CausalKind`."""

    NONE = 0
    CALL = 1
    PRODUCE = 2  # a background thread of a stage produces one element
    CONSUME = 3  # a call consumes an element
    FUNCTION = 4  # the caller waits for it
    ASYNC_FUNCTION = 5
    EXECUTION = 6  # pool threads run a function
    ENQUEUE = 7  # a function, or its next part, is enqueued for a pool
    DEQUEUE = 8  # a pool thread starts it


_POOL_KINDS = {names.POOL_RECORD: _Kind.ENQUEUE, names.POOL_START: _Kind.DEQUEUE}
_OF_FUNCTIONS = (_Kind.EXECUTION, *_POOL_KINDS.values())


@dataclass(frozen=True, slots=True)
class IteratorTimes:
    """Spans [t] of iterators: `id` is the id of the iterator."""

    id: NDArray[np.uint64]
    start_ps: NDArray[np.int64]
    end_ps: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class IteratorCalls:
    """Calls of iterators [n] by (plane, line, start, longest first).

    `line` is a row of `threads`. `above` is the call that a call serves, -1 for none: the innermost
    enclosing call, or the call that consumed the element produced on another thread; `adopt_calls`
    updates it in place. `is_fed` marks calls that consumed an element whose production was
    recorded; `is_cut` those whose element was produced unrecorded, because production began before
    the recording. `late_ps` is how long a call continued after it consumed its last element, 0 if
    it consumed none. `is_loose`: it is not recorded for which element the call was made.

    `work` are spans in which threads of iterators worked. Spans with `work_sign` -1 are to be
    subtracted, because the threads worked for other iterators then. `runs` are spans in which pool
    threads ran functions of iterators, `queues` spans in which these functions waited for a thread.
    """

    line: NDArray[np.int64]
    threads: list[str]
    start_ps: NDArray[np.int64]
    duration_ps: NDArray[np.int64]
    above: NDArray[np.int64]
    is_fed: NDArray[np.bool_]
    is_cut: NDArray[np.bool_]
    late_ps: NDArray[np.int64]
    is_loose: NDArray[np.bool_]
    work: IteratorTimes
    work_sign: NDArray[np.int64]
    runs: IteratorTimes
    queues: IteratorTimes


@dataclass(frozen=True, slots=True)
class IteratorEvents:
    """The calls of iterators [n] of one plane.

    `id` is the id of the iterator and `parent_id` that of the iterator that it feeds, 0 for none.
    `is_complete`: none of its parameters is "unavailable". `type` is a row of the plane's
    types. `cuts` counts calls that formed cycles, whose `above` was set to -1.
    """

    plane: Plane
    id: NDArray[np.uint64]
    parent_id: NDArray[np.uint64]
    is_complete: NDArray[np.bool_]
    type: NDArray[np.int32]
    source: NDArray[np.int64]
    calls: IteratorCalls
    cuts: int


def find_iterator_events(plane: Plane, events: Events) -> IteratorEvents | None:
    """Return the iterator calls of a host plane, None if there are none."""
    by_type = _classify(plane, events)
    if not (by_type == _Kind.CALL).any():
        return None
    kind = events.by_type(by_type)
    rows = np.flatnonzero(kind)
    all_events, all_kind = events.select(rows), kind[rows]
    all_parent = nest(all_events.first_event, all_events.start_ps, all_events.duration_ps)
    # The marks of pools, which are most events, only matter to queues.
    is_mark = is_in(all_kind, (_Kind.ENQUEUE, _Kind.DEQUEUE))
    rows = np.flatnonzero(~is_mark)
    events, kind = all_events.select(rows), all_kind[rows]
    parent = _parents_among(rows, nearest_above(all_parent, ~is_mark))
    is_call = kind == _Kind.CALL
    calls = np.flatnonzero(is_call)
    id_, parent_id, is_complete = _iterator_ids(events, calls)
    is_function = (kind == _Kind.FUNCTION) | (kind == _Kind.ASYNC_FUNCTION)
    runs = function_runs(events, is_function, kind == _Kind.EXECUTION)
    around = nearest_above(parent, is_call | (kind == _Kind.PRODUCE))
    served = _find_served(kind, around, parent_id)
    owner = _find_owners(kind, around, runs, id_, served)
    all_owners = np.zeros(len(all_events), np.uint64)
    all_owners[rows] = owner
    is_beside = (runs >= 0) & (kind[runs] == _Kind.ASYNC_FUNCTION)
    consumer, consuming_calls, consumed_ps = _match_elements(events, kind, parent, id_, served)
    up = np.where(runs >= 0, runs, parent)
    up = np.where(consumer >= 0, consumer, up)
    cuts = cut_circles(up)
    above = np.full(up.size, -2, np.int64)
    find_calls_above(up, is_call, above)
    number = np.full(up.size + 1, -1, np.int64)
    number[calls] = np.arange(calls.size)
    is_fed, is_cut = np.zeros((2, calls.size), np.bool_)
    is_fed[number[consumer[consumer >= 0]]] = True
    is_cut[number[consuming_calls]] = True
    is_cut &= ~is_fed
    end_ps = events.start_ps[calls] + events.duration_ps[calls]
    last_ps = end_ps.copy()
    last_ps[number[consuming_calls]] = 0
    np.maximum.at(last_ps, number[consuming_calls], consumed_ps)
    is_loose = (above < 0) & (nearest_above(parent, kind == _Kind.PRODUCE) < 0)
    return IteratorEvents(
        plane,
        id_[calls],
        parent_id[calls],
        is_complete,
        events.type[calls],
        events.source[calls],
        IteratorCalls(
            events.line[calls].astype(np.int64),
            plane.strings.take(events.lines.name.tolist()),
            events.start_ps[calls],
            events.duration_ps[calls],
            number[above[calls]],
            is_fed,
            is_cut,
            np.maximum(end_ps - last_ps, 0),
            is_loose[calls],
            *_find_work(events, kind, parent, id_, np.where(is_beside, owner, served)),
            _find_runs(events, kind, owner),
            _find_queues(all_events, all_kind, all_parent, all_owners),
        ),
        cuts,
    )


def _parents_among(rows: NDArray[np.int64], above: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return the parent of each of the `rows` among them, -1 for none; `above` is by all rows."""
    number = np.full(above.size + 1, -1, np.int32)
    number[rows] = np.arange(rows.size)
    parent: NDArray[np.int32] = number[above[rows]]
    return parent


def cut_circles(up: NDArray[np.int64]) -> int:
    """Break cycles in `up` [n], in place; return the number of links removed."""
    return int(cut_loops(up, np.zeros(up.size, np.int64)))


def _classify(plane: Plane, events: Events) -> NDArray[np.int8]:
    """Return [types + 1] the kind of each type; executions count only if functions ran."""
    kinds = name_families(plane).classify(_kind_of, np.int8)
    kind = np.full(kinds.size, _Kind.NONE, np.int8)
    used = events.used_types(kinds.size - 1)
    kind[used] = kinds[used]
    if not is_in(kind, (_Kind.FUNCTION, _Kind.ASYNC_FUNCTION)).any():
        kind[is_in(kind, _OF_FUNCTIONS)] = _Kind.NONE
    return kind


def _kind_of(text: str) -> int:
    if input_names.is_iterator(text):
        return _Kind.CALL
    if input_names.is_producer(text):
        return _Kind.PRODUCE
    if input_names.is_consumer(text):
        return _Kind.CONSUME
    if text in names.CAPTURED_FUNCTIONS:
        return _Kind.ASYNC_FUNCTION if text == names.ASYNC_FUNCTION else _Kind.FUNCTION
    if text in EXECUTIONS:
        return _Kind.EXECUTION
    return _POOL_KINDS.get(text, _Kind.NONE)


def _iterator_ids(
    events: Events, calls: NDArray[np.int64]
) -> tuple[NDArray[np.uint64], NDArray[np.uint64], NDArray[np.bool_]]:
    """Return (id [rows], parent id [rows], 0 for other rows; whether a call is complete [calls]).

    If calls have no id, a hash of the name is used, so iterators of the same name are merged.
    """
    id_, parent_id = (np.zeros(len(events), np.uint64) for _ in range(2))
    has_id, is_complete = np.zeros(len(events), np.bool_), np.ones(len(events), np.bool_)
    for rows, stats in stats_by_pieces(events, [_ID, _PARENT_ID, *_GUARDED], calls):
        for name in stats.keys() & set(_GUARDED):
            is_complete[rows] &= ~stats[name].is_present | stats[name].is_integer
        if _ID in stats:
            id_[rows], has_id[rows] = _unsigned(events, stats[_ID])
        if _PARENT_ID in stats:
            parent_id[rows], _ = _unsigned(events, stats[_PARENT_ID])
    without_id = calls[~has_id[calls]]
    if without_id.size:
        kinds, inverse = np.unique(events.type[without_id], return_inverse=True)
        texts = events.plane.strings.take(events.plane.types.name[kinds].tolist())
        id_[without_id] = np.array([_id_of_name(text) for text in texts], np.uint64)[inverse]
        parent_ids = [_id_of_name(input_names.op_above(text)) for text in texts]
        parent_id[without_id] = np.array(parent_ids, np.uint64)[inverse]
    return id_, parent_id, is_complete[calls]


def _unsigned(events: Events, column: StatColumn) -> tuple[NDArray[np.uint64], NDArray[np.bool_]]:
    """Return (the 64 bits of each id, whether there is one), from integers and decimal texts."""
    bits = column.integers().view(np.uint64)
    is_known = column.is_integer
    if not (column.is_present & ~is_known).any():
        return bits, is_known
    text_id, inverse = np.unique(column.texts(), return_inverse=True)
    texts = events.plane.strings.take(text_id.tolist())
    values = [whole_number(text, 20, is_signed=True) for text in texts]
    is_decimal = np.array([value is not None for value in values])[inverse]
    low_bits = np.array([(value or 0) & (2**64 - 1) for value in values], np.uint64)
    bits[is_decimal] = low_bits[inverse][is_decimal]
    return bits, is_known | is_decimal


def _id_of_name(name: str) -> int:
    """Return a hash of an iterator's name, 0 for other names."""
    if not name.startswith(input_names.ITERATOR):
        return 0
    text = input_names.without_index(name).encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(text, digest_size=8).digest(), "little")


def _integers(
    events: Events, wanted: Sequence[str], rows: NDArray[np.int64]
) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
    """Return (whether a stat is an integer, its value) [wanted, rows], read in one pass."""
    is_integer = np.zeros((len(wanted), rows.size), np.bool_)
    values = np.zeros((len(wanted), rows.size), np.int64)
    begin = 0
    for piece, stats in stats_by_pieces(events, wanted, rows):
        part = slice(begin, begin + piece.size)
        for index, name in enumerate(wanted):
            if name in stats:
                is_integer[index, part] = stats[name].is_integer
                values[index, part] = stats[name].bits
        begin += piece.size
    return is_integer, values


def _find_served(
    kind: NDArray[np.int8],
    around: NDArray[np.int32],
    parent_id: NDArray[np.uint64],
) -> NDArray[np.uint64]:
    """Return [rows] the iterator that a producer event works for, 0 if unknown.

    It is the one that the producer's first called iterator feeds. `around` [rows] is the innermost
    enclosing call or producer event, -1 for none.
    """
    served = np.zeros(kind.size, np.uint64)
    is_producer = kind == _Kind.PRODUCE
    called = np.flatnonzero((kind == _Kind.CALL) & (around >= 0))[::-1]
    called = called[is_producer[around[called]] & (parent_id[called] != 0)]
    served[around[called]] = parent_id[called]  # the first one is written last
    return served


def _find_owners(
    kind: NDArray[np.int8],
    around: NDArray[np.int32],
    runs: NDArray[np.int64],
    id_: NDArray[np.uint64],
    served: NDArray[np.uint64],
) -> NDArray[np.uint64]:
    """Return [rows] the iterator that owns a function or an execution of one; 0 for other rows.

    `around` is as in `_find_served`.
    """
    owner = np.zeros(kind.size, np.uint64)
    is_call = kind == _Kind.CALL
    is_function = (kind == _Kind.FUNCTION) | (kind == _Kind.ASYNC_FUNCTION)
    functions = np.flatnonzero(is_function & (around >= 0))
    above = around[functions]
    owner[functions] = np.where(is_call[above], id_[above], served[above])
    executions = np.flatnonzero(runs >= 0)
    owner[executions] = owner[runs[executions]]
    return owner


def _match_elements(
    events: Events,
    kind: NDArray[np.int8],
    parent: NDArray[np.int32],
    id_: NDArray[np.uint64],
    served: NDArray[np.uint64],
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64]]:
    """Return ([rows] the call that consumed a producer event's element, else -1; all consumers).

    Consumers are calls that consumed any element, with the time [consumers] of consumption. Stages
    may reuse element numbers, so the consumer is the first call of the stage that consumed an
    element of this number after production began.
    """
    out = np.full(kind.size, -1, np.int64)
    around = nearest_above(parent, kind == _Kind.CALL)
    producers = np.flatnonzero((kind == _Kind.PRODUCE) & (served != 0))
    consumers = np.flatnonzero((kind == _Kind.CONSUME) & (around >= 0))
    has_id, element_id = _integers(events, [_ELEMENT_ID], np.concatenate((producers, consumers)))
    has_id &= (np.arange(has_id.size) < producers.size) | (element_id >= 0)  # none: no more data
    produces, consumes = np.split(has_id[0], [producers.size])
    producers, consumers = producers[produces], consumers[consumes]
    stages = np.concatenate((served[producers], id_[around[consumers]])).view(np.int64)
    element, _ = group_rows([stages, element_id[has_id]])
    ends = events.start_ps[consumers] + events.duration_ps[consumers]
    order = np.lexsort((np.concatenate((events.start_ps[producers], ends)), element))
    # The position of the next consumption at or after each position.
    places = np.where(order >= producers.size, np.arange(order.size), order.size)
    following = np.minimum.accumulate(places[::-1])[::-1]
    pairs = np.flatnonzero((order < producers.size) & (following < order.size))
    taker = order[following[pairs]]
    is_same = element[taker] == element[order[pairs]]
    out[producers[order[pairs][is_same]]] = around[consumers[taker[is_same] - producers.size]]
    return out, around[consumers], ends


def _find_work(
    events: Events,
    kind: NDArray[np.int8],
    parent: NDArray[np.int32],
    id_: NDArray[np.uint64],
    served: NDArray[np.uint64],
) -> tuple[IteratorTimes, NDArray[np.int64]]:
    """Return (spans of threads that work for iterators outside their calls, sign of each span).

    `served` [rows] is the iterator that producers and executions work for, 0 for none.
    """
    is_work = is_in(kind, (_Kind.PRODUCE, _Kind.EXECUTION)) & (served != 0)
    is_call = kind == _Kind.CALL
    around = nearest_above(parent, is_work | is_call)
    above = np.where(around >= 0, around, 0)
    inside = (around >= 0) & is_work[above]
    work = np.flatnonzero(is_work)
    # Work inside a call of the same stage is not background work.
    work_rows = np.flatnonzero(is_work & (around >= 0) & is_call[above] & (id_[above] == served))
    other = np.flatnonzero((is_work | is_call) & inside)
    rows = np.concatenate((work, work_rows, other))
    sign = np.repeat(np.array([1, -1], np.int64), (work.size, work_rows.size + other.size))
    iterator = np.concatenate((served[work], served[work_rows], served[above[other]]))
    start = events.start_ps[rows]
    return IteratorTimes(iterator, start, start + events.duration_ps[rows]), sign


def _find_runs(events: Events, kind: NDArray[np.int8], owner: NDArray[np.uint64]) -> IteratorTimes:
    """Return the spans in which pool threads ran functions of iterators."""
    rows = np.flatnonzero((kind == _Kind.EXECUTION) & (owner != 0))
    start = events.start_ps[rows]
    return IteratorTimes(owner[rows], start, start + events.duration_ps[rows])


def _find_queues(
    events: Events, kind: NDArray[np.int8], parent: NDArray[np.int32], owner: NDArray[np.uint64]
) -> IteratorTimes:
    """Return the spans in which functions of iterators waited in a pool's queue.

    Work that a function, or an execution of it, enqueues is part of the function.
    """
    enqueued = np.flatnonzero((kind == _Kind.ENQUEUE) & (parent >= 0))
    enqueued = enqueued[owner[parent[enqueued]] != 0]
    dequeued = np.flatnonzero(kind == _Kind.DEQUEUE) if enqueued.size else enqueued
    has_id, ids = _integers(
        events, [names.CONSUMER_ID, names.PRODUCER_ID], np.concatenate((dequeued, enqueued))
    )
    known, known_too = has_id[0, : dequeued.size], has_id[1, dequeued.size :]
    dequeued_id, enqueued_id = ids[0, : dequeued.size][known], ids[1, dequeued.size :][known_too]
    dequeued, enqueued = dequeued[known], enqueued[known_too]
    unique, first = np.unique(dequeued_id, return_index=True)
    if not unique.size:
        enqueued, enqueued_id = enqueued[:0], enqueued_id[:0]
    position = np.minimum(np.searchsorted(unique, enqueued_id), max(unique.size - 1, 0))
    is_match = unique[position] == enqueued_id
    enqueued, dequeued = enqueued[is_match], dequeued[first[position[is_match]]]
    start, end = events.start_ps[enqueued], events.start_ps[dequeued]
    is_after = end > start
    return IteratorTimes(owner[parent[enqueued[is_after]]], start[is_after], end[is_after])
