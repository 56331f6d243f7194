"""Which events belong together, as parts of one step: groups, and the events that began them."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.grouping.event_graph import (
    Graph,
    choose_roots,
    find_links,
    grow_groups,
    read_all_facts,
    read_graph,
)
from tbprof.analysis.grouping.file_groups import codes, group_ids, is_grouped, read_groups
from tbprof.analysis.grouping.group_roots import Roots, label_roots
from tbprof.analysis.grouping.tpu_groups import in_lock_step, overlapping
from tbprof.analysis.host.api_lines import find_calls_apart
from tbprof.analysis.host.host_events import CallsApart, HostThreads, host_threads
from tbprof.analysis.vocabulary.lines import host_planes
from tbprof.base import names
from tbprof.base.records import dataclass
from tbprof.events.space import Events, Plane, Space

_NO_ROWS = np.zeros(0, np.int64)


@dataclass(frozen=True, slots=True)
class CoreGroups:
    """The steps of one TPU core (else its programs' runs), by start, and the group [m] of each.

    Times in ps; -1 where an event belongs to no group.
    """

    plane: Plane
    start_ps: NDArray[np.int64]
    end_ps: NDArray[np.int64]
    group: NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Grouping:
    """The groups of a space, and the group of every host event.

    `is_from_file`: the file brought its groups, whose ids are `ids` [g], ascending. `correlation`
    are the ascending correlation ids of launches that have a group, `correlation_group` the groups.
    """

    hosts: list[HostThreads]
    roots: Roots
    correlation: NDArray[np.int64]
    correlation_group: NDArray[np.int32]
    ids: NDArray[np.int64]
    cores: list[CoreGroups]
    is_from_file: bool


def find_grouping(
    space: Space,
    root_name: str = "",
    *,
    thread: tuple[int, int] | None = None,
    follows_pools: bool = True,
) -> Grouping:
    """The groups of a space; without arguments found once.

    A group is what a root encloses on its thread and what that has caused on others, through
    contexts that producer and consumer share, executions of one function, launches of programs.
    Roots are, whichever comes first:

    - the outermost events named `root_name`, if it is given, on `thread` (plane, line), else on the
      thread that has most of them;
    - the groups that the file brings (then nothing else is looked at);
    - events that the program marked (`_r`), higher levels first. Runs of functions that tf.data
      calls are none. Where only executions of functions are marked and fewer than three of them
      hold loops, the iterations of the loops are roots in their place;
    - executions of functions, sessions or graphs, in files that mark nothing.

    Unlike in group_events.cc, loop ops do not switch grouping off, an in-graph loop does not
    replace steps that the program has marked, and work handed to pools of threads is followed
    (`follows_pools`), after everything else and into ungrouped events only, where its times show
    that it belongs to one step: see `find_windows`. The marks of pools themselves have no group.
    Calls of a driver that lie on lines apart have the group of the thread that made them.

    TPU cores that no host event leads to are numbered in lock step after the host's groups, unless
    the roots were named.
    """
    planes = host_planes(space)
    if not planes or root_name or not follows_pools:
        return _find(space, planes, root_name, thread, follows_pools)
    return planes[0].cache.get_or_compute(
        "grouping", lambda: _find(space, planes, "", None, follows_pools)
    )


def group_of_device_events(grouping: Grouping, plane: Plane, events: Events) -> NDArray[np.int32]:
    """[n] the group of each event of a device, -1 for none.

    By the id in the file, where that is grouped; on TPU cores that of the step (or the run of a
    program) that the event overlaps; elsewhere that of the launch with its correlation id.
    """
    if grouping.is_from_file and names.GROUP_ID in plane.stat_names:
        return codes(grouping.ids, group_ids(events.stats([names.GROUP_ID])[names.GROUP_ID]))
    for core in grouping.cores:
        if core.plane is plane:
            at = overlapping(core.start_ps, core.end_ps, events)
            return np.where(at >= 0, core.group[at], -1).astype(np.int32)
    if names.CORRELATION_ID not in plane.stat_names or not grouping.correlation.size:
        return np.full(len(events), -1, np.int32)
    stat = events.stats([names.CORRELATION_ID])[names.CORRELATION_ID]
    at = np.searchsorted(grouping.correlation, stat.bits)
    at = np.minimum(at, grouping.correlation.size - 1)
    is_known = stat.is_integer & (grouping.correlation[at] == stat.bits)
    return np.where(is_known, grouping.correlation_group[at], -1).astype(np.int32)


def _find(
    space: Space,
    planes: Sequence[Plane],
    root_name: str,
    thread: tuple[int, int] | None,
    follows_pools: bool,
) -> Grouping:
    threads = [host_threads(plane) for plane in planes]
    if is_grouped(space) and not root_name:
        ids, group, roots = read_groups(space, [events for events, _ in threads])
        hosts = [
            HostThreads(events.plane, events, parent, part, CallsApart.none(events))
            for (events, parent), part in zip(threads, group, strict=True)
        ]
        none = np.zeros(0, np.int32)
        return Grouping(hosts, roots, _NO_ROWS, none, ids, [], is_from_file=True)
    return _grouped(space, threads, root_name, thread, follows_pools)


def _grouped(
    space: Space,
    threads: Sequence[tuple[Events, NDArray[np.int64]]],
    root_name: str,
    thread: tuple[int, int] | None,
    follows_pools: bool,
) -> Grouping:
    """The groups of a space that brings none."""
    graph = read_graph(space, threads)
    facts = read_all_facts(graph)
    roots, loops = choose_roots(graph, facts, root_name, thread)
    links = find_links(graph, facts, loops)
    launches = [(part.correlated, part.correlation) for part in facts]
    del facts  # a third of what grouping needs
    group, rows = grow_groups(graph, roots, links, follows_pools=follows_pools)
    apart = [
        find_calls_apart(events, parent, group[begin : begin + len(events)], correlated - begin)
        for ((events, parent), begin), (correlated, _) in zip(graph.planes(), launches, strict=True)
    ]
    table = _table(graph, rows, is_chosen=bool(root_name))
    parts = [group[core.offset : core.offset + core.start_ps.size] for core in graph.cores]
    if not root_name and graph.cores and all((part < 0).all() for part in parts):
        parts, number = in_lock_step(graph.cores, len(table))
        table = _with_unknown(table, number)
    hosts = [
        HostThreads(events.plane, events, parent, group[begin : begin + len(events)], calls)
        for ((events, parent), begin), calls in zip(graph.planes(), apart, strict=True)
    ]
    cores = [
        CoreGroups(core.plane, core.start_ps, core.end_ps, part)
        for core, part in zip(graph.cores, parts, strict=True)
    ]
    ids = np.arange(len(table), dtype=np.int64)
    correlations = _correlations(launches, group)
    return Grouping(hosts, table, *correlations, ids, cores, is_from_file=False)


def _table(graph: Graph, rows: NDArray[np.int64], *, is_chosen: bool) -> Roots:
    """The groups whose roots are at these rows of the graph, in their order."""
    plane = np.searchsorted(graph.offsets, rows, side="right") - 1
    row = rows - graph.offsets[plane]
    name, label = [""] * rows.size, [""] * rows.size
    number = np.arange(rows.size, dtype=np.int64)
    is_marker = np.zeros(rows.size, bool)
    for at, (events, parent) in enumerate(graph.threads):
        mine = np.flatnonzero(plane == at)
        if mine.size:
            names_, number[mine], labels, is_marker[mine] = label_roots(
                events, parent, row[mine], mine, is_chosen=is_chosen
            )
            for group, text, own in zip(mine.tolist(), names_, labels, strict=True):
                name[group], label[group] = text, own
    start = graph.at(rows, lambda events: events.start_ps)
    duration = graph.at(rows, lambda events: events.duration_ps)
    return Roots(name, number, label, is_marker, plane, row, start, duration)


def _with_unknown(roots: Roots, number: NDArray[np.int64]) -> Roots:
    """The groups, and after them some that no host event began."""
    none, more = np.full(number.size, -1, np.int64), number.size
    return Roots(
        [*roots.name, *[""] * more],
        np.concatenate((roots.number, number)),
        [*roots.label, *map(str, number.tolist())],
        np.concatenate((roots.is_marker, np.zeros(more, bool))),
        np.concatenate((roots.plane, none)),
        np.concatenate((roots.row, none)),
        np.concatenate((roots.start_ps, none)),
        np.concatenate((roots.duration_ps, np.zeros(more, np.int64))),
    )


def _correlations(
    launches: Sequence[tuple[NDArray[np.int64], NDArray[np.int64]]], group: NDArray[np.int32]
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """(ids, groups) of the launches that have a group, by id; of equal ids the last one counts."""
    rows = np.concatenate([_NO_ROWS, *(rows for rows, _ in launches)])
    ids = np.concatenate([_NO_ROWS, *(ids for _, ids in launches)])
    of = group[rows]
    keeps = (of >= 0) & (ids != 0)
    ids, of = ids[keeps], of[keeps]
    order = np.argsort(ids, kind="stable")
    ids, of = ids[order], of[order]
    is_last = np.append(ids[1:] != ids[:-1], True)[: ids.size]
    return ids[is_last], of[is_last]
