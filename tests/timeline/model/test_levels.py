"""Levels of detail against merging every event by the definition."""

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from builders.timeline_rows import rows_after_gaps
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tbprof.timeline.model.levels import find_levels, split_rows
from tbprof.timeline.model.store import Levels

Interval = tuple[int, int]  # start, duration


class Entry(NamedTuple):
    """What a level says in one place."""

    start: int
    extent: int
    longest: int
    event: int
    type: int
    events: int


# Gaps and durations of all sizes, from none to a day in ps.
SIZES = st.one_of(st.integers(0, 20), st.integers(0, 60).map(lambda bits: (1 << bits) >> 4))
ROWS = st.lists(
    st.lists(st.tuples(SIZES, SIZES), max_size=30),  # gap before, duration
    max_size=4,
)
# As long as times may be.
YEARS = 2**57
ORIGINS = st.integers(-(2**57), 2**57)


def slow_level(row: list[Interval], first: int, begin_ps: int, shift: int) -> list[Entry]:
    """The entries of a row at a level, by the definition; `first` is the id of its first event."""
    found: list[Entry] = []
    width = 2**shift
    at = -1
    while (at := at + 1) < len(row):
        start, longest = row[at]
        end, event, events = start + longest, first + at, 1
        bucket = (start - begin_ps) // width
        while longest < width and at + 1 < len(row):
            begin, duration = row[at + 1]
            if duration >= width or (begin - begin_ps) // width != bucket:
                break
            at += 1
            events += 1
            end = max(end, begin + duration)
            if duration > longest:
                longest, event = duration, first + at
        found.append(Entry(start, end - start, longest, event, event % 7, events))
    return found


def build(rows: list[list[Interval]], begin_ps: int, fewest: int = 1) -> tuple[Levels, np.ndarray]:
    """The levels of rows, and where their events begin."""
    flat = [event for row in rows for event in row]
    first = np.cumsum([0, *map(len, rows)]).astype(np.int64)
    start = np.array([start for start, _ in flat], np.int64)
    duration = np.array([duration for _, duration in flat], np.int64)
    type_ = (np.arange(start.size) % 7).astype(np.int32)
    return find_levels(first, begin_ps, start, duration, type_, fewest=fewest), first


def entries(levels: Levels, kept: int) -> list[Entry]:
    """The entries of one kept level."""
    part = slice(int(levels.first[kept]), int(levels.first[kept + 1]))
    columns = (
        levels.start_ps, levels.extent_ps, levels.longest_ps, levels.event, levels.type,
        levels.count,
    )  # fmt: skip
    return [Entry(*row) for row in zip(*(column[part].tolist() for column in columns), strict=True)]


def kept_of(levels: Levels, row: int) -> range:
    return range(int(levels.row_first[row]), int(levels.row_first[row + 1]))


@settings(deadline=None)
@example([[(0, 1), (YEARS, 1), (0, 0), (1, 3)]], -YEARS)
@given(ROWS, ORIGINS)
def test_kept_levels_are_the_events_merged_by_the_definition(drawn, begin_ps):
    rows = rows_after_gaps(drawn, begin_ps)
    levels, first = build(rows, begin_ps)
    assert levels.row_first.size == len(rows) + 1
    for number, row in enumerate(rows):
        kept = kept_of(levels, number)
        shifts = [int(levels.shift[one]) for one in kept]
        assert shifts == sorted(set(shifts))
        before = len(row)
        for one, shift in zip(kept, shifts, strict=True):
            found = entries(levels, one)
            assert found == slow_level(row, int(first[number]), begin_ps, shift)
            assert sum(entry.events for entry in found) == len(row)
            assert len(found) <= 0.2 * before
            before = len(found)


