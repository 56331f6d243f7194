"""Groups of rows, and their sums."""

import cython
from cython.cimports.tbprof.kernels.codes import LOW_32, LOW_40
from cython.cimports.tbprof.kernels.searches import first_not_below
from cython.cimports.tbprof.kernels.types import (
    Flags,
    Int32s,
    Ints,
    IntTable,
    OutInt32s,
    OutInts,
    OutIntTable,
    i64,
)


@cython.ccall
@cython.exceptval(check=False)
@cython.locals(
    column=i64,
    group=i64,
    groups=i64,
    is_same=i64,
    mask=i64,
    mixed=i64,
    other=i64,
    row=i64,
    slot=i64,
    value=i64,
)
def number_groups(columns: IntTable, code: OutInt32s, first: OutInts, slots: OutInts) -> i64:
    """Fills in the group of each row, and the first row of each group; returns their number.

    Returns -1 if there are more than half as many groups as `slots`.
    """
    with cython.nogil:
        groups = 0
        mask = slots.shape[0] - 1
        for row in range(code.shape[0]):
            mixed = 0
            for column in range(columns.shape[0]):
                value = columns[column, row]
                mixed = ((mixed * 31) ^ (value & LOW_32) ^ ((value >> 32) & 0xFFFF)) & LOW_40
            slot = ((mixed * 40503) ^ (mixed >> 15)) & mask
            while True:
                group = slots[slot]
                if group < 0:
                    if 2 * groups >= slots.shape[0]:
                        return -1
                    slots[slot] = groups
                    first[groups] = row
                    code[row] = groups
                    groups += 1
                    break
                is_same = True
                other = first[group]
                for column in range(columns.shape[0]):
                    if columns[column, other] != columns[column, row]:
                        is_same = False
                        break
                if is_same:
                    code[row] = group
                    break
                slot = (slot + 1) & mask
        return groups


@cython.ccall
@cython.exceptval(check=False)
@cython.locals(group=i64, row=i64)
def renumber_groups(group_of: OutInt32s, new_number: Int32s) -> cython.void:
    """Replaces each group by its new number; group -1 stays."""
    with cython.nogil:
        for row in range(group_of.shape[0]):
            group = group_of[row]
            if group >= 0:
                group_of[row] = new_number[group]


@cython.ccall
@cython.exceptval(check=False)
@cython.locals(group=i64, row=i64)
def sum_groups(
    code: Int32s, value: Ints, total: OutInts, least: OutInts, most: OutInts, count: OutInts
) -> cython.void:
    """Adds values to the sums of their groups; group -1 is ignored."""
    with cython.nogil:
        for row in range(code.shape[0]):
            group = code[row]
            if group < 0:
                continue
            total[group] += value[row]
            count[group] += 1
            if count[group] == 1 or value[row] < least[group]:
                least[group] = value[row]
            if count[group] == 1 or value[row] > most[group]:
                most[group] = value[row]


@cython.ccall
@cython.exceptval(check=False)
@cython.locals(column=i64, group=i64, row=i64)
def sum_columns(code: Int32s, columns: IntTable, total: OutIntTable) -> cython.void:
    """Adds the values of each column to the sums [groups, columns] of their rows' groups."""
    with cython.nogil:
        for row in range(code.shape[0]):
            group = code[row]
            if group < 0:
                continue
            for column in range(columns.shape[0]):
                total[group, column] += columns[column, row]


@cython.ccall
@cython.exceptval(check=False)
@cython.locals(index=i64)
def fill_buckets(bucket: Ints, row: Ints, free: OutInts, consumer: OutInts) -> cython.void:
    """Puts rows into buckets; `free` is the next free place of each bucket."""
    with cython.nogil:
        for index in range(bucket.shape[0]):
            consumer[free[bucket[index]]] = row[index]
            free[bucket[index]] += 1


