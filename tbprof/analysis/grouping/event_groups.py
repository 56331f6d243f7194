"""Groups the events of files without groups, by the causality in their stats."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.grouping.event_graph import (
    Graph,
    Threads,
    find_links,
    read_causal_stats_of_hosts,
    read_graph,
)
from tbprof.analysis.grouping.group_growth import close_groups, grow_groups, grow_into_pools
from tbprof.analysis.grouping.group_roots import choose_roots, label_roots
from tbprof.analysis.grouping.grouping import CoreGroups, Grouping
from tbprof.analysis.grouping.roots import Roots
from tbprof.analysis.grouping.tpu_groups import group_in_lock_step
from tbprof.analysis.host.api_lines import find_calls_apart
from tbprof.analysis.host.host_events import HostThreads
from tbprof.base.values import join_columns
from tbprof.events.space import Space

_NO_ROWS = np.zeros(0, np.int64)

# (rows of launches in the graph, their correlation ids).
_Launches = tuple[NDArray[np.int64], NDArray[np.int64]]


def group_events(
    space: Space,
    threads: Threads,
    root_name: str,
    thread: tuple[int, int] | None,
    follows_pools: bool,
) -> Grouping:
    """The groups of a space whose file has none, stage by stage."""
    # Read the stats on causality.
    graph = read_graph(space, threads)
    stats = read_causal_stats_of_hosts(graph)

    # Find the roots of groups, and the links between events.
    roots, loops = choose_roots(graph, stats, root_name, thread)
    links = find_links(graph, stats, loops)
    launches = [(part.correlated, part.correlation) for part in stats]
    del stats  # a third of the memory that grouping needs

    # Let the groups grow.
    growth = grow_groups(graph, roots, links)
    if follows_pools:
        grow_into_pools(graph, growth, links)
    group = close_groups(graph, growth)
    table = _label_groups(graph, growth.roots, is_chosen=bool(root_name))

    # Add TPU cores that no host event leads to, and driver calls on separate lines.
    table, cores = _group_cores(graph, group, table, in_lock_step=not root_name)
    hosts = _group_hosts(graph, group, launches)

    ids = np.arange(len(table), dtype=np.int64)
    return Grouping(hosts, table, *_correlations(launches, group), ids, cores, is_from_file=False)


def _group_cores(
    graph: Graph, group: NDArray[np.int32], table: Roots, *, in_lock_step: bool
) -> tuple[Roots, list[CoreGroups]]:
    """(the groups, the groups of TPU cores); cores without groups get some `in_lock_step`."""
    parts = [group[core.offset : core.offset + core.start_ps.size] for core in graph.cores]
    if in_lock_step and graph.cores and all((part < 0).all() for part in parts):
        parts, number = group_in_lock_step(graph.cores, len(table))
        table = _with_unknown(table, number)
    cores = [
        CoreGroups(core.plane, core.start_ps, core.end_ps, part)
        for core, part in zip(graph.cores, parts, strict=True)
    ]
    return table, cores


def _group_hosts(
    graph: Graph, group: NDArray[np.int32], launches: Sequence[_Launches]
) -> list[HostThreads]:
    """The threads of each host plane; driver calls on separate lines join the groups of threads."""
    calls = [
        find_calls_apart(events, parent, group[begin : begin + len(events)], correlated - begin)
        for ((events, parent), begin), (correlated, _) in zip(graph.planes(), launches, strict=True)
    ]
    return [
        HostThreads(events.plane, events, parent, group[begin : begin + len(events)], apart)
        for ((events, parent), begin), apart in zip(graph.planes(), calls, strict=True)
    ]


def _label_groups(graph: Graph, rows: NDArray[np.int64], *, is_chosen: bool) -> Roots:
    """The groups whose roots are at these rows of the graph, in their order."""
    plane = np.searchsorted(graph.offsets, rows, side="right") - 1
    row = rows - graph.offsets[plane]
    name, label = [""] * rows.size, [""] * rows.size
    number = np.arange(rows.size, dtype=np.int64)
    is_marker = np.zeros(rows.size, bool)
    for index, (events, parent) in enumerate(graph.threads):
        groups = np.flatnonzero(plane == index)
        if groups.size:
            own_names, number[groups], own_labels, is_marker[groups] = label_roots(
                events, parent, row[groups], groups, is_chosen=is_chosen
            )
            for group, own_name, own_label in zip(
                groups.tolist(), own_names, own_labels, strict=True
            ):
                name[group], label[group] = own_name, own_label
    start, duration = graph.start_ps(rows), graph.duration_ps(rows)
    return Roots(name, number, label, is_marker, plane, row, start, duration)


def _with_unknown(roots: Roots, number: NDArray[np.int64]) -> Roots:
    """The groups, followed by groups without a root on the host."""
    none, added = np.full(number.size, -1, np.int64), number.size
    return Roots(
        [*roots.name, *[""] * added],
        np.concatenate((roots.number, number)),
        [*roots.label, *map(str, number.tolist())],
        np.concatenate((roots.is_marker, np.zeros(added, bool))),
        np.concatenate((roots.plane, none)),
        np.concatenate((roots.row, none)),
        np.concatenate((roots.start_ps, none)),
        np.concatenate((roots.duration_ps, np.zeros(added, np.int64))),
    )


def _correlations(
    launches: Sequence[_Launches], group: NDArray[np.int32]
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """(ids, groups) of the launches that have a group, by id; the last one of equal ids."""
    rows, ids = join_columns(launches, 2)
    launch_group = group[rows]
    keeps = (launch_group >= 0) & (ids != 0)
    ids, launch_group = ids[keeps], launch_group[keeps]
    order = np.argsort(ids, kind="stable")
    ids, launch_group = ids[order], launch_group[order]
    is_last = np.append(ids[1:] != ids[:-1], True)[: ids.size]
    return ids[is_last], launch_group[is_last]
