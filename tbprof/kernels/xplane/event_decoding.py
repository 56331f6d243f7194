# cython: wraparound=False
"""The pass that decodes the events of lines."""

import cython
from cython.cimports.tbprof.kernels.codes import (
    AS_FLAG,
    AS_NUMBER,
    AS_RARE,
    BEYOND,
    FLAG_SEEN,
    HAS_RARE,
    HEADER,
    INT64,
    IS_ODD,
    KEY_TAG,
    LARGEST_MARK,
    LENGTH,
    LIMIT_PS,
    LINE_EVENTS,
    UINT64,
)
from cython.cimports.tbprof.kernels.types import (
    Bytes,
    Int8s,
    Int32s,
    Ints,
    OutBytes,
    OutInt32s,
    OutInts,
    i64,
)
from cython.cimports.tbprof.kernels.xplane.event_scan import LineEnds, note_field
from cython.cimports.tbprof.kernels.xplane.id_lookup import Lookup
from cython.cimports.tbprof.kernels.xplane.passes import Pass, Window
from cython.cimports.tbprof.kernels.xplane.wire import (
    find_row,
    read_length,
    read_varint,
    skip_value,
)


@cython.final
@cython.cclass
class DecodedEvents:
    """The columns of decoded events; `source` is the offset of each event's length varint."""

    type: OutInt32s
    start: OutInts
    duration: OutInts
    source: OutInts

    def __init__(self, type: OutInt32s, start: OutInts, duration: OutInts, source: OutInts) -> None:
        self.type = type
        self.start = start
        self.duration = duration
        self.source = source


@cython.final
@cython.cclass
class StatMarks:
    """The stats that are read while events are decoded, see events.marks.EventMarks.

    `wanted` is `AS_…` for each row of stat metadata, `by_id` the same for the ids of one byte,
    which most stats have; `lookup` contains all ids. Nothing is read if `bits` is empty, and no
    number if `number` is empty.
    """

    wanted: Int8s
    by_id: Int8s
    keys: Ints
    rows: Int32s
    number: OutInt32s
    bits: OutBytes

    def __init__(
        self, wanted: Int8s, by_id: Int8s, lookup: Lookup, number: OutInt32s, bits: OutBytes
    ) -> None:
        self.wanted = wanted
        self.by_id = by_id
        self.keys = lookup.keys
        self.rows = lookup.rows
        self.number = number
        self.bits = bits


@cython.final
@cython.cclass
class LineEvents:
    """The events of lines [n], for which columns have the rows [first, last).

    `events` of them are written from the front; `aggregated` ones, which have `num_occurrences` in
    place of an offset, kept as `start`, from the back. `unsorted` lines are not in the order of
    columns; `damaged` events, the first at `damaged_at`, are left out; `clamped` ones had times
    beyond the limit, `dangling` ones have no type.
    """

    first: Ints
    last: Ints
    events: OutInts
    aggregated: OutInts
    unsorted: OutInts
    damaged: OutInts
    damaged_at: OutInts
    clamped: OutInts
    dangling: OutInts

    def __init__(
        self, first: Ints, last: Ints, events: OutInts, aggregated: OutInts, unsorted: OutInts,
        damaged: OutInts, damaged_at: OutInts, clamped: OutInts, dangling: OutInts,
    ) -> None:  # fmt: skip
        self.first = first
        self.last = last
        self.events = events
        self.aggregated = aggregated
        self.unsorted = unsorted
        self.damaged = damaged
        self.damaged_at = damaged_at
        self.clamped = clamped
        self.dangling = dangling


@cython.final
@cython.cclass
class SpanEvents:
    """XLines [n] in one window: [begin, end) are their events.

    `line` is the output row of each, `origin_ps` the time that offsets count from, `cut_at` where
    damage ended it, -1 if there was none.
    """

    begin: Ints
    end: Ints
    line: Ints
    origin_ps: Ints
    cut_at: OutInts

    def __init__(
        self, begin: Ints, end: Ints, line: Ints, origin_ps: Ints, cut_at: OutInts
    ) -> None:
        self.begin = begin
        self.end = end
        self.line = line
        self.origin_ps = origin_ps
        self.cut_at = cut_at


