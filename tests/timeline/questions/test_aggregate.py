"""Sums over a range, from first principles and against a brute force over random events."""

import math
from typing import Any

import pytest
from builders import open_timelines
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tbprof.base.errors import BadRequest
from tbprof.timeline.questions.aggregate import aggregate
from tbprof.xplane.reader import read_space

EVENTS = st.tuples(st.integers(-5, 25), st.integers(0, 20), st.sampled_from("abc"))
TRACKS = st.lists(st.lists(EVENTS, max_size=12), max_size=4)


def brute(tracks, begin, end):
    """Per track and name (count, total, self, least, most), and the busy time: O(n²)."""
    sums: dict[tuple[int, str], list[int]] = {}
    busy: set[int] = set()
    for number, events in enumerate(tracks):
        events = sorted(events, key=lambda event: (event[0], -event[1]))
        parent = {}
        for at, (start, duration, _) in enumerate(events):
            ends = [first + length for first, length, _ in events[:at]]
            holders = [one for one, end_ in enumerate(ends) if end_ >= start + duration]
            parent[at] = max((holder for holder in holders if ends[holder] > start), default=-1)
        for at, (start, duration, name) in enumerate(events):
            if end <= begin or not (start < end and (start >= begin or start + duration > begin)):
                continue
            instants = set(range(max(start, begin), min(start + duration, end)))
            busy |= instants
            own = set(instants)
            for child, above in parent.items():
                if above == at:
                    own -= set(range(events[child][0], events[child][0] + events[child][1]))
            one = sums.setdefault((number, name), [0, 0, 0, 10**9, -1])
            one[0] += 1
            one[1] += len(instants)
            one[2] += len(own)
            one[3] = min(one[3], len(instants))
            one[4] = max(one[4], len(instants))
    return sums, len(busy)


def table(answer, *columns):
    """Rows by key."""
    rows = answer["rows"]
    return dict(zip(rows["key"], zip(*(rows[name] for name in columns), strict=True), strict=True))


def test_events_count_with_the_part_in_the_range():
    opened = open_timelines.opened([[(0, 8, "a"), (3, 3, "c"), (10, 2, "b")]])
    assert aggregate(opened, from_ps=2, to_ps=10) == {
        "events": 2,
        "busy_ps": 6,
        "idle_ps": 2,
        "rows": {
            "key": ["a", "c"],
            "category": ["other", "other"],
            "count": [1, 1],
            "total_ps": [6, 3],
            "self_ps": [3, 3],
            "mean_ps": [6.0, 3.0],
            "min_ps": [6, 3],
            "max_ps": [6, 3],
            "share": [0.5, 0.5],
        },
    }


def test_rows_are_of_names_categories_or_tracks():
    tracks = [[(0, 10, "mm"), (2, 4, "copy")], [(5, 10, "mm"), (20, 1, "wait")]]
    opened = open_timelines.opened(tracks, categories={"mm": 1, "copy": 3, "wait": 10})
    sums = ("count", "total_ps", "self_ps")
    assert table(aggregate(opened), *sums) == {
        "mm": (2, 20, 16), "copy": (1, 4, 4), "wait": (1, 1, 1)
    }  # fmt: skip
    assert table(aggregate(opened, by="category"), *sums) == {
        "compute": (2, 20, 16), "copies": (1, 4, 4), "waiting": (1, 1, 1)
    }  # fmt: skip
    by_track = aggregate(opened, by="track")
    assert table(by_track, *sums) == {"track 1": (2, 11, 11), "track 0": (2, 14, 10)}
    assert by_track["rows"]["track"] == [1, 0]
    assert aggregate(opened)["busy_ps"] == 16
    assert aggregate(opened)["idle_ps"] == 5
    one = aggregate(opened, tracks=[1, 1], by="track")
    assert one["rows"]["track"] == [1]
    assert one["busy_ps"] == 11


def test_ranges_end_where_the_timeline_does():
    opened = open_timelines.opened([[(10, 10, "a"), (30, 0, "b")]])
    whole = aggregate(opened, from_ps=-(2**62), to_ps=2**62)
    assert (whole["busy_ps"], whole["idle_ps"], whole["events"]) == (10, 10, 2)
    assert table(whole, "count", "min_ps", "max_ps", "share") == {
        "a": (1, 10, 10, 1.0), "b": (1, 0, 0, 0.0)
    }  # fmt: skip
    for begin, end in ((15, 15), (20, 10), (100, 200), (-9, -3)):
        answer = aggregate(opened, from_ps=begin, to_ps=end)
        assert (answer["events"], answer["busy_ps"], answer["idle_ps"]) == (0, 0, 0)


