"""Tiles: the entries of rows in buckets, as differences."""

import cython
from cython.cimports.tbprof.kernels.codes import (
    ESCAPE,
    TILE_COUNT,
    TILE_DURATION,
    TILE_ID,
    TILE_SHIFT,
    TILE_START,
    TILE_TYPE,
    UNIT_SHIFT,
)
from cython.cimports.tbprof.kernels.searches import first_chosen, first_not_below
from cython.cimports.tbprof.kernels.timeline.level_merging import LevelEntry, RowEvents
from cython.cimports.tbprof.kernels.types import (
    Bytes,
    Int32s,
    Ints,
    OutFloats,
    OutFloatTable,
    OutInt32s,
    OutInts,
    OutUint16Table,
    OutUint32s,
    Uint32s,
    i64,
)


@cython.final
@cython.cclass
class RowLevels:
    """The stored levels of rows and their entries, see `timeline.model.store.Levels`."""

    row: Ints
    shift: Bytes
    first: Ints
    start: Ints
    extent: Ints
    longest: Ints
    event: Uint32s
    type: Int32s
    count: Uint32s

    def __init__(
        self, row: Ints, shift: Bytes, first: Ints, start: Ints, extent: Ints, longest: Ints,
        event: Uint32s, type: Int32s, count: Uint32s,
    ) -> None:  # fmt: skip
        self.row = row
        self.shift = shift
        self.first = first
        self.start = start
        self.extent = extent
        self.longest = longest
        self.event = event
        self.type = type
        self.count = count


@cython.final
@cython.cclass
class TileWindow:
    """The tiles from `first` on at a level, `filled` of which may hold entries."""

    begin_ps: i64
    level: i64
    first: i64
    filled: i64
    tiles: i64

    def __init__(self, begin_ps: i64, level: i64, first: i64, filled: i64, tiles: i64) -> None:
        self.begin_ps = begin_ps
        self.level = level
        self.first = first
        self.filled = filled
        self.tiles = tiles


@cython.final
@cython.cclass
class Chunks:
    """The buffers of chunks, and what has been written so far.

    `wide_count` [columns] are the numbers in `wide`; `number` [types + 1] says which of the
    `used` types each type is, the last of them for types that the timeline does not have.
    """

    first: OutUint32s
    base: OutFloats
    id: OutUint32s
    narrow: OutUint16Table
    wide: OutFloatTable
    wide_count: OutInts
    number: OutInt32s
    types: OutInt32s
    entries = cython.declare(i64, visibility="readonly")
    used = cython.declare(i64, visibility="readonly")
    # State of the current chunk: its first start, units from there to the last entry, that entry's
    # event.
    base_ps: i64
    units: i64
    event: i64

    def __init__(
        self, first: OutUint32s, base: OutFloats, id: OutUint32s, narrow: OutUint16Table,
        wide: OutFloatTable, wide_count: OutInts, number: OutInt32s, types: OutInt32s,
    ) -> None:  # fmt: skip
        self.first = first
        self.base = base
        self.id = id
        self.narrow = narrow
        self.wide = wide
        self.wide_count = wide_count
        self.number = number
        self.types = types
        self.entries = 0
        self.used = 0


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _place(at: i64, is_chosen: cython.bint, ids: Uint32s) -> i64:
    """The position of the entry `at` of a row in its columns, looked up for chosen events."""
    return cython.cast(i64, ids[at]) if is_chosen else at


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _first_from(
    starts: Ints, begin: i64, end: i64, time_ps: i64, is_chosen: cython.bint, ids: Uint32s
) -> i64:
    """The first of the entries [begin, end) that does not start before a time."""
    if is_chosen:
        return first_chosen(ids, begin, end, starts, time_ps)
    return first_not_below(starts, begin, end, time_ps)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
@cython.locals(found=i64, kept=i64)
def _kept_level(levels: RowLevels, row: i64, level: i64) -> i64:
    """The coarsest kept level of a row that is no coarser than `level`, -1 for the events."""
    found = -1
    for kept in range(levels.row[row], levels.row[row + 1]):
        if levels.shift[kept] <= level:
            found = kept
    return found


