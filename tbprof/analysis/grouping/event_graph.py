"""All events that groups can reach, as one column of rows, and how groups grow over them."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.grouping.causality import KIND_OF, Facts, Kind, keyed_rows, read_facts
from tbprof.analysis.grouping.context_links import CROWD, Ends, Links, join, link, merge
from tbprof.analysis.grouping.group_roots import (
    MANY_EXECUTIONS,
    event_names,
    loop_iterations,
    named_roots,
)
from tbprof.analysis.grouping.thread_pools import Pools, find_windows, join_pools, read_pools
from tbprof.analysis.grouping.tpu_groups import Core, read_cores
from tbprof.analysis.host.host_events import async_rows, kinds
from tbprof.base import names
from tbprof.base.records import dataclass
from tbprof.base.values import is_in, unique
from tbprof.events.space import Events, Plane, Space
from tbprof.kernels.codes import APART, CAUSES, HANDS_OVER
from tbprof.kernels.nesting import find_last_rows
from tbprof.kernels.spreading import Cause, Pool, spread_groups

Threads = Sequence[tuple[Events, NDArray[np.int64]]]

_NOTHING = np.zeros(0, np.int64)


@dataclass(frozen=True, slots=True)
class Graph:
    """The events of the hosts, one plane after the other, then those of TPU cores.

    Plane i has the rows `offsets[i]:offsets[i + 1]`, the cores follow. `kind` [i] are the kinds of
    the events of plane i.
    """

    threads: Threads
    kind: list[NDArray[np.int8]]
    offsets: NDArray[np.int64]
    cores: list[Core]
    rows: int

    def at(
        self, rows: NDArray[np.int64], column: Callable[[Events], NDArray[np.int64]]
    ) -> NDArray[np.int64]:
        """[m] the values of a column of the host events at `rows`."""
        out = np.zeros(rows.size, np.int64)
        plane = np.searchsorted(self.offsets, rows, side="right") - 1
        for at, (events, _) in enumerate(self.threads):
            mine = plane == at
            out[mine] = column(events)[rows[mine] - self.offsets[at]]
        return out

    def lines(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """[m] numbers of the threads of the host events at `rows`, other numbers on each plane."""
        first = [events.first_event[1:] + begin for (events, _), begin in self.planes()]
        ends_of_lines = np.concatenate([_NOTHING, *first])
        return np.searchsorted(ends_of_lines, rows, side="right")

    def planes(self) -> list[tuple[tuple[Events, NDArray[np.int64]], int]]:
        """((events, parent), first row) of each plane."""
        return list(zip(self.threads, self.offsets.tolist(), strict=False))


@dataclass(frozen=True, slots=True)
class Loops:
    """The events [m] of iterations of loops, and the earliest event of the iteration of each."""

    row: NDArray[np.int64]
    first: NDArray[np.int64]


def read_graph(space: Space, threads: Threads) -> Graph:
    """The graph of a space with these host planes."""
    sizes = [len(events) for events, _ in threads]
    offsets = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
    kind = [kinds(events, KIND_OF) for events, _ in threads]
    # Cores do not say which process they served: that of the host itself.
    process = _process(threads[0][0].plane) if threads else -1
    cores = read_cores(space, int(offsets[-1]), process)
    total = int(offsets[-1]) + sum(core.start_ps.size for core in cores)
    return Graph(threads, kind, offsets, cores, total)


def read_all_facts(graph: Graph) -> list[Facts]:
    """The facts of each host plane."""
    return [
        read_facts(events, kind, begin, _process(events.plane))
        for ((events, _), begin), kind in zip(graph.planes(), graph.kind, strict=True)
    ]


def _process(plane: Plane) -> int:
    value = plane.stats.get(names.PROCESS_ID, -1)
    return value if isinstance(value, int) and abs(value) < 1 << 62 else -1


def choose_roots(
    graph: Graph, found: Sequence[Facts], root_name: str, thread: tuple[int, int] | None
) -> tuple[NDArray[np.int64], Loops]:
    """(roots in the order in which they take events, loops whose events they take first)."""
    if root_name:
        plane, rows = named_roots([events for events, _ in graph.threads], root_name, thread)
        return rows + graph.offsets[plane], Loops(_NOTHING, _NOTHING)
    rows = np.concatenate([_NOTHING, *(facts.marked for facts in found)])
    level = np.concatenate([_NOTHING, *(facts.level for facts in found)])
    if not rows.size:
        rows = np.concatenate([_NOTHING, *(facts.executed for facts in found)])
        level = np.ones(rows.size, np.int64)
    captured = np.concatenate([_NOTHING, *(facts.captured for facts in found)])
    keeps = ~_is_execution_of(graph, rows, captured)
    rows, level = rows[keeps], level[keeps]
    start = graph.at(rows, _start)
    order = np.lexsort((rows, start, -level))
    rows = rows[order]
    if not _has_marker(graph, rows):
        loops, executions = _find_loops(graph, found, captured)
        if executions and (executions < MANY_EXECUTIONS or not rows.size):
            firsts = unique(loops.first)
            return firsts[np.argsort(graph.at(firsts, _start), kind="stable")], loops
    return rows, Loops(_NOTHING, _NOTHING)


def _start(events: Events) -> NDArray[np.int64]:
    return events.start_ps


def _duration(events: Events) -> NDArray[np.int64]:
    return events.duration_ps


def _is_execution_of(
    graph: Graph, rows: NDArray[np.int64], executions: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """[m] whether the event is (of) one of these executions."""
    out = np.zeros(rows.size, bool)
    if not executions.size:
        return out
    for (events, _), begin in graph.planes():
        mine = np.flatnonzero((rows >= begin) & (rows < begin + len(events)))
        known, (execution,) = keyed_rows(events, rows[mine] - begin, (names.EXECUTION_ID,))
        found = known[is_in(execution, executions)] + begin
        out[mine] = is_in(rows[mine], found)
    return out


def _has_marker(graph: Graph, rows: NDArray[np.int64]) -> bool:
    """Whether a root is an event of the program's own, not an execution."""
    for (events, _), begin in graph.planes():
        mine = rows[(rows >= begin) & (rows < begin + len(events))] - begin
        kinds_of = np.unique(events.type[mine], return_index=True)[1]
        if not set(event_names(events, mine[kinds_of])) <= names.IMPLICIT_ROOTS:
            return True
    return False


