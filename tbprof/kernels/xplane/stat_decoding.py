# cython: wraparound=False
"""The passes over the stats of messages: a few keys as columns, or all as rows."""

import cython
from cython.cimports.tbprof.kernels.codes import (
    ABSENT,
    BYTES,
    DOUBLE,
    FIXED64,
    INT64,
    KEY_TAG,
    LENGTH,
    REFERENCE,
    STAT_DAMAGED,
    TEXT,
    UINT64,
    VARINT,
)
from cython.cimports.tbprof.kernels.types import (
    Bytes,
    Flags,
    Int32s,
    Ints,
    OutBytes,
    OutByteTable,
    OutFlags,
    OutInt32s,
    OutInts,
    OutIntTable,
    i64,
)
from cython.cimports.tbprof.kernels.xplane.equal_texts import KnownTexts, number_text
from cython.cimports.tbprof.kernels.xplane.id_lookup import Lookup
from cython.cimports.tbprof.kernels.xplane.passes import Pass, StatListing, Window
from cython.cimports.tbprof.kernels.xplane.wire import (
    find_row,
    read_body_of,
    read_fixed64,
    read_length,
    read_varint,
    read_whole_body,
    skip_value,
)


@cython.final
@cython.cclass
class StatMessages:
    """Messages [m] whose stats in the field with number `field` are read.

    `begins` are the ascending offsets of their length varints, `targets` their rows in the output.
    """

    begins: Ints
    targets: Ints
    field: i64

    def __init__(self, begins: Ints, targets: Ints, field: i64) -> None:
        self.begins = begins
        self.targets = targets
        self.field = field


@cython.final
@cython.cclass
class WantedStats:
    """The stats of k keys: `kinds` and `bits` are [k, n], and 0 before.

    The plane has `known` of the keys. `slots` is the row in them of each row of stat metadata, -1
    if it is not requested, `by_id` the same for the ids of one byte, which most stats have. The
    bits of texts of `numbered` [k] keys are their numbers.
    """

    known: i64
    slots: Int32s
    by_id: Int32s
    numbered: Flags
    kinds: OutByteTable
    bits: OutIntTable

    def __init__(
        self, known: i64, slots: Int32s, by_id: Int32s, numbered: Flags, kinds: OutByteTable,
        bits: OutIntTable,
    ) -> None:  # fmt: skip
        self.known = known
        self.slots = slots
        self.by_id = by_id
        self.numbered = numbered
        self.kinds = kinds
        self.bits = bits


@cython.final
@cython.cclass
class StatLists:
    """A row per stat, see events.stats.StatRows; `spans` [n, 2] are the rows of each message."""

    spans: OutIntTable
    name: OutInt32s
    kind: OutBytes
    bits: OutInts
    size: OutInts
    content: OutBytes

    def __init__(
        self, spans: OutIntTable, name: OutInt32s, kind: OutBytes, bits: OutInts, size: OutInts,
        content: OutBytes,
    ) -> None:  # fmt: skip
        self.spans = spans
        self.name = name
        self.kind = kind
        self.bits = bits
        self.size = size
        self.content = content


@cython.ccall
@cython.nogil
@cython.exceptval(check=False)
def decode_stat(buf: Bytes, pos: i64, end: i64) -> tuple[i64, i64, i64]:
    """(metadata id, kind, bits) of the XStat in [pos, end).

    `kind` is the number of the oneof's last member, 0 if none is set, -1 if the stat is damaged.
    `bits` are the value's 64 bits, or the offset of the length varint of a text or bytes value.
    """
    return _decode_rest(buf, pos, end, 0)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