@cython.ccall
@cython.exceptval(check=False)
@cython.locals(
    begin=i64,
    end=i64,
    first=i64,
    from_ps=i64,
    ids=Uint32s,
    is_chosen=cython.bint,
    kept=i64,
    last=i64,
    number=i64,
    row=i64,
    span=i64,
    starts=Ints,
)
def bound_tiles(
    rows: Ints, events: RowEvents, levels: RowLevels, window: TileWindow, bounds: OutInts
) -> cython.void:
    """Upper bounds of the number of entries in the tiles of each row."""
    ids = events.ids
    with cython.nogil:
        span = cython.cast(i64, 1) << (window.level + TILE_SHIFT)
        from_ps = window.begin_ps + window.first * span
        for number in range(rows.shape[0]):
            row = rows[number]
            kept = _kept_level(levels, row, window.level)
            is_chosen = kept < 0 and ids.shape[0] > 0
            starts = events.start if kept < 0 else levels.start
            begin = events.first[row] if kept < 0 else levels.first[kept]
            end = events.first[row + 1] if kept < 0 else levels.first[kept + 1]
            first = _first_from(starts, begin, end, from_ps, is_chosen, ids)
            last = _first_from(starts, first, end, from_ps + window.filled * span, is_chosen, ids)
            # An earlier entry may reach into each tile.
            bounds[number] = last - first + window.filled


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
@cython.locals(is_short=cython.bint)
def _joins(
    one: i64, other: i64, starts: Ints, longests: Ints, begin_ps: i64, level: i64
) -> cython.bint:
    """Whether two neighboring events of a row are one entry at a level."""
    is_short = (longests[one] | longests[other]) >> level == 0
    return is_short and (starts[one] - begin_ps) >> level == (starts[other] - begin_ps) >> level


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _put(chunks: Chunks, column: i64, value: i64) -> cython.void:
    if 0 <= value < ESCAPE:
        chunks.narrow[column, chunks.entries] = value
    else:
        chunks.narrow[column, chunks.entries] = ESCAPE
        chunks.wide[column, chunks.wide_count[column]] = value
        chunks.wide_count[column] += 1


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
@cython.locals(kind=i64, unknown=i64, units=i64)
def _write(chunks: Chunks, chunk: i64, unit: i64, entry: LevelEntry) -> cython.void:
    """Adds an entry to a chunk."""
    if chunks.entries == chunks.first[chunk]:
        chunks.base[chunk] = entry.start
        chunks.id[chunk] = entry.event
        chunks.base_ps = entry.start
        chunks.units = 0
        chunks.event = entry.event
    unknown = chunks.number.shape[0] - 1
    kind = entry.type if 0 <= entry.type < unknown else unknown
    if chunks.number[kind] < 0:
        chunks.number[kind] = chunks.used
        chunks.types[chunks.used] = kind if kind < unknown else -1
        chunks.used += 1
    units = (entry.start - chunks.base_ps) >> unit
    _put(chunks, TILE_START, units - chunks.units)
    _put(chunks, TILE_DURATION, ((entry.end - chunks.base_ps) >> unit) - units)
    _put(chunks, TILE_TYPE, chunks.number[kind])
    _put(chunks, TILE_COUNT, entry.count)
    _put(chunks, TILE_ID, entry.event - chunks.event)
    chunks.units = units
    chunks.event = entry.event
    chunks.entries += 1


@cython.ccall
@cython.exceptval(check=False)
@cython.locals(
    at=i64,
    before=i64,
    begin=i64,
    begin_ps=i64,
    best=i64,
    chunk=i64,
    end=i64,
    entry=LevelEntry,
    extents=Ints,
    has_entry=cython.bint,
    ids=Uint32s,
    is_chosen=cython.bint,
    kept=i64,
    level=i64,
    longests=Ints,
    place=i64,
    row=i64,
    row_at=i64,
    span=i64,
    starts=Ints,
    tile=i64,
    tile_ps=i64,
    unit=i64,
)
def cut_tiles(
    rows: Ints, events: RowEvents, levels: RowLevels, window: TileWindow, chunks: Chunks
) -> cython.void:
    """Writes the chunks of some rows in the tiles of a window; see timeline.tiles."""
    ids = events.ids
    entry = LevelEntry(0, 0, 0, 0, 0)
    with cython.nogil:
        begin_ps = window.begin_ps
        level = window.level
        span = cython.cast(i64, 1) << (level + TILE_SHIFT)
        unit = max(level - UNIT_SHIFT, 0)
        for row_at in range(rows.shape[0]):
            row = rows[row_at]
            kept = _kept_level(levels, row, level)
            is_chosen = kept < 0 and ids.shape[0] > 0
            starts = events.start if kept < 0 else levels.start
            extents = events.duration if kept < 0 else levels.extent
            longests = events.duration if kept < 0 else levels.longest
            begin = events.first[row] if kept < 0 else levels.first[kept]
            end = events.first[row + 1] if kept < 0 else levels.first[kept + 1]
            at = _first_from(starts, begin, end, begin_ps + window.first * span, is_chosen, ids)
            # The previous entry may reach into the first tile, so it is assembled completely.
            if at > begin:
                at -= 1
            while at > begin and _joins(
                _place(at - 1, is_chosen, ids), _place(at, is_chosen, ids),
                starts, longests, begin_ps, level,
            ):  # fmt: skip
                at -= 1
            has_entry = False
            for tile in range(window.tiles):
                chunk = row_at * window.tiles + tile
                chunks.first[chunk] = chunks.entries
                if tile >= window.filled:
                    continue
                tile_ps = begin_ps + (window.first + tile) * span
                if has_entry and entry.end > tile_ps:
                    _write(chunks, chunk, unit, entry)
                while at < end and starts[_place(at, is_chosen, ids)] < tile_ps + span:
                    place = _place(at, is_chosen, ids)
                    best = place
                    entry.start = starts[place]
                    entry.end = starts[place] + extents[place]
                    entry.count = 0
                    while True:
                        entry.end = max(entry.end, starts[place] + extents[place])
                        entry.count += 1 if kept < 0 else cython.cast(i64, levels.count[place])
                        if longests[place] > longests[best]:
                            best = place
                        at += 1
                        if at >= end:
                            break
                        before = place
                        place = _place(at, is_chosen, ids)
                        if not _joins(before, place, starts, longests, begin_ps, level):
                            break
                    entry.event = best if kept < 0 else cython.cast(i64, levels.event[best])
                    entry.type = events.type[best] if kept < 0 else levels.type[best]
                    has_entry = True
                    # An entry that began before the first tile is only written if it reaches into
                    # the tile.
                    if entry.start >= tile_ps or entry.end > tile_ps:
                        _write(chunks, chunk, unit, entry)
        chunks.first[rows.shape[0] * window.tiles] = chunks.entries
