"""The iterator calls of a host, with inferred callers for calls that were recorded without one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tbprof.analysis.input.iterator_calls import first_at_or_after
from tbprof.analysis.input.iterator_events import IteratorCalls, IteratorEvents
from tbprof.analysis.input.iterators import Iterators
from tbprof.base.records import replace
from tbprof.base.values import join_tables

# Search this many stages above a call for one that waited for it.
_MOST_STAGES = 256


def join_calls(planes: Sequence[IteratorEvents]) -> IteratorCalls:
    """Return the calls of all planes, one plane after the other."""
    parts: list[IteratorCalls] = []
    calls = lines = 0
    for own in (events.calls for events in planes):
        above = np.where(own.above >= 0, own.above + calls, -1)
        parts.append(replace(own, above=above, line=own.line + lines))
        calls += own.line.size
        lines += len(own.threads)
    return join_tables(parts)


def adopt_calls(calls: IteratorCalls, iterators: Iterators) -> None:
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
