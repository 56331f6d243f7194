"""Traces become timelines: every event once, in rows, whatever the file is like."""

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np
from helpers.promises.growth import is_linear
from hypothesis import given, settings
from hypothesis import strategies as st
from traces import draw, drawn_space, listed, space_of

from tbprof.kernels.codes import MOST_DEPTHS
from tbprof.timeline.build.build import build_timeline
from tbprof.timeline.build.tracks import find_tracks
from tbprof.timeline.model.store import Timeline

# Name, start and duration in ps.
Event = tuple[str, int, int]
US = 1_000_000


def timeline_of(content: bytes) -> Timeline:
    space = space_of(content)
    return build_timeline(space, find_tracks(space))


def trace_of(lines: Sequence[Sequence[Event]]) -> bytes:
    """A plane of lines named `line 0`, `line 1`, …, events in the order given."""
    named = {f"line {number:06}": events for number, events in enumerate(lines)}
    return listed({"/host:CPU": named})


def events_of(timeline: Timeline, track: int) -> list[tuple[int, str, int, int]]:
    """(depth, name, start, duration) of the events of a track, row by row."""
    one = timeline.tracks[track]
    found = []
    for depth in range(one.rows):
        first, last = timeline.row_first[one.first_row + depth : one.first_row + depth + 2].tolist()
        for event in range(first, last):
            name = timeline.types.name[timeline.type[event]]
            start, duration = int(timeline.start_ps[event]), int(timeline.duration_ps[event])
            found.append((depth, name, start, duration))
    return found


def check(timeline: Timeline) -> None:
    """What holds for every timeline."""
    rows = timeline.row_first
    assert rows[0] == 0
    assert rows[-1] == timeline.start_ps.size == timeline.type.size == timeline.source.size
    assert (np.diff(rows) > 0).all()
    at = 0
    for track in timeline.tracks:
        assert track.first_row == at
        assert track.events == rows[at + track.rows] - rows[at]
        at += track.rows
    assert at == rows.size - 1 == timeline.levels.row_first.size - 1
    ends = timeline.start_ps + timeline.duration_ps
    for first, last in pairwise(rows.tolist()):
        assert (np.diff(timeline.start_ps[first:last]) >= 0).all()
    if timeline.start_ps.size:
        assert (timeline.begin_ps, timeline.end_ps) == (timeline.start_ps.min(), ends.max())
    else:
        assert timeline.begin_ps == timeline.end_ps == 0


def test_lines_become_rows_as_drawn():
    timeline = timeline_of(
        draw(
            {
                "/device:GPU:0": """
                    Stream #1 |mmmm.rr.nnnn
                              |.aa......b..
                """,
                "/host:CPU": """
                    main      |ssssssssssss
                              |..tttt
                """,
            }
        )
    )
    check(timeline)
    assert [(track.name, track.rows, track.events) for track in timeline.tracks] == [
        ("Stream #1", 2, 5),
        ("main", 2, 2),
    ]
    assert events_of(timeline, 0) == [
        (0, "m", 0, 4 * US),
        (0, "r", 5 * US, 2 * US),
        (0, "n", 8 * US, 4 * US),
        (1, "a", 1 * US, 2 * US),
        (1, "b", 9 * US, 1 * US),
    ]
    assert events_of(timeline, 1) == [(0, "s", 0, 12 * US), (1, "t", 2 * US, 4 * US)]
    assert timeline.row_first.tolist() == [0, 3, 5, 6, 7]
    assert [track.busy_ps for track in timeline.tracks] == [10 * US, 12 * US]
    assert (timeline.in_file, timeline.unplaced) == (7, 0)
    assert timeline.notices == ()


def test_sources_lead_back_to_the_events():
    space = drawn_space({"/host:CPU": "main |aabb\n |c"}, stats={"c": {"key": 7}, "b": {"key": 8}})
    timeline = build_timeline(space, find_tracks(space))
    for event, wanted in enumerate([[], [("key", 8)], [("key", 7)]]):
        plane = space.planes[timeline.tracks[0].plane]
        assert plane.details(int(timeline.source[event])) == wanted


LINES = st.lists(
    st.lists(
        st.tuples(st.sampled_from("abc"), st.integers(-50, 50), st.integers(0, 40)), max_size=30
    ),
    max_size=5,
)


