"""The calls of tf.data iterators on a host's threads, and which call each was made for."""

from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.host.host_events import EXECUTIONS, execution_ids, stats_by_pieces
from tbprof.analysis.spans.groups import group_rows
from tbprof.analysis.spans.nesting import inherit, nest
from tbprof.analysis.vocabulary import input_names
from tbprof.analysis.vocabulary.name_families import name_families
from tbprof.base import names
from tbprof.base.digests import blake2b
from tbprof.base.records import dataclass
from tbprof.base.values import is_in
from tbprof.events.space import Events, Plane
from tbprof.events.stats import StatColumn
from tbprof.kernels.analysis.iterator_walk import cut_loops, find_calls_above

_ID = "id"
_PARENT_ID = "parent_id"
_ELEMENT_ID = "element_id"
_ASYNC_FUNCTION = "InstantiatedCapturedFunction::RunAsync"


class _Kind(IntEnum):
    """What an event means for the calls of iterators."""

    NONE = 0
    CALL = 1
    PRODUCE = 2  # a turn of a stage's own thread, which makes one element
    CONSUME = 3  # a call takes an element
    FUNCTION = 4  # the caller waits for it
    ASYNC_FUNCTION = 5
    EXECUTION = 6  # what threads of a pool do for a function
    HAND_OVER = 7  # a function, or its next part, is put into the queue of a pool
    TAKE_UP = 8  # a thread of the pool begins with it


_POOL_KINDS = {names.POOL_RECORD: _Kind.HAND_OVER, names.POOL_START: _Kind.TAKE_UP}
_OF_FUNCTIONS = (_Kind.EXECUTION, *_POOL_KINDS.values())


@dataclass(frozen=True, slots=True)
class IteratorTimes:
    """Times [t] that belong to iterators: `id` is that of the iterator."""

    id: NDArray[np.uint64]
    start_ps: NDArray[np.int64]
    end_ps: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class IteratorEvents:
    """Calls of iterators [n] of one plane, by (line, start, longest first).

    `id` and `parent_id` are those of the iterator and of the one that it feeds, 0 for none. `name`
    is a row in the plane's types. `above` is the call that each was made for, -1 for none: the
    innermost around it, or that which took the element that it made on another thread. `is_fed`
    marks calls that took an element whose making was recorded, `is_cut` those that took one whose
    making was not, as it began before the recording did. `late_ps` is how long a call went on after
    it had taken its last element, 0 if it took none. Of calls that are `is_loose` nothing tells
    for which element they were made. `line` is a row of `line_name` [lines], ids of texts.

    `work` is when threads of iterators worked; where `work_sign` is -1, that time is to be taken
    off: what they did then was for others. `runs` is when functions of iterators ran on threads of
    a pool, and `queues` when they waited for one of those.

    `cuts` counts calls that were made for themselves, and now are for none.
    """

    plane: Plane
    id: NDArray[np.uint64]
    parent_id: NDArray[np.uint64]
    type: NDArray[np.int32]
    line: NDArray[np.int64]
    line_name: NDArray[np.int32]
    start_ps: NDArray[np.int64]
    duration_ps: NDArray[np.int64]
    source: NDArray[np.int64]
    above: NDArray[np.int64]
    is_fed: NDArray[np.bool_]
    is_cut: NDArray[np.bool_]
    late_ps: NDArray[np.int64]
    is_loose: NDArray[np.bool_]
    work: IteratorTimes
    work_sign: NDArray[np.int64]
    runs: IteratorTimes
    queues: IteratorTimes
    cuts: int


