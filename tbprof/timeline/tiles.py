"""What a view shows, cut into tiles and encoded for browsers.

A tile is 512 buckets of 2^level ps; the tile i begins i tiles after the timeline does. A chunk is
one row in one tile: the entries of that level (see `levels.py`) that start in it, and before them
the one that began earlier and reaches into it. What a tile says never changes, and what it costs
depends on what it shows, not on how long the trace is.

    "TBT1", u32 size of the JSON, JSON
    chunk_row u32 [c], chunk_tile u32 [c] (counted from the JSON's `from`), chunk_first u32 [c + 1]
    chunk_base f64 [c] (ps of the first entry), chunk_id u32 [c] (event of the first entry)
    start u16 [m], duration u16 [m], type u16 [m], count u16 [m], id u16 [m], wide f64

Every block begins at a multiple of 8 bytes, little endian. Times are counted in units of a 16th of
a bucket (`unit_ps`, at least 1 ps) from `chunk_base`, rounded down: `start` says how many after the
entry before, `duration` how many until the end. `type` is a row in the JSON's lists; `id` is
counted from the entry before. 65535 stands for a larger number, which is the next one of `wide`.
"""

import struct
from dataclasses import dataclass
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

from tbprof.base.jit import kernel
from tbprof.timeline.shown import Shown, read_only
from tbprof.timeline.store import Timeline

# A tile has 2^9 buckets, a bucket 2^4 units.
TILE_SHIFT = 9
UNIT_SHIFT = 4
# More entries than any screen shows; a view that asks for more is told which rows it has got.
MOST_ENTRIES = 1 << 21
_NAME_LENGTH = 200
_ESCAPE = 65535

# Columns of an entry.
_START = 0
_DURATION = 1
_TYPE = 2
_COUNT = 3
_ID = 4
_COLUMNS = 5

# Slots of the state that a row is cut with.
_ENTRIES = 0
_TYPES = 1
_WIDE = 2  # and as many as there are columns
_BASE = _WIDE + _COLUMNS  # start of the chunk's first entry, ps
_UNITS = _BASE + 1  # from there to the start of the entry before
_EVENT = _BASE + 2  # of the entry before
_SLOTS = _BASE + 3


@dataclass(frozen=True, slots=True)
class _Buffers:
    """Where tiles are put together."""

    chunk_first: NDArray[np.uint32]
    chunk_base: NDArray[np.float64]
    chunk_id: NDArray[np.uint32]
    narrow: NDArray[np.uint16]
    wide: NDArray[np.float64]
    number: NDArray[np.int32]
    types: NDArray[np.int32]
    state: NDArray[np.int64]


def encode_tiles(
    timeline: Timeline,
    shown: Shown,
    level: int,
    first: int,
    last: int,
    rows: NDArray[np.int64],
    *,
    most: int = MOST_ENTRIES,
) -> bytes:
    """The tiles `first` to `last` (not included) of `rows` at `level`, row by row.

    Where they hold more than about `most` entries the last rows are left out, at most all but one,
    and the JSON says so (`truncated`).
    """
    levels = shown.levels
    events = _kernel_columns(
        shown.row_first, shown.ids, timeline.start_ps, timeline.duration_ps, timeline.type
    )
    kept = _kernel_columns(levels.row_first, levels.shift, levels.first, levels.start_ps)
    # Tiles behind the last event are empty, and their times may not be numbers any more.
    final = (timeline.end_ps - timeline.begin_ps) >> (level + TILE_SHIFT)
    tiles = last - first
    filled = max(0, min(last, final + 1) - first)
    window = (timeline.begin_ps, level, first if filled else 0, filled)
    bounds = np.empty(rows.size, np.int64)
    arguments: list[Any] = [rows, *events[:3], *kept, *window, bounds]
    _bound(*arguments)
    room = np.cumsum(bounds)
    taken = max(1, int(np.searchsorted(room, most, "right"))) if rows.size else 0
    rows = rows[:taken]
    made = _buffers(taken * tiles, int(room[taken - 1]) if taken else 0, len(timeline.types.name))
    arguments = [
        rows, *events, *kept,
        *_kernel_columns(
            levels.extent_ps, levels.longest_ps, levels.event, levels.type, levels.count
        ),
        *window, tiles, made.chunk_first, made.chunk_base, made.chunk_id, made.narrow, made.wide,
        made.number, made.types, made.state, np.zeros(_COLUMNS, np.int64),
    ]  # fmt: skip
    _cut(*arguments)
    head = {
        "level": level,
        "unit_ps": 1 << max(level - UNIT_SHIFT, 0),
        "begin_ps": timeline.begin_ps,
        "from": first,
        "truncated": taken < bounds.size,
        **_type_lists(timeline, made.types[: int(made.state[_TYPES])]),
    }
    return _pack(head, np.repeat(rows, tiles), np.tile(np.arange(tiles), taken), made)