@cython.locals(
    _=i64, bits=i64, field=i64, kind=i64, tag=i64, value=i64, value_at=i64, wire_type=i64
)
def _decode_rest(buf: Bytes, pos: i64, end: i64, key: i64) -> tuple[i64, i64, i64]:
    """`decode_stat` for an XStat whose `key` has been read before `pos`, or is 0."""
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


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
@cython.locals(row=i64)
def _column(columns: WantedStats, keys: Ints, rows: Int32s, key: i64) -> i64:
    """The column of the stats with a `key`, -1 for none."""
    if 0 <= key < columns.by_id.shape[0]:
        return columns.by_id[key]
    row = find_row(keys, rows, key)
    return columns.slots[row] if row >= 0 else -1


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
@cython.locals(_=i64, after=i64, bits=i64, kind=i64, tag=i64)
def _decode_value(buf: Bytes, pos: i64, end: i64) -> tuple[i64, i64]:
    """(kind, bits) of the only value in [pos, end), as in `decode_stat`; 0 if there is more."""
    kind, bits, after = ABSENT, 0, -1
    if 0 <= pos < end:
        tag = buf[pos]
        kind = tag >> 3
        if tag == UINT64 << 3 or tag == INT64 << 3 or tag == REFERENCE << 3:
            bits, after = read_varint(buf, pos + 1, end)
        elif tag == (TEXT << 3 | LENGTH) or tag == (BYTES << 3 | LENGTH):
            bits = pos + 1
            _, after = read_length(buf, pos + 1, end)
        elif tag == (DOUBLE << 3 | FIXED64) and pos + 9 == end:
            bits = read_fixed64(buf, pos + 1)
            after = end
    if after != end:
        kind, bits = ABSENT, 0
    return kind, bits


@cython.ccall
@cython.exceptval(check=False)
@cython.locals(
    _=i64, after=i64, at=i64, base=i64, begins=Ints, bits=OutIntTable, body=i64, body_end=i64,
    buf=Bytes, column=i64, damaged=i64, damaged_before=i64, end=i64, found=i64, index=i64, key=i64,
    keys=Ints, kind=i64, kinds=OutByteTable, known=i64, message=i64, numbered=Flags, reach=i64,
    rows=Int32s, tag=i64, value=i64, value_at=i64, wanted=i64,
)  # fmt: skip
def decode_stats(
    window: Window,
    progress: Pass,
    messages: StatMessages,
    lookup: Lookup,
    columns: WantedStats,
    texts: KnownTexts,
) -> i64:
    """Finds the stats of some keys in messages; returns how many were damaged.

    Messages are read from row `progress.at` on, up to the first that is not in the window, or that
    has a text for which `texts` have no room; `progress.end` is the size of the file. `lookup`
    contains stat metadata ids. The first stat of a key counts, as in the usual getters.
    """
    buf, begins = window.content, messages.begins
    keys, rows = lookup.keys, lookup.rows
    numbered, kinds, bits = columns.numbered, columns.kinds, columns.bits
    texts.source = buf
    with cython.nogil:
        base = window.base
        damaged = 0
        wanted = messages.field << 3 | LENGTH
        end = progress.end - base
        known = columns.known
        for message in range(progress.at, begins.shape[0]):
            progress.at = message
            index = messages.targets[message]
            at, after, reach = read_whole_body(buf, begins[message] - base, end)
            if reach >= 0:
                progress.reach = base + reach
                return damaged
            if at < 0:
                damaged += 1
                continue
            found = 0
            damaged_before = damaged
            while at < after and found < known:
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
                # The key comes first, and most are not wanted.
                key, value_at, column = 0, -1, -1
                if body < body_end and buf[body] == KEY_TAG:
                    key, value_at = read_varint(buf, body + 1, body_end)
                    column = _column(columns, keys, rows, key)
                    if column < 0 and value_at >= 0:
                        continue
                kind, value = _decode_value(buf, value_at, body_end)
                if kind == ABSENT:  # encoded unusually
                    if value_at < 0:
                        key, value_at = 0, body
                    key, kind, value = _decode_rest(buf, value_at, body_end, key)
                    column = _column(columns, keys, rows, key)
                if kind < 0:
                    damaged += 1
                    continue
                if column < 0 or kind == ABSENT:
                    continue
                if kinds[column, index] != ABSENT:
                    continue
                if kind == TEXT and numbered[column] != 0:
                    body, body_end = read_length(buf, value, body_end)
                    value = number_text(body, body_end, texts)
                    if value < 0:  # the message is read again from its start
                        for column in range(kinds.shape[0]):
                            kinds[column, index] = ABSENT
                            bits[column, index] = 0
                        return damaged_before
                elif kind in (TEXT, BYTES):
                    value += base
                kinds[column, index] = kind
                bits[column, index] = value
                found += 1
        progress.at = begins.shape[0]
        return damaged


