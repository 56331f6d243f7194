"""Stats as Chrome trace JSON: as arguments, and as flows."""

import cython
from cython.cimports.tbprof.kernels.codes import (
    AROUND_BYTES,
    BYTES,
    COMMA,
    CONSUMER,
    CONSUMER_TYPE,
    DOUBLE,
    FLOW,
    FLOW_CATEGORIES,
    FLOW_ID_BITS,
    FLOW_ID_MASK,
    FLOW_IN,
    FLOW_OUT,
    GPU_LAUNCH,
    INT64,
    IS_ASYNC,
    LAUNCH,
    LAUNCHED,
    NUMBER_BYTES,
    PRIME,
    PRODUCER,
    PRODUCER_TYPE,
    REFERENCE,
    SAY_BYTES,
    SAY_CLOSE_BYTES,
    SHOWN,
    TEXT,
    UINT64,
    WIDEST,
)
from cython.cimports.tbprof.kernels.export.json_bytes import (
    Texts,
    copy_bytes,
    write_integer,
    write_text,
)
from cython.cimports.tbprof.kernels.types import Bytes, Int32s, Ints, OutBytes, OutInts, i64
from cython.cimports.tbprof.kernels.xplane.passes import Writing


@cython.final
@cython.cclass
class StatColumns:
    """The columns of events.stats.StatRows; `bits` of a DOUBLE is the number of its text."""

    def __init__(
        self, begin: Ints, end: Ints, name: Int32s, kind: Bytes, bits: Ints, size: Ints,
        content: Bytes, number: Texts,
    ) -> None:  # fmt: skip
        self.begin = begin
        self.end = end
        self.name = name
        self.kind = kind
        self.bits = bits
        self.size = size
        self.content = content
        self.number = number


@cython.final
@cython.cclass
class StatNames:
    """The distinct names of a plane's stats, each `"name":`, and the purpose of its stats.

    `distinct` [k + 1] is the name of each row of `StatRows.names`; the last is for no name.
    `full_name` is the name of that argument; `has_flows` says whether any stat may be a flow.
    """

    def __init__(
        self, text: Texts, distinct: Ints, purpose: Bytes, full_name: i64, has_flows: cython.bint
    ) -> None:
        self.text = text
        self.distinct = distinct
        self.purpose = purpose
        self.full_name = full_name
        self.has_flows = has_flows

    def at(self, row):
        """The distinct name of a row, -1 for no name."""
        return self.distinct[row if row >= 0 else self.distinct.shape[0] - 1]


@cython.locals(bits=i64, kind=cython.uchar, name=i64)
def write_value(stats, row, names, words, out, at):
    """Writes the value of a stat."""
    kind = stats.kind[row]
    bits = stats.bits[row]
    if kind == TEXT:
        return write_text(stats.content, bits, bits + stats.size[row], out, at)
    if kind == REFERENCE:
        name = names.at(bits)
        return copy_bytes(
            names.text.text, names.text.first[name], names.text.first[name + 1] - 1, out, at
        )
    if kind == BYTES:
        at = words.say(SAY_BYTES, out, at)
        at = write_integer(INT64, stats.size[row], out, at)
        return words.say(SAY_CLOSE_BYTES, out, at)
    if kind != DOUBLE:
        return write_integer(kind, bits, out, at)
    if bits < 0:
        return words.say(words.first.shape[0] - 1 + bits, out, at)
    return stats.number.say(bits, out, at)


@cython.locals(name=i64, room=i64, value=i64)
def stat_room(stats, row, names):
    """The most bytes of a stat; its value counts twice, since it may also name the event."""
    name = names.at(stats.name[row])
    room = names.text.first[name + 1] - names.text.first[name] + 2 * AROUND_BYTES
    if stats.kind[row] == TEXT:
        return room + 2 * WIDEST * stats.size[row]
    if stats.kind[row] == REFERENCE:
        value = names.at(stats.bits[row])
        return room + 2 * (names.text.first[value + 1] - names.text.first[value])
    return room + NUMBER_BYTES


@cython.ccall
@cython.exceptval(check=False)
@cython.locals(at=i64, before=i64, room=i64, row=i64)
def write_stats(
    progress: Writing,
    out: OutBytes,
    stats: StatColumns,
    names: StatNames,
    words: Texts,
    first: OutInts,
) -> cython.void:
    """Writes stats from row `progress.at` on, each `"key":value,`, while there is room.

    `first` [m + 1] are their offsets, counted from the first buffer on.
    """
    with cython.nogil:
        before = first[progress.at]
        at = 0
        progress.needed = 0
        for row in range(progress.at, stats.kind.shape[0]):
            progress.at = row
            room = stat_room(stats, row, names)
            if at + room > out.shape[0]:
                progress.needed = room
                break
            at = names.text.say(names.at(stats.name[row]), out, at)
            at = write_value(stats, row, names, words, out, at)
            out[at] = COMMA
            at += 1
            first[row + 1] = before + at
            progress.at = row + 1
        progress.written = at


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
@cython.locals(bits=i64, high=i64, low=i64, part=i64)
def _mix(kind: i64, number: i64) -> i64:
    """A hash of 56 bits of a context's type and id: two polynomials modulo a Mersenne prime."""
    high = (kind & 0xFFFF) + 1
    low = high
    for part in range(4):
        bits = (number >> (16 * part) & 0xFFFF) + 1
        high = (high * 1_140_671_485 + bits) % PRIME
        low = (low * 1_664_525_909 + bits) % PRIME
    return high << 25 | low & 0x1FFFFFF


@cython.locals(
    bits=i64,
    category=i64,
    consumed=i64,
    direction=i64,
    flow=i64,
    is_async=i64,
    kind=cython.uchar,
    produced=i64,
    purpose=cython.uchar,
    rank=i64,
    row=i64,
)
def find_flow(stats, first, last, names):
    """(direction, id, category, whether it is asynchronous) of an event's flow; direction 0: none.

    An event has at most one arrow in and out, with one id: its flow, else what it consumes, else
    what it produces, else its launch.
    """
    rank = SHOWN
    direction, flow, category = 0, 0, 0
    consumed, produced = -1, -1
    is_async = False
    for row in range(first, last):
        kind = stats.kind[row]
        if kind != INT64 and kind != UINT64:
            continue
        purpose = names.purpose[names.at(stats.name[row])]
        bits = stats.bits[row]
        if purpose == CONSUMER_TYPE:
            consumed = bits & 0xFFFF
        elif purpose == PRODUCER_TYPE:
            produced = bits & 0xFFFF
        elif purpose == IS_ASYNC:
            is_async = bits != 0
        elif purpose < rank and purpose in (FLOW, CONSUMER, PRODUCER, LAUNCH, LAUNCHED):
            rank = purpose
            flow = bits
    if rank == FLOW:
        direction = flow & 3
        category = flow >> (FLOW_ID_BITS + 2) & (FLOW_CATEGORIES - 1)
        flow = flow >> 2 & FLOW_ID_MASK
    elif rank == CONSUMER and consumed >= 0:
        direction, category, flow = FLOW_IN, consumed, _mix(consumed, flow)
    elif rank == PRODUCER and produced >= 0:
        direction, category, flow = FLOW_OUT, produced, _mix(produced, flow)
    elif rank in (LAUNCH, LAUNCHED):
        direction = FLOW_OUT if rank == LAUNCH else FLOW_IN
        category = GPU_LAUNCH
        # Recorders of contexts of this type count from elsewhere.
        flow = _mix(-1, flow)
    if category >= FLOW_CATEGORIES:
        category = 0
    return direction, flow, category, is_async
