"""Events around an event: what it is in, what is in it, and where moves lead."""

from typing import Any

import pytest
from builders import open_timelines
from hypothesis import given, settings
from hypothesis import strategies as st

from tbprof.base.errors import BadRequest
from tbprof.timeline.model.open_timeline import OpenTimeline
from tbprof.timeline.questions.details import details, move
from tbprof.timeline.questions.nearby import children, enclosed, enclosing

EVENTS = st.tuples(st.integers(-5, 25), st.integers(0, 20), st.sampled_from("abc"))
TRACKS = st.lists(st.lists(EVENTS, max_size=12), max_size=3)


def family(opened: OpenTimeline, event: int) -> list[int]:
    """The ids on the event's track in the order of (start, longest first), by brute force."""
    timeline = opened.timeline
    track = opened.columns.track[timeline.row_of(event)]
    same = [
        index
        for index in range(timeline.start_ps.size)
        if opened.columns.track[timeline.row_of(index)] == track
    ]
    return sorted(same, key=lambda at: (timeline.start_ps[at], -timeline.duration_ps[at], at))


def holders(opened: OpenTimeline, event: int) -> list[int]:
    start = opened.timeline.start_ps
    end = start + opened.timeline.duration_ps
    before = family(opened, event)
    before = before[: before.index(event)]
    return [at for at in before if end[at] >= end[event] and end[at] > start[event]]


@settings(deadline=None)
@given(TRACKS)
def test_parents_and_children_are_those_of_a_brute_force(tracks):
    opened = open_timelines.opened(tracks)
    timeline = opened.timeline
    start, end = timeline.start_ps, timeline.start_ps + timeline.duration_ps
    around = {index: holders(opened, index) for index in range(start.size)}
    for event in range(start.size):
        assert enclosing(opened, event) == around[event]
        below = [at for at in around if around[at] and around[at][-1] == event]
        below.sort(key=lambda at: (start[at], -timeline.duration_ps[at], at))
        found = children(opened, event)
        assert found.first == (below[0] if below else -1)
        assert found.count == len(below)
        covered = {index for child in below for index in range(start[child], end[child])}
        assert found.covered_ps == len(covered)
        within = [index for low, high in enclosed(opened, event) for index in range(low, high)]
        assert set(within) == {at for at in around if event in around[at]}


def test_events_deeper_than_rows_have_parents_and_children():
    opened = open_timelines.opened([[(index, 5000 - 2 * index, "a") for index in range(1500)]])
    deep = opened.timeline.start_ps.size - 1
    assert len(enclosing(opened, deep)) == 1499
    assert len(details(opened, deep)["stack"]) == 256
    parent = move(opened, deep, "parent")
    assert parent is not None
    assert int(opened.timeline.start_ps[parent]) == 1498
    assert children(opened, parent).first == deep
    assert details(opened, parent)["self_ps"] == 2
    assert children(opened, 0).count == 1


def test_moves():
    opened = open_timelines.opened(
        [[(0, 20, "x"), (1, 8, "a"), (2, 3, "b"), (10, 5, "a"), (30, 1, "y")], [(5, 1, "a")]]
    )
    ids = {
        (opened.name(index), int(opened.timeline.start_ps[index])): index
        for index in range(opened.timeline.start_ps.size)
    }

    def leads(name: str, start: int, how: Any) -> tuple[str, int] | None:
        to = move(opened, ids[name, start], how)
        return None if to is None else (opened.name(to), int(opened.timeline.start_ps[to]))

    assert leads("x", 0, "next") == ("y", 30)
    assert leads("y", 30, "previous") == ("x", 0)
    assert leads("b", 2, "parent") == ("a", 1)
    assert leads("x", 0, "child") == ("a", 1)
    assert leads("a", 1, "next_same") == ("a", 5)
    assert leads("a", 5, "next_same") == ("a", 10)
    assert leads("a", 10, "previous_same") == ("a", 5)
    assert leads("a", 10, "first_same") == ("a", 1)
    for name, start, how in (
        ("y", 30, "next"), ("x", 0, "previous"), ("x", 0, "parent"), ("b", 2, "child"),
        ("a", 10, "next_same"), ("a", 1, "previous_same"),
    ):  # fmt: skip
        assert leads(name, start, how) is None
    with pytest.raises(BadRequest, match="no move 'sideways'"):
        leads("x", 0, "sideways")
