"""Where the time of a range goes: a tree from the outermost calls on, or from each name back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from tbprof.base.records import replace
from tbprof.base.values import join_tables, take_rows, unique
from tbprof.timeline.calls.call_paths import (
    OTHER,
    ROOT,
    CallTree,
    find_paths,
)
from tbprof.timeline.calls.callers import find_callers
from tbprof.timeline.model.open_timeline import OpenTimeline, shorten
from tbprof.timeline.questions.aggregate import (
    EventGroups,
    chosen_tracks,
    clip_range,
    groups_by_name,
)

Order = Literal["top_down", "bottom_up"]

# What a page draws in a frame, and a browser reads in an instant.
MOST_NODES = 4000


def call_tree(
    open_timeline: OpenTimeline,
    *,
    from_ps: int | None = None,
    to_ps: int | None = None,
    tracks: Sequence[int] | None = None,
    order: Order = "top_down",
    is_by_track: bool = False,
    most: int = MOST_NODES,
) -> dict[str, Any]:
    """The nested events of some tracks (all by default) in [from_ps, to_ps) as a tree of calls.

    `top_down`: the nodes of `CallPaths`; `bottom_up`: those of `find_callers`. They are columns of
    lists, each node before its children, the root first; with `is_by_track`, the tracks are below
    it. `name` is a row of `names`, -1 for the root and for what is not listed by itself: beyond the
    `most` nodes with the most time (self time, bottom up), those below the same node are one. It
    has the time of all of them and counts all of their events; its total is null bottom up, where
    calls may be within each other. `longest` is an event, -1 where it is not known.

    `overlap_ps` is the time of events that is left out since an earlier event of the track has it.
    Raises BadRequest for a track that does not exist.
    """
    begin, end = clip_range(open_timeline, from_ps, to_ps)
    chosen = chosen_tracks(open_timeline, tracks)
    groups = groups_by_name(open_timeline)
    key = ("call paths", begin, end, chosen.tobytes(), is_by_track)
    paths = open_timeline.answers.get_or_compute(
        key,
        lambda: find_paths(
            open_timeline,
            begin,
            end,
            chosen,
            groups.of_type,
            len(groups.key),
            is_by_track=is_by_track,
        ),
        lambda found: found.nbytes,
    )
    if order == "top_down":
        tree, weight_ps = paths.tree, paths.tree.total_ps
        events = _events_below(tree, len(groups.key))
    else:
        tree = find_callers(paths.tree, len(groups.key), most)
        weight_ps, events = tree.self_ps, tree.count
    shown = _fold(tree, weight_ps, events, most)
    return {
        "overlap_ps": paths.overlap_ps,
        "names": _names(open_timeline, shown, groups, chosen),
        "nodes": _nodes(shown, has_totals=order == "top_down"),
    }


def _events_below(tree: CallTree, names: int) -> NDArray[np.int64]:
    """[n] the events of each node and of all below it."""
    is_track = (tree.group >= names) | (tree.group == ROOT)
    events = np.where(is_track, 0, tree.count)
    by_level = np.argsort(tree.depth, kind="stable")
    levels = np.split(by_level, np.flatnonzero(np.diff(tree.depth[by_level])) + 1)
    for level in reversed(levels[1:]):
        np.add.at(events, tree.parent[level], events[level])
    return events


def _fold(
    tree: CallTree, weight_ps: NDArray[np.int64], events: NDArray[np.int64], most: int
) -> CallTree:
    """The `most` nodes of the largest weight, by it; then what is left below each, as one node.

    No node weighs more than its parent. `events` [n] are those that a node stands for when it is
    left. If that is one without children, it stays as it is.
    """
    order = np.lexsort((np.arange(weight_ps.size), -weight_ps))
    order = order[tree.group[order] != OTHER][:most]
    is_kept = np.zeros(weight_ps.size, np.bool_)
    is_kept[order] = True
    left = np.flatnonzero(~is_kept & is_kept[tree.parent])
    siblings = np.bincount(tree.parent[left], minlength=weight_ps.size)
    has_children = np.zeros(weight_ps.size, np.bool_)
    has_children[tree.parent[1:]] = True
    is_single = (siblings[tree.parent[left]] == 1) & ~has_children[left]
    is_single &= tree.group[left] != OTHER
    order, left = np.append(order, left[is_single]), left[~is_single]
    place = np.full(weight_ps.size, -1)
    place[order] = np.arange(order.size)
    return join_tables([_at(tree, order, place), _merged(tree, left, weight_ps, events, place)])


def _at(tree: CallTree, rows: NDArray[np.int64], place: NDArray[np.int64]) -> CallTree:
    """Rows of a tree, with `place` [n] of their parents."""
    chosen = take_rows(tree, rows)
    return replace(chosen, parent=np.where(chosen.parent < 0, -1, place[chosen.parent]))


def _merged(
    tree: CallTree,
    left: NDArray[np.int64],
    weight_ps: NDArray[np.int64],
    events: NDArray[np.int64],
    place: NDArray[np.int64],
) -> CallTree:
    """What is left below each parent as one node, all of whose time is its own."""
    left = left[np.lexsort((left, -tree.longest_ps[left], tree.parent[left]))]
    first = np.flatnonzero(np.diff(tree.parent[left], prepend=-1))
    time_ps = np.add.reduceat(weight_ps[left], first)
    return replace(
        _at(tree, left[first], place),
        group=np.full(first.size, OTHER),
        count=np.add.reduceat(events[left], first),
        total_ps=time_ps,
        self_ps=time_ps,
    )


def _names(
    open_timeline: OpenTimeline, tree: CallTree, groups: EventGroups, chosen: NDArray[np.int64]
) -> dict[str, list[Any]]:
    """The names of the nodes; `track` is the id of a track, else -1."""
    used = unique(tree.group[tree.group >= 0])
    calls = used[used < len(groups.key)].tolist()
    tracks = chosen[used[used >= len(groups.key)] - len(groups.key)].tolist()
    return {
        "text": [
            *(shorten(groups.key[group]) for group in calls),
            *(shorten(open_timeline.timeline.tracks[track].name) for track in tracks),
        ],
        "category": [*(groups.category[group] for group in calls), *([""] * len(tracks))],
        "track": [*([-1] * len(calls)), *tracks],
    }


def _nodes(tree: CallTree, *, has_totals: bool) -> dict[str, list[Any]]:
    total_ps = tree.total_ps.tolist()
    if not has_totals:
        for row in np.flatnonzero(tree.group == OTHER).tolist():
            total_ps[row] = None
    has_name = tree.group >= 0
    name = np.where(has_name, np.searchsorted(unique(tree.group[has_name]), tree.group), -1)
    return {
        "parent": tree.parent.tolist(),
        "name": name.tolist(),
        "count": tree.count.tolist(),
        "total_ps": total_ps,
        "self_ps": tree.self_ps.tolist(),
        "longest": tree.longest.tolist(),
        "longest_ps": tree.longest_ps.tolist(),
    }
