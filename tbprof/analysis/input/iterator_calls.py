"""The time of each stage of an input pipeline in each call of the pipeline."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.spans.groups import group_rows
from tbprof.base.records import dataclass
from tbprof.kernels.analysis.iterator_walk import (
    CallColumns,
    CallNodes,
    CallPath,
    bisect_ranges,
    visit_calls,
)
from tbprof.kernels.codes import MOST_TIME


@dataclass(frozen=True, slots=True)
class Visits:
    """The nodes [m] of pipeline calls [c], at `first_node` [c + 1], parents before children.

    Columns are as in `TfData`. `loops` counts calls that led back to an iterator above them.
    """

    first_node: NDArray[np.int64]
    bottleneck: NDArray[np.int64]
    is_cut: NDArray[np.bool_]
    iterator: NDArray[np.int32]
    parent: NDArray[np.int64]
    start_ps: NDArray[np.int64]
    total_ps: NDArray[np.int64]
    self_ps: NDArray[np.int64]
    late_ps: NDArray[np.int64]
    calls: NDArray[np.int64]
    queue_ps: NDArray[np.int64]
    held_ps: NDArray[np.int64]
    is_critical: NDArray[np.bool_]
    loops: int


@dataclass(frozen=True, slots=True)
class Calls:
    """Calls [n] of iterators: `iterator` is the one called, `above` the call that it served.

    Chains of `above` must not contain cycles. `is_cut`: it is unknown what the call waited for.
    `late_ps` is how long the call continued after it had its element. Functions of the call's stage
    waited `queue_ps` for a pool thread, while functions of the stage `filler` occupied the pool, -1
    if unknown.
    """

    above: NDArray[np.int64]
    iterator: NDArray[np.int32]
    start_ps: NDArray[np.int64]
    duration_ps: NDArray[np.int64]
    is_cut: NDArray[np.bool_]
    late_ps: NDArray[np.int64]
    queue_ps: NDArray[np.int64]
    filler: NDArray[np.int64]


def visit(roots: NDArray[np.int64], calls: Calls, stage: NDArray[np.int32]) -> Visits:
    """Return the nodes of the pipeline calls `roots` [c], one call after the other.

    Iterator i is a copy of stage `stage[i]`. A node's self time is the time of its calls that no
    call below covers. The root is critical; another stage is critical if one of its calls overlaps
    the call that it serves, and that call is critical.

        Root   |rrrrrrrrrrrr|       self 2
        Batch  | bbbbbbbbbb |       self 4
        Map    | mmm mmm    |       self 6, the bottleneck
        Range  |rr          |       not critical if it was read ahead, before the call
    """
    size, above = calls.iterator.size, calls.above
    order = np.lexsort((calls.start_ps, above))
    order = order[above[order] >= 0]
    first_child = np.searchsorted(above[order], np.arange(size + 1)).astype(np.int64)
    depth = size + 1
    call, next_child, covered, self_ps = np.empty((4, depth), np.int64)
    visited, node_of = np.zeros((2, stage.size), np.int64)
    path = CallPath(
        call, next_child, covered, self_ps, np.zeros(depth, np.bool_),
        visited, node_of, np.zeros(stage.size, np.bool_),
    )  # fmt: skip
    first_node = np.zeros(roots.size + 1, np.int64)
    nodes, is_critical = np.empty((6, size), np.int64), np.zeros(size, np.bool_)
    node_of_call, own_of_call = np.full(size, -1, np.int64), np.zeros(size, np.int64)
    loops = visit_calls(
        roots,
        CallColumns(first_child, order, calls.iterator, calls.start_ps, calls.duration_ps),
        path,
        CallNodes(first_node, nodes, is_critical, node_of_call, own_of_call),
    )
    nodes = nodes[:, : first_node[-1]].copy()
    is_critical = is_critical[: first_node[-1]].copy()
    blame = _blame(calls, stage, first_node, nodes, is_critical, node_of_call, own_of_call)
    row, parent, start, total, own_time, times = nodes
    called = np.flatnonzero(node_of_call >= 0)
    late = np.minimum(calls.late_ps, own_of_call)[called]
    late_ps = _summed(node_of_call[called], late, is_critical.size)
    return Visits(
        first_node, blame.bottleneck, blame.is_unknown, row.astype(np.int32), parent, start, total,
        own_time, late_ps, times, blame.queue_ps, blame.held_ps, blame.is_critical, int(loops),
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Blame:
    """What delayed each pipeline call [c], and the contribution of each node [m]."""

    bottleneck: NDArray[np.int64]
    is_unknown: NDArray[np.bool_]
    queue_ps: NDArray[np.int64]
    held_ps: NDArray[np.int64]
    is_critical: NDArray[np.bool_]


def _blame(
    calls: Calls,
    stage: NDArray[np.int32],
    first_node: NDArray[np.int64],
    nodes: NDArray[np.int64],
    is_critical: NDArray[np.bool_],
    node_of_call: NDArray[np.int64],
    own_of_call: NDArray[np.int64],
) -> _Blame:
    size, roots = is_critical.size, first_node.size - 1
    number = np.repeat(np.arange(roots), np.diff(first_node))
    row, owner = nodes[0], nodes[4]
    cut = np.flatnonzero(calls.is_cut & (node_of_call >= 0))
    unknown = _summed(node_of_call[cut], own_of_call[cut], size)
    waiting = np.flatnonzero((calls.queue_ps > 0) & (node_of_call >= 0))
    node, queue = node_of_call[waiting], np.minimum(calls.queue_ps, own_of_call)[waiting]
    # Group nodes by call and stage; waits for a pool are added to the stage that filled it.
    code, first = group_rows([
        np.concatenate((number, number[node])),
        np.concatenate((stage[row], calls.filler[waiting])),
    ])  # fmt: skip
    code_of_node, filler = code[:size], code[size:]
    groups = int(code_of_node.max(initial=-1)) + 1
    known_rows = np.flatnonzero(filler < groups)
    filled = _summed(filler[known_rows], queue[known_rows], groups)
    first = first[:groups]
    held_ps = owner - _summed(node[known_rows], queue[known_rows], size)
    held_ps[first] += filled
    is_awaited = filled > 0
    is_awaited[code_of_node[is_critical]] = True
    held_by, unknown = (
        _summed(code_of_node, held_ps, groups),
        _summed(code_of_node, unknown, groups),
    )
    # The stage that delayed each call longest; of equal ones the first.
    candidates = np.flatnonzero(is_awaited & (held_by > 0))
    order = candidates[np.lexsort((candidates, -held_by[candidates], number[first[candidates]]))]
    called, index = np.unique(number[first[order]], return_index=True)
    best = order[index]
    bottleneck, is_unknown = np.full(roots, -1, np.int64), np.zeros(roots, np.bool_)
    bottleneck[called] = first[best]
    is_unknown[called] = 2 * unknown[best] > held_by[best]
    queue_ps = _summed(node, queue, size)
    return _Blame(bottleneck, is_unknown, queue_ps, held_ps, is_awaited[code_of_node])


def _summed(
    group: NDArray[np.int64] | NDArray[np.int32], values: NDArray[np.int64], groups: int
) -> NDArray[np.int64]:
    """Return [groups] sums, clipped to int64 so that corrupt times do not overflow."""
    total = np.bincount(group, values.astype(np.float64), groups)
    return np.minimum(total, MOST_TIME).astype(np.int64)


def first_at_or_after(
    value: NDArray[np.int64],
    first: NDArray[np.int64],
    last: NDArray[np.int64],
    wanted: NDArray[np.int64],
) -> NDArray[np.int64]:
    """Return [n] the first of rows `first:last`, ascending in `value`, >= `wanted`; else `last`."""
    out = np.empty(wanted.size, np.int64)
    bisect_ranges(value, first, last, wanted, out)
    return out


def work_in_windows(
    piece_of: NDArray[np.int64],
    begin_ps: NDArray[np.int64],
    end_ps: NDArray[np.int64],
    sign: NDArray[np.int64],
    iterator: NDArray[np.int64],
    window_begin_ps: NDArray[np.int64],
    window_end_ps: NDArray[np.int64],
) -> NDArray[np.int64]:
    """Return [m] signed ps of the pieces of `iterator` within each window; -1 without pieces.

    Piece k belongs to the iterator `piece_of[k]`.
    """
    total = np.zeros(iterator.size, np.int64)
    size = np.zeros(iterator.size, np.int64)
    for edge, weight in ((begin_ps, sign), (end_ps, -sign)):
        order = np.lexsort((edge, piece_of))
        owner, edge = piece_of[order], edge[order]
        first, last = (
            np.searchsorted(owner, iterator),
            np.searchsorted(owner, iterator, side="right"),
        )
        count = np.concatenate(([0], np.cumsum(weight[order])))
        # Intermediate sums may wrap around; the final difference is correct.
        amount = np.concatenate(([0], np.cumsum(weight[order] * edge)))
        for edges, direction in ((window_end_ps, 1), (window_begin_ps, -1)):
            until = first_at_or_after(edge, first, last, edges)
            ramp = edges * (count[until] - count[first]) - (amount[until] - amount[first])
            total += direction * ramp
        size += last - first
    return np.where(size > 0, np.maximum(total, 0), -1)
