"""What has something to show in a window, from first principles and against brute force."""

import dataclasses

import numpy as np
from builders import open_timelines
from hypothesis import given
from hypothesis import strategies as st

from tbprof.kernels.codes import MOST_DEPTHS
from tbprof.timeline.model.open_timeline import OpenTimeline
from tbprof.timeline.model.store import Counter
from tbprof.timeline.questions.tracks_in_use import tracks_in_use

EVENTS = st.tuples(st.integers(0, 25), st.integers(0, 20), st.sampled_from("abc"))
TRACKS = st.lists(st.lists(EVENTS, min_size=1, max_size=12), min_size=1, max_size=4)


def used(opened, begin, end):
    """The tracks in use."""
    return tracks_in_use(opened, begin, end).tracks.tolist()


def test_a_track_is_in_use_while_an_event_goes_on():
    # |aa......bb    track 0
    # |...cccc...    track 1, with d within c
    # |.....d....
    tracks = [[(0, 2, "a"), (8, 2, "b")], [(3, 4, "c"), (5, 1, "d")]]
    opened = open_timelines.opened(tracks)
    assert used(opened, 3, 6) == [1]
    assert used(opened, 1, 4) == [0, 1]
    assert used(opened, 2, 3) == []
    assert used(opened, 7, 8) == []
    assert used(opened, 0, 10) == [0, 1]


def test_an_event_without_duration_is_in_the_window_that_it_starts_in():
    opened = open_timelines.opened([[(4, 0, "a")]])
    assert used(opened, 4, 5) == [0]
    assert used(opened, 3, 4) == []
    assert used(opened, 5, 6) == []


def test_a_counter_is_in_use_from_its_first_value_on():
    opened = open_timelines.opened([[(0, 9, "a")]])
    timeline = dataclasses.replace(
        opened.timeline,
        counters=[Counter(0, "early", "bytes", 0, 2), Counter(0, "late", "bytes", 2, 3)],
        counter_time_ps=np.array([1, 2, 7], np.int64),
    )
    opened = OpenTimeline(timeline, lambda: opened.space)
    assert tracks_in_use(opened, 0, 1).counters.tolist() == []
    assert tracks_in_use(opened, 4, 6).counters.tolist() == [0]
    assert tracks_in_use(opened, 4, 8).counters.tolist() == [0, 1]


def test_events_that_overlap_on_the_last_row_are_found():
    # Each lies within the one before and ends at the same time; there is no row for the last two,
    # which share the last one: of these the first lasts longer.
    nest = [(index, 3000 - index, "n") for index in range(MOST_DEPTHS - 1)]
    opened = open_timelines.opened([[*nest, (2000, 900, "long"), (2001, 1, "short")]])
    columns = opened.columns
    assert columns.crowded[-1]
    assert columns.row_first[-1] - columns.row_first[-2] == 2
    assert used(opened, 2950, 2960) == [0]
    assert used(opened, 3001, 3002) == []


@given(tracks=TRACKS, begin=st.integers(0, 45), length=st.integers(1, 20))
def test_tracks_in_use_agree_with_brute_force(tracks, begin, length):
    opened = open_timelines.opened(tracks)
    end = begin + length
    expected = [
        at
        for at, events in enumerate(tracks)
        if any(
            start < end and (start >= begin or start + duration > begin)
            for start, duration, _ in events
        )
    ]
    assert used(opened, begin, end) == expected
