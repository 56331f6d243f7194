# cython: wraparound=False
"""The passes over the stats of messages: a few keys as columns, or all as rows."""

import cython
from cython.cimports.tbprof.kernels.codes import (
    ABSENT,
    AT,
    BYTES,
    COPIED,
    FIXED64,
    HEADER,
    KEY_TAG,
    LENGTH,
    LISTED,
    REACH,
    REFERENCE,
    STAT_DAMAGED,
    TEXT,
    VARINT,
)
from cython.cimports.tbprof.kernels.types import (
    Bytes,
    Int32s,
    Ints,
    OutBytes,
    OutByteTable,
    OutInt32s,
    OutInts,
    OutIntTable,
    i64,
)
from cython.cimports.tbprof.kernels.wire import (
    find_row,
    read_fixed64,
    read_length,
    read_varint,
    skip_value,
)


@cython.ccall
@cython.nogil
@cython.exceptval(check=False)
@cython.locals(
    _=i64, bits=i64, field=i64, key=i64, kind=i64, tag=i64, value=i64, value_at=i64, wire_type=i64
)
def decode_stat(buf: Bytes, pos: i64, end: i64) -> tuple[i64, i64, i64]:
    """(metadata id, kind, bits) of the XStat in [pos, end).

    `kind` is the number of the oneof's last member, 0 where none is set, -1 where the stat is
    damaged. `bits` are the value's 64 bits, or the offset of the length varint of a text or bytes
    value.
    """
    key = 0
    kind = 0
    bits = 0
    while pos < end:
        tag, value_at = read_varint(buf, pos, end)
        if value_at < 0 or tag >> 3 <= 0:
            return key, STAT_DAMAGED, bits
        field = tag >> 3
        wire_type = tag & 7
        if wire_type == VARINT:
            value, pos = read_varint(buf, value_at, end)
            if field == 1:
                key = value
            elif field == 3 or field == 4 or field == 7:
                kind = field
                bits = value
        elif wire_type == LENGTH:
            _, pos = read_length(buf, value_at, end)
            if field == 5 or field == 6:
                kind = field
                bits = value_at
        elif wire_type == FIXED64 and value_at + 8 <= end:
            pos = value_at + 8
            if field == 2:
                kind = field
                bits = read_fixed64(buf, value_at)
        else:
            pos = skip_value(buf, value_at, end, wire_type)
        if pos < 0:
            return key, STAT_DAMAGED, bits
    return key, kind, bits


@cython.ccall
@cython.exceptval(check=False)
@cython.locals(
    _=i64,
    after=i64,
    at=i64,
    body=i64,
    body_end=i64,
    column=i64,
    columns=i64,
    damaged=i64,
    found=i64,
    index=i64,
    key=i64,
    kind=i64,
    message=i64,
    row=i64,
    tag=i64,
    value=i64,
    value_at=i64,
    wanted=i64,
)
def decode_stats(
    buf: Bytes,
    base: i64,
    state: OutInts,
    end: i64,
    begins: Ints,
    targets: Ints,
    field: i64,
    keys: Ints,
    rows: Int32s,
    slots: Int32s,
    kinds: OutByteTable,
    bits: OutIntTable,
) -> i64:
    """Finds the stats of some keys in messages; returns how many were damaged.

    `begins` [m] are the ascending offsets of the messages' length varints, read from `state[AT]` on
    up to the first that the window does not hold; `targets` [m] are their rows in the output.
    `end` is the size of the file, `field` the number of the field of stats. `keys`, `rows`
    look stat metadata ids up; `slots[row]` is the output column of a stat, -1 for others. `kinds`
    and `bits` are [k, n] and hold zeros. The first stat of a key counts, as in the field's usual
    getter.
    """
    with cython.nogil:
        columns = kinds.shape[0]
        damaged = 0
        wanted = field << 3 | LENGTH
        end -= base
        for message in range(state[AT], begins.shape[0]):
            state[AT] = message
            index = targets[message]
            at = begins[message] - base
            if at > buf.shape[0] - HEADER and end > buf.shape[0]:
                state[REACH] = base + at + HEADER
                return damaged
            at, after = read_length(buf, at, end)
            if at < 0:
                damaged += 1
                continue
            if after > buf.shape[0]:
                state[REACH] = base + after
                return damaged
            found = 0
            while at < after and found < columns:
                tag, value_at = read_varint(buf, at, after)
                if value_at < 0:
                    damaged += 1
                    break
                if tag != wanted:
                    if tag & 7 == VARINT:  # most of what is not a stat
                        _, at = read_varint(buf, value_at, after)
                    else:
                        at = skip_value(buf, value_at, after, tag & 7)
                    if at < 0:
                        damaged += 1
                        break
                    continue
                body, body_end = read_length(buf, value_at, after)
                if body < 0:
                    damaged += 1
                    break
                at = body_end
                if (
                    body < body_end and buf[body] == KEY_TAG
                ):  # it comes first, and most are not wanted
                    key, value_at = read_varint(buf, body + 1, body_end)
                    row = find_row(keys, rows, key)
                    if value_at >= 0 and (row < 0 or slots[row] < 0):
                        continue
                key, kind, value = decode_stat(buf, body, body_end)
                if kind < 0:
                    damaged += 1
                    continue
                row = find_row(keys, rows, key)
                if row < 0 or slots[row] < 0 or kind == ABSENT:
                    continue
                column = slots[row]
                if kinds[column, index] == ABSENT:
                    kinds[column, index] = kind
                    bits[column, index] = value
                    if kind in (TEXT, BYTES):
                        bits[column, index] += base
                    found += 1
        state[AT] = begins.shape[0]
        return damaged


