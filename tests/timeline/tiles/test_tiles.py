"""Tiles, decoded again, against the events merged by the definition."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
import pytest
from builders.timeline_rows import rows_after_gaps, timeline_of_rows
from helpers.tile_reader import read_tiles
from hypothesis import given, settings
from hypothesis import strategies as st

from tbprof.kernels.codes import TILE_SHIFT
from tbprof.timeline.model.store import Timeline
from tbprof.timeline.tiles.tiles import MOST_ENTRIES, encode_tiles
from tbprof.timeline.tiles.visible_events import VisibleEvents, all_events, filter_events

TYPES = 5
Event = tuple[int, int, int]  # start, duration, type
Row = list[Event]


class Entry(NamedTuple):
    """What a tile shows in one place; times rounded to its units."""

    start: int
    end: int
    type: int
    events: int
    id: int


class Cut(NamedTuple):
    """An answer: its head, and the entries by (row, tile)."""

    head: dict
    chunks: dict[tuple[int, int], list[Entry]]


def cut(
    timeline: Timeline,
    level: int,
    first: int,
    last: int,
    rows: Sequence[int] | None = None,
    *,
    shown: VisibleEvents | None = None,
    most: int = MOST_ENTRIES,
) -> Cut:
    """Tiles `first` to `last` (not included) of all rows and events, or of those given."""
    chosen = np.arange(len(timeline.tracks)) if rows is None else np.array(rows)
    events = shown or all_events(timeline)
    tiles = read_tiles(encode_tiles(timeline, events, level, first, last, chosen, most=most))
    chunks: dict[tuple[int, int], list[Entry]] = {pair: [] for pair in tiles.chunks}
    for one in tiles.entries:
        entry = Entry(int(one.start_ps), int(one.end_ps), one.type, one.count, one.id)
        chunks[one.row, one.tile].append(entry)
    return Cut(tiles.head, chunks)


def slow_entries(row: Row, ids: list[int], begin_ps: int, level: int) -> list[Entry]:
    """The entries of a level, by the definition, with exact times."""
    found: list[Entry] = []
    longest: list[int] = []
    for (start, duration, type_), id_ in zip(row, ids, strict=True):
        bucket = (start - begin_ps) // 2**level
        if (
            found
            and max(duration, longest[-1]) < 2**level
            and (found[-1].start - begin_ps) // 2**level == bucket
        ):
            one = found[-1]._replace(
                end=max(found[-1].end, start + duration), events=found[-1].events + 1
            )
            if duration > longest[-1]:
                one, longest[-1] = one._replace(type=type_, id=id_), duration
            found[-1] = one
        else:
            found.append(Entry(start, start + duration, type_, 1, id_))
            longest.append(duration)
    return found


def slow_chunk(entries: list[Entry], begin_ps: int, level: int, tile: int) -> list[Entry]:
    """What a chunk holds: the entries that start in it, before them one that reaches into it."""
    low = begin_ps + tile * 2 ** (level + TILE_SHIFT)
    high = low + 2 ** (level + TILE_SHIFT)
    before = [entry for entry in entries if entry.start < low]
    reaching = [before[-1]] if before and before[-1].end > low else []
    chosen = [*reaching, *(entry for entry in entries if low <= entry.start < high)]
    unit = 2 ** max(level - 4, 0)
    if not chosen:
        return []
    base = chosen[0].start

    def rounded(time: int) -> int:
        return base + (time - base) // unit * unit

    return [entry._replace(start=rounded(entry.start), end=rounded(entry.end)) for entry in chosen]


def expected(
    timeline: Timeline, rows: list[Row], level: int, tiles: range, wanted: set[int], min_ps: int
) -> dict[tuple[int, int], list[Entry]]:
    """All chunks of all rows."""
    found = {}
    first = 0
    for number, row in enumerate(rows):
        kept = [
            (event, first + at)
            for at, event in enumerate(row)
            if event[2] in wanted and event[1] >= min_ps
        ]
        entries = slow_entries(
            [event for event, _ in kept], [id_ for _, id_ in kept], timeline.begin_ps, level
        )
        for tile in tiles:
            found[number, tile] = slow_chunk(entries, timeline.begin_ps, level, tile)
        first += len(row)
    return found


SIZES = st.one_of(st.integers(0, 20), st.integers(0, 48).map(lambda bits: (1 << bits) >> 4))
ROWS = st.lists(
    st.lists(st.tuples(SIZES, SIZES, st.integers(0, TYPES - 1)), max_size=25), max_size=4
)
BEGIN = st.integers(-(2**52), 2**52)


@settings(deadline=None, max_examples=200)
@given(ROWS, BEGIN, st.integers(0, 50), st.data())
def test_tiles_show_what_merging_every_event_gives(drawn, begin, level, data):
    rows = rows_after_gaps(drawn, begin)
    timeline = timeline_of_rows(rows, fewest=1)
    final = (timeline.end_ps - timeline.begin_ps) >> (level + TILE_SHIFT)
    first = data.draw(st.integers(0, final + 1))
    last = data.draw(st.integers(first, first + 4))
    tiles = cut(timeline, level, first, last)
    wanted = set(range(TYPES))
    assert tiles.chunks == expected(timeline, rows, level, range(first, last), wanted, 0)
    assert not tiles.head["truncated"]


@settings(deadline=None, max_examples=200)
@given(
    ROWS, BEGIN, st.integers(0, 50), st.sets(st.integers(0, TYPES - 1)), st.integers(0, 30),
    st.data(),
)  # fmt: skip
def test_tiles_of_a_filter_show_the_chosen_events_alone(drawn, begin, level, wanted, least, data):
    rows = rows_after_gaps(drawn, begin)
    timeline = timeline_of_rows(rows, fewest=1)
    shown = filter_events(timeline, np.isin(np.arange(TYPES), sorted(wanted)), least)
    final = (timeline.end_ps - timeline.begin_ps) >> (level + TILE_SHIFT)
    first = data.draw(st.integers(0, final + 1))
    tiles = cut(timeline, level, first, first + 3, shown=shown)
    span = range(first, first + 3)
    assert tiles.chunks == expected(timeline, rows, level, span, wanted, least)


@settings(deadline=None)
@given(ROWS, st.integers(0, 50))
def test_every_event_is_drawn_or_counted_once(drawn, level):
    rows = rows_after_gaps(drawn, 0)
    timeline = timeline_of_rows(rows, fewest=1)
    final = (timeline.end_ps - timeline.begin_ps) >> (level + TILE_SHIFT)
    for tile in {0, final // 2, final}:
        low = timeline.begin_ps + (tile << (level + TILE_SHIFT))
        high = low + (1 << (level + TILE_SHIFT))
        for (number, _), entries in cut(timeline, level, tile, tile + 1).chunks.items():
            # The first is exact; it may be one that reaches into the tile.
            own = entries[1:] if entries and entries[0].start < low else entries
            starting = sum(low <= start < high for start, _, _ in rows[number])
            assert sum(entry.events for entry in own) == starting
            assert [entry.id for entry in entries] == sorted({entry.id for entry in entries})


def test_drawn_tiles_at_a_bucket_of_four():
    # |a.b.|c..d|eeee|ee..|
    row = [(0, 1, 0), (2, 1, 1), (4, 1, 2), (7, 1, 3), (8, 6, 4)]
    timeline = timeline_of_rows([row], fewest=1)
    (entries,) = cut(timeline, 2, 0, 1).chunks.values()
    assert entries == [Entry(0, 3, 0, 2, 0), Entry(4, 8, 2, 2, 2), Entry(8, 14, 4, 1, 4)]


def test_a_long_event_is_in_every_tile_that_it_reaches_into():
    row = [(0, 1, 1), (100, 2000, 2), (2100, 5, 3)]
    timeline = timeline_of_rows([row])
    chunks = cut(timeline, 0, 0, 7).chunks
    ids = {tile: [entry.id for entry in entries] for (_, tile), entries in chunks.items()}
    # 2100 lies in the fifth tile (2048 to 2560), the event of 2000 ends there.
    assert ids == {0: [0, 1], 1: [1], 2: [1], 3: [1], 4: [1, 2], 5: [], 6: []}
    assert {entries[0].start for entries in list(chunks.values())[1:4]} == {100}


def test_numbers_beyond_16_bits_are_told_in_full():
    many = [(index, 0, 0) for index in range(70_000)]
    rows = [[*many, (200_000, 2**40, 1), (2**41, 1, 2)], [(5, 2**17, 1), (2**18, 0, 0)]]
    timeline = timeline_of_rows(rows)
    wanted = {0, 1, 2}
    assert cut(timeline, 17, 0, 9).chunks == expected(timeline, rows, 17, range(9), wanted, 0)
    tiles = cut(timeline, 33, 0, 1)
    assert tiles.head["wide"] == [0, 0, 0, 1, 1]
    assert tiles.chunks == expected(timeline, rows, 33, range(1), wanted, 0)


def test_more_types_than_16_bits_count():
    row = [(index * 4, 2, index) for index in range(66_000)]
    timeline = timeline_of_rows([row], types=66_000)
    tiles = cut(timeline, 0, 0, 516)
    assert [entry.type for entries in tiles.chunks.values() for entry in entries] == [
        *range(66_000)
    ]
    assert tiles.head["wide"][2] == 66_000 - 65_535


def test_the_head_says_what_the_types_are():
    timeline = timeline_of_rows(
        [[(0, 1, 3), (5, 1, -1), (9, 1, 1)]], names=["", "x" * 300, "", "d"]
    )
    head = cut(timeline, 0, 0, 1).head
    assert head["types"] == [3, -1, 1]
    assert head["names"] == ["d", "", "x" * 200]
    assert head["categories"] == [3, 0, 1]
    assert (head["level"], head["unit_ps"], head["begin_ps"]) == (0, 1, 0)


def test_rows_that_do_not_fit_are_left_out_and_that_is_said():
    rows = [[(index * 4, 2, 0) for index in range(100)] for _ in range(5)]
    timeline = timeline_of_rows(rows)
    tiles = cut(timeline, 0, 0, 1, most=250)
    assert tiles.head["truncated"]
    assert {row for row, _ in tiles.chunks} == {0, 1}
    # One row is always there, or a client would ask for ever.
    tiles = cut(timeline, 0, 0, 1, most=1)
    assert {row for row, _ in tiles.chunks} == {0}


def test_only_the_rows_that_were_asked_for_come_in_that_order():
    rows = [[(0, 1, 0)], [], [(1, 1, 0)], [(2, 1, 0)]]
    timeline = timeline_of_rows(rows)
    tiles = cut(timeline, 0, 0, 1, [3, 1, 0])
    assert list(tiles.chunks) == [(3, 0), (1, 0), (0, 0)]
    assert [len(entries) for entries in tiles.chunks.values()] == [1, 0, 1]


@pytest.mark.parametrize("level", [0, 9, 52])
def test_tiles_behind_the_end_are_empty(level):
    timeline = timeline_of_rows([[(-(2**57), 1, 0), (2**57, 5, 0)]])
    for first in (2**50, 2**53 - 2):
        empty: dict = {(0, first): [], (0, first + 1): []}
        assert cut(timeline, level, first, first + 2).chunks == empty


def test_years_of_nothing_cost_nothing():
    """The two events are in the first and in the last tile, whatever lies between."""
    row = [(-(2**57), 1, 0), (2**57, 5, 1)]
    timeline = timeline_of_rows([row])
    final = 2**58 >> TILE_SHIFT
    for tile, event in ((0, 0), (final, 1)):
        tiles = cut(timeline, 0, tile, tile + 1)
        assert [entry.id for entry in tiles.chunks[0, tile]] == [event]


@pytest.mark.parametrize("rows", [[], [[]], [[], []]])
def test_a_timeline_without_events_has_empty_tiles(rows):
    timeline = timeline_of_rows(rows)
    for shown in (all_events(timeline), filter_events(timeline, np.ones(TYPES, np.bool_))):
        tiles = cut(timeline, 3, 0, 2, shown=shown)
        assert tiles.chunks == {(row, tile): [] for row in range(len(rows)) for tile in (0, 1)}


def test_a_filter_that_fits_nothing_shows_nothing():
    timeline = timeline_of_rows([[(0, 1, 0), (5, 1, 0)]])
    shown = filter_events(timeline, np.zeros(TYPES, np.bool_))
    assert cut(timeline, 0, 0, 1, shown=shown).chunks == {(0, 0): []}


def test_events_that_overlap_on_the_last_row_are_all_there():
    row = [(0, 3, 0), (1, 900, 1), (2, 3, 2), (3, 3, 3), (600, 1, 4)]
    timeline = timeline_of_rows([row], fewest=1)
    for level in range(12):
        wanted = set(range(TYPES))
        found = cut(timeline, level, 0, 2).chunks
        assert found == expected(timeline, [row], level, range(2), wanted, 0)


def test_large_rows_are_cut_alike_from_every_level():
    generator = np.random.default_rng(5)
    gaps = (2.0 ** generator.uniform(0, 30, 20_000)).astype(np.int64)
    lengths = (2.0 ** generator.uniform(0, 30, 20_000)).astype(np.int64)
    start = np.cumsum(gaps + lengths) - lengths
    row = [
        (int(begin), int(length), int(begin) % TYPES)
        for begin, length in zip(start, lengths, strict=True)
    ]
    timeline = timeline_of_rows([row])
    few = timeline_of_rows([row], fewest=10**9)
    assert timeline.levels.shift.size > 2
    assert few.levels.shift.size == 0
    for level in range(0, 46, 3):
        first = int(start[10_000] - timeline.begin_ps) >> (level + TILE_SHIFT)
        window = (level, first, first + 3, np.arange(1))
        body = encode_tiles(timeline, all_events(timeline), *window)
        assert body == encode_tiles(few, all_events(few), *window)


def test_many_threads_get_the_same_tiles():
    rows = [[(index * 7, 5, index % TYPES) for index in range(3000)] for _ in range(8)]
    timeline = timeline_of_rows(rows)
    shown = all_events(timeline)

    def ask(number: int) -> bytes:
        return encode_tiles(timeline, shown, number % 8, 0, 3, np.arange(8))

    alone = [ask(number) for number in range(8)]
    with ThreadPoolExecutor(8) as pool:
        for number, body in enumerate(pool.map(ask, range(200))):
            assert body == alone[number % 8]


def test_read_only_columns_give_the_same_tiles():
    timeline = timeline_of_rows([[(0, 1, 0), (5, 1, 2)]])
    before = encode_tiles(timeline, all_events(timeline), 0, 0, 1, np.arange(1))
    timeline.start_ps.flags.writeable = False
    assert encode_tiles(timeline, all_events(timeline), 0, 0, 1, np.arange(1)) == before
    assert timeline.duration_ps.flags.writeable
