"""Tiles: the entries of rows in buckets, as differences."""

import cython
from cython.cimports.tbprof.kernels.codes import (
    CUT_BASE,
    CUT_ENTRIES,
    CUT_EVENT,
    CUT_TYPES,
    CUT_UNITS,
    CUT_WIDE,
    ESCAPE,
    TILE_COUNT,
    TILE_DURATION,
    TILE_ID,
    TILE_SHIFT,
    TILE_START,
    TILE_TYPE,
    UNIT_SHIFT,
)
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


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _place(at: i64, is_chosen: cython.bint, ids: Uint32s) -> i64:
    """Where in its columns the entry `at` of a row is: those of chosen events are looked up."""
    return cython.cast(i64, ids[at]) if is_chosen else at


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
@cython.locals(middle=i64)
def _first_from(
    starts: Ints, begin: i64, end: i64, time_ps: i64, is_chosen: cython.bint, ids: Uint32s
) -> i64:
    """The first of the entries [begin, end) that does not start before a time."""
    while begin < end:
        middle = (begin + end) // 2
        if starts[_place(middle, is_chosen, ids)] < time_ps:
            begin = middle + 1
        else:
            end = middle
    return begin


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
@cython.locals(found=i64, kept=i64)
def _kept_level(level_row: Ints, level_shift: Bytes, row: i64, level: i64) -> i64:
    """The coarsest kept level of a row that is no coarser than `level`, -1 for the events."""
    found = -1
    for kept in range(level_row[row], level_row[row + 1]):
        if level_shift[kept] <= level:
            found = kept
    return found


@cython.ccall
@cython.exceptval(check=False)
@cython.locals(
    begin=i64,
    end=i64,
    first=i64,
    from_ps=i64,
    is_chosen=cython.bint,
    kept=i64,
    last=i64,
    number=i64,
    row=i64,
    span=i64,
    starts=Ints,
)
def bound_tiles(
    rows: Ints,
    row_first: Ints,
    ids: Uint32s,
    start: Ints,
    level_row: Ints,
    level_shift: Bytes,
    level_first: Ints,
    level_start: Ints,
    begin_ps: i64,
    level: i64,
    first_tile: i64,
    filled: i64,
    bounds: OutInts,
) -> cython.void:
    """No more entries than this lie in the tiles of each row."""
    with cython.nogil:
        span = cython.cast(i64, 1) << (level + TILE_SHIFT)
        from_ps = begin_ps + first_tile * span
        for number in range(rows.shape[0]):
            row = rows[number]
            kept = _kept_level(level_row, level_shift, row, level)
            is_chosen = kept < 0 and ids.shape[0] > 0
            starts = start if kept < 0 else level_start
            begin = row_first[row] if kept < 0 else level_first[kept]
            end = row_first[row + 1] if kept < 0 else level_first[kept + 1]
            first = _first_from(starts, begin, end, from_ps, is_chosen, ids)
            last = _first_from(starts, first, end, from_ps + filled * span, is_chosen, ids)
            bounds[number] = last - first + filled  # one may reach into each tile from before


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
@cython.locals(is_short=cython.bint)
def _joins(
    one: i64, other: i64, starts: Ints, longests: Ints, begin_ps: i64, level: i64
) -> cython.bint:
    """Whether two neighbours of a row are one entry at a level."""
    is_short = (longests[one] | longests[other]) >> level == 0
    return is_short and (starts[one] - begin_ps) >> level == (starts[other] - begin_ps) >> level


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _put(
    value: i64, column: i64, narrow: OutUint16Table, wide: OutFloatTable, state: OutInts
) -> cython.void:
    if 0 <= value < ESCAPE:
        narrow[column, state[CUT_ENTRIES]] = value
    else:
        narrow[column, state[CUT_ENTRIES]] = ESCAPE
        wide[column, state[CUT_WIDE + column]] = value
        state[CUT_WIDE + column] += 1


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
@cython.locals(event=i64, kind=i64, ps=i64, units=i64)
def _write(
    entry: Ints,
    chunk: i64,
    unit: i64,
    chunk_first: Uint32s,
    chunk_base: OutFloats,
    chunk_id: OutUint32s,
    narrow: OutUint16Table,
    wide: OutFloatTable,
    number: OutInt32s,
    types: OutInt32s,
    state: OutInts,
) -> cython.void:
    """Adds an entry to a chunk: start, end, event, type and count."""
    ps = entry[0]
    event = entry[2]
    if state[CUT_ENTRIES] == chunk_first[chunk]:
        chunk_base[chunk] = ps
        chunk_id[chunk] = event
        state[CUT_BASE] = ps
        state[CUT_UNITS] = 0
        state[CUT_EVENT] = event
    # The last row of `number` is for types that the timeline does not have.
    kind = (
        entry[3] if 0 <= entry[3] < number.shape[0] - 1 else cython.cast(i64, number.shape[0] - 1)
    )
    if number[kind] < 0:
        number[kind] = state[CUT_TYPES]
        types[state[CUT_TYPES]] = kind if kind < number.shape[0] - 1 else -1
        state[CUT_TYPES] += 1
    units = (ps - state[CUT_BASE]) >> unit
    _put(units - state[CUT_UNITS], TILE_START, narrow, wide, state)
    _put(((entry[1] - state[CUT_BASE]) >> unit) - units, TILE_DURATION, narrow, wide, state)
    _put(cython.cast(i64, number[kind]), TILE_TYPE, narrow, wide, state)
    _put(entry[4], TILE_COUNT, narrow, wide, state)
    _put(event - state[CUT_EVENT], TILE_ID, narrow, wide, state)
    state[CUT_UNITS] = units
    state[CUT_EVENT] = event
    state[CUT_ENTRIES] += 1


