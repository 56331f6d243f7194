"""The events of a host's threads: decoded once, with their parents and their groups."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.spans.groups import group_rows
from tbprof.analysis.spans.nesting import nest
from tbprof.analysis.vocabulary.lines import recorded_lines
from tbprof.analysis.vocabulary.name_families import name_families
from tbprof.base import names
from tbprof.base.caches import computed_once
from tbprof.base.records import dataclass
from tbprof.events.marks import MarkNames
from tbprof.events.space import Events, Plane
from tbprof.events.stats import StatColumn
from tbprof.kernels.analysis.row_groups import match_groups

# Events of pool threads that execute a function asynchronously.
EXECUTIONS = (names.EXECUTOR, "ExecutorDoneCallback")
# Events that run a function that a pipeline has captured, or wait until one has run.
CAPTURED_FUNCTION = "InstantiatedCapturedFunction::Run"
# In grouped files: the group of an event, and the stats of the few events that are roots.
GROUP_STATS = (names.GROUP_ID, names.STEP_NAME, names.ROOT)
_FLAGS = (names.IS_EAGER, names.ASYNC)
# Stats that few events have are read in pieces, since dense columns of all rows would be large.
_PIECE = 1 << 18


@dataclass(frozen=True, slots=True)
class HostThreads:
    """All events of the recorded lines of one host plane.

    `parent` [n] is the innermost event that encloses each event on its thread, -1 for none; `group`
    [n] its row in the table of groups, -1 for none. `apart` are driver calls on separate lines.
    """

    plane: Plane
    events: Events
    parent: NDArray[np.int32]
    group: NDArray[np.int32]
    apart: CallsApart


@dataclass(frozen=True, slots=True)
class CallsApart:
    """Driver calls that were recorded on other lines than those of the threads that made them.

    `row` [m] are their rows, `around` [m] the innermost event of the calling thread around each, -1
    for none. `thread` [lines] is the line of the thread that made a line's calls; for other lines,
    the line itself.
    """

    row: NDArray[np.int64]
    around: NDArray[np.int64]
    thread: NDArray[np.int64]

    @classmethod
    def none(cls, events: Events) -> CallsApart:
        """The value if all calls are on the lines of their threads."""
        nothing = np.zeros(0, np.int64)
        return cls(nothing, nothing, np.arange(events.first_event.size - 1))


@dataclass(frozen=True, slots=True)
class ExecutionStats:
    """The host events that run functions, or that are functions which pipelines have captured.

    `row` [m] ascends; `id` and `iteration` [m] are stats of them.
    """

    row: NDArray[np.int64]
    id: StatColumn
    iteration: StatColumn


def host_events(plane: Plane, *, is_kept: bool = True) -> Events:
    """The events of the plane's recorded lines, decoded once and shared.

    Without `is_kept`, they are not kept in memory for later callers.
    """
    return plane.cache.get_or_compute(
        "host events",
        lambda: plane.events(recorded_lines(plane), _marks(plane)),
        is_weak=not is_kept,
    )


def _marks(plane: Plane) -> MarkNames:
    """The expected stats of events, except those that types state: one pass reads all of them."""
    expected = plane.expected_stats
    requested = (
        *(GROUP_STATS if names.GROUP_ID in expected else ()),
        *expected.intersection(_FLAGS),
    )
    stat_names = [name for name in requested if name in plane.stat_names]
    shared = plane.types.stats(stat_names)
    own_names = {name for name in stat_names if not shared[name].is_present.any()}
    is_own = names.GROUP_ID in own_names and own_names.issuperset(
        set(GROUP_STATS).intersection(stat_names)
    )
    number, *rare = GROUP_STATS if is_own else ("",)
    return MarkNames(number, tuple(own_names.intersection(_FLAGS)), tuple(rare))


@computed_once
def host_threads(plane: Plane) -> tuple[Events, NDArray[np.int32]]:
    """(the events of the recorded lines, the parent [n] of each, -1 for none), found once.

    Asynchronous events (`_a`) neither enclose others nor are enclosed.
    """
    events = host_events(plane)
    rows = async_rows(events)
    if not rows.size:
        parent = nest(events.first_event, events.start_ps, events.duration_ps)
        return events, parent
    others = np.delete(np.arange(len(events)), rows)
    some = events.select(others)
    above = nest(some.first_event, some.start_ps, some.duration_ps)
    parent = np.full(len(events), -1, np.int32)
    parent[others] = np.where(above >= 0, others[above], -1)
    return events, parent


def async_rows(events: Events) -> NDArray[np.int64]:
    """The rows of asynchronous events, which overlap with other events of their thread."""
    if names.ASYNC not in events.plane.stat_names:
        return np.zeros(0, np.int64)
    return np.flatnonzero(has_flag(events, names.ASYNC))


def has_flag(events: Events, name: str) -> NDArray[np.bool_]:
    """[n] whether host events have an integer stat that is not 0."""
    marks = events.marks
    is_set, rows = np.zeros(len(events), np.bool_), None
    if marks is not None and name in marks.names.flags:
        is_set, rows = marks.is_set(name), marks.odd_rows()
    for piece, stats in stats_by_pieces(events, [name], rows):
        is_set[piece] = stats[name].integers() != 0
    return is_set


def stats_by_pieces(
    events: Events,
    wanted: Sequence[str],
    rows: NDArray[np.int64] | None = None,
    texts: Collection[str] = (),
    most: int = _PIECE,
) -> Iterator[tuple[NDArray[np.int64], dict[str, StatColumn]]]:
    """(rows, columns) for pieces of `rows` (all by default), with the wanted stats of the plane.

    Pieces have at most `most` rows; there are no pieces if the plane has none of the stats. `texts`
    are as in `Events.stats`.
    """
    stat_names = [name for name in wanted if name in events.plane.stat_names]
    size = len(events) if rows is None else rows.size
    for begin in range(0, size if stat_names else 0, most):
        end = min(begin + most, size)
        piece = np.arange(begin, end) if rows is None else rows[begin:end]
        yield piece, events.stats(stat_names, piece, texts)


def executed_functions(
    events: Events, functions: NDArray[np.int64], executions: NDArray[np.int64]
) -> NDArray[np.int64]:
    """[executions] the function that each executes, -1 for none; both are rows of `events`.

    They have the same id. Executions are `EXECUTIONS`, names of functions begin with
    `CAPTURED_FUNCTION`.
    """
    out = np.full(executions.size, -1, np.int64)
    if functions.size and executions.size:
        known, code, groups = _number_executions(events.plane)
        first = np.full(groups, -1, np.int64)
        match_groups(known, code, events.source, functions, executions, first, out)
    return out


def function_runs(
    events: Events, is_function: NDArray[np.bool_], is_execution: NDArray[np.bool_]
) -> NDArray[np.int64]:
    """[n] the function that each execution executes, -1 for none and for other rows."""
    runs = np.full(len(events), -1, np.int64)
    executions = np.flatnonzero(is_execution)
    runs[executions] = executed_functions(events, np.flatnonzero(is_function), executions)
    return runs


@computed_once
def _number_executions(plane: Plane) -> tuple[NDArray[np.int64], NDArray[np.int32], int]:
    """(source of functions and executions, ascending; the number of its `id` or -1; numbers)."""
    executions = execution_stats(plane)
    source = host_events(plane, is_kept=False).source[executions.row]
    order = np.argsort(source, kind="stable")
    code, first = group_rows([executions.id.bits[order]])
    code[~executions.id.is_integer[order]] = -1
    return source[order], code, first.size


@computed_once
def execution_stats(plane: Plane) -> ExecutionStats:
    """The stats of functions and executions, read once: they are few, and all over the file."""
    events = host_events(plane, is_kept=False)
    rows = events.rows_of(name_families(plane).classify(_has_execution_id, np.bool_))
    stats = events.stats([names.EXECUTION_ID, names.ITERATION], rows)
    return ExecutionStats(rows, stats[names.EXECUTION_ID], stats[names.ITERATION])


@computed_once
def eager_calls(plane: Plane) -> tuple[NDArray[np.bool_], NDArray[np.int32]]:
    """(whether it ran a single op rather than a function, the text of the op) of eager calls.

    One row per `EagerExecute` event, in the order of the host's events; -1 if no op is stated. Read
    once.
    """
    events = host_events(plane, is_kept=False)
    rows = events.rows_of(name_families(plane).classify(names.EAGER_EXECUTE.__eq__, np.bool_))
    stats = events.stats([names.IS_FUNCTION, names.EAGER_OP], rows)
    is_function = stats[names.IS_FUNCTION]
    return is_function.is_integer & (is_function.bits == 0), stats[names.EAGER_OP].texts()


def _has_execution_id(text: str) -> bool:
    return text in EXECUTIONS or text.startswith(CAPTURED_FUNCTION)


def kinds(events: Events, kind_of: Mapping[str, int]) -> NDArray[np.int8]:
    """[n] the kind of each event by its full name, 0 for other names.

    Each name in `kind_of` must be the only one of its family, as names of frameworks are.
    """
    return events.by_type(name_families(events.plane).look_up(kind_of))