@cython.ccall
@cython.exceptval(check=False)
@cython.locals(
    after=i64,
    at=i64,
    before=i64,
    bits=OutInts,
    body=i64,
    body_end=i64,
    byte=i64,
    content=OutBytes,
    copied=i64,
    copied_before=i64,
    damaged=i64,
    key=i64,
    kind=OutBytes,
    length=i64,
    listed=i64,
    message=i64,
    name=OutInt32s,
    size=OutInts,
    start=i64,
    stop=i64,
    tag=i64,
    value=i64,
    value_at=i64,
    wanted=i64,
    what=i64,
)
def list_stats(
    buf: Bytes,
    base: i64,
    state: OutInts,
    end: i64,
    begins: Ints,
    targets: Ints,
    field: i64,
    keys: Ints,
    rows: Int32s,
    spans: OutIntTable,
    columns: tuple,
) -> i64:
    """Writes a row for each stat of messages that has a value; returns how many were damaged.

    Goes from row `state[AT]` of `begins` up to the first message that the window does not hold.
    `spans` [n, 2] receive the first and last row of each message, counted from the first window on;
    `columns` (name, kind, bits, size, content) are those of this window alone.
    """
    name, kind, bits, size, content = columns
    with cython.nogil:
        damaged = 0
        before, copied_before = state[LISTED], state[COPIED]
        listed = 0
        copied = 0
        wanted = field << 3 | LENGTH
        end -= base
        for message in range(state[AT], begins.shape[0]):
            state[AT] = message
            at = begins[message] - base
            if at > buf.shape[0] - HEADER and end > buf.shape[0]:
                state[REACH] = base + at + HEADER
                return damaged
            at, after = read_length(buf, at, end)
            if at < 0:
                damaged += 1
                continue
            if after > buf.shape[0]:
                state[REACH] = base + after
                return damaged
            spans[targets[message], 0] = before + listed
            while at < after:
                tag, value_at = read_varint(buf, at, after)
                body, body_end = -1, -1
                if value_at >= 0 and tag == wanted:
                    body, body_end = read_length(buf, value_at, after)
                elif value_at >= 0:
                    body_end = skip_value(buf, value_at, after, tag & 7)
                if body_end < 0:
                    damaged += 1
                    break
                at = body_end
                if body < 0:
                    continue
                key, what, value = decode_stat(buf, body, body_end)
                damaged += what < 0
                if what <= 0:
                    continue
                length = 0
                if what in (TEXT, BYTES):
                    start, stop = read_length(buf, value, body_end)
                    length = stop - start
                    value = copied_before + copied
                    if what == TEXT:
                        for byte in range(length):
                            content[copied + byte] = buf[start + byte]
                        copied += length
                elif what == REFERENCE:
                    value = cython.cast(i64, find_row(keys, rows, value))
                name[listed] = find_row(keys, rows, key)
                kind[listed] = what
                bits[listed] = value
                size[listed] = length
                listed += 1
            spans[targets[message], 1] = before + listed
            state[LISTED] = before + listed
            state[COPIED] = copied_before + copied
        state[AT] = begins.shape[0]
        return damaged
