"""The iterator calls of a host, with inferred callers for calls that were recorded without one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.input.iterator_calls import first_at_or_after
from tbprof.analysis.input.iterator_events import IteratorEvents, IteratorTimes
from tbprof.analysis.input.iterators import Iterators
from tbprof.base.records import dataclass
from tbprof.base.values import join_tables

# Search this many stages above a call for one that waited for it.
_MOST_STAGES = 256
_JOINED = ("start_ps", "duration_ps", "is_fed", "is_cut", "late_ps", "is_loose", "work_sign")


@dataclass(slots=True)
class JoinedCalls:
    """The calls [n] of all planes of a host. `above` is updated in place by `adopt_calls`.

    `line` is a row of `threads`; other columns are as in `IteratorEvents`.
    """

    line: NDArray[np.int64]
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
    threads: list[str]
    cuts: int


def join_calls(planes: Sequence[IteratorEvents]) -> JoinedCalls:
    """Return the calls of all planes, one plane after the other."""
    above, lines, threads = [], [], list[str]()
    calls = 0
    for events in planes:
        above.append(np.where(events.above >= 0, events.above + calls, -1))
        lines.append(events.line + len(threads))
        threads += events.plane.strings.take(events.line_name.tolist())
        calls += events.id.size
    columns = {
        name: np.concatenate([getattr(events, name) for events in planes]) for name in _JOINED
    }
    return JoinedCalls(
        line=np.concatenate(lines),
        above=np.concatenate(above),
        threads=threads,
        cuts=sum(events.cuts for events in planes),
        work=join_tables([events.work for events in planes]),
        runs=join_tables([events.runs for events in planes]),
        queues=join_tables([events.queues for events in planes]),
        **columns,
    )


def adopt_calls(calls: JoinedCalls, iterators: Iterators) -> None:
    """Assign calls without a recorded producer to the calls that waited for them, in place.

    If a recording begins while a stage's thread produces an element, the producer event and the
    enclosing calls are missing; older versions record no producer events. Calls on this thread are
    assigned to the nearest waiting stage above that waited on another thread until they ended,
    unless it is known to have consumed another element.
    """
    rows = np.flatnonzero(calls.is_loose & ~iterators.is_root[iterators.of_call])
    iterator = iterators.of_call.astype(np.int64)
    ends = calls.start_ps + calls.duration_ps
    order = np.lexsort((ends, iterator))
    first = np.searchsorted(iterator[order], np.arange(iterators.id.size + 1)).astype(np.int64)
    by_end = ends[order]
    waiting_above = iterators.waiting_above()
    upper = waiting_above[iterator[rows]]
    for _ in range(_MOST_STAGES):
        goes_on = (upper >= 0) & (upper != iterator[rows])
        rows, upper = rows[goes_on], upper[goes_on]
        if not rows.size:
            return
        index = first_at_or_after(by_end, first[upper], first[upper + 1], ends[rows])
        waiter = order[np.minimum(index, order.size - 1)]
        is_over = index < first[upper + 1]
        is_over &= calls.start_ps[waiter] < ends[rows]
        is_over &= calls.line[waiter] != calls.line[rows]
        adopted = is_over & ~calls.is_fed[waiter]
        calls.above[rows[adopted]] = waiter[adopted]
        rows, upper = rows[~is_over], waiting_above[upper[~is_over]]