@cython.ccall
@cython.exceptval(check=False)
@cython.locals(
    after=i64, at=i64, base=i64, before=i64, begins=Ints, bits=OutInts, body=i64, body_end=i64,
    buf=Bytes, byte=i64, content=OutBytes, copied=i64, copied_before=i64, damaged=i64, end=i64,
    key=i64, keys=Ints, kind=OutBytes, length=i64, listed=i64, message=i64, name=OutInt32s,
    reach=i64, rows=Int32s, size=OutInts, spans=OutIntTable, start=i64, stop=i64, target=i64,
    value=i64, wanted=i64, what=i64,
)  # fmt: skip
def list_stats(
    window: Window, progress: StatListing, messages: StatMessages, lookup: Lookup, lists: StatLists
) -> i64:
    """Writes a row for each stat of messages that has a value; returns how many were damaged.

    Continues from row `progress.at` of the messages up to the first that is not in the window.
    Spans are the first and last row of each message, counted from the first window on; the other
    columns only belong to this window.
    """
    buf, begins = window.content, messages.begins
    keys, rows = lookup.keys, lookup.rows
    name, kind, bits, size = lists.name, lists.kind, lists.bits, lists.size
    spans, content = lists.spans, lists.content
    with cython.nogil:
        base = window.base
        damaged = 0
        before, copied_before = progress.listed, progress.copied
        listed = 0
        copied = 0
        wanted = messages.field << 3 | LENGTH
        end = progress.end - base
        for message in range(progress.at, begins.shape[0]):
            progress.at = message
            target = messages.targets[message]
            at, after, reach = read_whole_body(buf, begins[message] - base, end)
            if reach >= 0:
                progress.reach = base + reach
                return damaged
            if at < 0:
                damaged += 1
                continue
            spans[target, 0] = before + listed
            while at < after:
                body, body_end = read_body_of(buf, at, after, wanted)
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
            spans[target, 1] = before + listed
            progress.listed = before + listed
            progress.copied = copied_before + copied
        progress.at = begins.shape[0]
        return damaged


@cython.ccall
@cython.exceptval(check=False)
@cython.locals(
    _=i64, after=i64, at=i64, base=i64, begins=Ints, body=i64, body_end=i64, buf=Bytes, damaged=i64,
    end=i64, key=i64, keys=Ints, kind=i64, message=i64, reach=i64, row=i64, rows=Int32s, wanted=i64,
)  # fmt: skip
def mark_stats(
    window: Window, progress: Pass, messages: StatMessages, lookup: Lookup, used: OutFlags
) -> i64:
    """Sets `used` for each row of stat metadata whose stats messages have; returns the damaged.

    Continues from row `progress.at` of the messages up to the first that is not in the window.
    """
    buf, begins = window.content, messages.begins
    keys, rows = lookup.keys, lookup.rows
    with cython.nogil:
        base = window.base
        damaged = 0
        wanted = messages.field << 3 | LENGTH
        end = progress.end - base
        for message in range(progress.at, begins.shape[0]):
            progress.at = message
            at, after, reach = read_whole_body(buf, begins[message] - base, end)
            if reach >= 0:
                progress.reach = base + reach
                return damaged
            if at < 0:
                damaged += 1
                continue
            while at < after:
                body, body_end = read_body_of(buf, at, after, wanted)
                if body_end < 0:
                    damaged += 1
                    break
                at = body_end
                if body < 0:
                    continue
                key, kind, _ = decode_stat(buf, body, body_end)
                row = find_row(keys, rows, key)
                damaged += kind < 0
                if kind > 0 and row >= 0:
                    used[row] = True
        progress.at = begins.shape[0]
        return damaged
