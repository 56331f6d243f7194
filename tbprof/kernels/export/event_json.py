"""Events and their stats as Chrome trace JSON."""

import cython
from cython.cimports.tbprof.kernels.codes import (
    AROUND_BYTES,
    BACKSLASH,
    BARE,
    BRACE,
    BYTES,
    COMMA,
    CONSUMER,
    CONSUMER_TYPE,
    DOUBLE,
    EVENT_BYTES,
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
    NAMES_EVENT,
    NUMBER_BYTES,
    PRIME,
    PRODUCER,
    PRODUCER_TYPE,
    QUOTE,
    REFERENCE,
    SAY_BEGIN,
    SAY_BIND,
    SAY_BYTES,
    SAY_CATEGORY,
    SAY_CLOSE_BYTES,
    SAY_COMPLETE,
    SAY_COUNTER,
    SAY_DURATION,
    SAY_END,
    SAY_ID,
    SAY_INSTANT,
    SAY_NAME,
    SAY_NAME_AFTER_ARGS,
    SAY_NO_DIRECTION,
    SAY_OPEN,
    SAY_OPEN_BARE,
    SHOWN,
    TEXT,
    UINT64,
    WIDEST,
)
from cython.cimports.tbprof.kernels.export.json_bytes import (
    Texts,
    copy_bytes,
    write_hex,
    write_integer,
    write_text,
    write_us,
)
from cython.cimports.tbprof.kernels.types import Bytes, Flags, Int32s, Ints, OutBytes, OutInts, i64
from cython.cimports.tbprof.kernels.xplane.passes import Writing


@cython.final
@cython.cclass
class EventColumns:
    """Events [n]: `type` is a row of the plane's types (-1: none), `track` one of `Tracks`."""

    type = cython.declare(Int32s, visibility="readonly")
    start_ps: Ints
    duration_ps: Ints
    track: Ints

    def __init__(self, type: Int32s, start_ps: Ints, duration_ps: Ints, track: Ints) -> None:
        self.type = type
        self.start_ps = start_ps
        self.duration_ps = duration_ps
        self.track = track


@cython.final
@cython.cclass
class StatColumns:
    """The columns of events.stats.StatRows; of a DOUBLE `bits` is the number of its text."""

    begin: Ints
    end: Ints
    name: Int32s
    kind = cython.declare(Bytes, visibility="readonly")
    bits: Ints
    size: Ints
    content: Bytes
    number: Texts

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
    """The distinct names of a plane's stats, each `"name":`, and what stats of that name are for.

    `distinct` [k + 1] is the name of each row of `StatRows.names`; the last is for no name.
    `full_name` is the name of that argument, `has_flows` says whether any stat may be a flow.
    """

    text: Texts
    distinct = cython.declare(Ints, visibility="readonly")
    purpose = cython.declare(Bytes, visibility="readonly")
    full_name: i64
    has_flows: cython.bint

    def __init__(
        self, text: Texts, distinct: Ints, purpose: Bytes, full_name: i64, has_flows: cython.bint
    ) -> None:
        self.text = text
        self.distinct = distinct
        self.purpose = purpose
        self.full_name = full_name
        self.has_flows = has_flows

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def at(self, row: i64) -> i64:
        """The distinct name of a row, -1 for no name."""
        return self.distinct[row if row >= 0 else self.distinct.shape[0] - 1]


@cython.final
@cython.cclass
class TypeTexts:
    """What events of one type share, as JSON; the last of the types [t + 1] is for no type.

    Stats `begin[t]:end[t]` are those of type t, each `"key":value,`, of the distinct names
    `arg_name`. `full_name` is the argument `long_name` in the same form, empty where the name is
    all. `room` is what a type's texts take.
    """

    name: Texts
    full_name: Texts
    begin: Ints
    end: Ints
    arg: Texts
    arg_name: Ints
    room: Ints

    def __init__(
        self, name: Texts, full_name: Texts, begin: Ints, end: Ints, arg: Texts, arg_name: Ints,
        room: Ints,
    ) -> None:  # fmt: skip
        self.name = name
        self.full_name = full_name
        self.begin = begin
        self.end = end
        self.arg = arg
        self.arg_name = arg_name
        self.room = room