def find_iterator_events(plane: Plane, events: Events) -> IteratorEvents | None:
    """The calls among a host plane's events, None if there are none."""
    by_type = _classify(plane, events)
    if not (by_type == _Kind.CALL).any():
        return None
    kind = events.by_type(by_type)
    rows = np.flatnonzero(kind)
    events, kind = events.select(rows), kind[rows]
    parent = nest(events.first_event, events.start_ps, events.duration_ps)
    is_call = kind == _Kind.CALL
    calls = np.flatnonzero(is_call)
    id_, parent_id = _iterator_ids(events, calls)
    runs = _match_executions(events, kind)
    around = _around(parent, is_call | (kind == _Kind.PRODUCE))
    served = _find_served(kind, around, parent_id)
    owner = _find_owners(kind, around, runs, id_, served)
    is_beside = (runs >= 0) & (kind[runs] == _Kind.ASYNC_FUNCTION)
    consumer, takers, taken_ps = _match_elements(events, kind, parent, id_, served)
    up = np.where(runs >= 0, runs, parent)
    up = np.where(consumer >= 0, consumer, up)
    cuts = cut_circles(up)
    above = np.full(up.size, -2, np.int64)
    find_calls_above(up, is_call, above)
    number = np.full(up.size + 1, -1, np.int64)
    number[calls] = np.arange(calls.size)
    is_fed, is_cut = np.zeros((2, calls.size), np.bool_)
    is_fed[number[consumer[consumer >= 0]]] = True
    is_cut[number[takers]] = True
    is_cut &= ~is_fed
    end_ps = events.start_ps[calls] + events.duration_ps[calls]
    last_ps = end_ps.copy()
    last_ps[number[takers]] = 0
    np.maximum.at(last_ps, number[takers], taken_ps)
    is_loose = (above < 0) & (_around(parent, kind == _Kind.PRODUCE) < 0)
    return IteratorEvents(
        plane,
        id_[calls],
        parent_id[calls],
        events.type[calls],
        events.line[calls].astype(np.int64),
        events.lines.name,
        events.start_ps[calls],
        events.duration_ps[calls],
        events.source[calls],
        number[above[calls]],
        is_fed,
        is_cut,
        np.maximum(end_ps - last_ps, 0),
        is_loose[calls],
        *_find_work(events, kind, parent, id_, np.where(is_beside, owner, served)),
        _find_runs(events, kind, owner),
        _find_queues(events, kind, parent, owner),
        cuts,
    )


def cut_circles(up: NDArray[np.int64]) -> int:
    """Makes every chain of rows end, by changing `up` [n] in place; returns how many were cut."""
    return int(cut_loops(up, np.zeros(up.size, np.int64)))


def _classify(plane: Plane, events: Events) -> NDArray[np.int8]:
    """[types + 1] the kind of each type; executions count only where functions ran."""
    kinds = name_families(plane).classify(_kind_of, np.int8)
    kind = np.full(kinds.size, _Kind.NONE, np.int8)
    used = events.used_types(kinds.size - 1)
    kind[used] = kinds[used]
    if not is_in(kind, (_Kind.FUNCTION, _Kind.ASYNC_FUNCTION)).any():
        kind[is_in(kind, _OF_FUNCTIONS)] = _Kind.NONE
    return kind


def _kind_of(text: str) -> _Kind:
    if input_names.is_iterator(text):
        return _Kind.CALL
    if input_names.is_producer(text):
        return _Kind.PRODUCE
    if input_names.is_consumer(text):
        return _Kind.CONSUME
    if text in names.CAPTURED_FUNCTIONS:
        return _Kind.ASYNC_FUNCTION if text == _ASYNC_FUNCTION else _Kind.FUNCTION
    if text in EXECUTIONS:
        return _Kind.EXECUTION
    return _POOL_KINDS.get(text, _Kind.NONE)


def _iterator_ids(
    events: Events, calls: NDArray[np.int64]
) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """(id, parent id) [rows] of the rows that are calls, 0 of others.

    Where calls have no id their names stand in: two iterators of one name are one then.
    """
    id_, parent_id = (np.zeros(len(events), np.uint64) for _ in range(2))
    has_id = np.zeros(len(events), np.bool_)
    for rows, stats in stats_by_pieces(events, [_ID, _PARENT_ID], calls):
        if _ID in stats:
            id_[rows], has_id[rows] = _unsigned(events, stats[_ID])
        if _PARENT_ID in stats:
            parent_id[rows], _ = _unsigned(events, stats[_PARENT_ID])
    without_id = calls[~has_id[calls]]
    if without_id.size:
        kinds, inverse = np.unique(events.type[without_id], return_inverse=True)
        texts = events.plane.strings.take(events.plane.types.name[kinds].tolist())
        id_[without_id] = np.array([_id_of_name(text) for text in texts], np.uint64)[inverse]
        of_parent = [_id_of_name(input_names.op_above(text)) for text in texts]
        parent_id[without_id] = np.array(of_parent, np.uint64)[inverse]
    return id_, parent_id


