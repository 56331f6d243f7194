"""The phases of threads, by their nested events."""

import cython
from cython.cimports.tbprof.kernels.codes import (
    FOREVER,
    HOLDS_KNOWN,
    HOLDS_LAUNCHES,
    NO_PHASE,
    PHASE_AHEAD,
    PHASE_COMPILATION,
    PHASE_COMPUTE,
    PHASE_INPUT,
    PHASE_LAUNCH,
    PHASE_OUTPUT,
    ROLE_BACKGROUND,
    ROLE_LAUNCHER,
    ROLE_UPKEEP,
    ROLE_WAIT,
    ROLE_WRAPPER,
)
from cython.cimports.tbprof.kernels.types import (
    Bytes,
    Flags,
    Int8s,
    Int32s,
    Ints,
    OutBytes,
    OutInt32s,
    OutInts,
    OutIntTable,
    i64,
)


@cython.ccall
@cython.exceptval(check=False)
@cython.locals(above=i64, own=i64, row=i64, held=i64)
def look_inside(
    begin: i64,
    end: i64,
    type_: Int32s,
    duration: Ints,
    parent: Int32s,
    role: Int8s,
    inside: OutBytes,
) -> cython.void:
    """Collects what the events [begin, end) of some lines contain at any depth, as `HOLDS_…`."""
    with cython.nogil:
        # Parents precede their children, so in reverse each row is complete when it is passed to
        # its parent.
        for row in range(end - 1, begin - 1, -1):
            above = parent[row]
            if above < 0 or duration[row] == 0:
                continue
            own = role[type_[row]]
            held = inside[row]
            if own >= 0 or own in (ROLE_WRAPPER, ROLE_BACKGROUND):
                held |= HOLDS_KNOWN
            if own == PHASE_LAUNCH:
                held |= HOLDS_LAUNCHES
            inside[above] |= held


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
@cython.locals(launches=cython.bint)
def _phase_inside(own: cython.schar, above: i64, inside: cython.uchar) -> i64:
    if own in (ROLE_WAIT, ROLE_UPKEEP):
        return NO_PHASE
    if own == ROLE_BACKGROUND:
        return PHASE_AHEAD
    launches = (inside & HOLDS_LAUNCHES) != 0
    if own == ROLE_LAUNCHER and launches:
        return PHASE_LAUNCH
    if own == ROLE_LAUNCHER:
        if above >= 0 or (inside & HOLDS_KNOWN) != 0:
            return above
        return PHASE_COMPUTE
    if own == PHASE_COMPUTE:
        return PHASE_LAUNCH if launches or above == PHASE_LAUNCH else PHASE_COMPUTE
    return own if own >= 0 else above


@cython.ccall
@cython.exceptval(check=False)
@cython.locals(above=i64, keeps=cython.bint, row=i64)
def find_own_phases(
    begin: i64,
    end: i64,
    type_: Int32s,
    duration: Ints,
    parent: Int32s,
    counts: Flags,
    role: Int8s,
    inside: Bytes,
    phase: OutInt32s,
) -> cython.void:
    """Fills in the phase of the events [begin, end) of some lines.

    They follow from an event's own role and its ancestors.
    """
    with cython.nogil:
        for row in range(begin, end):
            above = phase[parent[row]] if parent[row] >= 0 else NO_PHASE
            keeps = above in (PHASE_INPUT, PHASE_OUTPUT, PHASE_COMPILATION, PHASE_AHEAD)
            # A transfer that compiles first is not slow input.
            keeps = keeps and (above == PHASE_AHEAD or role[type_[row]] != PHASE_COMPILATION)
            if keeps or duration[row] == 0 or not counts[row]:
                phase[row] = above
            else:
                phase[row] = _phase_inside(role[type_[row]], above, inside[row])


@cython.ccall
@cython.exceptval(check=False)
@cython.locals(
    at=i64,
    begin=i64,
    end=i64,
    is_last=cython.bint,
    is_same=cython.bint,
    line=i64,
    now=i64,
    opened=i64,
    row=i64,
    rows=i64,
    top=i64,
    until=i64,
)
def flatten_phases(
    first: Ints,
    start: Ints,
    duration: Ints,
    counts: Flags,
    phase: Int32s,
    stack: OutIntTable,
    cuts: OutInts,
    out_start: OutInts,
    out_end: OutInts,
    out_phase: OutInt32s,
) -> cython.void:
    """Writes disjoint pieces of phases, line by line; `cuts` are where lines begin."""
    with cython.nogil:
        rows = 0
        for line in range(first.shape[0] - 1):
            cuts[line] = rows
            top = 0
            at = 0
            opened = rows  # rows before it are other lines'
            for row in range(first[line], first[line + 1] + 1):
                is_last = row == first[line + 1]
                begin = FOREVER if is_last else start[row]
                if not is_last:
                    if not counts[row] or duration[row] == 0:
                        continue
                    # Most events change nothing: they are inside an event with the same phase.
                    is_same = top > 0 and phase[row] == stack[top - 1, 1]
                    if is_same and begin + duration[row] <= stack[top - 1, 0]:
                        continue
                # The piece up to here belongs to the latest event in progress.
                while top > 0 and at < begin:
                    end = stack[top - 1, 0]
                    now = stack[top - 1, 1]
                    until = min(end, begin)
                    if until > at and now >= 0:
                        if rows > opened and out_end[rows - 1] == at and out_phase[rows - 1] == now:
                            out_end[rows - 1] = until
                        else:
                            out_start[rows] = at
                            out_end[rows] = until
                            out_phase[rows] = now
                            rows += 1
                    at = max(at, until)
                    if end <= at:
                        top -= 1
                while top > 0 and stack[top - 1, 0] <= begin:
                    top -= 1
                if not is_last and (top > 0 or phase[row] >= 0):
                    at = begin
                    stack[top, 0] = begin + duration[row]
                    stack[top, 1] = phase[row]
                    top += 1
        cuts[first.shape[0] - 1] = rows
