"""Chooses the root events of groups, and labels groups."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.grouping.causality import CausalStats, keyed_rows
from tbprof.analysis.grouping.event_graph import Graph, Loops
from tbprof.analysis.grouping.roots import names_at
from tbprof.analysis.host.driving_thread import is_ahead
from tbprof.analysis.spans.groups import group_rows
from tbprof.analysis.spans.nesting import inherit
from tbprof.base import names
from tbprof.base.values import is_in, join_columns, joined, unique
from tbprof.events.space import Events
from tbprof.kernels.analysis.event_nesting import mark_ancestors

# At least this many executions of functions that contain a loop are steps themselves.
_MANY_EXECUTIONS = 3
_NOTHING = np.zeros(0, np.int64)


def choose_roots(
    graph: Graph, stats: Sequence[CausalStats], root_name: str, thread: tuple[int, int] | None
) -> tuple[NDArray[np.int64], Loops]:
    """(roots in order of precedence, loops whose iterations they begin)."""
    if root_name:
        plane, rows = _named_roots([events for events, _ in graph.threads], root_name, thread)
        return rows + graph.offsets[plane], Loops(_NOTHING, _NOTHING)
    rows = joined(part.marked for part in stats)
    level = joined(part.level for part in stats)
    if not rows.size:
        rows = joined(part.executed for part in stats)
        level = np.ones(rows.size, np.int64)
    captured = joined(part.captured for part in stats)
    keeps = ~_is_execution_of(graph, rows, captured)
    rows, level = rows[keeps], level[keeps]
    start = graph.start_ps(rows)
    order = np.lexsort((rows, start, -level))
    rows = rows[order]
    if not _has_marker(graph, rows):
        loops, executions = _find_loops(graph, stats, captured)
        if executions and (executions < _MANY_EXECUTIONS or not rows.size):
            firsts = unique(loops.first)
            return firsts[np.argsort(graph.start_ps(firsts), kind="stable")], loops
    return rows, Loops(_NOTHING, _NOTHING)


def _is_execution_of(
    graph: Graph, rows: NDArray[np.int64], executions: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """[m] whether the event is one of these executions, or a part of one, by its id."""
    out = np.zeros(rows.size, bool)
    if not executions.size:
        return out
    for (events, _), begin in graph.planes():
        own_rows = np.flatnonzero((rows >= begin) & (rows < begin + len(events)))
        has_id, (execution,) = keyed_rows(events, rows[own_rows] - begin, (names.EXECUTION_ID,))
        matching = has_id[is_in(execution, executions)] + begin
        out[own_rows] = is_in(rows[own_rows], matching)
    return out


def _has_marker(graph: Graph, rows: NDArray[np.int64]) -> bool:
    """Whether a root is an event of the program itself rather than an execution."""
    for (events, _), begin in graph.planes():
        own_rows = rows[(rows >= begin) & (rows < begin + len(events))] - begin
        first_of_type = np.unique(events.type[own_rows], return_index=True)[1]
        if not set(names_at(events, own_rows[first_of_type])) <= names.IMPLICIT_ROOTS:
            return True
    return False


def _find_loops(
    graph: Graph, stats: Sequence[CausalStats], captured: NDArray[np.int64]
) -> tuple[Loops, int]:
    """(the events of loop iterations, the number of executions that contain loops)."""
    rows, execution, iteration = join_columns(
        [(part.executor.row, *part.executor.keys[:2]) for part in stats], 3
    )
    if not iteration.any():
        return Loops(_NOTHING, _NOTHING), 0
    keeps = ~is_in(execution, captured)
    rows = rows[keeps]
    first, executions = _loop_iterations(
        rows, execution[keeps], iteration[keeps], graph.start_ps(rows)
    )
    return Loops(rows[first >= 0], first[first >= 0]), executions


def _named_roots(
    events: Sequence[Events], root_name: str, thread: tuple[int, int] | None = None
) -> tuple[int, NDArray[np.int64]]:
    """(plane, rows): the outermost events of a name on a thread (plane, line).

    Without `thread`, it is the thread with most of them. Threads that work ahead of the program,
    such as those of tf.data, count only if no other thread has any.
    """
    best = (0, np.zeros(0, np.int64))
    most = (False, 0)
    for plane, own_events in enumerate(events):
        texts = own_events.plane.types.full_names
        is_wanted = np.array([text == root_name for text in texts] + [False])
        rows = own_events.rows_of(is_wanted)
        cuts = np.searchsorted(rows, own_events.first_event)
        counts = np.diff(cuts)
        if thread is not None:
            counts = np.where(
                (np.arange(counts.size) == thread[1]) & (plane == thread[0]), counts, 0
            )
        if not counts.any():
            continue
        is_own = (counts > 0) & ~is_ahead(own_events)
        line = int((counts * is_own if is_own.any() else counts).argmax())
        if (is_own[line], counts[line]) > most:
            most = (bool(is_own[line]), int(counts[line]))
            best = (plane, rows[cuts[line] : cuts[line + 1]])
    plane, rows = best
    if not rows.size:
        return best
    own_events = events[plane]
    end = own_events.start_ps[rows] + own_events.duration_ps[rows]
    reached = np.maximum.accumulate(end)
    is_inner = np.append(False, end[1:] <= reached[:-1])
    # An instant event at the end of another one is outside of it.
    is_inner &= own_events.start_ps[rows] < np.append(0, reached[:-1])
    return plane, rows[~is_inner]


def _loop_iterations(
    row: NDArray[np.int64],
    execution: NDArray[np.int64],
    iteration: NDArray[np.int64],
    start_ps: NDArray[np.int64],
) -> tuple[NDArray[np.int64], int]:
    """(the first row of each event's iteration [m], the number of executions that contain loops).

    The events are those of executors outside of tf.data. An execution that has only iteration 0 is
    not a loop, and its events get -1.
    """
    out = np.full(row.size, -1, np.int64)
    if not iteration.any():
        return out, 0
    run, first = group_rows([execution])
    is_loop = np.bincount(run, weights=iteration != 0, minlength=first.size)[run] > 0
    rows = np.flatnonzero(is_loop)
    code, begins = group_rows([execution[rows], iteration[rows]])
    order = np.lexsort((row[rows], start_ps[rows]))[::-1]
    earliest = np.empty(begins.size, np.int64)
    earliest[code[order]] = row[rows][order]  # the last write wins: the earliest event
    out[rows] = earliest[code]
    return out, int(unique(run[rows]).size)


def label_roots(
    events: Events,
    parent: NDArray[np.int32],
    rows: NDArray[np.int64],
    default: NDArray[np.int64],
    *,
    is_chosen: bool,
) -> tuple[list[str], NDArray[np.int64], list[str], NDArray[np.bool_]]:
    """(name, number, label, is_marker) of the roots at `rows`.

    The number is the nearest iteration, else the nearest step number, of the event or of those that
    enclose it, else its `default`. A graph type of these replaces the event's name in the label.
    The label of an execution is only its number, unless the user chose it.
    """
    above = _with_ancestors(parent, rows)
    stat_names = [names.ITERATION, names.STEP_NUMBER, names.GRAPH_TYPE]
    stats = events.stats([name for name in stat_names if name in events.plane.stat_names], above)
    position = np.searchsorted(above, parent[above])
    local = np.where(parent[above] >= 0, position, -1).astype(np.int32)
    index = np.searchsorted(above, rows)
    number = default.copy()
    for name in (names.STEP_NUMBER, names.ITERATION):
        if name in stats:
            holder = np.where(stats[name].is_integer, np.arange(above.size), -1)
            nearest = inherit(local, holder)[index]
            number = np.where(nearest >= 0, stats[name].bits[nearest], number)
    strings = events.plane.strings
    name_of = names_at(events, rows)
    graph = [-1] * rows.size
    if names.GRAPH_TYPE in stats:
        ids = stats[names.GRAPH_TYPE].texts().astype(np.int64)
        graph = inherit(local, ids)[index].tolist()
    executions = () if is_chosen else (*names.IMPLICIT_ROOTS, names.EXECUTOR)
    is_marker = [name not in executions for name in name_of]
    label = [
        f"{strings[kind] if kind >= 0 else name} {number}" if marks else str(number)
        for name, kind, number, marks in zip(
            name_of, graph, number.tolist(), is_marker, strict=True
        )
    ]
    return name_of, number, label, np.array(is_marker, bool)


def _with_ancestors(parent: NDArray[np.int32], rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """The rows and all events that enclose them, ascending."""
    is_marked = np.zeros(parent.size, bool)
    mark_ancestors(parent, rows, is_marked)
    return np.flatnonzero(is_marked)
