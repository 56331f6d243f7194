"""The activities of threads by their nested events, and the time of each activity."""

import cython
from cython.cimports.tbprof.kernels.codes import (
    DOES_ANNOTATION,
    DOES_COMPILATION,
    DOES_EAGER,
    DOES_GARBAGE,
    DOES_NOTHING,
    DOES_OPS,
    DOES_PYTHON,
    DOES_RUNTIME,
    DOES_SLEEP,
    DOES_TF_DATA,
    DOES_TF_FUNCTION,
    DOES_TRANSPARENT,
    DOES_WAIT,
    LOW_40,
)
from cython.cimports.tbprof.kernels.types import (
    Flags,
    Int8s,
    Int32s,
    Ints,
    OutFlags,
    OutInt32s,
    OutInts,
    OutIntTable,
    i64,
)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _in_frame(what: i64, own: i64, is_program: i64) -> i64:
    if own in (DOES_GARBAGE, DOES_WAIT):
        return own
    if what in (DOES_TF_DATA, DOES_TF_FUNCTION, DOES_COMPILATION, DOES_GARBAGE):
        return what
    if own == DOES_SLEEP:
        return own
    return DOES_PYTHON if what == DOES_NOTHING or is_program > 0 else what


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _in_event(what: i64, own: i64) -> i64:
    if own in (DOES_RUNTIME, DOES_EAGER, DOES_OPS) and what in (
        DOES_TF_DATA, DOES_TF_FUNCTION, DOES_COMPILATION, DOES_GARBAGE,
    ):  # fmt: skip
        return what
    if own == DOES_ANNOTATION and what >= 0:
        return what
    return own


@cython.ccall
@cython.exceptval(check=False)
@cython.locals(
    above=i64,
    around=i64,
    at=i64,
    column=i64,
    count=i64,
    here=i64,
    inner=i64,
    is_frame=cython.bint,
    is_wait=cython.bint,
    mask=i64,
    mixed=i64,
    next_forced=i64,
    other=i64,
    own=i64,
    row=i64,
    then=i64,
    title=i64,
    what=i64,
)
def follow_activity(
    parent: Int32s,
    duration: Ints,
    type_: Int32s,
    does: Int8s,
    frame: Int8s,
    forced: Ints,
    slots: OutInt32s,
    states: OutIntTable,
    state: OutInt32s,
) -> i64:
    """Fills in the state of each event, a row of `states`; returns the number of states.

    A state is what an event does, the type that names it, and the type of its part; the first state
    is that of no activity. The rows `forced`, ascending, are functions of pipelines. `slots` are a
    hash table. Stops and returns -1 if there are more than half as many states as `slots`.
    """
    with cython.nogil:
        mask = slots.shape[0] - 1
        states[0, 0], states[0, 1], states[0, 2] = DOES_NOTHING, -1, -1
        count = 1
        next_forced = 0
        # `frame` of a type: 0 none, 1 of a library, 2 of the program.
        for row in range(type_.shape[0]):
            above = parent[row]
            around = cython.cast(i64, state[above]) if above >= 0 else 0
            what, title, inner = states[around, 0], states[around, 1], states[around, 2]
            here = cython.cast(i64, type_[row])
            own = cython.cast(i64, does[here])
            is_frame = frame[here] > 0
            is_wait = own in (DOES_WAIT, DOES_SLEEP)
            while next_forced < forced.shape[0] and forced[next_forced] < row:
                next_forced += 1
            if duration[row] == 0 or own == DOES_TRANSPARENT:
                state[row] = around
                continue
            if next_forced < forced.shape[0] and forced[next_forced] == row:
                what, title, inner = DOES_TF_FUNCTION, -1, -1
            elif is_frame and (title < 0 or (frame[here] == 2 and not is_wait)):
                then = _in_frame(what, own, frame[here] - 1)
                # What the runtime does in Python is still named by what it does.
                inner = inner if then == what and then > DOES_ANNOTATION else -1
                what, title = then, here
            elif is_frame:
                inner = (
                    here
                    if inner < 0 or (is_wait and what not in (DOES_WAIT, DOES_SLEEP))
                    else inner
                )
                what = _in_frame(what, own, frame[here] - 1)
            elif own == DOES_TF_DATA:
                what, title, inner = own, -1, here
            elif own == DOES_ANNOTATION and what in (DOES_NOTHING, DOES_ANNOTATION):
                what, title, inner = own, here, -1
            else:
                then = _in_event(what, own)
                inner = here if inner < 0 or then != what else inner
                what = then
            mixed = (((what + 1) * 31 ^ (title + 1)) * 31 ^ (inner + 1)) & LOW_40
            at = ((mixed * 40503) ^ (mixed >> 15)) & mask
            while True:
                other = cython.cast(i64, slots[at])
                if other < 0:
                    if 2 * count >= slots.shape[0]:
                        return -1
                    states[count, 0], states[count, 1], states[count, 2] = what, title, inner
                    slots[at] = count
                    other = count
                    count += 1
                    break
                if (
                    states[other, 0] == what
                    and states[other, 1] == title
                    and states[other, 2] == inner
                ):
                    break
                at = (at + 1) & mask
            state[row] = other
        return count


