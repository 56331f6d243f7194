# cython: wraparound=False
"""The fields of messages, heads of lines and dictionaries, found by length prefixes."""

import cython
from cython.cimports.tbprof.kernels.codes import (
    BEYOND,
    HEADER,
    LENGTH,
    LINE_DISPLAY_ID,
    LINE_DISPLAY_NAME,
    LINE_EVENTS,
    LINE_ID,
    LINE_NAME,
    LINE_TIMESTAMP_NS,
    METADATA_STATS,
    MOST_FIELDS,
    VARINT,
)
from cython.cimports.tbprof.kernels.types import Bytes, Ints, IntTable, OutInts, OutIntTable, i64
from cython.cimports.tbprof.kernels.xplane.passes import FieldWalk, Pass, Window
from cython.cimports.tbprof.kernels.xplane.wire import read_length, read_varint, skip_value


@cython.final
@cython.cclass
class FieldRows:
    """Fields of a message, as xplane.field_scan.Field has them."""

    number: OutInts
    begin: OutInts
    end: OutInts
    value: OutInts

    def __init__(self, number: OutInts, begin: OutInts, end: OutInts, value: OutInts) -> None:
        self.number = number
        self.begin = begin
        self.end = end
        self.value = value


@cython.final
@cython.cclass
class LineHeads:
    """The fields before the events of XLines [n]; names are byte ranges [n, 2].

    `events_at` is the offset of the first event, of damage, or of the end; -1 if the window ends
    before.
    """

    id: OutInts
    timestamp_ns: OutInts
    display_id: OutInts
    events_at: OutInts
    name: OutIntTable
    display_name: OutIntTable

    def __init__(
        self, id: OutInts, timestamp_ns: OutInts, display_id: OutInts, events_at: OutInts,
        name: OutIntTable, display_name: OutIntTable,
    ) -> None:  # fmt: skip
        self.id = id
        self.timestamp_ns = timestamp_ns
        self.display_id = display_id
        self.events_at = events_at
        self.name = name
        self.display_name = display_name


@cython.final
@cython.cclass
class MapEntries:
    """Entries of a map of metadata [n], as xplane.metadata.Dictionary has them."""

    id: OutInts
    name: OutIntTable
    display_name: OutIntTable
    value: OutInts
    with_stats: OutInts

    def __init__(
        self, id: OutInts, name: OutIntTable, display_name: OutIntTable, value: OutInts,
        with_stats: OutInts,
    ) -> None:  # fmt: skip
        self.id = id
        self.name = name
        self.display_name = display_name
        self.value = value
        self.with_stats = with_stats


@cython.ccall
@cython.exceptval(check=False)
@cython.locals(
    after=i64,
    base=i64,
    body=i64,
    buf=Bytes,
    end=i64,
    field=i64,
    length=i64,
    pos=i64,
    row=i64,
    tag=i64,
    value_at=i64,
    wire_type=i64,
)
def index_fields(window: Window, walk: FieldWalk, rows: FieldRows) -> i64:
    """Walks the fields of one message and returns how many rows it wrote.

    It continues when rows are empty again, or in the next window. A length-delimited row has its
    body in `begin` and `end`, a varint its value in `value` and `begin` = -1; other fields have no
    row.
    """
    buf = window.content
    with cython.nogil:
        base = window.base
        end = walk.end - base
        pos = walk.at - base
        row = 0
        while row < rows.number.shape[0]:
            if pos >= end:
                walk.has_ended = True
                break
            if pos > buf.shape[0] - HEADER and end > buf.shape[0]:
                break
            tag, value_at = read_varint(buf, pos, end)
            field = tag >> 3
            wire_type = tag & 7
            if value_at < 0 or field <= 0 or field > MOST_FIELDS:
                walk.has_ended = True
                walk.is_damaged = True
                break
            if field == walk.stop_field:
                walk.has_ended = True
                break
            rows.number[row] = field
            rows.begin[row] = -1
            rows.end[row] = -1
            rows.value[row] = 0
            if wire_type == VARINT:
                rows.value[row], after = read_varint(buf, value_at, end)
            elif wire_type == LENGTH:
                body, after = read_length(buf, value_at, end)
                rows.begin[row] = base + body
                rows.end[row] = base + after
            else:
                after = skip_value(buf, value_at, end, wire_type)
            if after == BEYOND:
                walk.reach = base + 4 * buf.shape[0]
                break
            if after < 0:
                walk.has_ended = True
                walk.is_damaged = True
                if wire_type == LENGTH:
                    length, body = read_varint(buf, value_at, end)
                    if body >= 0 and length > 0:
                        walk.cut_field = field
                        walk.cut_at = base + body
                break
            if wire_type in (VARINT, LENGTH):
                row += 1
            pos = after
        walk.at = base + pos
        return row


