"""Calls of iterators: trees, and the calls that each was made for."""

import cython
from cython.cimports.tbprof.kernels.codes import (
    MOST_TIME,
)
from cython.cimports.tbprof.kernels.types import (
    Flags,
    Int32s,
    Ints,
    OutFlags,
    OutInts,
    OutIntTable,
    i64,
)


@cython.ccall
@cython.exceptval(check=False)
@cython.locals(
    begin=i64,
    below=i64,
    call=i64,
    end=i64,
    is_new=i64,
    loops=i64,
    node=i64,
    number=i64,
    overlap=i64,
    row=i64,
    top=i64,
    used=i64,
)
def visit_calls(
    roots: Ints,
    first_child: Ints,
    child: Ints,
    iterator: Int32s,
    start: Ints,
    duration: Ints,
    seen: OutInts,
    node_of: OutInts,
    is_above: OutFlags,
    stack: OutInts,
    next_child: OutInts,
    covered: OutInts,
    own: OutInts,
    is_blocking: OutFlags,
    first_node: OutInts,
    nodes: OutIntTable,
    is_critical: OutFlags,
    node_of_call: OutInts,
    own_of_call: OutInts,
) -> i64:
    """Walks from each root down, and returns how many calls led back to an iterator above them.

    `nodes` [6, m] takes iterator, parent, start, total, self time and calls of each node. The path
    down to a call is in the arrays from `stack` to `is_blocking`, a row per level.
    `node_of_call` [n] and `own_of_call` [n] take the node and the self time of calls on the way.
    """
    with cython.nogil:
        used = 0
        loops = 0
        for number in range(roots.shape[0]):
            first_node[number] = used
            top = 0
            stack[0] = roots[number]
            is_blocking[0] = True
            is_new = True
            while top >= 0:
                call = stack[top]
                row = iterator[call]
                if is_new:
                    if seen[row] != number + 1:
                        seen[row] = number + 1
                        node_of[row] = used
                        nodes[0, used] = row
                        nodes[1, used] = node_of[iterator[stack[top - 1]]] if top > 0 else -1
                        nodes[2, used] = start[call]
                        nodes[3, used] = 0
                        nodes[4, used] = 0
                        nodes[5, used] = 0
                        is_critical[used] = False
                        used += 1
                    node = node_of[row]
                    nodes[2, node] = min(nodes[2, node], start[call])
                    nodes[3, node] = min(nodes[3, node] + duration[call], MOST_TIME)
                    nodes[5, node] += 1
                    is_critical[node] |= is_blocking[top]
                    is_above[row] = True
                    next_child[top] = first_child[call]
                    covered[top] = start[call]
                    own[top] = duration[call]
                if next_child[top] == first_child[call + 1]:
                    node = node_of[row]
                    nodes[4, node] = min(nodes[4, node] + own[top], MOST_TIME)
                    node_of_call[call] = node
                    own_of_call[call] = own[top]
                    is_above[row] = False
                    top -= 1
                    is_new = False
                    continue
                below = child[next_child[top]]
                next_child[top] += 1
                if is_above[iterator[below]]:
                    loops += 1
                    is_new = False
                    continue
                end = min(start[call] + duration[call], start[below] + duration[below])
                overlap = end - max(start[call], start[below])
                begin = max(covered[top], start[below])
                if end > begin:  # children come by their starts
                    own[top] -= end - begin
                    covered[top] = end
                is_blocking[top + 1] = is_blocking[top] and overlap > 0
                top += 1
                stack[top] = below
                is_new = True
        first_node[roots.shape[0]] = used
        return loops


@cython.ccall
@cython.exceptval(check=False)
@cython.locals(high=i64, low=i64, middle=i64, row=i64)
def bisect_ranges(value: Ints, first: Ints, last: Ints, wanted: Ints, out: OutInts) -> cython.void:
    """Of each range of rows the first whose value is not below `wanted`."""
    with cython.nogil:
        for row in range(wanted.shape[0]):
            low, high = first[row], last[row]
            while low < high:
                middle = (low + high) // 2
                if value[middle] < wanted[row]:
                    low = middle + 1
                else:
                    high = middle
            out[row] = low


@cython.ccall
@cython.exceptval(check=False)
@cython.locals(above=i64, at=i64, cuts=i64, row=i64)
def cut_loops(up: OutInts, mark: OutInts) -> i64:
    """Makes chains of `up` end; returns how many were cut."""
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
    """The nearest call up the chain of each row; `above` comes as -2, and chains end."""
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
