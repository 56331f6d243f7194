"""Events as Chrome trace JSON: a compiled pass over their columns and the rows of their stats.

    {"args":{…},"name":"…","ph":"X","pid":1,"tid":7,"ts":12.5,"dur":3,"bind_id":"0x2a","flow_in":true}

Source: the document "Trace Event Format" of Chromium, and what the importers of Perfetto
(json_trace_parser_impl.cc) and chrome://tracing (trace_event_importer.html) make of it.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tbprof.base.jit import kernel
from tbprof.events.stats import BYTES, DOUBLE, INT64, REFERENCE, TEXT, UINT64
from tbprof.timeline.json_text import (
    NUMBER_BYTES,
    WIDEST,
    Texts,
    copy_text,
    joined,
    write_hex,
    write_integer,
    write_text,
    write_us,
)

# What stats of a name say of their event, in order of rank where several are flows. Those from
# `LAUNCH` on are arguments as well.
HIDDEN, FLOW, CONSUMER_TYPE, CONSUMER, PRODUCER_TYPE, PRODUCER, IS_ASYNC = range(7)
LAUNCH, LAUNCHED, NAMES_EVENT, SHOWN = range(7, 11)

# In place of the number of a double's text, where JSON has no number for it.
NAN, INFINITE, NEGATIVE_INFINITE = -1, -2, -3

# Slots of the state of both writers.
AT = 0  # the row where they go on
WRITTEN = 1  # bytes in the buffer
NEEDED = 2  # room that the next row needs at most, where it did not fit; else 0
STAMP = 3  # counts events: which names of stats an event has had
STATE_SIZE = 4

# At most what is written of an event besides its name, stats and track; asynchronous ones take two.
_FIXED = 1024
# Quotes, colon and comma.
_AROUND = 8

# Of a stat `flow`: direction, id, category. Source: xla/tsl/profiler/utils/xplane_utils.h, XFlow.
_FLOW_IN, _FLOW_OUT = 1, 2
_ID_BITS = 56
_ID_MASK = 2**56 - 1
_CATEGORIES = 64
# Source: xla/tsl/profiler/utils/context_types.cc; generic and legacy contexts have no name.
_GPU_LAUNCH = 9
_CONTEXTS = {2: "tf_exec", 3: "tfrt_exec", 4: "batch_sched", 5: "PjRt", 6: "as_batch_sched",
             7: "tfrt_rt", 8: "tpu_embed", 9: "gpu_launch", 10: "batcher", 11: "tpu_stream",
             12: "tpu_launch", 13: "pathways_exec", 14: "pjrt_library_call",
             15: "threadpool_event", 16: "jax_serving_exec"}  # fmt: skip
_PRIME = 2**31 - 1

(
    _OPEN, _OPEN_BARE, _NAME, _NAME_AFTER_ARGS, _COMPLETE, _INSTANT, _COUNTER, _BEGIN, _END,
    _DURATION, _BIND, _ID, _NO_DIRECTION, _IN, _OUT, _IN_AND_OUT, _BYTES, _CLOSE_BYTES, _CATEGORY,
) = np.arange(19)  # fmt: skip
_ASYNC = _CATEGORIES
# What `_say` says, by numbers that are no literals, as it would be compiled for each of those;
# doubles that are no numbers by the negative ones that stand for them.
WORDS = joined([
    b',\n{"args":{', b',\n{"name":', b'"name":', b'},"name":', b',"ph":"X",',
    b',"ph":"i","s":"t",', b',"ph":"C","cat":"counter",', b',"ph":"b",', b',"ph":"e",',
    b',"dur":', b',"bind_id":', b',"id":', b"", b',"flow_in":true', b',"flow_out":true',
    b',"flow_in":true,"flow_out":true', b'"<', b' bytes>"',
    *(f',"cat":"{_CONTEXTS[kind]}"'.encode() if kind in _CONTEXTS else b"" for kind in range(64)),
    b',"cat":"async"', b'"-Infinity"', b'"Infinity"', b'"NaN"',
])  # fmt: skip
# Of `_OPEN`, without what begins the arguments.
_BARE = len(",\n{")
_COMMA, _BRACE, _QUOTE, _BACKSLASH = b',}"\\'


class EventColumns(NamedTuple):
    """Events [n]: `type` is a row of the plane's types (-1: none), `track` one of `Tracks`."""

    type: NDArray[np.int32]
    start_ps: NDArray[np.int64]
    duration_ps: NDArray[np.int64]
    track: NDArray[np.int64]


class StatColumns(NamedTuple):
    """The columns of events.stats.StatRows; of a DOUBLE `bits` is the number of its text."""

    begin: NDArray[np.int64]
    end: NDArray[np.int64]
    name: NDArray[np.int32]
    kind: NDArray[np.uint8]
    bits: NDArray[np.int64]
    size: NDArray[np.int64]
    content: NDArray[np.uint8]
    number: Texts


