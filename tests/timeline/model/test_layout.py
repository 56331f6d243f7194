"""Depths of events on their track, against a slow definition."""

from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest
from builders.event_columns import event_columns
from helpers.promises.growth import is_linear
from hypothesis import given, settings
from hypothesis import strategies as st
from traces import drawn_space

from tbprof.kernels.codes import MOST_DEPTHS
from tbprof.timeline.model.layout import Layout, by_row, lay_out, types_by_row

Interval = tuple[int, int]  # start, duration
TRACKS = st.lists(
    st.lists(st.tuples(st.integers(-9, 12), st.integers(0, 9)), max_size=14), max_size=4
)


def columns(tracks: list[list[Interval]]) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """(begins, ends, start, duration), events in the order that layout wants."""
    first, start, duration = event_columns(tracks)
    return first[:-1], first[1:], start, duration


def slow_depths(events: list[Interval]) -> list[int]:
    """By the definition: O(n²)."""
    depths: list[int] = []
    for row, (start, duration) in enumerate(events):
        end = start + duration
        going_on = [
            (depths[other], other_start + other_duration)
            for other, (other_start, other_duration) in enumerate(events[:row])
            if other_start <= start < other_start + other_duration
        ]
        above = max((depth for depth, other_end in going_on if other_end >= end), default=-1)
        taken = {depth for depth, _ in going_on}
        depths.append(next(depth for depth in range(above + 1, row + 2) if depth not in taken))
    return depths


@settings(deadline=None)
@given(TRACKS)
def test_events_lie_on_the_first_free_depth_below_what_holds_them(tracks):
    begins, ends, start, duration = columns(tracks)
    layout = lay_out(begins, ends, start, duration)
    events = list(zip(start.tolist(), duration.tolist(), strict=True))
    expected = [slow_depths(events[begin:end]) for begin, end in zip(begins, ends, strict=True)]
    assert layout.depth.tolist() == [depth for track in expected for depth in track]
    assert layout.rows.tolist() == [max(track, default=-1) + 1 for track in expected]
    counts = [
        track.count(depth) for track in expected for depth in range(max(track, default=-1) + 1)
    ]
    assert np.diff(layout.row_first).tolist() == counts


@settings(deadline=None)
@given(TRACKS)
def test_a_track_is_busy_while_any_of_its_events_goes_on(tracks):
    layout = lay_out(*columns(tracks))
    assert not layout.too_deep.any()
    busy = [
        len({index for start, length in track for index in range(start, start + length)})
        for track in tracks
    ]
    assert layout.busy_ps.tolist() == busy
    lasts = [max(start + length for start, length in track) for track in tracks if track]
    assert layout.end_ps[[bool(track) for track in tracks]].tolist() == lasts


@settings(deadline=None)
@given(TRACKS)
def test_events_of_a_row_keep_their_order_and_never_overlap(tracks):
    begins, ends, start, duration = columns(tracks)
    layout = lay_out(begins, ends, start, duration)
    number = np.arange(start.size)
    source = number * 0
    by_row(layout, begins, ends, number, source)
    assert sorted(source.tolist()) == number.tolist()
    double = np.append(2 * number, -1).astype(np.int32)
    ordered = number.astype(np.int32) * 0
    types_by_row(layout, begins, ends, number.astype(np.int32), double, ordered)
    assert ordered.tolist() == (2 * source).tolist()
    for first, last in pairwise(layout.row_first.tolist()):
        row = source[first:last]
        assert (np.diff(row) > 0).all()
        assert (start[row][1:] >= (start + duration)[row][:-1]).all()


def test_partial_overlaps_and_nesting_as_drawn():
    space = drawn_space({"/host:CPU": """
        main |aaaaaaaa.dd
             |..bbbbbbbb
             |..ccc
    """})  # fmt: skip
    events = space.planes[0].events()
    first = events.first_event
    layout = lay_out(first[:-1], first[1:], events.start_ps, events.duration_ps)
    names = space.strings.take(space.planes[0].types.name[events.type])
    # b and a overlap in part; c lies within both; d starts as a has ended.
    assert dict(zip(names, layout.depth.tolist(), strict=True)) == {"a": 0, "b": 1, "c": 2, "d": 0}
    assert layout.busy_ps.tolist() == [11_000_000]


