# cython: wraparound=False
"""The passes over the events of lines: one counts, one decodes, one finds types alone."""

import cython
from cython.cimports.tbprof.kernels.codes import (
    AGGREGATED,
    AT,
    BEYOND,
    CLAMPED,
    CUT,
    DAMAGED,
    DAMAGED_AT,
    DANGLING,
    EVENTS,
    HEADER,
    LAST_DURATION,
    LAST_START,
    LENGTH,
    LIMIT_PS,
    LINE_DISPLAY_ID,
    LINE_DISPLAY_NAME,
    LINE_EVENTS,
    LINE_ID,
    LINE_NAME,
    LINE_TIMESTAMP_NS,
    REACH,
    SCAN_DISPLAY_AT,
    SCAN_DISPLAY_END,
    SCAN_DISPLAY_ID,
    SCAN_ENDED,
    SCAN_HAS_DISPLAY_ID,
    SCAN_HAS_ID,
    SCAN_HAS_TIMESTAMP,
    SCAN_ID,
    SCAN_NAME_AT,
    SCAN_NAME_END,
    SCAN_TIMESTAMP_NS,
    UNSORTED,
    VARINT,
)
from cython.cimports.tbprof.kernels.types import (
    Bytes,
    Int32s,
    Ints,
    OutInt32s,
    OutInts,
    OutIntTable,
    i64,
)
from cython.cimports.tbprof.kernels.wire import find_row, read_length, read_varint, skip_value


@cython.ccall
@cython.exceptval(check=False)
def scan_span(buf: Bytes, base: i64, state: OutInts, end: i64) -> i64:
    """How many events of the span ending at `end` begin in the window, by their headers alone.

    Goes on from `state[AT]`, and notes in `state` the other fields of the line and whether damage
    ended the pass.
    """
    with cython.nogil:
        return _scan(buf, base, state, end)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
@cython.locals(
    _=i64,
    after=i64,
    body=i64,
    events=i64,
    field=i64,
    pos=i64,
    stop=i64,
    tag=i64,
    value=i64,
    value_at=i64,
)
def _scan(buf: Bytes, base: i64, state: OutInts, end: i64) -> i64:
    events = 0
    end -= base
    pos = state[AT] - base
    stop = end if end <= buf.shape[0] else buf.shape[0] - HEADER
    while pos < stop:
        tag, value_at = read_varint(buf, pos, end)
        after = -1
        if value_at < 0 or tag >> 3 <= 0:
            state[SCAN_ENDED] = 1
            break
        field = tag >> 3
        if tag == (LINE_EVENTS << 3 | LENGTH):
            _, after = read_length(buf, value_at, end)
            if after >= 0:
                events += 1
        elif tag & 7 == LENGTH:
            body, after = read_length(buf, value_at, end)
            if after >= 0:
                if field == LINE_NAME:
                    state[SCAN_NAME_AT] = base + body
                    state[SCAN_NAME_END] = base + after
                elif field == LINE_DISPLAY_NAME:
                    state[SCAN_DISPLAY_AT] = base + body
                    state[SCAN_DISPLAY_END] = base + after
        elif tag & 7 == VARINT:
            value, after = read_varint(buf, value_at, end)
            if after >= 0:
                if field == LINE_ID:
                    state[SCAN_ID] = value
                    state[SCAN_HAS_ID] = 1
                elif field == LINE_TIMESTAMP_NS:
                    state[SCAN_TIMESTAMP_NS] = value
                    state[SCAN_HAS_TIMESTAMP] = 1
                elif field == LINE_DISPLAY_ID:
                    state[SCAN_DISPLAY_ID] = value
                    state[SCAN_HAS_DISPLAY_ID] = 1
        else:
            after = skip_value(buf, value_at, end, tag & 7)
        if after == BEYOND:
            state[REACH] = base + 4 * buf.shape[0]
            break
        if after < 0:
            state[SCAN_ENDED] = 1
            break
        pos = after
    state[AT] = base + pos
    return events


@cython.ccall
@cython.exceptval(check=False)
@cython.locals(row=i64)
def scan_spans(
    buf: Bytes, base: i64, states: OutIntTable, ends: Ints, counted: OutInts
) -> cython.void:
    """`scan_span` of spans that all lie in the window."""
    with cython.nogil:
        for row in range(ends.shape[0]):
            counted[row] = _scan(buf, base, states[row], ends[row])


@cython.ccall
@cython.exceptval(check=False)
@cython.locals(first=i64, last=i64, row=i64)
def decode_spans(
    buf: Bytes,
    base: i64,
    states: OutIntTable,
    ends: Ints,
    origins: Ints,
    firsts: Ints,
    lasts: Ints,
    keys: Ints,
    rows: Int32s,
    type_: OutInt32s,
    start: OutInts,
    duration: OutInts,
    source: OutInts,
) -> cython.void:
    """`decode_events` of spans that all lie in the window, each into its rows of the columns."""
    with cython.nogil:
        for row in range(ends.shape[0]):
            first = firsts[row]
            last = lasts[row]
            _decode(
                buf, base, states[row], ends[row], origins[row], keys, rows,
                type_[first:last], start[first:last], duration[first:last], source[first:last],
            )  # fmt: skip


@cython.ccall
@cython.exceptval(check=False)
def decode_events(
    buf: Bytes,
    base: i64,
    state: OutInts,
    end: i64,
    origin_ps: i64,
    keys: Ints,
    rows: Int32s,
    type_: OutInt32s,
    start: OutInts,
    duration: OutInts,
    source: OutInts,
) -> cython.void:
    """Decodes the events of a span from `state[AT]` on that the window holds as a whole.

    Writes rows from the front of the four columns, and aggregated events (`num_occurrences` in
    place of an offset, kept as `start`) from their back. `origin_ps` is the span's start. `source`
    is the offset of each event's length varint.
    """
    with cython.nogil:
        _decode(buf, base, state, end, origin_ps, keys, rows, type_, start, duration, source)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