@cython.ccall
@cython.exceptval(check=False)
@cython.locals(
    after=i64, base=i64, body=i64, buf=Bytes, end=i64, field=i64, pos=i64, row=i64, tag=i64,
    value=i64, value_at=i64,
)  # fmt: skip
def read_heads(
    window: Window, progress: Pass, begins: Ints, ends: Ints, heads: LineHeads
) -> cython.void:
    """Reads the fields before the events of XLine messages, from row `progress.at` on.

    Stops at the first message that begins after the window.
    """
    buf = window.content
    with cython.nogil:
        base = window.base
        for row in range(progress.at, begins.shape[0]):
            progress.at = row
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
                        heads.id[row] = value
                    elif after >= 0 and field == LINE_TIMESTAMP_NS:
                        heads.timestamp_ns[row] = value
                    elif after >= 0 and field == LINE_DISPLAY_ID:
                        heads.display_id[row] = value
                elif tag & 7 == LENGTH:
                    body, after = read_length(buf, value_at, end)
                    if body >= 0 and field == LINE_NAME:
                        heads.name[row, 0] = base + body
                        heads.name[row, 1] = base + after
                    elif body >= 0 and field == LINE_DISPLAY_NAME:
                        heads.display_name[row, 0] = base + body
                        heads.display_name[row, 1] = base + after
                else:
                    after = skip_value(buf, value_at, end, tag & 7)
                if after == BEYOND:
                    pos = -1 - base
                    break
                if after < 0:
                    break
                pos = after
            heads.events_at[row] = base + pos
        progress.at = begins.shape[0]


@cython.ccall
@cython.exceptval(check=False)
@cython.locals(
    at=i64,
    base=i64,
    buf=Bytes,
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
    window: Window,
    progress: Pass,
    begins: Ints,
    ends: Ints,
    display_field: i64,
    entries: MapEntries,
) -> i64:
    """Fills the columns from map entries [begins, ends); returns how many entries were damaged.

    Continues from entry `progress.at` up to the first that is not completely in the window.
    """
    buf = window.content
    with cython.nogil:
        base = window.base
        damaged = 0
        for entry in range(progress.at, begins.shape[0]):
            progress.at = entry
            pos = begins[entry] - base
            end = ends[entry] - base
            if end > buf.shape[0]:
                progress.reach = ends[entry]
                return damaged
            while pos < end:
                tag, value_at = read_varint(buf, pos, end)
                if value_at < 0 or tag >> 3 <= 0:
                    damaged += 1
                    break
                if tag == (1 << 3 | VARINT):
                    entries.id[entry], pos = read_varint(buf, value_at, end)
                elif tag == (2 << 3 | LENGTH):
                    at, pos = read_length(buf, value_at, end)
                    entries.value[entry] = base + value_at if at >= 0 else -1
                    while at >= 0 and at < pos:
                        inner, inner_at = read_varint(buf, at, pos)
                        if inner_at < 0 or inner >> 3 <= 0:
                            damaged += 1
                            entries.with_stats[entry] = base + value_at
                            break
                        field = inner >> 3
                        if field == METADATA_STATS:
                            entries.with_stats[entry] = base + value_at
                        if inner & 7 == LENGTH:
                            first, last = read_length(buf, inner_at, pos)
                            if first >= 0 and field == 2:
                                entries.name[entry, 0] = base + first
                                entries.name[entry, 1] = base + last
                            elif first >= 0 and field == display_field:
                                entries.display_name[entry, 0] = base + first
                                entries.display_name[entry, 1] = base + last
                            at = last
                        else:
                            at = skip_value(buf, inner_at, pos, inner & 7)
                        if at < 0:
                            damaged += 1
                            entries.with_stats[entry] = base + value_at
                else:
                    pos = skip_value(buf, value_at, end, tag & 7)
                if pos < 0:
                    damaged += 1
                    break
        progress.at = begins.shape[0]
        return damaged


@cython.ccall
@cython.exceptval(check=False)
def body_at(buf: Bytes, end: i64) -> tuple[i64, i64]:
    """(first, last) of the body whose length is the first varint; first is -1 if damaged."""
    return read_length(buf, 0, end)


@cython.ccall
@cython.locals(begin=i64, end=i64, row=i64, texts=list)
def texts_in(content: bytes, base: i64, ranges: IntTable) -> list[str]:
    """The texts [n] in byte ranges [n, 2] of a file, whose bytes from `base` on are `content`.

    "" for ranges that begin before, and U+FFFD in place of invalid UTF-8.
    """
    texts = []
    for row in range(ranges.shape[0]):
        begin, end = ranges[row, 0] - base, ranges[row, 1] - base
        texts.append(content[begin:end].decode("utf-8", "replace") if 0 <= begin < end else "")
    return texts