def test_equal_events_lie_below_each_other():
    assert one_track([(0, 5), (0, 5), (0, 5), (5, 1)]).depth.tolist() == [0, 1, 2, 0]


def test_events_without_duration_take_no_room():
    # Two at once share a row, and lie below what is going on; where it ends they are free of it.
    assert one_track([(3, 0), (3, 0), (4, 1)]).depth.tolist() == [0, 0, 0]
    assert one_track([(0, 9), (3, 0), (3, 0), (9, 0)]).depth.tolist() == [0, 1, 1, 0]
    assert one_track([(0, 0)]).busy_ps.tolist() == [0]


def one_track(events: list[Interval]) -> Layout:
    return lay_out(*columns([events]))


def test_a_thousand_depths_are_a_thousand_rows():
    nested = [(index, 2000 - 2 * index) for index in range(1000)]
    layout = one_track(nested)
    assert layout.depth.tolist() == list(range(1000))
    assert layout.rows.tolist() == [1000]


def test_what_lies_deeper_than_the_last_row_lies_on_it():
    nested = [(index, 10_000 - 2 * index) for index in range(MOST_DEPTHS + 50)]
    layout = one_track([*nested, (20_000, 1)])
    last = MOST_DEPTHS - 1
    assert layout.depth.tolist() == [*range(MOST_DEPTHS), *[last] * 50, 0]
    assert layout.rows.tolist() == [MOST_DEPTHS]
    assert layout.too_deep.tolist() == [50]


def test_an_empty_track_has_no_rows():
    layout = lay_out(*columns([[], [(1, 1)], []]))
    assert layout.rows.tolist() == [0, 1, 0]
    assert layout.row_first.tolist() == [0, 1]
    assert lay_out(*columns([])).row_first.tolist() == [0]


def test_times_at_the_limit():
    limit = 2**58
    layout = one_track([(-limit, 2 * limit), (-limit, 0), (limit - 1, 1), (limit, 2**57)])
    assert layout.depth.tolist() == [0, 1, 1, 0]
    assert layout.busy_ps.tolist() == [2 * limit + 2**57]


def test_a_hundred_thousand_tracks():
    first = np.arange(0, 200_002, 2)
    start = np.tile(np.array([0, 5]), 100_001)[:200_000].astype(np.int64)
    layout = lay_out(first[:-1], first[1:], start, np.full(200_000, 9, np.int64))
    assert layout.rows.tolist() == [2] * 100_000


@settings(max_examples=20, deadline=None)
@given(st.integers(33, 200), st.randoms(use_true_random=False))
def test_many_depths_at_once_are_found_as_few_are(most, random):
    """Beyond a block of depths whole blocks are skipped."""
    events = sorted(
        ((random.randrange(200), random.randrange(most)) for _ in range(400)),
        key=lambda event: (event[0], -event[1]),
    )
    assert one_track(events).depth.tolist() == slow_depths(events)


@pytest.mark.parametrize("kind", ["chain", "stairs", "long chain below a stack"])
def test_overlapping_chains_are_not_quadratic(kind):
    """Asynchronous work: each event begins before the others end, and is held by none."""

    def laying_out(events: int) -> Callable[[], Layout]:
        start = np.arange(events, dtype=np.int64)
        duration = np.full(events, {"chain": 2, "stairs": 5000}.get(kind, 2), np.int64)
        if kind.startswith("long"):
            duration[:1000] = 10**9 - 2 * start[:1000]
        first = np.array([0, events])
        return lambda: lay_out(first[:1], first[1:], start, duration)

    assert is_linear(laying_out, 300_000)
    assert laying_out(300_000)().rows[0] <= MOST_DEPTHS