@cython.ccall
@cython.exceptval(check=False)
@cython.locals(at=i64, key=i64, line=i64, met=i64, row=i64)
def keep_active(
    first: Ints,
    start: Ints,
    duration: Ints,
    begin: Ints,
    end: Ints,
    state: Int32s,
    is_active: Flags,
    is_driver: Flags,
    counts: OutFlags,
    is_met: OutFlags,
    keys: OutInts,
) -> i64:
    """Clears the flags of events that do nothing in any of the spans [begin, end), line by line.

    Writes the keys of the remaining events in order of appearance: twice the state, plus one if the
    line `is_driver`. Returns their number.
    """
    with cython.nogil:
        met = 0
        for line in range(first.shape[0] - 1):
            at = 0
            for row in range(first[line], first[line + 1]):
                while at < end.shape[0] and end[at] <= start[row]:
                    at += 1
                if not counts[row]:
                    continue
                if (
                    at == end.shape[0]
                    or duration[row] == 0
                    or not is_active[state[row]]
                    or begin[at] >= start[row] + duration[row]
                ):
                    counts[row] = 0
                    continue
                key = 2 * cython.cast(i64, state[row]) + (1 if is_driver[line] else 0)
                if not is_met[key]:
                    is_met[key] = 1
                    keys[met] = key
                    met += 1
        return met


@cython.ccall
@cython.exceptval(check=False)
@cython.locals(line=i64, own=i64, row=i64)
def label_states(first: Ints, is_driver: Flags, label: Int32s, state: OutInt32s) -> cython.void:
    """Replaces the state of each event by the label of its key, see `keep_active`."""
    with cython.nogil:
        for line in range(first.shape[0] - 1):
            own = 1 if is_driver[line] else 0
            for row in range(first[line], first[line + 1]):
                state[row] = label[2 * state[row] + own]


@cython.ccall
@cython.exceptval(check=False)
@cython.locals(row=i64)
def tally_pieces(
    label: Int32s, start: Ints, end: Ints, count: OutInts, time: OutInts
) -> cython.void:
    """Sums the number and the duration of the pieces of each label."""
    with cython.nogil:
        for row in range(label.shape[0]):
            count[label[row]] += 1
            time[label[row]] += end[row] - start[row]


@cython.ccall
@cython.exceptval(check=False)
@cython.locals(at=i64, group=i64, line=i64, row=i64)
def sort_pieces(
    cuts: Ints,
    label: Int32s,
    number: Int32s,
    start: Ints,
    end: Ints,
    free: OutInts,
    out_start: OutInts,
    out_end: OutInts,
    out_line: OutInt32s,
) -> cython.void:
    """Writes the pieces of lines, ordered by label number; `free` is the next free row of each."""
    with cython.nogil:
        for line in range(cuts.shape[0] - 1):
            for row in range(cuts[line], cuts[line + 1]):
                group = cython.cast(i64, number[label[row]])
                at = free[group]
                out_start[at] = start[row]
                out_end[at] = end[row]
                out_line[at] = line
                free[group] = at + 1
