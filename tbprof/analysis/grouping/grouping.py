"""The groups of events that belong to one step, and their root events."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.grouping.file_groups import codes, group_ids, is_grouped, read_groups
from tbprof.analysis.grouping.roots import Roots
from tbprof.analysis.host.host_events import CallsApart, HostThreads, host_threads
from tbprof.analysis.vocabulary.lines import host_planes
from tbprof.base import names
from tbprof.base.lazy import Later
from tbprof.base.records import dataclass
from tbprof.events.space import Events, Plane, Space

# Imported only if a file has no groups.
group_events = Later("tbprof.analysis.grouping.event_groups.group_events")
overlapping = Later("tbprof.analysis.grouping.tpu_groups.overlapping")


@dataclass(frozen=True, slots=True)
class CoreGroups:
    """The steps of one TPU core, or else its program runs, by start, and the group [m] of each.

    Times in ps; a group of -1 means none.
    """

    plane: Plane
    start_ps: NDArray[np.int64]
    end_ps: NDArray[np.int64]
    group: NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Grouping:
    """The groups of a space, and the group of every host event.

    If `is_from_file`, the groups are those stored in the file, with the ids `ids` [g], ascending.
    `correlation` are the correlation ids of launches with a group, ascending; `correlation_group`
    are their groups.
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
    """The groups of a space; the result without arguments is computed once.

    A group consists of the events that a root encloses on its thread, and of those that they caused
    on other threads: by contexts that producer and consumer share, executions of one function, and
    launches of programs. The first of these that exist are the roots:

    - the outermost events named `root_name`, if it is given, on `thread` (plane, line), or else on
      the thread that has most of them;
    - the groups stored in the file (nothing else is then looked at);
    - events that the program marked (`_r`), higher levels first. Runs of functions that tf.data
      calls do not count. If only executions of functions are marked and fewer than three of them
      hold loops, the iterations of the loops replace them as roots;
    - executions of functions, sessions or graphs, in files that mark nothing.

    Unlike in group_events.cc, loop ops do not disable grouping, and an in-graph loop does not
    replace steps that the program marked. Work that is passed to thread pools is followed last
    (`follows_pools`), and only to events without a group, if its times show that it belongs to one
    step (`find_windows`). The marks of pools themselves have no group. Driver calls on separate
    lines have the group of the thread that made them.

    TPU cores that no host event leads to get groups in lock step, numbered after the host's groups,
    unless `root_name` is given.
    """
    planes = host_planes(space)
    if not planes or root_name or not follows_pools:
        return _find(space, planes, root_name, thread, follows_pools)
    return planes[0].cache.get_or_compute(
        "grouping", lambda: _find(space, planes, "", None, follows_pools)
    )


def group_of_device_events(grouping: Grouping, plane: Plane, events: Events) -> NDArray[np.int32]:
    """[n] the group of each event of a device, -1 for none.

    In a grouped file, it is the group with the event's id. On TPU cores, it is that of the step (or
    program run) that the event overlaps; elsewhere, that of the launch with its correlation id.
    """
    if grouping.is_from_file and names.GROUP_ID in plane.stat_names:
        return _stored_groups(grouping.ids, events)
    for core in grouping.cores:
        if core.plane is plane:
            index = overlapping(core.start_ps, core.end_ps, events)
            return np.where(index >= 0, core.group[index], -1).astype(np.int32)
    if names.CORRELATION_ID not in plane.stat_names or not grouping.correlation.size:
        return np.full(len(events), -1, np.int32)
    stat = events.stats([names.CORRELATION_ID])[names.CORRELATION_ID]
    index = np.searchsorted(grouping.correlation, stat.bits)
    index = np.minimum(index, grouping.correlation.size - 1)
    is_known = stat.is_integer & (grouping.correlation[index] == stat.bits)
    return np.where(is_known, grouping.correlation_group[index], -1).astype(np.int32)


def _stored_groups(ids: NDArray[np.int64], events: Events) -> NDArray[np.int32]:
    """[n] the index into `ids` of the group that each event has in the file, -1 for none."""

    def read(rows: NDArray[np.int64] | None = None) -> NDArray[np.int32]:
        stat = events.stats([names.GROUP_ID], rows)[names.GROUP_ID]
        return codes(ids, group_ids(stat))

    marks = events.marks
    if marks is None or marks.names.number != names.GROUP_ID or not marks.number.size:
        return read()
    groups = np.where(marks.number >= 0, codes(ids, marks.number), np.int32(-1))
    others = marks.odd_rows()
    groups[others] = read(others)
    return groups


def _find(
    space: Space,
    planes: Sequence[Plane],
    root_name: str,
    thread: tuple[int, int] | None,
    follows_pools: bool,
) -> Grouping:
    threads = [host_threads(plane) for plane in planes]
    if is_grouped(space) and not root_name:
        return _read_grouping(space, threads)
    grouping: Grouping = group_events(space, threads, root_name, thread, follows_pools)
    return grouping


def _read_grouping(space: Space, threads: Sequence[tuple[Events, NDArray[np.int32]]]) -> Grouping:
    """The groups that are stored in a file."""
    ids, group, roots = read_groups(space, [events for events, _ in threads])
    hosts = [
        HostThreads(events.plane, events, parent, own_group, CallsApart.none(events))
        for (events, parent), own_group in zip(threads, group, strict=True)
    ]
    return Grouping(
        hosts, roots, np.zeros(0, np.int64), np.zeros(0, np.int32), ids, [], is_from_file=True
    )
