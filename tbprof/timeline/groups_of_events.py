"""Which group, or step, every event of a timeline belongs to: a column to colour by."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.grouping import Grouping, find_grouping, group_of_device_events
from tbprof.events.space import Events, Plane
from tbprof.timeline.opened import OpenTimeline
from tbprof.timeline.stat_search import PlaneEvents, plane_events


@dataclass(frozen=True, slots=True)
class EventGroups:
    """`group` [n] is a row of `label`, what viewers call each group ("train 3"); -1 for none."""

    group: NDArray[np.int32]
    label: list[str]


def find_groups(opened: OpenTimeline) -> EventGroups:
    """The groups of a timeline's events, found once; derived events have none.

    A group is what a step began, on its own thread, on others and on devices (`grouping.py`).
    """
    return opened.memo.once("groups", lambda: _find(opened))


def _find(opened: OpenTimeline) -> EventGroups:
    group = np.full(opened.timeline.start_ps.size, -1, np.int32)
    planes = plane_events(opened)
    if not planes:
        return EventGroups(group, [])
    grouping = find_grouping(opened.space)
    for events in planes:
        source, of = _sources(grouping, events.plane)
        if source.size:
            _fill(opened, events, source, of, group)
    return EventGroups(group, grouping.roots.label)


def _sources(grouping: Grouping, plane: Plane) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """(sources, ascending, of the events of a plane that have a group; the groups)."""
    for host in grouping.hosts:
        if host.plane is plane:
            return _ordered(host.events, host.group)
    events = plane.events()
    return _ordered(events, group_of_device_events(grouping, plane, events))


def _ordered(
    events: Events, group: NDArray[np.int32]
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    rows = np.flatnonzero(group >= 0)
    source, of = events.source[rows], group[rows]
    if (source[1:] < source[:-1]).any():
        order = np.argsort(source, kind="stable")
        source, of = source[order], of[order]
    return source, of


def _fill(
    opened: OpenTimeline,
    events: PlaneEvents,
    source: NDArray[np.int64],
    of: NDArray[np.int32],
    group: NDArray[np.int32],
) -> None:
    """Gives the events of a plane the groups that their sources have."""
    for _, rows in events.pieces():
        wanted = opened.timeline.source[rows]
        at = np.minimum(np.searchsorted(source, wanted), source.size - 1)
        is_known = source[at] == wanted
        group[rows][is_known] = of[at[is_known]]