@cython.ccall
@cython.exceptval(check=False)
@cython.locals(
    at=i64,
    before=i64,
    begin=i64,
    best=i64,
    chunk=i64,
    end=i64,
    extents=Ints,
    has_entry=i64,
    is_chosen=cython.bint,
    kept=i64,
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
    rows: Ints,
    row_first: Ints,
    ids: Uint32s,
    start: Ints,
    duration: Ints,
    type_: Int32s,
    level_row: Ints,
    level_shift: Bytes,
    level_first: Ints,
    level_start: Ints,
    level_extent: Ints,
    level_longest: Ints,
    level_event: Uint32s,
    level_type: Int32s,
    level_count: Uint32s,
    begin_ps: i64,
    level: i64,
    first_tile: i64,
    filled: i64,
    tiles: i64,
    chunk_first: OutUint32s,
    chunk_base: OutFloats,
    chunk_id: OutUint32s,
    narrow: OutUint16Table,
    wide: OutFloatTable,
    number: OutInt32s,
    types: OutInt32s,
    state: OutInts,
    entry: OutInts,
) -> cython.void:
    """Writes the chunks of some rows in some tiles; see timeline.tiles."""
    with cython.nogil:
        span = cython.cast(i64, 1) << (level + TILE_SHIFT)
        unit = max(level - UNIT_SHIFT, 0)
        for row_at in range(rows.shape[0]):
            row = rows[row_at]
            kept = _kept_level(level_row, level_shift, row, level)
            is_chosen = kept < 0 and ids.shape[0] > 0
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
                chunk_first[chunk] = state[CUT_ENTRIES]
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
                        entry[4] += 1 if kept < 0 else cython.cast(i64, level_count[place])
                        if longests[place] > longests[best]:
                            best = place
                        at += 1
                        if at >= end:
                            break
                        before = place
                        place = _place(at, is_chosen, ids)
                        if not _joins(before, place, starts, longests, begin_ps, level):
                            break
                    entry[2] = best if kept < 0 else cython.cast(i64, level_event[best])
                    entry[3] = type_[best] if kept < 0 else level_type[best]
                    has_entry = True
                    # What began before the first tile is there only where it reaches into it.
                    if entry[0] >= tile_ps or entry[1] > tile_ps:
                        _write(
                            entry, chunk, unit, chunk_first, chunk_base, chunk_id, narrow, wide,
                            number, types, state,
                        )  # fmt: skip
        chunk_first[rows.shape[0] * tiles] = state[CUT_ENTRIES]
