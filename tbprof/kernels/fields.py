# cython: wraparound=False
"""The fields of messages, their lines' heads and their dictionaries, found by length prefixes."""

import cython
from cython.cimports.tbprof.kernels.codes import (
    AT,
    BEYOND,
    HEAD_DISPLAY_AT,
    HEAD_DISPLAY_END,
    HEAD_DISPLAY_ID,
    HEAD_EVENTS_AT,
    HEAD_ID,
    HEAD_NAME_AT,
    HEAD_NAME_END,
    HEAD_TIMESTAMP_NS,
    HEADER,
    LENGTH,
    LINE_DISPLAY_ID,
    LINE_DISPLAY_NAME,
    LINE_EVENTS,
    LINE_ID,
    LINE_NAME,
    LINE_TIMESTAMP_NS,
    MOST_FIELDS,
    VARINT,
)
from cython.cimports.tbprof.kernels.types import Bytes, Ints, OutInts, OutIntTable, i64
from cython.cimports.tbprof.kernels.wire import read_length, read_varint, skip_value


@cython.ccall
@cython.exceptval(check=False)
@cython.locals(
    after=i64,
    body=i64,
    field=i64,
    length=i64,
    pos=i64,
    row=i64,
    tag=i64,
    value_at=i64,
    wire_type=i64,
)
def index_fields(
    buf: Bytes,
    base: i64,
    state: OutInts,
    end: i64,
    stop_field: i64,
    fields: OutInts,
    begins: OutInts,
    ends: OutInts,
    values: OutInts,
) -> i64:
    """Walks the fields of one message and returns how many rows it wrote.

    `state[0]` is the offset where the walk goes on with emptied rows or in the next window, which
    has to reach `state[1]`; `state[2]` becomes 1 at the end, 2 at damage (the offset stays on the
    damaged field), 3 where a field numbered `stop_field` begins (left unread), else stays 0. A
    length-delimited row has its body in `begins` and `ends`; a varint its value in `values` and
    `begins` = -1; other fields have no row. Where a body's length runs past `end`, `state[3]` is
    its field and `state[4]` its first byte, so that the part that is there can be read.
    """
    with cython.nogil:
        end -= base
        pos = state[0] - base
        row = 0
        while row < fields.shape[0]:
            if pos >= end:
                state[0] = base + pos
                state[2] = 1
                return row
            if pos > buf.shape[0] - HEADER and end > buf.shape[0]:
                break
            tag, value_at = read_varint(buf, pos, end)
            field = tag >> 3
            wire_type = tag & 7
            if value_at < 0 or field <= 0 or field > MOST_FIELDS:
                state[0] = base + pos
                state[2] = 2
                return row
            if field == stop_field:
                state[0] = base + pos
                state[2] = 3
                return row
            fields[row] = field
            begins[row] = -1
            ends[row] = -1
            values[row] = 0
            if wire_type == VARINT:
                values[row], after = read_varint(buf, value_at, end)
                row += 1
            elif wire_type == LENGTH:
                body, after = read_length(buf, value_at, end)
                begins[row] = base + body
                ends[row] = base + after
                row += 1
            else:
                after = skip_value(buf, value_at, end, wire_type)
            if after == BEYOND:
                state[1] = base + 4 * buf.shape[0]
                break
            if after < 0:
                state[0] = base + pos
                state[2] = 2
                if wire_type == LENGTH:
                    length, body = read_varint(buf, value_at, end)
                    if body >= 0 and length > 0:
                        state[3] = field
                        state[4] = base + body
                return row - 1 if wire_type in (VARINT, LENGTH) else row
            pos = after
        state[0] = base + pos
        return row


