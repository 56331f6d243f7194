"""The callers of calls: a tree by name, and below each name by what called it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tbprof.base.records import dataclass, replace
from tbprof.base.values import join_tables, take_rows
from tbprof.timeline.calls.call_paths import OTHER, CallTree


@dataclass(frozen=True, slots=True)
class _PathCalls:
    """Nodes of a tree of paths [m], and where each belongs in the tree of callers.

    `path` is the node, `caller` the node at or above it that the chain has reached, and `node` the
    row of the chain up to there. Those of one row ascend.
    """

    path: NDArray[np.int64]
    caller: NDArray[np.int64]
    node: NDArray[np.int64]


def find_callers(paths: CallTree, names: int, most: int) -> CallTree:
    """The tree of callers: a node for each name, below it those that called it, and so on.

    The names are below the root, or below the tracks of `paths`; `names` is the number of groups
    that are names. `count` is the number of calls through the chain of callers, `self_ps` their
    self time, and `total_ps` how long any of them is in progress: of calls within each other only
    the outermost counts. The self times of the children of a name add up to its own, but for the
    outermost calls, which nothing called.

        |aaaaaaaa         a > b > a         a        2 calls, total 8, self 4, 1 of it in a < b
        |.bbbb.b.   ->    a > b        ->   a < b    1 call, total 1, self 1
        | aa                                b        2 calls, total 5, self 4, as has b < a

    The `most` nodes with the largest self times have all of their children; of others, what
    called them is not looked up.
    """
    paths, after = _in_preorder(paths)
    is_track = paths.group >= names
    is_call = (paths.group >= 0) & ~is_track
    top = np.append(0, np.flatnonzero(is_track))
    # The row of the track that a node is below, 0 without tracks.
    under = np.cumsum(is_track, dtype=np.int64)
    levels = [_level(paths, top, np.append(-1, np.zeros(top.size - 1, np.int64)), depth=0)]
    used = top.size
    largest = np.zeros(most, np.int64)
    path = np.flatnonzero(is_call)
    calls = _PathCalls(path, path, under[path])
    while calls.path.size:
        key = calls.node * names + paths.group[calls.caller]
        order = np.argsort(key, kind="stable")
        calls, key = take_rows(calls, order), key[order]
        first = np.flatnonzero(np.diff(key, prepend=-1))
        callers = _sum(paths, after, calls, first, depth=len(levels))
        levels.append(callers)
        largest = np.sort(np.append(largest, callers.self_ps))[-most:]
        place = np.repeat(np.arange(first.size), np.diff(np.append(first, key.size)))
        is_large = (callers.self_ps > 0) & (callers.self_ps >= largest[0])
        caller = paths.parent[calls.caller]
        calls = _PathCalls(calls.path, caller, used + place)
        calls = take_rows(calls, is_call[caller] & is_large[place])
        used += first.size
    left = np.flatnonzero(paths.group == OTHER)
    levels.append(_level(paths, left, under[left], depth=1))
    return join_tables(levels)


def _in_preorder(tree: CallTree) -> tuple[CallTree, NDArray[np.int64]]:
    """(the tree with each node right before what is below it, [n] the row after all of that)."""
    by_level = np.lexsort((tree.parent, tree.depth))
    levels = np.split(by_level, np.flatnonzero(np.diff(tree.depth[by_level])) + 1)
    size = np.ones(tree.parent.size, np.int64)
    for level in reversed(levels[1:]):
        np.add.at(size, tree.parent[level], size[level])
    rank = np.zeros(tree.parent.size, np.int64)
    for level in levels[1:]:
        parent = tree.parent[level]
        before = np.cumsum(size[level]) - size[level]
        first = np.flatnonzero(np.diff(parent, prepend=-1))
        before -= np.repeat(before[first], np.diff(np.append(first, level.size)))
        rank[level] = rank[parent] + 1 + before
    order = np.argsort(rank)
    ordered = take_rows(tree, order)
    ordered = replace(ordered, parent=np.append(-1, rank[ordered.parent[1:]]))
    return ordered, np.arange(order.size) + size[order]


def _sum(
    paths: CallTree,
    after: NDArray[np.int64],
    calls: _PathCalls,
    first: NDArray[np.int64],
    depth: int,
) -> CallTree:
    """A level of the tree of callers: the calls from each row of `first` to the next one."""
    sizes = np.diff(np.append(first, calls.path.size))
    # A call lies within another one of its node if an earlier one goes on.
    shift = np.repeat(np.arange(first.size) * (paths.parent.size + 1), sizes)
    until = np.maximum.accumulate(after[calls.path] + shift)
    is_outermost = np.append(True, until[:-1] <= calls.path[1:] + shift[1:])
    longest_ps = paths.longest_ps[calls.path]
    most_ps = np.maximum.reduceat(longest_ps, first)
    is_longest = longest_ps == np.repeat(most_ps, sizes)
    longest = np.where(is_longest, paths.longest[calls.path], np.iinfo(np.int64).max)
    return CallTree(
        calls.node[first],
        paths.group[calls.caller[first]],
        np.full(first.size, depth),
        np.add.reduceat(paths.count[calls.path], first),
        np.add.reduceat(np.where(is_outermost, paths.total_ps[calls.path], 0), first),
        np.add.reduceat(paths.self_ps[calls.path], first),
        np.minimum.reduceat(longest, first),
        most_ps,
    )


def _level(
    paths: CallTree, rows: NDArray[np.int64], parent: NDArray[np.int64], depth: int
) -> CallTree:
    """Some nodes of a tree of paths below other parents; all of their time is their own."""
    total = paths.total_ps[rows]
    return CallTree(
        parent, paths.group[rows], np.full(rows.size, depth), paths.count[rows], total, total,
        paths.longest[rows], paths.longest_ps[rows],
    )  # fmt: skip
