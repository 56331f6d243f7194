"""Calls of iterators as trees: each call belongs to the one that it was made for."""

import cython
from cython.cimports.tbprof.kernels.codes import (
    MOST_TIME,
)
from cython.cimports.tbprof.kernels.searches import first_not_below
from cython.cimports.tbprof.kernels.types import (
    Flags,
    Int32s,
    Ints,
    OutFlags,
    OutInts,
    OutIntTable,
    i64,
)


@cython.final
@cython.cclass
class CallColumns:
    """Calls [n] of iterators; those made for call c are `child[first_child[c]:...[c + 1]]`."""

    first_child: Ints
    child: Ints
    iterator: Int32s
    start: Ints
    duration: Ints

    def __init__(
        self, first_child: Ints, child: Ints, iterator: Int32s, start: Ints, duration: Ints
    ) -> None:
        self.first_child = first_child
        self.child = child
        self.iterator = iterator
        self.start = start
        self.duration = duration


@cython.final
@cython.cclass
class CallPath:
    """The path down to a call, a row per level; scratch.

    `next_child` is where a level continues, `covered` the time up to which calls below cover it,
    `own` its self time. By iterator: the number of the last root that visited it, from 1 on, its
    node there, and whether it is on the current path.
    """

    call: OutInts
    next_child: OutInts
    covered: OutInts
    own: OutInts
    is_blocking: OutFlags
    seen: OutInts
    node_of: OutInts
    is_above: OutFlags

    def __init__(
        self, call: OutInts, next_child: OutInts, covered: OutInts, own: OutInts,
        is_blocking: OutFlags, seen: OutInts, node_of: OutInts, is_above: OutFlags,
    ) -> None:  # fmt: skip
        self.call = call
        self.next_child = next_child
        self.covered = covered
        self.own = own
        self.is_blocking = is_blocking
        self.seen = seen
        self.node_of = node_of
        self.is_above = is_above


@cython.final
@cython.cclass
class CallNodes:
    """The output: the nodes of each root, and the node and the self time of each call.

    `columns` [6, m] are iterator, parent, start, total, self time and calls.
    """

    first: OutInts
    columns: OutIntTable
    is_critical: OutFlags
    of_call: OutInts
    own_of_call: OutInts

    def __init__(
        self, first: OutInts, columns: OutIntTable, is_critical: OutFlags, of_call: OutInts,
        own_of_call: OutInts,
    ) -> None:  # fmt: skip
        self.first = first
        self.columns = columns
        self.is_critical = is_critical
        self.of_call = of_call
        self.own_of_call = own_of_call


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _add_node(nodes: CallNodes, node: i64, row: i64, parent: i64, start: i64) -> cython.void:
    nodes.columns[0, node] = row
    nodes.columns[1, node] = parent
    nodes.columns[2, node] = start
    nodes.columns[3, node] = 0
    nodes.columns[4, node] = 0
    nodes.columns[5, node] = 0
    nodes.is_critical[node] = False


@cython.ccall
@cython.exceptval(check=False)
@cython.locals(
    begin=i64,
    below=i64,
    call=i64,
    columns=OutIntTable,
    end=i64,
    first_child=Ints,
    is_new=cython.bint,
    iterator=Int32s,
    loops=i64,
    node=i64,
    number=i64,
    overlap=i64,
    parent=i64,
    row=i64,
    start=Ints,
    duration=Ints,
    top=i64,
    used=i64,
)
def visit_calls(roots: Ints, calls: CallColumns, path: CallPath, nodes: CallNodes) -> i64:
    """Visits the calls below each root; returns how many led back to an iterator above them."""
    first_child, iterator = calls.first_child, calls.iterator
    start, duration = calls.start, calls.duration
    columns = nodes.columns
    with cython.nogil:
        used = 0
        loops = 0
        for number in range(roots.shape[0]):
            nodes.first[number] = used
            top = 0
            path.call[0] = roots[number]
            path.is_blocking[0] = True
            is_new = True
            while top >= 0:
                call = path.call[top]
                row = iterator[call]
                if is_new:
                    if path.seen[row] != number + 1:
                        path.seen[row] = number + 1
                        path.node_of[row] = used
                        parent = path.node_of[iterator[path.call[top - 1]]] if top > 0 else -1
                        _add_node(nodes, used, row, parent, start[call])
                        used += 1
                    node = path.node_of[row]
                    columns[2, node] = min(columns[2, node], start[call])
                    columns[3, node] = min(columns[3, node] + duration[call], MOST_TIME)
                    columns[5, node] += 1
                    nodes.is_critical[node] |= path.is_blocking[top]
                    path.is_above[row] = True
                    path.next_child[top] = first_child[call]
                    path.covered[top] = start[call]
                    path.own[top] = duration[call]
                if path.next_child[top] == first_child[call + 1]:
                    node = path.node_of[row]
                    columns[4, node] = min(columns[4, node] + path.own[top], MOST_TIME)
                    nodes.of_call[call] = node
                    nodes.own_of_call[call] = path.own[top]
                    path.is_above[row] = False
                    top -= 1
                    is_new = False
                    continue
                below = calls.child[path.next_child[top]]
                path.next_child[top] += 1
                if path.is_above[iterator[below]]:
                    loops += 1
                    is_new = False
                    continue
                end = min(start[call] + duration[call], start[below] + duration[below])
                overlap = end - max(start[call], start[below])
                begin = max(path.covered[top], start[below])
                if end > begin:  # children are ordered by start
                    path.own[top] -= end - begin
                    path.covered[top] = end
                path.is_blocking[top + 1] = path.is_blocking[top] and overlap > 0
                top += 1
                path.call[top] = below
                is_new = True
        nodes.first[roots.shape[0]] = used
        return loops


@cython.ccall
@cython.exceptval(check=False)
@cython.locals(row=i64)
def bisect_ranges(value: Ints, first: Ints, last: Ints, wanted: Ints, out: OutInts) -> cython.void:
    """The first row of each range whose value is not below `wanted`."""
    with cython.nogil:
        for row in range(wanted.shape[0]):
            out[row] = first_not_below(value, first[row], last[row], wanted[row])


@cython.ccall
@cython.exceptval(check=False)
@cython.locals(above=i64, at=i64, cuts=i64, row=i64)
def cut_loops(up: OutInts, mark: OutInts) -> i64:
    """Cuts cycles in the chains of `up`; returns how many."""
    with cython.nogil:
        cuts = 0
        for row in range(up.shape[0]):
            at = row
            while at >= 0 and mark[at] == 0:
                mark[at] = row + 1
                above = up[at]
                if above >= 0 and mark[above] == row + 1:
                    up[at] = -1
                    cuts += 1
                at = up[at]
        return cuts


@cython.ccall
@cython.exceptval(check=False)
@cython.locals(at=i64, found=i64, row=i64)
def find_calls_above(up: Ints, is_call: Flags, above: OutInts) -> cython.void:
    """The nearest call up the chain of each row, without cycles; `above` is -2 at first."""
    with cython.nogil:
        for row in range(up.shape[0]):
            at = up[row]
            while at >= 0 and not is_call[at] and above[at] == -2:
                at = up[at]
            found = at if at < 0 or is_call[at] else above[at]
            at = row
            while True:
                above[at] = found
                at = up[at]
                if at < 0 or is_call[at] or above[at] != -2:
                    break