class StatNames(NamedTuple):
    """The distinct names of a plane's stats, each `"name":`, and what stats of that name are for.

    `distinct` [k + 1] is the name of each row of `StatRows.names`; the last is for no name.
    `full_name` is the name of that argument, `has_flows` says whether any stat may be a flow.
    """

    text: Texts
    distinct: NDArray[np.int64]
    purpose: NDArray[np.uint8]
    full_name: int
    has_flows: bool


class TypeTexts(NamedTuple):
    """What events of one type share, as JSON; the last of the types [t + 1] is for no type.

    Stats `begin[t]:end[t]` are those of type t, each `"key":value,`, of the distinct names
    `arg_name`. `full_name` is the argument `long_name` in the same form, empty where the name is
    all. `room` is what a type's texts take.
    """

    name: Texts
    full_name: Texts
    begin: NDArray[np.int64]
    end: NDArray[np.int64]
    arg: Texts
    arg_name: NDArray[np.int64]
    room: NDArray[np.int64]


class Tracks(NamedTuple):
    """`"pid":1,"tid":7,"ts":` of each track, and whether its events are values of counters."""

    text: Texts
    is_counter: NDArray[np.bool_]


@kernel
def _say(words, number, out, at):  # type: ignore[no-untyped-def]
    return copy_text(words.text, words.first[number], words.first[number + 1], out, at)


@kernel
def _write_value(stats, row, names, words, out, at):  # type: ignore[no-untyped-def]
    kind = stats.kind[row]
    bits = stats.bits[row]
    if kind == TEXT:
        return write_text(stats.content, bits, bits + stats.size[row], out, at)
    if kind == REFERENCE:
        name = names.distinct[bits]
        return copy_text(
            names.text.text, names.text.first[name], names.text.first[name + 1] - 1, out, at
        )
    if kind == BYTES:
        at = _say(words, _BYTES, out, at)
        at = write_integer(np.uint8(INT64), stats.size[row], out, at)
        return _say(words, _CLOSE_BYTES, out, at)
    if kind != DOUBLE:
        return write_integer(kind, bits, out, at)
    if bits < 0:
        return _say(words, words.first.size - 1 + bits, out, at)
    number = stats.number
    return copy_text(number.text, number.first[bits], number.first[bits + 1], out, at)


@kernel
def _stat_room(stats, row, names):  # type: ignore[no-untyped-def]
    """At most what a stat takes, its value twice: it may name the event, too."""
    name = names.distinct[stats.name[row]]
    room = names.text.first[name + 1] - names.text.first[name] + 2 * _AROUND
    if stats.kind[row] == TEXT:
        return room + 2 * WIDEST * stats.size[row]
    if stats.kind[row] == REFERENCE:
        value = names.distinct[stats.bits[row]]
        return room + 2 * (names.text.first[value + 1] - names.text.first[value])
    return room + NUMBER_BYTES


@kernel
def write_stats(state, out, stats, names, words, first):  # type: ignore[no-untyped-def]
    """Writes stats from row `state[AT]` on, each `"key":value,`, as long as there is room.

    `first` [m + 1] are where they begin, counted from the first buffer on.
    """
    before = first[state[AT]]
    at = np.int64(0)
    state[NEEDED] = 0
    for row in range(state[AT], stats.kind.size):
        state[AT] = row
        room = _stat_room(stats, row, names)
        if at + room > out.size:
            state[NEEDED] = room
            break
        at = _say(names.text, names.distinct[stats.name[row]], out, at)
        at = _write_value(stats, row, names, words, out, at)
        out[at] = _COMMA
        at += 1
        first[row + 1] = before + at
        state[AT] = row + 1
    state[WRITTEN] = at


@kernel
def _mix(kind, number):  # type: ignore[no-untyped-def]
    """56 bits of a context's type and id: two polynomials of them modulo a Mersenne prime."""
    high = (kind & 0xFFFF) + 1
    low = high
    for part in range(4):
        bits = (number >> (16 * part) & 0xFFFF) + 1
        high = (high * 1_140_671_485 + bits) % _PRIME
        low = (low * 1_664_525_909 + bits) % _PRIME
    return high << 25 | low & 0x1FFFFFF


@kernel
def _find_flow(stats, first, last, names):  # type: ignore[no-untyped-def]
    """(direction, id, category, whether it is asynchronous) of an event's flow; direction 0: none.

    An event has one arrow in and out at most, of one id: the flow that it states, else what it
    consumes, else what it produces, else its launch.
    """
    rank = SHOWN
    direction, flow, category = np.int64(0), np.int64(0), np.int64(0)
    consumed, produced = np.int64(-1), np.int64(-1)
    is_async = False
    for row in range(first, last):
        kind = stats.kind[row]
        if kind != INT64 and kind != UINT64:
            continue
        purpose = names.purpose[names.distinct[stats.name[row]]]
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
        category = flow >> (_ID_BITS + 2) & (_CATEGORIES - 1)
        flow = flow >> 2 & _ID_MASK
    elif rank == CONSUMER and consumed >= 0:
        direction, category, flow = np.int64(_FLOW_IN), consumed, _mix(consumed, flow)
    elif rank == PRODUCER and produced >= 0:
        direction, category, flow = np.int64(_FLOW_OUT), produced, _mix(produced, flow)
    elif rank in (LAUNCH, LAUNCHED):
        direction = np.int64(_FLOW_OUT if rank == LAUNCH else _FLOW_IN)
        category = np.int64(_GPU_LAUNCH)
        # Recorders of contexts of this type count from elsewhere.
        flow = _mix(np.int64(-1), flow)
    if category >= _CATEGORIES:
        category = np.int64(0)
    return direction, flow, category, is_async


