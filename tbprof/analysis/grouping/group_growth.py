"""Growth of groups: from roots to the events that they enclose, and to those that these caused."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.grouping.causality import CausalKind
from tbprof.analysis.grouping.context_links import Links
from tbprof.analysis.grouping.event_graph import Graph
from tbprof.analysis.grouping.thread_pools import Pools, find_windows, join_pools, read_pools
from tbprof.analysis.host.host_events import async_rows
from tbprof.base.records import dataclass
from tbprof.kernels.analysis.event_nesting import find_last_rows
from tbprof.kernels.analysis.group_spreading import CauseLinks, Pool, spread_groups
from tbprof.kernels.codes import APART, CAUSES, HANDS_OVER


@dataclass(frozen=True, slots=True)
class Growth:
    """The groups while they grow, by row of the graph.

    `group` [n] is the group of each event, -1 or `APART` for none; `roots` [g] are the rows of the
    groups' roots. `last` [n] is the last row that each event encloses, `flag` [n] how it leads to
    others: `CAUSES`, `HANDS_OVER`.
    """

    group: NDArray[np.int32]
    roots: NDArray[np.int64]
    last: NDArray[np.int32]
    flag: NDArray[np.uint8]


def grow_groups(graph: Graph, roots: NDArray[np.int64], links: Links) -> Growth:
    """The groups with all events that their roots enclose and that follow by links."""
    group = np.full(graph.rows, -1, np.int32)
    last = np.arange(graph.rows, dtype=np.int32)
    for (events, parent), begin in graph.planes():
        # The descendants of an event follow it without gaps, except for asynchronous events.
        find_last_rows(parent, begin, last[begin : begin + len(events)])
        group[async_rows(events) + begin] = APART
    flag = np.zeros(graph.rows, np.uint8)
    flag[links.row] = CAUSES
    number = spread(roots, group, last, flag, links)
    return Growth(group, roots[number >= 0], last, flag)


def grow_into_pools(graph: Graph, growth: Growth, links: Links) -> None:
    """Adds the events that thread pools ran for the events of each group, in place."""
    if not growth.roots.size or not graph.threads:
        return
    parts = []
    for ((events, _), begin), kind in zip(graph.planes(), graph.kind, strict=True):
        rows = slice(begin, begin + len(events))
        parts.append(read_pools(events, kind, growth.group[rows], growth.last[rows], begin))
    pools = join_pools(parts, graph.offsets.tolist())
    growth.flag[pools.row] |= HANDS_OVER
    windows = find_windows(
        graph.lines(growth.roots),
        graph.start_ps(growth.roots),
        graph.duration_ps(growth.roots),
    )
    spread_to_pools(growth.group, growth.last, growth.flag, links, pools, windows)


def close_groups(graph: Graph, growth: Growth) -> NDArray[np.int32]:
    """[n] the group of each event, -1 for none; the marks of pools belong to no group."""
    group = growth.group
    for kind, (_, begin) in zip(graph.kind, graph.planes(), strict=True):
        group[begin : begin + kind.size][kind >= CausalKind.POOL_RECORD] = -1
    np.maximum(group, -1, out=group)
    return group


def spread(
    roots: NDArray[np.int64],
    group: NDArray[np.int32],
    last: NDArray[np.int32],
    flag: NDArray[np.uint8],
    links: Links,
) -> NDArray[np.int64]:
    """The group [m] of each root, numbered in order from 0; -1 for roots that have a group already.

    Fills `group` [n], which contains -1 or APART: a group takes all events that its root encloses,
    all that these cause by `links` (whose rows have the flag CAUSES), and so on, except those of an
    earlier group. Events caused by an event with a group get that group, so a root is never inside
    another one of its level.
    """
    number = np.empty(roots.size, np.int64)
    queue = np.empty(links.consumer.size + 1, np.int64)
    none = np.zeros(0, np.int64)
    pool = Pool(none, none, none, none, none, none, none, none, none, none, none, np.zeros(0, bool))
    seed_group = np.full(roots.size, -1, np.int64)
    spread_groups(roots, seed_group, group, last, flag, _cause(links), pool, queue, number)
    return number


def spread_to_pools(
    group: NDArray[np.int32],
    last: NDArray[np.int32],
    flag: NDArray[np.uint8],
    links: Links,
    pools: Pools,
    windows: tuple[NDArray[np.int64], NDArray[np.int64]],
) -> None:
    """Adds the work that the events of each group passed to thread pools, in place.

    Only events without a group are added, for lower groups first. A region joins group g only if it
    starts before `windows[0][g]` and ends by `windows[1][g]`.
    """
    group_of_row = group[pools.row].astype(np.int64)
    seeds = np.flatnonzero((group_of_row >= 0) & (pools.first < pools.until))
    seeds = seeds[np.argsort(group_of_row[seeds], kind="stable")]
    seed_group = group_of_row[seeds]
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
    spread_groups(seeds, seed_group, group, last, flag, _cause(links), pool, queue, seed_group)


def _cause(links: Links) -> CauseLinks:
    is_followed = np.zeros(links.first.size - 1, bool)
    return CauseLinks(links.row, links.bucket, links.first, links.consumer, is_followed)