def _unsigned(events: Events, column: StatColumn) -> tuple[NDArray[np.uint64], NDArray[np.bool_]]:
    """(the 64 bits of each id, whether there is one), from integers and decimal texts."""
    bits = column.integers().view(np.uint64)
    is_known = column.is_integer
    if not (column.is_present & ~is_known).any():
        return bits, is_known
    text_id, inverse = np.unique(column.texts(), return_inverse=True)
    values = [_decimal(text) for text in events.plane.strings.take(text_id.tolist())]
    spelt = np.array([value is not None for value in values])[inverse]
    bits[spelt] = np.array([value or 0 for value in values], np.uint64)[inverse][spelt]
    return bits, is_known | spelt


def _decimal(text: str) -> int | None:
    digits = text.removeprefix("-")
    if not digits.isascii() or not digits.isdigit() or len(digits) > 20:
        return None
    return int(text) & (2**64 - 1)


def _id_of_name(name: str) -> int:
    """A number for the name of an iterator, 0 if it is none: "Iterator"."""
    if not name.startswith(input_names.ITERATOR):
        return 0
    text = input_names.without_index(name).encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(text, digest_size=8).digest(), "little")


def _match_executions(events: Events, kind: NDArray[np.int8]) -> NDArray[np.int64]:
    """[rows] for executions the row of the function that they work for, else -1."""
    runs = np.full(len(events), -1, np.int64)
    functions = np.flatnonzero((kind == _Kind.FUNCTION) | (kind == _Kind.ASYNC_FUNCTION))
    executions = np.flatnonzero(kind == _Kind.EXECUTION)
    has_execution, ids = _integers(events, names.EXECUTION_ID, functions)
    functions = functions[has_execution]
    if not functions.size or not executions.size:
        return runs
    unique, first = np.unique(ids, return_index=True)
    is_known, execution = execution_ids(events, executions)
    position = np.minimum(np.searchsorted(unique, execution), unique.size - 1)
    is_match = is_known & (unique[position] == execution)
    runs[executions[is_match]] = functions[first[position[is_match]]]
    return runs