@settings(deadline=None)
@given(ROWS, ORIGINS, st.integers(0, 58))
def test_a_level_that_is_not_kept_would_have_been_large(drawn, begin_ps, shift):
    """So a view never looks at many more entries than it shows."""
    rows = rows_after_gaps(drawn, begin_ps)
    levels, first = build(rows, begin_ps)
    for number, row in enumerate(rows):
        finer = [one for one in kept_of(levels, number) if levels.shift[one] <= shift]
        read = int(levels.first[finer[-1] + 1] - levels.first[finer[-1]]) if finer else len(row)
        shown = len(slow_level(row, int(first[number]), begin_ps, shift))
        assert shown > 0.2 * read or shown == read


@settings(deadline=None)
@given(ROWS, ORIGINS)
def test_entries_cover_their_events_in_order(drawn, begin_ps):
    rows = rows_after_gaps(drawn, begin_ps)
    levels, first = build(rows, begin_ps)
    for number, row in enumerate(rows):
        for kept in kept_of(levels, number):
            at = 0
            for entry in entries(levels, kept):
                part = row[at : at + entry.events]
                assert entry.start == part[0][0]
                assert entry.start + entry.extent == max(start + length for start, length in part)
                assert row[entry.event - int(first[number])][1] == entry.longest
                at += entry.events
            assert at == len(row)
            starts = [entry.start for entry in entries(levels, kept)]
            assert all(one <= other for one, other in pairwise(starts))


def test_events_that_overlap_on_a_row_are_all_counted():
    """The last row of a track that is too deep: order decides, whatever lies over what."""
    row = [(0, 1), (1, 100), (2, 1), (3, 1), (50, 200), (51, 3)]
    levels, _ = build([row], 0)
    for kept in kept_of(levels, 0):
        assert entries(levels, kept) == slow_level(row, 0, 0, int(levels.shift[kept]))


def test_buckets_begin_where_the_timeline_does():
    # With buckets of 8 the first five lie in the first bucket, which begins with the timeline.
    starts = [10, 11, 14, 16, 17, 18]
    levels, _ = build([[(start, 1) for start in starts]], 10)
    by_shift = {int(levels.shift[one]): entries(levels, one) for one in kept_of(levels, 0)}
    # Two entries of six are not worth a level of their own.
    assert by_shift == {4: [Entry(10, 9, 1, 0, 0, 6)]}
    levels, _ = build([[(start, 1) for start in starts[:5]]], 10)
    assert levels.shift.tolist() == [3]


def test_rows_of_few_events_have_no_levels():
    levels, _ = build([[(index * 10, 1) for index in range(50)], []], 0, fewest=64)
    assert levels.row_first.tolist() == [0, 0, 0]
    assert levels.start_ps.size == 0


def test_a_million_events_end_as_a_few_entries():
    row = [(index * 10, 5) for index in range(1 << 16)]
    levels, _ = build([row, row], 0, fewest=64)
    sizes = np.diff(levels.first)[: levels.row_first[1]]
    assert sizes[-1] < 64
    assert sizes.sum() < 0.25 * len(row)
    assert (levels.count[levels.first[1] :] > 1).any()


def test_rows_are_made_side_by_side_as_one_after_another():
    rows = [[(index * 10, 5 + row) for index in range(350 * row)] for row in range(40)]
    levels, first = build(rows, 0, fewest=8)
    assert len(split_rows(first)) > 1
    assert levels.row_first[-1] == levels.shift.size == levels.first.size - 1
    for number, row in enumerate(rows):
        for kept in kept_of(levels, number):
            shift = int(levels.shift[kept])
            assert entries(levels, kept) == slow_level(row, int(first[number]), 0, shift)


def test_rows_are_split_by_their_events():
    first = np.array([0, 5, 5, 30, 31, 32, 50])
    assert split_rows(first, 10) == [(0, 2), (2, 3), (3, 5), (5, 6)]
    assert split_rows(first[:1], 10) == []
    assert split_rows(first[:2], 1) == [(0, 1)]


def test_no_rows_have_no_levels():
    levels, _ = build([], 0)
    assert levels.row_first.tolist() == [0]
    assert levels.first.tolist() == [0]
