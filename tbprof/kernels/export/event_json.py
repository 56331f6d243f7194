"""Events and their stats as Chrome trace JSON."""

import cython
from cython.cimports.tbprof.kernels.codes import (
    BACKSLASH,
    BARE,
    BRACE,
    COMMA,
    DOUBLE,
    EVENT_BYTES,
    FLOW_CATEGORIES,
    FLOW_ID_BITS,
    FLOW_IN,
    FLOW_OUT,
    INT64,
    LAUNCH,
    NAMES_EVENT,
    QUOTE,
    REFERENCE,
    SAY_BEGIN,
    SAY_BIND,
    SAY_CATEGORY,
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
    TEXT,
    UINT64,
)
from cython.cimports.tbprof.kernels.export.json_bytes import (
    Texts,
    copy_bytes,
    write_hex,
    write_us,
)
from cython.cimports.tbprof.kernels.export.stat_json import (
    StatColumns,
    StatNames,
    find_flow,
    stat_room,
    write_value,
)
from cython.cimports.tbprof.kernels.types import Flags, Int32s, Ints, OutBytes, OutInts, i64
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
class TypeTexts:
    """The JSON that events of a type share; the last of the types [t + 1] is for no type.

    Stats `begin[t]:end[t]` are those of type t, each `"key":value,`, of the distinct names
    `arg_name`. `full_name` is the argument `long_name` in the same form, empty if there is only a
    name. `room` is the size of a type's texts.
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
    """`"pid":1,"tid":7,"ts":` of each track, and whether its events are counter values."""

    text: Texts
    is_counter: Flags

    def __init__(self, text: Texts, is_counter: Flags) -> None:
        self.text = text
        self.is_counter = is_counter


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

    The first stat of a name counts, and the event's own stats come before those of its type. With
    `numbers_only`, others are left out, and the place is -1 if there is no number.
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
        at = write_value(stats, row, names, words, out, at)
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
    if at == empty:  # removes `"args":{` again
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
    """Writes events from row `progress.at` on, each as `,` and a line, while there is room.

    `scope`, up to 127, separates the flows of a host from those of others. `stamps` [names] are at
    most the stamp of `progress`.
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
                room += stat_room(stats, row, names)
            if at + room > out.shape[0]:
                progress.needed = room
                break
            progress.stamp += 1
            phase = SAY_COMPLETE
            start = at
            named = -1
            is_counter = tracks.is_counter[track]
            while True:  # once, or again if a counter turns out to have no number
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
                direction, flow, category, is_async = find_flow(stats, first, last, names)
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