def _integers(
    events: Events, stat: str, rows: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(which of `rows` have an integer, the integers)."""
    has, values = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    first = 0
    for piece, stats in stats_by_pieces(events, [stat], rows):
        is_known = stats[stat].is_integer
        has.append(first + np.flatnonzero(is_known))
        values.append(stats[stat].bits[is_known])
        first += piece.size
    return np.concatenate(has), np.concatenate(values)


def _around(parent: NDArray[np.int32], wanted: NDArray[np.bool_]) -> NDArray[np.int64]:
    """[rows] the innermost `wanted` row around each, -1 for none."""
    rows = np.arange(parent.size)
    nearest = np.append(inherit(parent, np.where(wanted, rows, -1)), -1)
    return nearest[parent]


def _find_served(
    kind: NDArray[np.int8],
    around: NDArray[np.int64],
    parent_id: NDArray[np.uint64],
) -> NDArray[np.uint64]:
    """[rows] the iterator that turns of a stage's own thread work for, 0 if unknown.

    It is the one that the first iterator called in a turn feeds. `around` [rows] is the innermost
    call or turn around each row, -1 for none.
    """
    served = np.zeros(kind.size, np.uint64)
    is_turn = kind == _Kind.PRODUCE
    called = np.flatnonzero((kind == _Kind.CALL) & (around >= 0))[::-1]
    called = called[is_turn[around[called]] & (parent_id[called] != 0)]
    served[around[called]] = parent_id[called]  # the first one is written last
    return served


def _find_owners(
    kind: NDArray[np.int8],
    around: NDArray[np.int64],
    runs: NDArray[np.int64],
    id_: NDArray[np.uint64],
    served: NDArray[np.uint64],
) -> NDArray[np.uint64]:
    """[rows] the iterator whose function a row is, or is an execution of, 0 for other rows.

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
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """([rows] for turns of a stage's own thread the call that took what was made, else -1; takers).

    Takers are the calls that took any element, with the time [takers] when they had. Stages number
    their elements, some of them again: of several calls of a stage that took an element of one
    number it is the first that did after the making began.
    """
    out = np.full(kind.size, -1, np.int64)
    around = _around(parent, kind == _Kind.CALL)
    producers = np.flatnonzero((kind == _Kind.PRODUCE) & (served != 0))
    consumers = np.flatnonzero((kind == _Kind.CONSUME) & (around >= 0))
    has_id, element_made = _integers(events, _ELEMENT_ID, producers)
    producers = producers[has_id]
    has_id, element_taken = _integers(events, _ELEMENT_ID, consumers)
    is_element = element_taken >= 0  # there is none at the end of the data
    consumers, element_taken = consumers[has_id[is_element]], element_taken[is_element]
    stages = np.concatenate((served[producers], id_[around[consumers]])).view(np.int64)
    element, _ = group_rows([stages, np.concatenate((element_made, element_taken))])
    ends = events.start_ps[consumers] + events.duration_ps[consumers]
    order = np.lexsort((np.concatenate((events.start_ps[producers], ends)), element))
    # The next place of a taking at or after each place.
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
    """When threads worked for iterators besides their calls, and the sign of each such time.

    `served` [rows] is the iterator that turns and executions work for, 0 for none.
    """
    is_work = is_in(kind, (_Kind.PRODUCE, _Kind.EXECUTION)) & (served != 0)
    is_call = kind == _Kind.CALL
    around = _around(parent, is_work | is_call)
    above = np.where(around >= 0, around, 0)
    inside = (around >= 0) & is_work[above]
    work = np.flatnonzero(is_work)
    # A stage that does its work in its own call does not do it beside.
    work_rows = np.flatnonzero(is_work & (around >= 0) & is_call[above] & (id_[above] == served))
    other = np.flatnonzero((is_work | is_call) & inside)
    rows = np.concatenate((work, work_rows, other))
    sign = np.repeat(np.array([1, -1], np.int64), (work.size, work_rows.size + other.size))
    iterator = np.concatenate((served[work], served[work_rows], served[above[other]]))
    start = events.start_ps[rows]
    return IteratorTimes(iterator, start, start + events.duration_ps[rows]), sign


def _find_runs(events: Events, kind: NDArray[np.int8], owner: NDArray[np.uint64]) -> IteratorTimes:
    """When threads of a pool ran functions of iterators."""
    rows = np.flatnonzero((kind == _Kind.EXECUTION) & (owner != 0))
    start = events.start_ps[rows]
    return IteratorTimes(owner[rows], start, start + events.duration_ps[rows])


def _find_queues(
    events: Events, kind: NDArray[np.int8], parent: NDArray[np.int32], owner: NDArray[np.uint64]
) -> IteratorTimes:
    """When functions of iterators waited in a pool's queue.

    What is handed over within a function, or an execution of it, is part of it.
    """
    handed = np.flatnonzero((kind == _Kind.HAND_OVER) & (parent >= 0))
    handed = handed[owner[parent[handed]] != 0]
    takers = np.flatnonzero(kind == _Kind.TAKE_UP) if handed.size else handed
    has_id, id_taken = _integers(events, names.CONSUMER_ID, takers)
    takers = takers[has_id]
    has_id, id_handed = _integers(events, names.PRODUCER_ID, handed)
    handed = handed[has_id]
    unique, first = np.unique(id_taken, return_index=True)
    if not unique.size:
        handed, id_handed = handed[:0], id_handed[:0]
    position = np.minimum(np.searchsorted(unique, id_handed), max(unique.size - 1, 0))
    is_match = unique[position] == id_handed
    handed, takers = handed[is_match], takers[first[position[is_match]]]
    start, end = events.start_ps[handed], events.start_ps[takers]
    is_after = end > start
    return IteratorTimes(owner[parent[handed[is_after]]], start[is_after], end[is_after])
