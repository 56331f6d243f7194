"""The events that begin groups, and what groups are called."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.host.driving_thread import is_ahead
from tbprof.analysis.spans.groups import group_rows
from tbprof.analysis.spans.nesting import inherit
from tbprof.base import names
from tbprof.base.records import dataclass
from tbprof.base.values import unique
from tbprof.events.space import Events
from tbprof.kernels.nesting import mark_ancestors

# Executions of functions that each hold a loop: so many are steps, and their loops lie inside.
MANY_EXECUTIONS = 3


@dataclass(frozen=True, slots=True)
class Roots:
    """The groups, one row each: what began it, and what it is called.

    `name` is the name of the root event, `number` the number of the step (of the group where the
    trace has none), `label` what viewers call it ("train 3"). `is_marker`: the program marked it as
    a step, or the user has chosen it; others are executions of functions or programs. `plane` (row
    of `Grouping.hosts`) and `row` say where the root event is, -1 where it is unknown; times in ps
    are then -1 and 0.
    """

    name: list[str]
    number: NDArray[np.int64]
    label: list[str]
    is_marker: NDArray[np.bool_]
    plane: NDArray[np.int64]
    row: NDArray[np.int64]
    start_ps: NDArray[np.int64]
    duration_ps: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.name)


def event_names(events: Events, rows: NDArray[np.int64]) -> list[str]:
    """The full names of the events at `rows`."""
    name = events.plane.types.name
    types = events.type[rows]
    return events.plane.strings.take(
        np.where(types >= 0, name[types], -1).tolist() if name.size else [-1] * rows.size
    )


def named_roots(
    events: Sequence[Events], root_name: str, thread: tuple[int, int] | None = None
) -> tuple[int, NDArray[np.int64]]:
    """(plane, rows): the outermost events of a name on a thread (plane, line).

    Without one it is the thread that has most of them, of those that do not work ahead of the
    program if any has one: tf.data runs functions, too.
    """
    best = (0, np.zeros(0, np.int64))
    most = (False, 0)
    for plane, found in enumerate(events):
        texts = found.plane.strings.take(found.plane.types.name.tolist())
        is_wanted = np.array([text == root_name for text in texts] + [False])
        rows = found.rows_of(is_wanted)
        cuts = np.searchsorted(rows, found.first_event)
        counts = np.diff(cuts)
        if thread is not None:
            counts = np.where(
                (np.arange(counts.size) == thread[1]) & (plane == thread[0]), counts, 0
            )
        if not counts.any():
            continue
        is_own = (counts > 0) & ~is_ahead(found)
        line = int((counts * is_own if is_own.any() else counts).argmax())
        if (is_own[line], counts[line]) > most:
            most = (bool(is_own[line]), int(counts[line]))
            best = (plane, rows[cuts[line] : cuts[line + 1]])
    plane, rows = best
    if not rows.size:
        return best
    found = events[plane]
    end = found.start_ps[rows] + found.duration_ps[rows]
    reached = np.maximum.accumulate(end)
    is_inner = np.append(False, end[1:] <= reached[:-1])
    # Instants at the end of one are outside of it where they mark steps on their own.
    is_inner &= found.start_ps[rows] < np.append(0, reached[:-1])
    return plane, rows[~is_inner]


def loop_iterations(
    row: NDArray[np.int64],
    execution: NDArray[np.int64],
    iteration: NDArray[np.int64],
    start_ps: NDArray[np.int64],
) -> tuple[NDArray[np.int64], int]:
    """(the first row of the iteration of each event [m], how many executions hold loops).

    Events are those of executors outside of tf.data. An execution of iteration 0 alone is no loop,
    and its events have -1.
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
    earliest[code[order]] = row[rows][order]  # of several the last write, the earliest, stays
    out[rows] = earliest[code]
    return out, int(unique(run[rows]).size)


def label_roots(
    events: Events,
    parent: NDArray[np.int64],
    rows: NDArray[np.int64],
    default: NDArray[np.int64],
    *,
    is_chosen: bool,
) -> tuple[list[str], NDArray[np.int64], list[str], NDArray[np.bool_]]:
    """(name, number, label, is_marker) of the roots at `rows`.

    The number is the nearest iteration, else the nearest step number, of the event or of those
    around it, else its `default`; a graph type there stands for the event's name. Executions are
    called by the number alone, unless the user has chosen them.
    """
    above = _with_ancestors(parent, rows)
    wanted = [names.ITERATION, names.STEP_NUMBER, names.GRAPH_TYPE]
    stats = events.stats([name for name in wanted if name in events.plane.stat_names], above)
    local = np.searchsorted(above, parent[above])
    local = np.where(parent[above] >= 0, local, -1)
    at = np.searchsorted(above, rows)
    number = default.copy()
    for name in (names.STEP_NUMBER, names.ITERATION):
        if name in stats:
            holder = np.where(stats[name].is_integer, np.arange(above.size), -1)
            nearest = inherit(local, holder)[at]
            number = np.where(nearest >= 0, stats[name].bits[nearest], number)
    strings = events.plane.strings
    name_of = event_names(events, rows)
    graph = [-1] * rows.size
    if names.GRAPH_TYPE in stats:
        ids = stats[names.GRAPH_TYPE].texts().astype(np.int64)
        graph = inherit(local, ids)[at].tolist()
    executions = () if is_chosen else (*names.IMPLICIT_ROOTS, names.EXECUTOR)
    is_marker = [name not in executions for name in name_of]
    label = [
        f"{strings[kind] if kind >= 0 else name} {number}" if marks else str(number)
        for name, kind, number, marks in zip(
            name_of, graph, number.tolist(), is_marker, strict=True
        )
    ]
    return name_of, number, label, np.array(is_marker, bool)


def _with_ancestors(parent: NDArray[np.int64], rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """The rows and all that enclose them, ascending."""
    is_marked = np.zeros(parent.size, bool)
    mark_ancestors(parent, rows, is_marked)
    return np.flatnonzero(is_marked)