@cython.ccall
@cython.exceptval(check=False)
@cython.locals(
    after=i64, body=i64, end=i64, field=i64, pos=i64, row=i64, tag=i64, value=i64, value_at=i64
)
def read_heads(
    buf: Bytes, base: i64, state: OutInts, begins: Ints, ends: Ints, heads: OutIntTable
) -> cython.void:
    """Reads what precedes the events of XLine messages, from row `state[AT]` on.

    Up to the first that begins after the window. `_EVENTS_AT` is where the first event begins, or
    damage, or the message ends; -1 where the window ends before.
    """
    with cython.nogil:
        for row in range(state[AT], begins.shape[0]):
            state[AT] = row
            if begins[row] > base + buf.shape[0]:
                return
            pos = begins[row] - base
            end = ends[row] - base
            while pos < end:
                if pos > buf.shape[0] - HEADER and end > buf.shape[0]:
                    pos = -1 - base
                    break
                tag, value_at = read_varint(buf, pos, end)
                field = tag >> 3
                if value_at < 0 or field <= 0 or field > MOST_FIELDS or field == LINE_EVENTS:
                    break
                if tag & 7 == VARINT:
                    value, after = read_varint(buf, value_at, end)
                    if after >= 0 and field == LINE_ID:
                        heads[row, HEAD_ID] = value
                    elif after >= 0 and field == LINE_TIMESTAMP_NS:
                        heads[row, HEAD_TIMESTAMP_NS] = value
                    elif after >= 0 and field == LINE_DISPLAY_ID:
                        heads[row, HEAD_DISPLAY_ID] = value
                elif tag & 7 == LENGTH:
                    body, after = read_length(buf, value_at, end)
                    if body >= 0 and field == LINE_NAME:
                        heads[row, HEAD_NAME_AT] = base + body
                        heads[row, HEAD_NAME_END] = base + after
                    elif body >= 0 and field == LINE_DISPLAY_NAME:
                        heads[row, HEAD_DISPLAY_AT] = base + body
                        heads[row, HEAD_DISPLAY_END] = base + after
                else:
                    after = skip_value(buf, value_at, end, tag & 7)
                if after == BEYOND:
                    pos = -1 - base
                    break
                if after < 0:
                    break
                pos = after
            heads[row, HEAD_EVENTS_AT] = base + pos
        state[AT] = begins.shape[0]


@cython.ccall
@cython.exceptval(check=False)
@cython.locals(
    at=i64,
    damaged=i64,
    end=i64,
    entry=i64,
    field=i64,
    first=i64,
    inner=i64,
    inner_at=i64,
    last=i64,
    pos=i64,
    tag=i64,
    value_at=i64,
)
def read_entries(
    buf: Bytes,
    base: i64,
    state: OutInts,
    begins: Ints,
    ends: Ints,
    display_field: i64,
    id_: OutInts,
    name: OutIntTable,
    display: OutIntTable,
    value: OutInts,
) -> i64:
    """Fills the columns from map entries [begins, ends); returns how many entries were damaged.

    Goes on from entry `state[0]` up to the first that the window does not hold as a whole, whose
    end becomes `state[1]`.
    """
    with cython.nogil:
        damaged = 0
        for entry in range(state[0], begins.shape[0]):
            state[0] = entry
            pos = begins[entry] - base
            end = ends[entry] - base
            if end > buf.shape[0]:
                state[1] = ends[entry]
                return damaged
            while pos < end:
                tag, value_at = read_varint(buf, pos, end)
                if value_at < 0 or tag >> 3 <= 0:
                    damaged += 1
                    break
                if tag == (1 << 3 | VARINT):
                    id_[entry], pos = read_varint(buf, value_at, end)
                elif tag == (2 << 3 | LENGTH):
                    at, pos = read_length(buf, value_at, end)
                    value[entry] = base + value_at if at >= 0 else -1
                    while at >= 0 and at < pos:
                        inner, inner_at = read_varint(buf, at, pos)
                        if inner_at < 0 or inner >> 3 <= 0:
                            damaged += 1
                            break
                        field = inner >> 3
                        if inner & 7 == LENGTH:
                            first, last = read_length(buf, inner_at, pos)
                            if first >= 0 and field == 2:
                                name[entry, 0] = base + first
                                name[entry, 1] = base + last
                            elif first >= 0 and field == display_field:
                                display[entry, 0] = base + first
                                display[entry, 1] = base + last
                            at = last
                        else:
                            at = skip_value(buf, inner_at, pos, inner & 7)
                        if at < 0:
                            damaged += 1
                else:
                    pos = skip_value(buf, value_at, end, tag & 7)
                if pos < 0:
                    damaged += 1
                    break
        state[0] = begins.shape[0]
        return damaged


@cython.ccall
@cython.exceptval(check=False)
def body_at(buf: Bytes, end: i64) -> tuple[i64, i64]:
    """(first, last) of the body whose length is the first varint; first is -1 where damaged."""
    return read_length(buf, 0, end)