def test_shares_of_no_time_are_not_known():
    answer = aggregate(open_timelines.opened([[(1, 0, "a"), (2, 0, "b")]]))
    assert answer["rows"]["count"] == [1, 1]
    assert all(math.isnan(share) for share in answer["rows"]["share"])
    assert (answer["busy_ps"], answer["idle_ps"]) == (0, 1)


def test_nothing_sums_to_nothing():
    nothing: list[list[list[Any]]] = [[], [[]], [[], []]]
    for tracks in nothing:
        answer = aggregate(open_timelines.opened(tracks))
        assert (answer["events"], answer["busy_ps"], answer["idle_ps"]) == (0, 0, 0)
        assert answer["rows"]["key"] == []
    assert aggregate(open_timelines.opened([[(0, 1, "a")]]), tracks=[])["events"] == 0


def test_a_track_that_is_not_there_is_refused():
    for track in (-1, 1):
        with pytest.raises(BadRequest, match=f"no track {track}"):
            aggregate(open_timelines.opened([[(0, 1, "a")]]), tracks=[track])


@settings(deadline=None, max_examples=300)
@given(TRACKS, st.integers(-8, 40), st.integers(-8, 50))
@example([[(0, 10, "a"), (5, 10, "b"), (6, 3, "c")]], 0, 50)
@example([[(0, 10, "a"), (0, 10, "b"), (10, 0, "c"), (0, 0, "c")]], 0, 50)
def test_sums_are_those_of_a_brute_force(tracks, begin, end):
    opened = open_timelines.opened(tracks)
    timeline = opened.timeline
    # A range up to the end holds the instants there.
    expected, busy = brute(tracks, begin, end + (end >= timeline.end_ps))
    found = {}
    for track in range(len(tracks)):
        answer = aggregate(opened, from_ps=begin, to_ps=end, tracks=[track])
        columns = ("count", "total_ps", "self_ps", "min_ps", "max_ps")
        for name, values in table(answer, *columns).items():
            found[track, name] = list(values)
    assert found == expected
    everything = aggregate(opened, from_ps=begin, to_ps=end)
    assert everything["busy_ps"] == busy
    length = min(end, timeline.end_ps) - max(begin, timeline.begin_ps)
    assert everything["idle_ps"] == max(0, length) - busy
    assert everything["events"] == sum(count for count, *_ in expected.values())
    shares = everything["rows"]["share"]
    assert not shares or math.isnan(shares[0]) or math.isclose(sum(shares), 1)


@settings(deadline=None, max_examples=50)
@given(TRACKS)
def test_threads_share_the_tracks(tracks):
    opened = open_timelines.opened(tracks)
    alone = aggregate(opened)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tbprof.timeline.questions.aggregate._SHARE", 1)
        assert str(aggregate(opened)) == str(alone)


def test_events_deeper_than_rows_still_nest():
    deep = [(index, 5000 - 2 * index, "a") for index in range(1500)]
    answer = aggregate(open_timelines.opened([deep]))
    assert answer["rows"]["self_ps"] == [5000]
    assert answer["busy_ps"] == 5000
    part = aggregate(open_timelines.opened([deep]), from_ps=4000, to_ps=4010)
    assert part["events"] == 1000  # number n ends at 5000 - n
    assert part["rows"]["self_ps"] == [10]


def test_a_real_trace_adds_up(gpu_trace):
    opened = open_timelines.opened_space(read_space(gpu_trace))
    answer = aggregate(opened, by="track")
    assert answer["events"] == opened.timeline.start_ps.size
    busy = dict(zip(answer["rows"]["track"], answer["rows"]["self_ps"], strict=True))
    tracks = opened.timeline.tracks
    for track, own in busy.items():
        # Own times of a track are its busy time, but for events that overlap in part.
        assert own >= tracks[track].busy_ps
    names = aggregate(opened)
    assert names["busy_ps"] == answer["busy_ps"]
    assert sum(names["rows"]["self_ps"]) == sum(answer["rows"]["self_ps"])
    for track in range(len(tracks)):
        assert aggregate(opened, tracks=[track])["busy_ps"] == tracks[track].busy_ps