@cython.locals(
    after=i64,
    aggregated=i64,
    at=i64,
    back=i64,
    begin=i64,
    body=i64,
    front=i64,
    inner=i64,
    inner_at=i64,
    length_ps=i64,
    metadata_id=i64,
    occurrences=i64,
    offset=i64,
    pos=i64,
    row=i64,
    size=i64,
    stop=i64,
    tag=i64,
    value_at=i64,
)
def _decode(
    buf: Bytes,
    base: i64,
    state: OutInts,
    end: i64,
    origin_ps: i64,
    keys: Ints,
    rows: Int32s,
    type_: OutInt32s,
    start: OutInts,
    duration: OutInts,
    source: OutInts,
) -> cython.void:
    end -= base
    pos = state[AT] - base
    stop = end if end <= buf.shape[0] else buf.shape[0] - HEADER
    front = state[EVENTS]
    back = type_.shape[0] - state[AGGREGATED]
    while pos < stop:
        tag, value_at = read_varint(buf, pos, end)
        if value_at < 0 or tag >> 3 <= 0:
            state[CUT] = 1
            break
        if tag == (LINE_EVENTS << 3 | LENGTH):
            body, after = read_length(buf, value_at, end)
            if body < 0:
                state[CUT] = 1
                break
            if front >= back:
                state[CUT] = 1
                break
            if after > buf.shape[0]:
                state[REACH] = base + after
                break
            metadata_id = 0
            offset = 0
            length_ps = 0
            occurrences = 0
            aggregated = False
            at = body
            while at < after:
                inner, inner_at = read_varint(buf, at, after)
                if inner_at < 0:
                    at = -1
                    break
                if inner == 0x22:
                    # Stats are the bulk of an event: stepped over, read later by key.
                    size, at = read_varint(buf, inner_at, after)
                    if at < 0 or size < 0 or size > after - at:
                        at = -1
                        break
                    at += size
                elif inner == 0x08:
                    metadata_id, at = read_varint(buf, inner_at, after)
                elif inner == 0x10:
                    offset, at = read_varint(buf, inner_at, after)
                    aggregated = False
                elif inner == 0x18:
                    length_ps, at = read_varint(buf, inner_at, after)
                elif inner == 0x28:
                    occurrences, at = read_varint(buf, inner_at, after)
                    aggregated = True
                elif inner >> 3 <= 0:
                    at = -1
                else:
                    at = skip_value(buf, inner_at, after, inner & 7)
                if at < 0:
                    break
            if at < 0:
                if state[DAMAGED] == 0:
                    state[DAMAGED_AT] = base + pos
                state[DAMAGED] += 1
                pos = after
                continue
            row = find_row(keys, rows, metadata_id)
            if row < 0:
                state[DANGLING] += 1
            if length_ps < 0 or length_ps > LIMIT_PS:
                state[CLAMPED] += 1
                length_ps = 0 if length_ps < 0 else LIMIT_PS
            if aggregated:
                back -= 1
                type_[back] = row
                start[back] = max(occurrences, 0)
                duration[back] = length_ps
                source[back] = base + value_at
                pos = after
                continue
            if offset > LIMIT_PS or offset < -LIMIT_PS:
                state[CLAMPED] += 1
                offset = LIMIT_PS if offset > 0 else -LIMIT_PS
            begin = origin_ps + offset
            if front > 0 and (
                begin < state[LAST_START]
                or (begin == state[LAST_START] and length_ps > state[LAST_DURATION])
            ):
                state[UNSORTED] = 1
            state[LAST_START] = begin
            state[LAST_DURATION] = length_ps
            type_[front] = row
            start[front] = begin
            duration[front] = length_ps
            source[front] = base + value_at
            front += 1
            pos = after
        else:
            after = skip_value(buf, value_at, end, tag & 7)
            if after == BEYOND:
                state[REACH] = base + 4 * buf.shape[0]
                break
            if after < 0:
                state[CUT] = 1
                break
            pos = after
    state[AT] = base + pos
    state[EVENTS] = front
    state[AGGREGATED] = type_.shape[0] - back


@cython.ccall
@cython.exceptval(check=False)
@cython.locals(after=i64, at=i64, message=i64, metadata_id=i64, tag=i64, value_at=i64)
def find_types(
    buf: Bytes,
    base: i64,
    state: OutInts,
    end: i64,
    begins: Ints,
    targets: Ints,
    keys: Ints,
    rows: Int32s,
    types: OutInt32s,
) -> cython.void:
    """Writes the types of messages, from `state[AT]` on up to the first beyond the window.

    As in the pass that decodes events, the last `metadata_id` counts, up to any damage.
    """
    with cython.nogil:
        end -= base
        for message in range(state[AT], begins.shape[0]):
            state[AT] = message
            at = begins[message] - base
            if at > buf.shape[0] - HEADER and end > buf.shape[0]:
                state[REACH] = base + at + HEADER
                return
            at, after = read_length(buf, at, end)
            if at >= 0 and after > buf.shape[0]:
                state[REACH] = base + after
                return
            metadata_id = 0
            while 0 <= at < after:
                tag, value_at = read_varint(buf, at, after)
                if value_at < 0:
                    break
                if tag == (1 << 3 | VARINT):
                    metadata_id, at = read_varint(buf, value_at, after)
                else:
                    at = skip_value(buf, value_at, after, tag & 7)
            types[targets[message]] = find_row(keys, rows, metadata_id)
        state[AT] = begins.shape[0]