def _kernel_columns(*columns: NDArray[Any]) -> tuple[NDArray[Any], ...]:
    return tuple(read_only(column) for column in columns)


def _buffers(chunks: int, entries: int, types: int) -> _Buffers:
    return _Buffers(
        np.zeros(chunks + 1, np.uint32),
        np.zeros(chunks, np.float64),
        np.zeros(chunks, np.uint32),
        np.empty((_COLUMNS, entries), np.uint16),
        np.empty((_COLUMNS, entries), np.float64),
        np.full(types + 1, -1, np.int32),
        np.empty(types + 1, np.int32),
        np.zeros(_SLOTS, np.int64),
    )


def _type_lists(timeline: Timeline, used: NDArray[np.int32]) -> dict[str, object]:
    """The types of an answer: ids, names and categories; the id -1 is for no type."""
    table = timeline.types
    names = [table.name[type_][:_NAME_LENGTH] if type_ >= 0 else "" for type_ in used.tolist()]
    categories = np.where(used >= 0, table.category[used], 0) if len(table.name) else used * 0
    return {"types": used.tolist(), "names": names, "categories": categories.tolist()}


def _pack(
    head: dict[str, object], chunk_row: NDArray[Any], chunk_tile: NDArray[Any], made: _Buffers
) -> bytes:
    entries = int(made.state[_ENTRIES])
    wides = made.state[_WIDE:_BASE].tolist()
    head |= {"chunks": chunk_row.size, "entries": entries, "wide": wides}
    text = orjson.dumps(head)
    text += b" " * (-len(text) % 8)
    blocks: list[NDArray[Any]] = [
        chunk_row.astype("<u4"),
        chunk_tile.astype("<u4"),
        made.chunk_first.astype("<u4", copy=False),
        made.chunk_base.astype("<f8", copy=False),
        made.chunk_id.astype("<u4", copy=False),
        *(column[:entries].astype("<u2", copy=False) for column in made.narrow),
        *(column[:size].astype("<f8") for column, size in zip(made.wide, wides, strict=True)),
    ]
    pieces = [b"TBT1", struct.pack("<I", len(text)), text]
    for block in blocks:
        pieces += [block.tobytes(), bytes(-block.nbytes % 8)]
    return b"".join(pieces)


@kernel
def _place(at, is_chosen, ids):  # type: ignore[no-untyped-def]
    """Where in its columns the entry `at` of a row is: those of chosen events are looked up."""
    return np.int64(ids[at]) if is_chosen else np.int64(at)


@kernel
def _first_from(starts, begin, end, time_ps, is_chosen, ids):  # type: ignore[no-untyped-def]
    """The first of the entries [begin, end) that does not start before a time."""
    while begin < end:
        middle = (begin + end) // 2
        if starts[_place(middle, is_chosen, ids)] < time_ps:
            begin = middle + 1
        else:
            end = middle
    return begin


@kernel
def _kept_level(level_row, level_shift, row, level):  # type: ignore[no-untyped-def]
    """The coarsest kept level of a row that is no coarser than `level`, -1 for the events."""
    found = np.int64(-1)
    for kept in range(level_row[row], level_row[row + 1]):
        if level_shift[kept] <= level:
            found = np.int64(kept)
    return found


@kernel
def _bound(  # type: ignore[no-untyped-def]
    rows, row_first, ids, start, level_row, level_shift, level_first, level_start,
    begin_ps, level, first_tile, filled, bounds,
):  # fmt: skip
    """No more entries than this lie in the tiles of each row."""
    span = np.int64(1) << (level + TILE_SHIFT)
    from_ps = begin_ps + first_tile * span
    for number in range(rows.size):
        row = rows[number]
        kept = _kept_level(level_row, level_shift, row, level)
        is_chosen = kept < 0 and ids.size > 0
        starts = start if kept < 0 else level_start
        begin = row_first[row] if kept < 0 else level_first[kept]
        end = row_first[row + 1] if kept < 0 else level_first[kept + 1]
        first = _first_from(starts, begin, end, from_ps, is_chosen, ids)
        last = _first_from(starts, first, end, from_ps + filled * span, is_chosen, ids)
        bounds[number] = last - first + filled  # one may reach into each tile from before


@kernel
def _joins(one, other, starts, longests, begin_ps, level):  # type: ignore[no-untyped-def]
    """Whether two neighbours of a row are one entry at a level."""
    is_short = (longests[one] | longests[other]) >> level == 0
    return is_short and (starts[one] - begin_ps) >> level == (starts[other] - begin_ps) >> level