def _find_loops(
    graph: Graph, found: Sequence[Facts], captured: NDArray[np.int64]
) -> tuple[Loops, int]:
    """(the events of iterations of loops, how many executions hold loops)."""
    rows, execution, iteration = (
        np.concatenate([_NOTHING, *parts])
        for parts in (
            [facts.executor.row for facts in found],
            [facts.executor.keys[0] for facts in found],
            [facts.executor.keys[1] for facts in found],
        )
    )
    if not iteration.any():
        return Loops(_NOTHING, _NOTHING), 0
    keeps = ~is_in(execution, captured)
    rows = rows[keeps]
    first, executions = loop_iterations(
        rows, execution[keeps], iteration[keeps], graph.at(rows, _start)
    )
    return Loops(rows[first >= 0], first[first >= 0]), executions


def grow_groups(
    graph: Graph, roots: NDArray[np.int64], links: Links, *, follows_pools: bool
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """(the group of each row, -1 for none; the roots [g] of the groups)."""
    group = np.full(graph.rows, -1, np.int32)
    last = np.arange(graph.rows, dtype=np.int32)
    for (events, parent), begin in graph.planes():
        last_descendants(parent, begin, last[begin : begin + len(events)])
        group[async_rows(events) + begin] = APART
    flag = np.zeros(graph.rows, np.uint8)
    flag[links.row] = CAUSES
    number = spread(roots, group, last, flag, links)
    roots = roots[number >= 0]
    if roots.size and graph.threads:
        if follows_pools:
            _grow_into_pools(graph, roots, group, last, flag, links)
        for kind, (_, begin) in zip(graph.kind, graph.planes(), strict=True):
            group[begin : begin + kind.size][kind >= Kind.POOL_RECORD] = -1
    np.maximum(group, -1, out=group)
    return group, roots


def find_links(graph: Graph, facts: Sequence[Facts], loops: Loops) -> Links:
    """What caused what, by the facts of the host planes, and by what cores say."""

    def linked(made: Sequence[Ends], used: Sequence[Ends], crowd: int = CROWD) -> list[Links]:
        return [link(join(made), join(used), crowd)] if made and used else []

    sources: list[Facts | Core] = [*facts, *graph.cores]
    executor = [fact.executor for fact in facts]
    firsts = unique(loops.first)
    return merge([
        *linked([part.producers for part in sources], [part.consumers for part in sources]),
        *linked(executor, [fact.next_call for fact in facts], graph.rows + 1),
        *linked(executor, [fact.tpu_call for fact in facts]),
        *linked([fact.enqueue for fact in facts], [fact.request for fact in facts]),
        *linked(
            [fact.launch for fact in facts],
            [*(fact.callback for fact in facts), *(core.launched for core in graph.cores)],
        ),
        link(Ends(firsts, [firsts]), Ends(loops.row, [loops.first])),
    ])  # fmt: skip


def _grow_into_pools(
    graph: Graph,
    roots: NDArray[np.int64],
    group: NDArray[np.int32],
    last: NDArray[np.int32],
    flag: NDArray[np.uint8],
    links: Links,
) -> None:
    """Gives what pools of threads ran for a group's events that group."""
    parts = []
    for ((events, _), begin), kind in zip(graph.planes(), graph.kind, strict=True):
        part = slice(begin, begin + len(events))
        parts.append(read_pools(events, kind, group[part], last[part], begin))
    pools = join_pools(parts, graph.offsets.tolist())
    flag[pools.row] |= HANDS_OVER
    line = graph.lines(roots)
    windows = find_windows(line, graph.at(roots, _start), graph.at(roots, _duration))
    spread_to_pools(group, last, flag, links, pools, windows)


# In a column of groups: none so far, and only links lead there, as the event nests in nothing.

# In a column of flags: the event is a row of the links, it is a row of the hand-overs.


def last_descendants(parent: NDArray[np.int64], offset: int, last: NDArray[np.int32]) -> None:
    """Writes the last row [n] that each event encloses (itself if none) into `last`.

    `offset` is added to all. Descendants follow their event without a gap, but for events apart.
    """
    find_last_rows(parent, offset, last)


def spread(
    roots: NDArray[np.int64],
    group: NDArray[np.int32],
    last: NDArray[np.int32],
    flag: NDArray[np.uint8],
    links: Links,
) -> NDArray[np.int64]:
    """The group [m] of each root, in their order from 0 on; -1 for those that have one already.

    Fills `group` [n], -1 or APART before: all events that a root encloses, all that those have
    caused by `links` (whose rows have the flag CAUSES), and so on, that no root before it has
    taken. What an event with a group leads to has one too, so that a root is never inside another
    of its level.
    """
    number = np.empty(roots.size, np.int64)
    queue = np.empty(links.consumer.size + 1, np.int64)
    none = np.zeros(0, np.int64)
    pool = Pool(none, none, none, none, none, none, none, none, none, none, none, np.zeros(0, bool))
    given = np.full(roots.size, -1, np.int64)
    spread_groups(roots, given, group, last, flag, _cause(links), pool, queue, number)
    return number


def spread_to_pools(
    group: NDArray[np.int32],
    last: NDArray[np.int32],
    flag: NDArray[np.uint8],
    links: Links,
    pools: Pools,
    windows: tuple[NDArray[np.int64], NDArray[np.int64]],
) -> None:
    """Fills `group` with what the events of each group have handed to pools of threads.

    Only where that has no group, lower groups first. A region joins group g only if it starts
    before `windows[0][g]` and ends by `windows[1][g]`.
    """
    of_row = group[pools.row].astype(np.int64)
    seeds = np.flatnonzero((of_row >= 0) & (pools.first < pools.until))
    seeds = seeds[np.argsort(of_row[seeds], kind="stable")]
    given = of_row[seeds]
    queue = np.empty(links.consumer.size + pools.mark.size + 1, np.int64)
    pool = Pool(
        pools.row,
        pools.time_ps,
        pools.first,
        pools.until,
        pools.begin,
        pools.mark,
        pools.stop,
        pools.start_ps,
        pools.stop_ps,
        *windows,
        np.zeros(pools.mark.size, bool),
    )
    spread_groups(seeds, given, group, last, flag, _cause(links), pool, queue, given)


def _cause(links: Links) -> Cause:
    is_followed = np.zeros(links.first.size - 1, bool)
    return Cause(links.row, links.bucket, links.first, links.consumer, is_followed)
