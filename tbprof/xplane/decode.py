"""Compiled passes over the bytes of lines: events to columns, stats by key.

Source of the field numbers: xplane.proto (XLine, XEvent, XStat). Every length is checked against
its parent's end, so hostile bytes cost a damage count, never a read out of bounds.
"""

import numpy as np

from tbprof.base.jit import kernel
from tbprof.xplane.lookup import find_row
from tbprof.xplane.wire import (
    FIXED64,
    LENGTH,
    VARINT,
    read_fixed64,
    read_length,
    read_varint,
    skip_value,
)

# Times beyond 2^57 ps (40 hours) are damage: clamped, so that sums of them stay in int64.
LIMIT_PS = 2**57

# Slots of the state array that a line's decoding is resumed with.
POSITION = 0
EVENTS = 1
AGGREGATED = 2
LAST_START = 3
LAST_DURATION = 4
UNSORTED = 5
DAMAGED = 6
DAMAGED_AT = 7
CLAMPED = 8
LINE_ID = 9
TIMESTAMP_NS = 10
DISPLAY_ID = 11
NAME_AT = 12
NAME_END = 13
DISPLAY_AT = 14
DISPLAY_END = 15
CUT = 16
DANGLING = 17
STATE_SIZE = 18

EVENT_FIELD = 4


@kernel
def count_events(buf, state, soft_end, end):  # type: ignore[no-untyped-def]
    """How many events of the line body ending at `end` begin before `soft_end`.

    Looks at their headers alone, from `state[0]` on, which moves; `state[1]` becomes 1 where the
    bytes are damaged. An event that is cut by the end counts.
    """
    events = 0
    pos = state[0]
    while pos < soft_end:
        tag, value_at = read_varint(buf, pos, end)
        if value_at < 0:
            state[1] = 1
            break
        if tag == (EVENT_FIELD << 3 | LENGTH):
            length, body = read_varint(buf, value_at, end)
            if body < 0 or length < 0 or length > end - body:
                state[1] = 1
                break
            events += 1
            pos = body + length
        else:
            pos = skip_value(buf, value_at, end, tag & 7)
            if pos < 0:
                state[1] = 1
                break
    state[0] = pos
    return events


@kernel
def decode_events(buf, state, soft_end, end, origin_ps, keys, rows, type_, start, duration, source):  # type: ignore[no-untyped-def]
    """Decodes the events of one line from `state[POSITION]` until past `soft_end`.

    Writes rows from the front of the four columns, and aggregated events (`num_occurrences` in
    place of an offset, kept as `start`) from their back. `origin_ps` is the line's start. `source`
    is the offset of each event's length varint. Field order is free: the timestamp that counts was
    read by the index, header fields that follow the events are left in `state`.
    """
    pos = state[POSITION]
    front = state[EVENTS]
    back = type_.size - state[AGGREGATED]
    while pos < soft_end:
        tag, value_at = read_varint(buf, pos, end)
        if value_at < 0 or tag >> 3 <= 0:
            state[CUT] = 1
            break
        wire_type = tag & 7
        if tag == (EVENT_FIELD << 3 | LENGTH):
            body, after = read_length(buf, value_at, end)
            if body < 0:
                state[CUT] = 1
                break
            if front >= back:
                state[CUT] = 1
                break
            metadata_id = np.int64(0)
            offset = np.int64(0)
            length_ps = np.int64(0)
            occurrences = np.int64(0)
            aggregated = False
            at = body
            while at < after:
                inner, inner_at = read_varint(buf, at, after)
                if inner_at < 0:
                    at = np.int64(-1)
                    break
                if inner == 0x22:
                    # Stats are the bulk of an event: stepped over, read later by key.
                    size, at = read_varint(buf, inner_at, after)
                    if at < 0 or size < 0 or size > after - at:
                        at = np.int64(-1)
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
                    at = np.int64(-1)
                else:
                    at = skip_value(buf, inner_at, after, inner & 7)
                if at < 0:
                    break
            if at < 0:
                if state[DAMAGED] == 0:
                    state[DAMAGED_AT] = pos
                state[DAMAGED] += 1
                pos = after
                continue
            row = find_row(keys, rows, metadata_id)
            if row < 0:
                state[DANGLING] += 1
            if length_ps < 0 or length_ps > LIMIT_PS:
                state[CLAMPED] += 1
                length_ps = np.int64(0) if length_ps < 0 else np.int64(LIMIT_PS)
            if aggregated:
                back -= 1
                type_[back] = row
                start[back] = max(occurrences, 0)
                duration[back] = length_ps
                source[back] = value_at
                pos = after
                continue
            if offset > LIMIT_PS or offset < -LIMIT_PS:
                state[CLAMPED] += 1
                offset = np.int64(LIMIT_PS) if offset > 0 else np.int64(-LIMIT_PS)
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
            source[front] = value_at
            front += 1
            pos = after
        elif wire_type == VARINT:
            value, after = read_varint(buf, value_at, end)
            if after < 0:
                state[CUT] = 1
                break
            if tag >> 3 == 10:
                state[DISPLAY_ID] = value
            elif tag >> 3 == 1:
                state[LINE_ID] = value
            elif tag >> 3 == 3:
                state[TIMESTAMP_NS] = value
            pos = after
        elif wire_type == LENGTH:
            body, after = read_length(buf, value_at, end)
            if body < 0:
                state[CUT] = 1
                break
            if tag >> 3 == 11:
                state[DISPLAY_AT] = body
                state[DISPLAY_END] = after
            elif tag >> 3 == 2:
                state[NAME_AT] = body
                state[NAME_END] = after
            pos = after
        else:
            after = skip_value(buf, value_at, end, wire_type)
            if after < 0:
                state[CUT] = 1
                break
            pos = after
    state[POSITION] = pos
    state[EVENTS] = front
    state[AGGREGATED] = type_.size - back


