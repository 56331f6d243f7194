"""The events of a range by path: the names of the enclosing events, from the outermost on."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tbprof.base.records import dataclass, field_names
from tbprof.kernels.timeline.row_paths import PathNodes, add_paths
from tbprof.kernels.timeline.track_rows import TrackBounds
from tbprof.timeline.model.open_timeline import OpenTimeline
from tbprof.timeline.questions.interval_aggregation import event_rows, find_bounds, row_heads

# Groups of nodes without a name: the root, and everything below a node that is not listed.
ROOT = -1
OTHER = -2
# What is deeper than all rows of a track counts as if its events followed each other.
_MOST_NESTED = 1 << 14
_MOST_PATHS = 1 << 18


@dataclass(frozen=True, slots=True)
class CallTree:
    """A tree [n] in which parents come before their children; row 0 is the root.

    `parent` is -1 for the root. `group` is that of the events' types, `ROOT`, `OTHER`, or for a
    track the number of groups + its place among the chosen ones. `depth` is 0 for the root. Of the
    calls of a node, `longest` is the one with the most time in the range, `longest_ps`; -1 where it
    is not known. What the other columns mean depends on who makes the tree.
    """

    parent: NDArray[np.int64]
    group: NDArray[np.int64]
    depth: NDArray[np.int64]
    count: NDArray[np.int64]
    total_ps: NDArray[np.int64]
    self_ps: NDArray[np.int64]
    longest: NDArray[np.int64]
    longest_ps: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class CallPaths:
    """The calls of a range from the outermost on.

    Of a node of `tree`, `count` are its events, `total_ps` is their time in the range, and
    `self_ps` the part of it that no child has: that and the totals of the children add up to the
    total, in ps. The root and tracks count all events below. `overlap_ps` is the time of events
    that is left out since an earlier one has it.
    """

    tree: CallTree
    overlap_ps: int

    @property
    def nbytes(self) -> int:
        """The memory of the columns."""
        return len(field_names(CallTree)) * self.tree.parent.nbytes


def find_paths(
    open_timeline: OpenTimeline,
    begin: int,
    end: int,
    tracks: NDArray[np.int64],
    of_type: NDArray[np.int32],
    groups: int,
    *,
    is_by_track: bool,
) -> CallPaths:
    """The paths of the events of some tracks that overlap [begin, end).

    The group of an event is `of_type` [types + 1] of its type, one of `groups`. A path are the
    groups of the events around an event, as `nearby.enclosing` finds them, and its own. An event
    counts with the part within the range. An instant of a track belongs to one path: where events
    overlap without nesting, the later one counts from where the earlier one ends.

        |aaaaaaaa.aa    from 1 to 11      a            2 events, total 9, self 4
        |.bb.bbb.   ->                    a > b        2 events, total 5, self 4
        |  c                              a > b > c    1 event, total 1, self 1

    With `is_by_track`, each track that has events there is a child of the root. Paths beyond the
    first 2^18 are one child of the group `OTHER` below the last node that has a row.
    """
    bounds = find_bounds(open_timeline, tracks, begin, end)
    rooted = np.flatnonzero(bounds.events) if is_by_track else np.empty(0, np.int64)
    root = np.zeros(tracks.size, np.int64)
    root[rooted] = np.arange(1, rooted.size + 1)
    used = rooted.size + 1
    columns = np.empty((9, used + _MOST_PATHS), np.int64)
    parent, group, depth, count, total, longest, longest_ps, left_count, left_ps = columns
    parent[0], parent[1:used] = -1, 0
    group[0], group[1:used] = ROOT, groups + rooted
    depth[0], depth[1:used] = 0, 1
    columns[3:, :used] = 0
    longest[:used] = longest_ps[:used] = -1
    nodes = PathNodes(
        parent, group, depth, count, total, longest, longest_ps, left_count, left_ps,
        np.full(2 << columns.shape[1].bit_length(), -1, np.int32), used,
    )  # fmt: skip
    add_paths(
        event_rows(open_timeline.columns), of_type, root, begin, end,
        TrackBounds(
            bounds.first_row, bounds.last_row, bounds.first, bounds.low, bounds.high, bounds.events
        ),
        nodes, row_heads(), np.empty((_MOST_NESTED, 4), np.int64),
    )  # fmt: skip
    if is_by_track:
        count[0], total[0] = count[1:used].sum(), total[1:used].sum()
    *known, left_count, left_ps = columns[:, : nodes.used]
    left = np.flatnonzero(left_count)
    others = left, OTHER, depth[left] + 1, left_count[left], left_ps[left], -1, -1
    parent, group, depth, count, total, longest, longest_ps = (
        np.append(column, np.broadcast_to(other, left.shape))
        for column, other in zip(known, others, strict=True)
    )
    own = total.copy()
    np.subtract.at(own, parent[1:], total[1:])
    return CallPaths(
        CallTree(parent, group, depth, count, total, own, longest, longest_ps), nodes.overlap_ps
    )