@cython.ccall
@cython.exceptval(check=False)
@cython.locals(buf=Bytes, cut_at=i64)
def decode_span(
    window: Window,
    progress: Pass,
    origin_ps: i64,
    line: i64,
    lookup: Lookup,
    lines: LineEvents,
    columns: DecodedEvents,
    marks: StatMarks,
    found: LineEnds,
) -> i64:
    """Decodes the events of a span of `line` that are completely in the window.

    Continues from `progress.at`; `origin_ps` is the span's start. Other fields of the line are
    written to `found`. Returns the offset where damage ended the pass, or the line's room, or -1.
    """
    buf = window.content
    with cython.nogil:
        progress.at, progress.reach, cut_at = _decode(
            buf, window.base, progress.at, progress.end, origin_ps, line, lookup, lines, columns,
            marks, found,
        )  # fmt: skip
        return cut_at


@cython.ccall
@cython.exceptval(check=False)
@cython.locals(_=i64, __=i64, buf=Bytes, span=i64)
def decode_spans(
    window: Window,
    spans: SpanEvents,
    lookup: Lookup,
    lines: LineEvents,
    columns: DecodedEvents,
    marks: StatMarks,
    found: LineEnds,
) -> cython.void:
    """`decode_span` for spans of different lines that are all in the window."""
    buf = window.content
    with cython.nogil:
        for span in range(spans.begin.shape[0]):
            _, __, spans.cut_at[span] = _decode(
                buf, window.base, spans.begin[span], spans.end[span], spans.origin_ps[span],
                spans.line[span], lookup, lines, columns, marks, found,
            )  # fmt: skip


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
@cython.locals(
    after=i64,
    aggregated=i64,
    at=i64,
    back=i64,
    begin=i64,
    bits=i64,
    body=i64,
    cut_at=i64,
    first=i64,
    front=i64,
    inner=i64,
    inner_at=i64,
    length_ps=i64,
    metadata_id=i64,
    number=i64,
    occurrences=i64,
    offset=i64,
    pos=i64,
    reach=i64,
    reads=cython.bint,
    row=i64,
    size=i64,
    stop=i64,
    tag=i64,
    value_at=i64,
)
def _decode(
    buf: Bytes,
    base: i64,
    span_at: i64,
    end: i64,
    origin_ps: i64,
    line: i64,
    lookup: Lookup,
    lines: LineEvents,
    columns: DecodedEvents,
    marks: StatMarks,
    found: LineEnds,
) -> tuple[i64, i64, i64]:
    """(the offset to continue from, the offset that the next window must reach, that of damage)."""
    reach = 0
    cut_at = -1
    end -= base
    pos = span_at - base
    stop = end if end <= buf.shape[0] else buf.shape[0] - HEADER
    first = lines.first[line]
    front = first + lines.events[line]
    back = lines.last[line] - lines.aggregated[line]
    reads = marks.bits.shape[0] > 0
    while pos < stop:
        tag, value_at = read_varint(buf, pos, end)
        if tag != (LINE_EVENTS << 3 | LENGTH):
            after = -1
            if value_at >= 0 and tag >> 3 > 0:
                after = note_field(buf, base, tag, value_at, end, found, line)
            if after == BEYOND:
                reach = base + 4 * buf.shape[0]
                break
            if after < 0:
                cut_at = base + pos
                break
            pos = after
            continue
        body, after = read_length(buf, value_at, end)
        if body < 0 or front >= back:
            cut_at = base + pos
            break
        if after > buf.shape[0]:
            reach = base + after
            break
        metadata_id = 0
        offset = 0
        length_ps = 0
        occurrences = 0
        aggregated = False
        number = -1
        bits = 0
        at = body
        while 0 <= at < after:
            inner, at = read_varint(buf, at, after)
            if at >= 0 and inner == 0x22:
                # Stats are the bulk of an event: most are stepped over, and read later by key.
                size, at = read_varint(buf, at, after)
                if at >= 0 and 0 <= size <= after - at:
                    if reads:
                        number, bits = _mark(buf, at, at + size, marks, number, bits)
                    at += size
                else:
                    at = -1
                continue
            if at < 0:
                break
            if inner == 0x08:
                metadata_id, at = read_varint(buf, at, after)
            elif inner == 0x10:
                offset, at = read_varint(buf, at, after)
                aggregated = False
            elif inner == 0x18:
                length_ps, at = read_varint(buf, at, after)
            elif inner == 0x28:
                occurrences, at = read_varint(buf, at, after)
                aggregated = True
            elif inner >> 3 <= 0:
                at = -1
            else:
                at = skip_value(buf, at, after, inner & 7)
        if at < 0:
            if lines.damaged[line] == 0:
                lines.damaged_at[line] = base + pos
            lines.damaged[line] += 1
            pos = after
            continue
        pos = after
        row = find_row(lookup.keys, lookup.rows, metadata_id)
        if row < 0:
            lines.dangling[line] += 1
        if length_ps < 0 or length_ps > LIMIT_PS:
            lines.clamped[line] += 1
            length_ps = 0 if length_ps < 0 else LIMIT_PS
        if aggregated:
            back -= 1
            columns.type[back] = row
            columns.start[back] = max(occurrences, 0)
            columns.duration[back] = length_ps
            columns.source[back] = base + value_at
            continue
        if offset > LIMIT_PS or offset < -LIMIT_PS:
            lines.clamped[line] += 1
            offset = LIMIT_PS if offset > 0 else -LIMIT_PS
        begin = origin_ps + offset
        if front > first and (
            begin < columns.start[front - 1]
            or (begin == columns.start[front - 1] and length_ps > columns.duration[front - 1])
        ):
            lines.unsorted[line] = 1
        columns.type[front] = row
        columns.start[front] = begin
        columns.duration[front] = length_ps
        columns.source[front] = base + value_at
        if reads:
            marks.bits[front] = bits
            if marks.number.shape[0] > 0:
                marks.number[front] = number
        front += 1
    lines.events[line] = front - first
    lines.aggregated[line] = lines.last[line] - back
    return base + pos if cut_at < 0 else base + end, reach, cut_at


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
@cython.locals(after=i64, flag=i64, key=i64, row=i64, value=i64, value_at=i64, way=i64)
def _mark(
    buf: Bytes, at: i64, end: i64, marks: StatMarks, number: i64, bits: i64
) -> tuple[i64, i64]:
    """(number, bits) of an event with those of the stat in [at, end); the first of a name counts.

    A stat other than an id and a small integer, in this order, is odd, and left to the other pass.
    """
    if at >= end or buf[at] != KEY_TAG:
        return number, bits | IS_ODD
    if at + 1 < end and buf[at + 1] < marks.by_id.shape[0]:
        way = marks.by_id[buf[at + 1]]
        value_at = at + 2
    else:
        key, value_at = read_varint(buf, at + 1, end)
        if value_at < 0:
            return number, bits | IS_ODD
        row = find_row(marks.keys, marks.rows, key)
        way = marks.wanted[row] if row >= 0 else 0
    if way == 0:
        return number, bits
    if way == AS_RARE:
        return number, bits | HAS_RARE
    after = -1
    value = 0
    if value_at < end and (buf[value_at] == UINT64 << 3 or buf[value_at] == INT64 << 3):
        value, after = read_varint(buf, value_at + 1, end)
    if after != end:
        return number, bits | IS_ODD
    if way == AS_NUMBER:
        if value < 0 or value > LARGEST_MARK:
            return number, bits | IS_ODD
        return value if number < 0 else number, bits
    flag = cython.cast(i64, 1) << (way - AS_FLAG)
    if bits & flag << FLAG_SEEN == 0:
        bits |= flag << FLAG_SEEN
        if value != 0:
            bits |= flag
    return number, bits
