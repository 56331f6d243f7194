"""All stats of some messages as rows, in one compiled pass over their bytes."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tbprof.base.jit import kernel
from tbprof.events.stats import BYTES, REFERENCE, TEXT
from tbprof.xplane.buffer import AT, REACH, Buffer
from tbprof.xplane.interning import in_file_order
from tbprof.xplane.lookup import find_row
from tbprof.xplane.metadata import Dictionary
from tbprof.xplane.wire import (
    FIXED64,
    HEADER,
    LENGTH,
    VARINT,
    read_fixed64,
    read_length,
    read_varint,
    skip_value,
)

# In place of a kind.
DAMAGED = -1

# Slots of the state of `list_stats`, after those of every pass: what has been written so far.
_LISTED = 2
_COPIED = 3
_STATE_SIZE = 4
# The fewest bytes of a stat with a value, its own tag and length included.
_STAT_BYTES = 4


def read_rows(
    buffer: Buffer, dictionary: Dictionary, source: NDArray[np.int64], field: int
) -> tuple[list[NDArray[Any]], int]:
    """(columns of events.stats.StatRows after `names`, how many stats were damaged).

    Of the stats in field `field` of the messages at `source` [n], offsets of their length varints,
    -1 for none.
    """
    targets = in_file_order(source)
    begins = source[targets]
    spans = np.zeros((source.size, 2), np.int64)
    parts = [_columns(0)]
    state = np.zeros(_STATE_SIZE, np.int64)
    damaged = 0
    for buf, base in buffer.around(state, begins):
        listed, copied = int(state[_LISTED]), int(state[_COPIED])
        columns = _columns(buf.size)
        damaged += int(list_stats(
            buf, base, state, len(buffer), begins, targets, field,
            dictionary.keys, dictionary.rows, spans, columns,
        ))  # fmt: skip
        more, content = int(state[_LISTED]) - listed, int(state[_COPIED]) - copied
        parts.append((*(one[:more].copy() for one in columns[:-1]), columns[-1][:content].copy()))
    joined = [np.concatenate(one) for one in zip(*parts, strict=True)]
    return [spans[:, 0].copy(), spans[:, 1].copy(), *joined], damaged


def _columns(window: int) -> tuple[NDArray[Any], ...]:
    """Name, kind, bits, size and content for the stats of a window of so many bytes."""
    rows = window // _STAT_BYTES
    return (
        np.empty(rows, np.int32),
        np.empty(rows, np.uint8),
        np.empty(rows, np.int64),
        np.empty(rows, np.int64),
        np.empty(window, np.uint8),
    )


@kernel
def list_stats(buf, base, state, end, begins, targets, field, keys, rows, spans, columns):  # type: ignore[no-untyped-def]
    """Writes a row for each stat of messages that has a value; returns how many were damaged.

    Goes from row `state[AT]` of `begins` up to the first message that the window does not hold.
    `spans` [n, 2] receive the first and last row of each message, counted from the first window on;
    `columns` (name, kind, bits, size, content) are those of this window alone.
    """
    damaged = 0
    name, kind, bits, size, content = columns
    before, copied_before = state[_LISTED], state[_COPIED]
    listed = np.int64(0)
    copied = np.int64(0)
    wanted = field << 3 | LENGTH
    end -= base
    for message in range(state[AT], begins.size):
        state[AT] = message
        at = begins[message] - base
        if at > buf.size - HEADER and end > buf.size:
            state[REACH] = base + at + HEADER
            return damaged
        at, after = read_length(buf, at, end)
        if at < 0:
            damaged += 1
            continue
        if after > buf.size:
            state[REACH] = base + after
            return damaged
        spans[targets[message], 0] = before + listed
        while at < after:
            tag, value_at = read_varint(buf, at, after)
            body, body_end = np.int64(-1), np.int64(-1)
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
            length = np.int64(0)
            if what in (TEXT, BYTES):
                start, stop = read_length(buf, value, body_end)
                length = stop - start
                value = copied_before + copied
                if what == TEXT:
                    for byte in range(length):
                        content[copied + byte] = buf[start + byte]
                    copied += length
            elif what == REFERENCE:
                value = np.int64(find_row(keys, rows, value))
            name[listed] = find_row(keys, rows, key)
            kind[listed] = what
            bits[listed] = value
            size[listed] = length
            listed += 1
        spans[targets[message], 1] = before + listed
        state[_LISTED] = before + listed
        state[_COPIED] = copied_before + copied
    state[AT] = begins.size
    return damaged


@kernel
def decode_stat(buf, pos, end):  # type: ignore[no-untyped-def]
    """(metadata id, kind, bits) of the XStat in [pos, end).

    `kind` is the number of the oneof's last member, 0 where none is set, -1 where the stat is
    damaged. `bits` are the value's 64 bits, or the offset of the length varint of a text or bytes
    value.
    """
    key = np.int64(0)
    kind = np.int64(0)
    bits = np.int64(0)
    while pos < end:
        tag, value_at = read_varint(buf, pos, end)
        if value_at < 0 or tag >> 3 <= 0:
            return key, np.int64(DAMAGED), bits
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
            return key, np.int64(DAMAGED), bits
    return key, kind, bits
