"""Sums over a range of rows by path: the types of the events around each event."""

import cython
from cython.cimports.tbprof.kernels.timeline.row_heaps import EventRows, RowHeads
from cython.cimports.tbprof.kernels.timeline.track_rows import TrackBounds, open_rows, pass_event
from cython.cimports.tbprof.kernels.types import (
    Int32s,
    Ints,
    OutInt32s,
    OutInts,
    OutIntTable,
    i64,
)


@cython.final
@cython.cclass
class PathNodes:
    """The columns of `CallPaths` [room], and its hash table: `slots`, -1 for an empty one.

    `depth` and the other columns of the roots, which are the first `used`, are filled in.
    """

    parent: OutInts
    group: OutInts
    depth: OutInts
    count: OutInts
    total: OutInts
    longest: OutInts
    longest_ps: OutInts
    left_count: OutInts
    left_ps: OutInts
    slots: OutInt32s
    used = cython.declare(i64, visibility="readonly")
    overlap_ps = cython.declare(i64, visibility="readonly")

    def __init__(
        self, parent: OutInts, group: OutInts, depth: OutInts, count: OutInts, total: OutInts,
        longest: OutInts, longest_ps: OutInts, left_count: OutInts, left_ps: OutInts,
        slots: OutInt32s, used: i64,
    ) -> None:  # fmt: skip
        self.parent = parent
        self.group = group
        self.depth = depth
        self.count = count
        self.total = total
        self.longest = longest
        self.longest_ps = longest_ps
        self.left_count = left_count
        self.left_ps = left_ps
        self.slots = slots
        self.used = used
        self.overlap_ps = 0


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
@cython.locals(mask=i64, node=i64, slot=i64)
def node_below(
    nodes: PathNodes, parent: i64, group: i64, parents: Ints, groups: Ints, slots: OutInt32s
) -> i64:
    """The node of a group below another node, created if it is new; -1 if there is no room."""
    mask = slots.shape[0] - 1
    # Two 31-bit numbers fit into 63 bits.
    slot = (((parent * 0x1E3779B1 + group * 0x2C1B3C6D) & 0x7FFFFFFF) * 0x7FEB352D >> 15) & mask
    while slots[slot] >= 0:
        node = slots[slot]
        if parents[node] == parent and groups[node] == group:
            return node
        slot = (slot + 1) & mask
    node = nodes.used
    if node >= parents.shape[0]:
        return -1
    slots[slot] = cython.cast(cython.int, node)
    nodes.parent[node] = parent
    nodes.group[node] = group
    nodes.depth[node] = nodes.depth[parent] + 1
    nodes.count[node] = nodes.total[node] = 0
    nodes.longest_ps[node] = -1
    nodes.left_count[node] = nodes.left_ps[node] = 0
    nodes.used = node + 1
    return node


@cython.ccall
@cython.exceptval(check=False)
@cython.locals(
    above=i64,
    count=OutInts,
    covered=i64,
    event=i64,
    from_ps=i64,
    groups=OutInts,
    head=OutInts,
    head_end=OutInts,
    head_start=OutInts,
    heap=OutInts,
    group=i64,
    inside_from=i64,
    inside_to=i64,
    length=i64,
    longest=OutInts,
    longest_ps=OutInts,
    node=i64,
    overlap_ps=i64,
    parents=OutInts,
    size=i64,
    slots=OutInt32s,
    to_ps=i64,
    top=i64,
    total=OutInts,
    track=i64,
)
def add_paths(
    rows: EventRows,
    of_type: Int32s,
    roots: Ints,
    begin: i64,
    end: i64,
    bounds: TrackBounds,
    nodes: PathNodes,
    heads: RowHeads,
    stack: OutIntTable,
) -> cython.void:
    """Adds the events of all tracks of `bounds` to the nodes of their paths below `roots` [tracks].

    As `add_tracks`, but time of a parent that an earlier event covers is not counted again. The
    stack holds the events around the present one: end, where the part that counts begins, what is
    covered of it so far, node; -1 - node for those that are left out below it.
    """
    count, total, longest, longest_ps = nodes.count, nodes.total, nodes.longest, nodes.longest_ps
    parents, groups, slots = nodes.parent, nodes.group, nodes.slots
    heap, head, head_start, head_end = heads.heap, heads.head, heads.start, heads.end
    with cython.nogil:
        overlap_ps = 0
        for track in range(roots.shape[0]):
            size = open_rows(rows, bounds, track, begin, heap, head, head_start, head_end)
            stack[0, 1] = stack[0, 2] = begin
            stack[0, 3] = roots[track]
            top = 1
            while size > 0:
                event = head[heap[0]]
                from_ps = head_start[heap[0]]
                to_ps = head_end[heap[0]]
                size = pass_event(
                    rows, bounds, track, begin, size, heap, head, head_start, head_end
                )
                while top > 1 and (stack[top - 1, 0] < to_ps or stack[top - 1, 0] <= from_ps):
                    top -= 1
                inside_from = max(from_ps, begin)
                inside_to = min(to_ps, end)
                covered = stack[top - 1, 2]
                length = max(inside_to - max(inside_from, covered), 0)
                overlap_ps += max(min(inside_to, covered) - max(inside_from, stack[top - 1, 1]), 0)
                stack[top - 1, 2] = max(covered, inside_to)
                above = stack[top - 1, 3]
                node = -1
                if above >= 0:
                    group = cython.cast(i64, of_type[rows.type[event]])
                    node = node_below(nodes, above, group, parents, groups, slots)
                    if top == 1:
                        total[above] += length
                if node >= 0:
                    count[node] += 1
                    total[node] += length
                    if inside_to - inside_from > longest_ps[node]:
                        longest[node] = event
                        longest_ps[node] = inside_to - inside_from
                else:
                    if above >= 0:
                        nodes.left_ps[above] += length
                        above = -1 - above
                    nodes.left_count[-1 - above] += 1
                    node = above
                count[roots[track]] += 1
                if top < stack.shape[0]:
                    stack[top, 0] = to_ps
                    stack[top, 1] = stack[top, 2] = max(inside_from, covered)
                    stack[top, 3] = node
                    top += 1
        nodes.overlap_ps += overlap_ps