@kernel
def decode_stat(buf, pos, end, out):  # type: ignore[no-untyped-def]
    """Reads one XStat in [pos, end) into out = [metadata id, kind, bits]; False where damaged.

    `kind` is the number of the oneof's last member, 0 where none is set. `bits` are the value's 64
    bits, or the offset of the length varint of a text or bytes value.
    """
    out[0] = 0
    out[1] = 0
    out[2] = 0
    while pos < end:
        tag, value_at = read_varint(buf, pos, end)
        if value_at < 0 or tag >> 3 <= 0:
            return False
        field = tag >> 3
        wire_type = tag & 7
        if wire_type == VARINT:
            value, pos = read_varint(buf, value_at, end)
            if field == 1:
                out[0] = value
            elif field == 3 or field == 4 or field == 7:
                out[1] = field
                out[2] = value
        elif wire_type == LENGTH:
            _, pos = read_length(buf, value_at, end)
            if field == 5 or field == 6:
                out[1] = field
                out[2] = value_at
        elif wire_type == FIXED64 and value_at + 8 <= end:
            pos = value_at + 8
            if field == 2:
                out[1] = field
                out[2] = read_fixed64(buf, value_at)
        else:
            pos = skip_value(buf, value_at, end, wire_type)
        if pos < 0:
            return False
    return True


@kernel
def decode_stats(buf, source, limit, stat_field, keys, rows, slots, kinds, bits):  # type: ignore[no-untyped-def]
    """Finds the stats of some keys in messages; returns how many stats were damaged.

    `source` [n] are offsets of the messages' length varints (-1: none), `stat_field` the number of
    their field of stats (4 in XEvent, 5 in XEventMetadata). `keys`, `rows` look stat metadata ids
    up; `slots[row]` is the output column of a stat, -1 for others. `kinds` and `bits` are [n, k]
    and hold zeros. The first stat of a key counts, as in the field's usual getter.
    """
    columns = kinds.shape[1]
    damaged = 0
    stat = np.zeros(3, np.int64)
    wanted = stat_field << 3 | LENGTH
    for index in range(source.size):
        if source[index] < 0:
            continue
        at, after = read_length(buf, source[index], limit)
        if at < 0:
            damaged += 1
            continue
        found = 0
        while at < after and found < columns:
            tag, value_at = read_varint(buf, at, after)
            if value_at < 0:
                damaged += 1
                break
            if tag != wanted:
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
            if not decode_stat(buf, body, body_end, stat):
                damaged += 1
                continue
            row = find_row(keys, rows, stat[0])
            if row < 0 or slots[row] < 0 or stat[1] == 0:
                continue
            column = slots[row]
            if kinds[index, column] == 0:
                kinds[index, column] = stat[1]
                bits[index, column] = stat[2]
                found += 1
    return damaged