@kernel
def _write_args(event, kind, numbers_only, stats, names, types, stamps, stamp, words, out, at):  # type: ignore[no-untyped-def]
    """`,` and `{"args":{…},"name":` of an event; (the place, where its name was written or -1).

    The first stat of a name counts, and an event's own before that of its type. With
    `numbers_only` the others are left out, and the place is -1 where there is none.
    """
    start = at
    named = np.int64(-1)
    at = _say(words, _OPEN, out, at)
    empty = at
    for row in range(stats.begin[event], stats.end[event]):
        key = names.distinct[stats.name[row]]
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
        at = _say(names.text, key, out, at)
        if purpose == NAMES_EVENT and value in (TEXT, REFERENCE):
            named = at
        at = _write_value(stats, row, names, words, out, at)
        out[at] = _COMMA
        at += 1
    if numbers_only:
        if at == empty:
            return np.int64(-1), named
    else:
        for row in range(types.begin[kind], types.end[kind]):
            key = types.arg_name[row]
            if names.purpose[key] >= LAUNCH and stamps[key] != stamp:
                stamps[key] = stamp
                at = _say(types.arg, row, out, at)
        if stamps[names.full_name] != stamp:
            at = _say(types.full_name, kind, out, at)
    if at == empty:  # takes `"args":{` back
        return _say(words, _NAME, out, start + _BARE), named
    return _say(words, _NAME_AFTER_ARGS, out, at - 1), named


@kernel
def write_events(state, out, scope, events, stats, names, types, tracks, words, stamps):  # type: ignore[no-untyped-def]  # noqa: C901 - one pass, few calls: each is compiled anew
    """Writes events from row `state[AT]` on, each as `,` and a line, as long as there is room.

    `scope`, up to 127, keeps the flows of a host apart from others'. `stamps` [names] are at most
    `state[STAMP]`.
    """
    at = np.int64(0)
    state[NEEDED] = 0
    for event in range(state[AT], events.type.size):
        state[AT] = event
        kind = np.int64(events.type[event])
        if kind < 0:
            kind = types.room.size - 1
        track = events.track[event]
        room = types.room[kind] + _FIXED
        room += 2 * (tracks.text.first[track + 1] - tracks.text.first[track])
        for row in range(stats.begin[event], stats.end[event]):
            room += _stat_room(stats, row, names)
        if at + room > out.size:
            state[NEEDED] = room
            break
        state[STAMP] += 1
        phase = _COMPLETE
        start = at
        named = np.int64(-1)
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
                state[STAMP],
                words,
                out,
                start,
            )
            if at >= 0:
                break
            is_counter = False
        direction, flow, category, is_async = np.int64(0), np.int64(0), np.int64(0), False
        if is_counter:
            phase = _COUNTER
        elif names.has_flows:
            first, last = stats.begin[event], stats.end[event]
            direction, flow, category, is_async = _find_flow(stats, first, last, names)
            flow |= scope << _ID_BITS
        is_pair = is_async and direction == _FLOW_IN | _FLOW_OUT
        if is_pair:
            phase = _BEGIN
            category = _ASYNC if category == 0 else category
        elif direction == 0 and events.duration_ps[event] == 0 and not is_counter:
            phase = _INSTANT  # Perfetto binds no arrows to instants
        time_ps = events.start_ps[event]
        while True:  # once, or again for the end of a pair
            if named >= 0:
                last = named + 1
                while out[last] != _QUOTE:
                    last += 1 + (out[last] == _BACKSLASH)
                at = copy_text(out, named, last + 1, out, at)
            else:
                at = _say(types.name, kind, out, at)
            at = _say(words, phase, out, at)
            at = _say(tracks.text, track, out, at)
            at = write_us(time_ps, out, at)
            if phase == _COMPLETE:
                at = _say(words, _DURATION, out, at)
                at = write_us(events.duration_ps[event], out, at)
            if direction != 0:
                at = _say(words, _ID if is_pair else _BIND, out, at)
                at = write_hex(flow, out, at)
                at = _say(words, _CATEGORY + category, out, at)
                if not is_pair:
                    at = _say(words, _NO_DIRECTION + direction, out, at)
            out[at] = _BRACE
            at += 1
            if phase != _BEGIN:
                break
            phase = _END
            time_ps += events.duration_ps[event]
            at = _say(words, _OPEN_BARE, out, at)
        state[AT] = event + 1
    state[WRITTEN] = at