@settings(deadline=None)
@given(LINES)
def test_every_event_of_unsorted_overlapping_lines_is_there_once(lines):
    timeline = timeline_of(trace_of([[("x", 0, 1)], *lines]))
    check(timeline)
    tracks = {track.name: number for number, track in enumerate(timeline.tracks)}
    assert len(tracks) == 1 + sum(map(bool, lines))
    for number, events in enumerate(lines, start=1):
        if events:
            found = events_of(timeline, tracks[f"line {number:06}"])
            assert Counter(event[1:] for event in found) == Counter(events)
            for (depth, _, start, duration), (below, _, later, _) in pairwise(found):
                assert below > depth or later >= start + duration


def test_nothing_becomes_an_empty_timeline():
    for content in (trace_of([]), trace_of([[], []])):
        timeline = timeline_of(content)
        check(timeline)
        assert timeline.tracks == []
        assert timeline.row_first.tolist() == [0]


def test_lines_without_events_are_no_tracks():
    timeline = timeline_of(trace_of([[], [("a", 0, 1)], []]))
    check(timeline)
    assert [track.name for track in timeline.tracks] == ["line 000001"]


def test_gaps_of_hours_and_negative_times_keep_their_place():
    hours = 30 * 3600 * 10**12
    timeline = timeline_of(trace_of([[("a", -hours, 5), ("b", hours, 0)]]))
    check(timeline)
    assert timeline.start_ps.tolist() == [-hours, hours]
    assert (timeline.begin_ps, timeline.end_ps) == (-hours, hours)


def test_impossible_times_are_cut_and_that_is_said():
    space = space_of(trace_of([[("a", -(2**62), 5), ("b", 0, -5), ("c", 2**62, 2**62)]]))
    timeline = build_timeline(space, find_tracks(space))
    check(timeline)
    assert timeline.duration_ps.min() >= 0
    assert {notice.code for notice in space.planes[0].notices} == {"times_damaged"}


def test_a_line_that_is_too_deep_says_so():
    deep = MOST_DEPTHS + 6
    timeline = timeline_of(trace_of([[("a", index, 10_000 - 2 * index) for index in range(deep)]]))
    check(timeline)
    assert timeline.tracks[0].rows == MOST_DEPTHS
    assert timeline.tracks[0].events == deep
    (notice,) = timeline.notices
    assert notice.code == "too_deep"
    assert "'line 000000'" in notice.message
    assert "6 lie on the last row" in notice.message


def test_a_name_of_a_megabyte_is_one_type():
    name = "n" * 2**20
    timeline = timeline_of(trace_of([[(name, 0, 1), (name, 5, 1), ("a", 9, 1)]]))
    check(timeline)
    assert sorted(map(len, timeline.types.name)) == [1, 2**20]


def test_time_goes_by_the_number_of_lines():
    lines = 40_000

    def building(size: int) -> Callable[[], Timeline]:
        content = trace_of([[("a", index, 10), ("b", index + 2, 3)] for index in range(size)])
        return lambda: timeline_of(content)

    assert is_linear(building, lines)
    timeline = building(lines)()
    check(timeline)
    assert len(timeline.tracks) == lines
    assert timeline.row_first.size == 2 * lines + 1
    assert timeline.levels.start_ps.size == 0


def test_parts_of_large_lines_are_laid_out_as_small_ones(monkeypatch):
    """Batches end where they may: what a track is like does not depend on its neighbours."""
    lines = [[("ab"[index % 2], index * 3, 4) for index in range(50 * row)] for row in range(12)]
    whole = timeline_of(trace_of(lines))
    monkeypatch.setattr("tbprof.timeline.build.build.PIECE", 64)
    monkeypatch.setattr("tbprof.timeline.build.build._MOST_TRACKS", 2)
    parts = timeline_of(trace_of(lines))
    check(parts)
    assert parts.tracks == whole.tracks
    for name in ("row_first", "start_ps", "duration_ps", "type", "source"):
        assert getattr(parts, name).tolist() == getattr(whole, name).tolist()


def test_without_counters_there_are_none():
    space = drawn_space({"/host:CPU": "main |aabb"})
    timeline = build_timeline(space, find_tracks(space), has_counters=False)
    assert timeline.counters == []
    assert timeline.counter_value.size == timeline.counter_low.size == 0
