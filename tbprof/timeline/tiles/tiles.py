"""The events of a view, cut into tiles and encoded for browsers.

A tile is 512 buckets of 2^level ps; tile i begins i tiles after the timeline. A chunk is
one row in one tile: the entries of that level (see `levels.py`) that start in it, and before them
the one that began earlier and reaches into it. A tile never changes, and its cost depends on what
it shows, not on the length of the trace.

    "TBT1", u32 size of the JSON, JSON
    chunk_row u32 [c], chunk_tile u32 [c] (counted from the JSON's `from`), chunk_first u32 [c + 1]
    chunk_base f64 [c] (ps of the first entry), chunk_id u32 [c] (event of the first entry)
    start u16 [m], duration u16 [m], type u16 [m], count u16 [m], id u16 [m], wide f64

Every block begins at a multiple of 8 bytes, little endian. Times are counted in units of a 16th of
a bucket (`unit_ps`, at least 1 ps) from `chunk_base`, rounded down: `start` counts from the
previous entry, `duration` until the end. `type` is a row in the JSON's lists; `id` is
relative to the previous entry. 65535 stands for a larger number, the next one in `wide`.
"""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

from tbprof.base.records import dataclass
from tbprof.kernels.codes import TILE_COLUMNS, TILE_SHIFT, UNIT_SHIFT
from tbprof.kernels.timeline.level_merging import RowEvents
from tbprof.kernels.timeline.tile_cutting import (
    Chunks,
    RowLevels,
    TileWindow,
    bound_tiles,
    cut_tiles,
)
from tbprof.timeline.model.store import Timeline
from tbprof.timeline.tiles.visible_events import VisibleEvents

# More entries than any screen shows. A response that leaves rows out says which it contains.
MOST_ENTRIES = 1 << 21
_NAME_LENGTH = 200


@dataclass(frozen=True, slots=True)
class _TileBuffers:
    """The buffers in which tiles are assembled; `chunks` writes to them, and counts entries."""

    chunk_first: NDArray[np.uint32]
    chunk_base: NDArray[np.float64]
    chunk_id: NDArray[np.uint32]
    narrow: NDArray[np.uint16]
    wide: NDArray[np.float64]
    wide_count: NDArray[np.int64]
    types: NDArray[np.int32]
    chunks: Chunks


def encode_tiles(
    timeline: Timeline,
    visible: VisibleEvents,
    level: int,
    first: int,
    last: int,
    rows: NDArray[np.int64],
    *,
    most: int = MOST_ENTRIES,
) -> bytes:
    """The tiles `first` to `last` (not included) of `rows` at `level`, row by row.

    If they have more than about `most` entries, the last rows are left out (never the first),
    and the JSON says so (`truncated`).
    """
    events = RowEvents(
        visible.row_first, visible.ids, timeline.start_ps, timeline.duration_ps, timeline.type
    )
    stored = visible.levels
    levels = RowLevels(
        stored.row_first, stored.shift, stored.first, stored.start_ps, stored.extent_ps,
        stored.longest_ps, stored.event, stored.type, stored.count,
    )  # fmt: skip
    # Tiles after the last event are empty, and their times may overflow.
    final = (timeline.end_ps - timeline.begin_ps) >> (level + TILE_SHIFT)
    tiles = last - first
    filled = max(0, min(last, final + 1) - first)
    window = TileWindow(timeline.begin_ps, level, first if filled else 0, filled, tiles)
    bounds = np.empty(rows.size, np.int64)
    bound_tiles(rows, events, levels, window, bounds)
    room = np.cumsum(bounds)
    taken = max(1, int(np.searchsorted(room, most, "right"))) if rows.size else 0
    rows = rows[:taken]
    buffers = _buffers(
        taken * tiles, int(room[taken - 1]) if taken else 0, len(timeline.types.name)
    )
    cut_tiles(rows, events, levels, window, buffers.chunks)
    head = {
        "level": level,
        "unit_ps": 1 << max(level - UNIT_SHIFT, 0),
        "begin_ps": timeline.begin_ps,
        "from": first,
        "truncated": taken < bounds.size,
        **_type_lists(timeline, buffers.types[: buffers.chunks.used]),
    }
    return _pack(head, np.repeat(rows, tiles), np.tile(np.arange(tiles), taken), buffers)


def _buffers(chunks: int, entries: int, types: int) -> _TileBuffers:
    first = np.zeros(chunks + 1, np.uint32)
    base, id_ = np.zeros(chunks, np.float64), np.zeros(chunks, np.uint32)
    narrow = np.empty((TILE_COLUMNS, entries), np.uint16)
    wide = np.empty((TILE_COLUMNS, entries), np.float64)
    wide_count = np.zeros(TILE_COLUMNS, np.int64)
    used = np.empty(types + 1, np.int32)
    number = np.full(types + 1, -1, np.int32)
    into = Chunks(first, base, id_, narrow, wide, wide_count, number, used)
    return _TileBuffers(first, base, id_, narrow, wide, wide_count, used, into)


def _type_lists(timeline: Timeline, used: NDArray[np.int32]) -> dict[str, object]:
    """The types in a response: ids, names and categories; the id -1 is for no type."""
    table = timeline.types
    names = [table.name[type_][:_NAME_LENGTH] if type_ >= 0 else "" for type_ in used.tolist()]
    categories = np.where(used >= 0, table.category[used], 0) if len(table.name) else used * 0
    return {"types": used.tolist(), "names": names, "categories": categories.tolist()}


def _pack(
    head: dict[str, object],
    chunk_row: NDArray[Any],
    chunk_tile: NDArray[Any],
    buffers: _TileBuffers,
) -> bytes:
    entries = buffers.chunks.entries
    wides = buffers.wide_count.tolist()
    head |= {"chunks": chunk_row.size, "entries": entries, "wide": wides}
    text = orjson.dumps(head)
    text += b" " * (-len(text) % 8)
    blocks: list[NDArray[Any]] = [
        chunk_row.astype("<u4"),
        chunk_tile.astype("<u4"),
        buffers.chunk_first.astype("<u4", copy=False),
        buffers.chunk_base.astype("<f8", copy=False),
        buffers.chunk_id.astype("<u4", copy=False),
        *(column[:entries].astype("<u2", copy=False) for column in buffers.narrow),
        *(column[:size].astype("<f8") for column, size in zip(buffers.wide, wides, strict=True)),
    ]
    pieces = [b"TBT1", struct.pack("<I", len(text)), text]
    for block in blocks:
        pieces += [block.tobytes(), bytes(-block.nbytes % 8)]
    return b"".join(pieces)