@cython.ccall
@cython.exceptval(check=False)
@cython.locals(column=i64, end=i64, index=i64, kind=i64, kinds=i64, line=i64, row=i64, rows=i64)
def tally_repeats(
    first: Ints,
    type_: Int32s,
    start: Ints,
    duration: Ints,
    wanted: Flags,
    least: i64,
    scratch: OutIntTable,
    touched: OutInts,
    out: OutIntTable,
) -> i64:
    """Fills a row of `out` for each repeated type of a line; returns their number."""
    with cython.nogil:
        # Columns of scratch [types]: count, total, first start, last start, reached end, overlaps.
        rows = 0
        for line in range(first.shape[0] - 1):
            kinds = 0
            for row in range(first[line], first[line + 1]):
                kind = type_[row]
                if kind < 0 or duration[row] == 0 or not wanted[kind]:
                    continue
                end = start[row] + duration[row]
                if scratch[kind, 0] == 0:
                    touched[kinds] = kind
                    kinds += 1
                    scratch[kind, 2] = start[row]
                elif start[row] < scratch[kind, 4]:
                    if end > scratch[kind, 4]:
                        scratch[kind, 5] += 1
                        scratch[kind, 4] = end
                    continue
                scratch[kind, 0] += 1
                scratch[kind, 1] += duration[row]
                scratch[kind, 3] = start[row]
                scratch[kind, 4] = end
            for index in range(kinds):
                kind = touched[index]
                # Partly overlapping events are concurrent, and do not delimit anything.
                if scratch[kind, 0] >= least and scratch[kind, 5] == 0:
                    out[rows, 0] = line
                    out[rows, 1] = kind
                    for column in range(4):
                        out[rows, 2 + column] = scratch[kind, column]
                    rows += 1
                for column in range(6):
                    scratch[kind, column] = 0
        return rows


@cython.ccall
@cython.exceptval(check=False)
@cython.locals(at=i64, begin=i64, line=i64, repeat=i64, row=i64)
def gather_repeats(
    first: Ints,
    type_: Int32s,
    start: Ints,
    duration: Ints,
    lines: Ints,
    kinds: Ints,
    place: OutInts,
    reached: OutInts,
    free: OutInts,
    rows: OutInts,
) -> cython.void:
    """Writes the outermost events of repeats, each from its `free` place on; `lines` ascend."""
    with cython.nogil:
        at = 0
        while at < lines.shape[0]:
            line = lines[at]
            begin = at
            while at < lines.shape[0] and lines[at] == line:
                place[kinds[at]] = at
                at += 1
            for row in range(first[line], first[line + 1]):
                if type_[row] < 0 or duration[row] == 0:
                    continue
                repeat = place[type_[row]]
                if repeat >= 0 and start[row] >= reached[repeat]:
                    reached[repeat] = start[row] + duration[row]
                    rows[free[repeat]] = row
                    free[repeat] += 1
            for repeat in range(begin, at):
                place[kinds[repeat]] = -1


@cython.ccall
@cython.exceptval(check=False)
@cython.locals(kind=i64, row=i64)
def sample_types(type_: Int32s, duration: Ints, sample: OutIntTable) -> cython.void:
    """Writes the first and last row with a duration of each type; negative types are last."""
    with cython.nogil:
        for row in range(type_.shape[0]):
            if duration[row] > 0:
                kind = type_[row]
                if sample[kind, 0] < 0:
                    sample[kind, 0] = row
                sample[kind, 1] = row


@cython.ccall
@cython.exceptval(check=False)
@cython.locals(at=i64, row=i64)
def stretch_windows(
    group: Int32s, start: Ints, end: Ints, first: OutInts, last: OutInts
) -> cython.void:
    """Widens the window of each group so that its spans fit; group -1 is ignored."""
    with cython.nogil:
        for row in range(group.shape[0]):
            at = group[row]
            if at >= 0:
                first[at] = min(first[at], start[row])
                last[at] = max(last[at], end[row])


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
@cython.locals(place=i64)
def _group_at(known: Ints, code: Int32s, offset: i64) -> i64:
    """The group of the event at an offset, -1 for none; `known` ascends."""
    place = first_not_below(known, 0, known.shape[0], offset)
    return code[place] if place < known.shape[0] and known[place] == offset else -1


@cython.ccall
@cython.exceptval(check=False)
@cython.locals(group=i64, index=i64)
def match_groups(
    known: Ints, code: Int32s, source: Ints, makers: Ints, takers: Ints, first: OutInts,
    out: OutInts,
) -> cython.void:  # fmt: skip
    """Fills out [takers] with the first of the `makers` in the same group, -1 for none.

    Both are rows of `source`. The events at the offsets `known` have the groups `code`, -1 for
    none. `first` [groups] is -1 before.
    """
    with cython.nogil:
        for index in range(makers.shape[0]):
            group = _group_at(known, code, source[makers[index]])
            if group >= 0 and first[group] < 0:
                first[group] = makers[index]
        for index in range(takers.shape[0]):
            group = _group_at(known, code, source[takers[index]])
            out[index] = first[group] if group >= 0 else -1