@cython.final
@cython.cclass
class Tracks:
    """`"pid":1,"tid":7,"ts":` of each track, and whether its events are values of counters."""

    text: Texts
    is_counter: Flags

    def __init__(self, text: Texts, is_counter: Flags) -> None:
        self.text = text
        self.is_counter = is_counter


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
@cython.locals(bits=i64, kind=cython.uchar, name=i64)
def _write_value(
    stats: StatColumns, row: i64, names: StatNames, words: Texts, out: OutBytes, at: i64
) -> i64:
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


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
@cython.locals(name=i64, room=i64, value=i64)
def _stat_room(stats: StatColumns, row: i64, names: StatNames) -> i64:
    """At most what a stat takes, its value twice: it may name the event, too."""
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
    """Writes stats from row `progress.at` on, each `"key":value,`, as long as there is room.

    `first` [m + 1] are where they begin, counted from the first buffer on.
    """
    with cython.nogil:
        before = first[progress.at]
        at = 0
        progress.needed = 0
        for row in range(progress.at, stats.kind.shape[0]):
            progress.at = row
            room = _stat_room(stats, row, names)
            if at + room > out.shape[0]:
                progress.needed = room
                break
            at = names.text.say(names.at(stats.name[row]), out, at)
            at = _write_value(stats, row, names, words, out, at)
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
    """56 bits of a context's type and id: two polynomials of them modulo a Mersenne prime."""
    high = (kind & 0xFFFF) + 1
    low = high
    for part in range(4):
        bits = (number >> (16 * part) & 0xFFFF) + 1
        high = (high * 1_140_671_485 + bits) % PRIME
        low = (low * 1_664_525_909 + bits) % PRIME
    return high << 25 | low & 0x1FFFFFF


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
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
def _find_flow(
    stats: StatColumns, first: i64, last: i64, names: StatNames
) -> tuple[i64, i64, i64, cython.bint]:
    """(direction, id, category, whether it is asynchronous) of an event's flow; direction 0: none.

    An event has one arrow in and out at most, of one id: the flow that it states, else what it
    consumes, else what it produces, else its launch.
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


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
@cython.locals(
    empty=i64, key=i64, named=i64, purpose=cython.uchar, row=i64, start=i64, value=cython.uchar
)
def _write_args(
    event: i64,
    kind: i64,
    numbers_only: cython.bint,
    stats: StatColumns,
    names: StatNames,
    types: TypeTexts,
    stamps: OutInts,
    stamp: i64,
    words: Texts,
    out: OutBytes,
    at: i64,
) -> tuple[i64, i64]:
    """`,` and `{"args":{…},"name":` of an event; (the place, where its name was written or -1).

    The first stat of a name counts, and an event's own before that of its type. With
    `numbers_only` the others are left out, and the place is -1 where there is none.
    """
    start = at
    named = -1
    at = words.say(SAY_OPEN, out, at)
    empty = at
    for row in range(stats.begin[event], stats.end[event]):
        key = names.at(stats.name[row])
        purpose = names.purpose[key]
        value = stats.kind[row]
        if purpose < LAUNCH or stamps[key] == stamp:
            continue
        if (
            numbers_only
            and value not in (INT64, UINT64)
            and (value != DOUBLE or stats.bits[row] < 0)
        ):
            continue
        stamps[key] = stamp
        at = names.text.say(key, out, at)
        if purpose == NAMES_EVENT and value in (TEXT, REFERENCE):
            named = at
        at = _write_value(stats, row, names, words, out, at)
        out[at] = COMMA
        at += 1
    if numbers_only:
        if at == empty:
            return -1, named
    else:
        for row in range(types.begin[kind], types.end[kind]):
            key = types.arg_name[row]
            if names.purpose[key] >= LAUNCH and stamps[key] != stamp:
                stamps[key] = stamp
                at = types.arg.say(row, out, at)
        if stamps[names.full_name] != stamp:
            at = types.full_name.say(kind, out, at)
    if at == empty:  # takes `"args":{` back
        return words.say(SAY_NAME, out, start + BARE), named
    return words.say(SAY_NAME_AFTER_ARGS, out, at - 1), named


@cython.ccall
@cython.exceptval(check=False)
@cython.locals(
    at=i64,
    category=i64,
    direction=i64,
    event=i64,
    first=i64,
    flow=i64,
    is_async=i64,
    is_counter=i64,
    is_pair=cython.bint,
    kind=i64,
    last=i64,
    named=i64,
    phase=i64,
    room=i64,
    row=i64,
    start=i64,
    time_ps=i64,
    track=i64,
)
def write_events(
    progress: Writing,
    out: OutBytes,
    scope: i64,
    events: EventColumns,
    stats: StatColumns,
    names: StatNames,
    types: TypeTexts,
    tracks: Tracks,
    words: Texts,
    stamps: OutInts,
) -> cython.void:
    """Writes events from row `progress.at` on, each as `,` and a line, as long as there is room.

    `scope`, up to 127, keeps the flows of a host apart from others'. `stamps` [names] are at most
    the stamp of `progress`.
    """
    with cython.nogil:
        at = 0
        progress.needed = 0
        for event in range(progress.at, events.type.shape[0]):
            progress.at = event
            kind = events.type[event]
            if kind < 0:
                kind = types.room.shape[0] - 1
            track = events.track[event]
            room = types.room[kind] + EVENT_BYTES
            room += 2 * (tracks.text.first[track + 1] - tracks.text.first[track])
            for row in range(stats.begin[event], stats.end[event]):
                room += _stat_room(stats, row, names)
            if at + room > out.shape[0]:
                progress.needed = room
                break
            progress.stamp += 1
            phase = SAY_COMPLETE
            start = at
            named = -1
            is_counter = tracks.is_counter[track]
            while True:  # once, or again where a counter turns out to have no number
                at, named = _write_args(
                    event,
                    kind,
                    is_counter,
                    stats,
                    names,
                    types,
                    stamps,
                    progress.stamp,
                    words,
                    out,
                    start,
                )
                if at >= 0:
                    break
                is_counter = False
            direction, flow, category, is_async = 0, 0, 0, False
            if is_counter:
                phase = SAY_COUNTER
            elif names.has_flows:
                first, last = stats.begin[event], stats.end[event]
                direction, flow, category, is_async = _find_flow(stats, first, last, names)
                flow |= scope << FLOW_ID_BITS
            is_pair = is_async and direction == FLOW_IN | FLOW_OUT
            if is_pair:
                phase = SAY_BEGIN
                category = FLOW_CATEGORIES if category == 0 else category
            elif direction == 0 and events.duration_ps[event] == 0 and not is_counter:
                phase = SAY_INSTANT  # Perfetto binds no arrows to instants
            time_ps = events.start_ps[event]
            while True:  # once, or again for the end of a pair
                if named >= 0:
                    last = named + 1
                    while out[last] != QUOTE:
                        last += 1 + (out[last] == BACKSLASH)
                    at = copy_bytes(out, named, last + 1, out, at)
                else:
                    at = types.name.say(kind, out, at)
                at = words.say(phase, out, at)
                at = tracks.text.say(track, out, at)
                at = write_us(time_ps, out, at)
                if phase == SAY_COMPLETE:
                    at = words.say(SAY_DURATION, out, at)
                    at = write_us(events.duration_ps[event], out, at)
                if direction != 0:
                    at = words.say(SAY_ID if is_pair else SAY_BIND, out, at)
                    at = write_hex(flow, out, at)
                    at = words.say(SAY_CATEGORY + category, out, at)
                    if not is_pair:
                        at = words.say(SAY_NO_DIRECTION + direction, out, at)
                out[at] = BRACE
                at += 1
                if phase != SAY_BEGIN:
                    break
                phase = SAY_END
                time_ps += events.duration_ps[event]
                at = words.say(SAY_OPEN_BARE, out, at)
            progress.at = event + 1
        progress.written = at