@kernel
def _put(value, column, narrow, wide, state):  # type: ignore[no-untyped-def]
    if 0 <= value < _ESCAPE:
        narrow[column, state[_ENTRIES]] = value
    else:
        narrow[column, state[_ENTRIES]] = _ESCAPE
        wide[column, state[_WIDE + column]] = value
        state[_WIDE + column] += 1


@kernel
def _write(  # type: ignore[no-untyped-def]
    entry, chunk, unit, chunk_first, chunk_base, chunk_id, narrow, wide, number, types, state
):
    """Adds an entry to a chunk: start, end, event, type and count."""
    ps = entry[0]
    event = entry[2]
    if state[_ENTRIES] == chunk_first[chunk]:
        chunk_base[chunk] = ps
        chunk_id[chunk] = event
        state[_BASE] = ps
        state[_UNITS] = 0
        state[_EVENT] = event
    # The last row of `number` is for types that the timeline does not have.
    kind = entry[3] if 0 <= entry[3] < number.size - 1 else np.int64(number.size - 1)
    if number[kind] < 0:
        number[kind] = state[_TYPES]
        types[state[_TYPES]] = kind if kind < number.size - 1 else -1
        state[_TYPES] += 1
    units = (ps - state[_BASE]) >> unit
    _put(units - state[_UNITS], np.int64(_START), narrow, wide, state)
    _put(((entry[1] - state[_BASE]) >> unit) - units, np.int64(_DURATION), narrow, wide, state)
    _put(np.int64(number[kind]), np.int64(_TYPE), narrow, wide, state)
    _put(entry[4], np.int64(_COUNT), narrow, wide, state)
    _put(event - state[_EVENT], np.int64(_ID), narrow, wide, state)
    state[_UNITS] = units
    state[_EVENT] = event
    state[_ENTRIES] += 1


@kernel
def _cut(  # type: ignore[no-untyped-def]
    rows, row_first, ids, start, duration, type_, level_row, level_shift, level_first, level_start,
    level_extent, level_longest, level_event, level_type, level_count,
    begin_ps, level, first_tile, filled, tiles,
    chunk_first, chunk_base, chunk_id, narrow, wide, number, types, state, entry,
):  # fmt: skip
    span = np.int64(1) << (level + TILE_SHIFT)
    unit = max(level - UNIT_SHIFT, 0)
    for row_at in range(rows.size):
        row = rows[row_at]
        kept = _kept_level(level_row, level_shift, row, level)
        is_chosen = kept < 0 and ids.size > 0
        starts = start if kept < 0 else level_start
        extents = duration if kept < 0 else level_extent
        longests = duration if kept < 0 else level_longest
        begin = row_first[row] if kept < 0 else level_first[kept]
        end = row_first[row + 1] if kept < 0 else level_first[kept + 1]
        at = _first_from(starts, begin, end, begin_ps + first_tile * span, is_chosen, ids)
        # The entry before may reach into the first tile: it is made as a whole.
        if at > begin:
            at -= 1
        while at > begin and _joins(
            _place(at - 1, is_chosen, ids), _place(at, is_chosen, ids),
            starts, longests, begin_ps, level,
        ):  # fmt: skip
            at -= 1
        has_entry = False
        for tile in range(tiles):
            chunk = row_at * tiles + tile
            chunk_first[chunk] = state[_ENTRIES]
            if tile >= filled:
                continue
            tile_ps = begin_ps + (first_tile + tile) * span
            if has_entry and entry[1] > tile_ps:
                _write(
                    entry, chunk, unit, chunk_first, chunk_base, chunk_id, narrow, wide, number,
                    types, state,
                )  # fmt: skip
            while at < end and starts[_place(at, is_chosen, ids)] < tile_ps + span:
                place = _place(at, is_chosen, ids)
                best = place
                entry[0] = starts[place]
                entry[1] = starts[place] + extents[place]
                entry[4] = 0
                while True:
                    entry[1] = max(entry[1], starts[place] + extents[place])
                    entry[4] += 1 if kept < 0 else np.int64(level_count[place])
                    if longests[place] > longests[best]:
                        best = place
                    at += 1
                    if at >= end:
                        break
                    before = place
                    place = _place(at, is_chosen, ids)
                    if not _joins(before, place, starts, longests, begin_ps, level):
                        break
                entry[2] = best if kept < 0 else np.int64(level_event[best])
                entry[3] = type_[best] if kept < 0 else level_type[best]
                has_entry = True
                # What began before the first tile is there only where it reaches into it.
                if entry[0] >= tile_ps or entry[1] > tile_ps:
                    _write(
                        entry, chunk, unit, chunk_first, chunk_base, chunk_id, narrow, wide,
                        number, types, state,
                    )  # fmt: skip
    chunk_first[rows.size * tiles] = state[_ENTRIES]
