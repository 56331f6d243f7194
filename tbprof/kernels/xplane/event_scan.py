"""Passes over the events of lines without decoding them: one counts, one finds types."""

import cython
from cython.cimports.tbprof.kernels.codes import (
    BEYOND,
    FOLLOWS_DISPLAY_ID,
    FOLLOWS_DISPLAY_NAME,
    FOLLOWS_ID,
    FOLLOWS_NAME,
    FOLLOWS_TIMESTAMP,
    HEADER,
    LENGTH,
    LINE_DISPLAY_ID,
    LINE_DISPLAY_NAME,
    LINE_EVENTS,
    LINE_ID,
    LINE_NAME,
    LINE_TIMESTAMP_NS,
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
from cython.cimports.tbprof.kernels.xplane.id_lookup import Lookup
from cython.cimports.tbprof.kernels.xplane.passes import Pass, Window
from cython.cimports.tbprof.kernels.xplane.wire import (
    find_row,
    read_length,
    read_varint,
    read_whole_body,
    skip_value,
)


@cython.final
@cython.cclass
class LineEnds:
    """The numbers of events of XLines [n], and the fields that follow them, by `FOLLOWS_…`.

    Names are byte ranges [n, 2].
    """

    def __init__(
        self, events: OutInts, follows: OutInts, id: OutInts, timestamp_ns: OutInts,
        display_id: OutInts, name: OutIntTable, display_name: OutIntTable,
    ) -> None:  # fmt: skip
        self.events = events
        self.follows = follows
        self.id = id
        self.timestamp_ns = timestamp_ns
        self.display_id = display_id
        self.name = name
        self.display_name = display_name


@cython.ccall
@cython.exceptval(check=False)
@cython.locals(buf=Bytes)
def scan_span(window: Window, progress: Pass, found: LineEnds, line: i64) -> cython.void:
    """Counts the events of a span of `line` that begin in the window, by their headers alone.

    Continues from `progress.at`, and records the other fields of the line; damage ends the pass.
    """
    buf = window.content
    with cython.nogil:
        progress.at, progress.reach = _scan(
            buf, window.base, progress.at, progress.end, found, line
        )


@cython.ccall
@cython.exceptval(check=False)
@cython.locals(_=i64, __=i64, buf=Bytes, span=i64)
def scan_spans(
    window: Window, begins: Ints, ends: Ints, lines: Ints, found: LineEnds
) -> cython.void:
    """`scan_span` for spans of several lines that are all in the window."""
    buf = window.content
    with cython.nogil:
        for span in range(begins.shape[0]):
            _, __ = _scan(buf, window.base, begins[span], ends[span], found, lines[span])


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
@cython.locals(
    _=i64, after=i64, events=i64, pos=i64, reach=i64, stop=i64, tag=i64, value_at=i64,
)  # fmt: skip
def _scan(buf: Bytes, base: i64, at: i64, end: i64, found: LineEnds, line: i64) -> tuple[i64, i64]:
    """(the offset to continue from, the offset that the next window must reach)."""
    events = 0
    reach = 0
    end -= base
    pos = at - base
    stop = end if end <= buf.shape[0] else buf.shape[0] - HEADER
    while pos < stop:
        tag, value_at = read_varint(buf, pos, end)
        after = -1
        if value_at < 0 or tag >> 3 <= 0:
            after = -1
        elif tag == (LINE_EVENTS << 3 | LENGTH):
            _, after = read_length(buf, value_at, end)
            if after >= 0:
                events += 1
        else:
            after = note_field(buf, base, tag, value_at, end, found, line)
        if after == BEYOND:
            reach = base + 4 * buf.shape[0]
            break
        if after < 0:
            pos = end
            break
        pos = after
    found.events[line] += events
    return base + pos, reach


@cython.locals(after=i64, body=i64, field=i64, value=i64)
def note_field(buf, base, tag, value_at, end, found, line):
    """Records a field of a line that is not an event; returns its end, as `skip_value` does."""
    field = tag >> 3
    if tag & 7 == LENGTH:
        body, after = read_length(buf, value_at, end)
        if after >= 0:
            if field == LINE_NAME:
                found.follows[line] |= FOLLOWS_NAME
                found.name[line, 0] = base + body
                found.name[line, 1] = base + after
            elif field == LINE_DISPLAY_NAME:
                found.follows[line] |= FOLLOWS_DISPLAY_NAME
                found.display_name[line, 0] = base + body
                found.display_name[line, 1] = base + after
    elif tag & 7 == VARINT:
        value, after = read_varint(buf, value_at, end)
        if after >= 0:
            if field == LINE_ID:
                found.follows[line] |= FOLLOWS_ID
                found.id[line] = value
            elif field == LINE_TIMESTAMP_NS:
                found.follows[line] |= FOLLOWS_TIMESTAMP
                found.timestamp_ns[line] = value
            elif field == LINE_DISPLAY_ID:
                found.follows[line] |= FOLLOWS_DISPLAY_ID
                found.display_id[line] = value
    else:
        after = skip_value(buf, value_at, end, tag & 7)
    return after


@cython.ccall
@cython.exceptval(check=False)
@cython.locals(
    after=i64, at=i64, base=i64, buf=Bytes, end=i64, keys=Ints, message=i64, metadata_id=i64,
    reach=i64, rows=Int32s, tag=i64, value_at=i64,
)  # fmt: skip
def find_types(
    window: Window,
    progress: Pass,
    begins: Ints,
    targets: Ints,
    lookup: Lookup,
    types: OutInt32s,
) -> cython.void:
    """Writes the types of messages, from `progress.at` on up to the first beyond the window.

    As in the pass that decodes events, the last `metadata_id` counts, up to any damage.
    """
    buf = window.content
    keys, rows = lookup.keys, lookup.rows
    with cython.nogil:
        base = window.base
        end = progress.end - base
        for message in range(progress.at, begins.shape[0]):
            progress.at = message
            at, after, reach = read_whole_body(buf, begins[message] - base, end)
            if reach >= 0:
                progress.reach = base + reach
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
        progress.at = begins.shape[0]
