"""Nesting and self time, against slow definitions."""

from itertools import pairwise

import numpy as np
import pytest
from builders.event_columns import event_columns
from hypothesis import given
from hypothesis import strategies as st

from tbprof.analysis.spans.code_sums import sum_by_code
from tbprof.analysis.spans.intervals import busy_time
from tbprof.analysis.spans.nesting import inherit, nearest_above, nest, self_times
from tbprof.base.process import parallel

Interval = tuple[int, int]  # start, duration
LINES = st.lists(
    st.lists(st.tuples(st.integers(0, 12), st.integers(0, 8)), max_size=12), min_size=1, max_size=3
)


def slow_parent(first: np.ndarray, start: np.ndarray, duration: np.ndarray) -> list[int]:
    """The last earlier event of the line that holds the whole event; O(n²)."""
    parents = []
    for begin, end in pairwise(first.tolist()):
        for row in range(begin, end):
            holders = [
                other
                for other in range(begin, row)
                if start[other] <= start[row]
                and start[row] + duration[row] <= start[other] + duration[other]
            ]
            parents.append(max(holders, default=-1))
    return parents


def covered(intervals: list[Interval]) -> int:
    """The length of the union, one unit at a time."""
    return len({index for start, length in intervals for index in range(start, start + length)})


@given(LINES)
def test_parents_are_the_innermost_events_that_hold_the_whole(lines):
    first, start, duration = event_columns(lines)
    parent = nest(first, start, duration)
    assert parent.tolist() == slow_parent(first, start, duration)


@given(LINES)
def test_self_time_is_what_no_direct_child_covers(lines):
    first, start, duration = event_columns(lines)
    parent = nest(first, start, duration)
    own = self_times(parent, start, duration)
    for row in range(start.size):
        children = [
            (int(start[child]), int(duration[child]))
            for child in range(start.size)
            if parent[child] == row
        ]
        assert own[row] == duration[row] - covered(children)
    assert (own >= 0).all()


@given(LINES)
def test_self_times_of_a_proper_nesting_add_up_to_its_union(lines):
    """Without partial overlaps every moment belongs to exactly one event."""
    first, start, duration = event_columns(lines)
    parent = nest(first, start, duration)
    own = self_times(parent, start, duration)
    for begin, end in pairwise(first.tolist()):
        rows = [(int(start[row]), int(duration[row])) for row in range(begin, end)]
        if any(
            one[0] < other[0] < one[0] + one[1] < other[0] + other[1]
            for one in rows
            for other in rows
        ):
            continue
        assert own[begin:end].sum() == covered(rows)


@pytest.mark.parametrize(
    ("line", "parents", "selves"),
    [
        pytest.param([(0, 10), (5, 5)], [-1, 0], [5, 5], id="child ends with its parent"),
        pytest.param([(0, 10), (0, 4)], [-1, 0], [6, 4], id="equal starts, longest outside"),
        pytest.param([(0, 4), (0, 4)], [-1, 0], [0, 4], id="equal events, the first outside"),
        pytest.param([(0, 6), (3, 6)], [-1, -1], [6, 6], id="partial overlap: siblings"),
        pytest.param(
            [(0, 10), (1, 4), (3, 4)], [-1, 0, 0], [4, 4, 4], id="overlapping siblings count once"
        ),
        pytest.param([(0, 3), (3, 0), (3, 3)], [-1, -1, 1], [3, 3, 0], id="zero duration"),
        pytest.param([(0, 6), (3, 6), (4, 1)], [-1, -1, 1], [6, 5, 1], id="in both: the later"),
    ],
)
def test_hand_computed(line, parents, selves):
    first, start, duration = event_columns([line])
    parent = nest(first, start, duration)
    assert parent.tolist() == parents
    assert self_times(parent, start, duration).tolist() == selves


def test_lines_do_not_nest_in_each_other():
    first, start, duration = event_columns([[(0, 10)], [(2, 3)]])
    assert nest(first, start, duration).tolist() == [-1, -1]


def test_long_lines_nest_in_threads(monkeypatch):
    monkeypatch.setattr(parallel, "PIECE", 2)
    first, start, duration = event_columns(
        [[(0, 10), (0, 5), (1, 2)], [(0, 4), (1, 1)], [], [(2, 3)]]
    )
    assert nest(first, start, duration).tolist() == [-1, 0, 1, -1, 3, -1]


def test_nothing_nests_in_nothing():
    none = np.zeros(0, np.int64)
    parent = nest(np.zeros(1, np.int64), none, none)
    assert (parent.size, self_times(parent, none, none).size) == (0, 0)


@given(LINES, st.data())
def test_inherited_values_are_those_of_the_nearest_enclosing_event(lines, data):
    first, start, duration = event_columns(lines)
    parent = nest(first, start, duration)
    value = np.array([data.draw(st.integers(-1, 3)) for _ in range(start.size)], np.int64)
    inherited = inherit(parent, value)
    for row in range(start.size):
        at = row
        while at >= 0 and value[at] < 0:
            at = int(parent[at])
        assert inherited[row] == (value[at] if at >= 0 else -1)


@given(LINES, st.data())
def test_the_nearest_of_the_marked_events_around_each_is_found(lines, data):
    first, start, duration = event_columns(lines)
    parent = nest(first, start, duration)
    marks = st.lists(st.booleans(), min_size=start.size, max_size=start.size)
    is_marked = np.array(data.draw(marks), np.bool_)
    found = nearest_above(parent, is_marked)
    for row in range(start.size):
        above = parent[row]
        while above >= 0 and not is_marked[above]:
            above = parent[above]
        assert found[row] == above


@given(LINES, st.randoms(use_true_random=False))
def test_sums_are_those_of_the_events_that_count_alone(lines, random):
    first, start, duration = event_columns(lines)
    code = np.array([random.randrange(-2, 3) for _ in start], np.int32)
    rows = np.flatnonzero(code >= 0)
    some, own_start, own_duration = np.searchsorted(rows, first), start[rows], duration[rows]
    own = self_times(nest(some, own_start, own_duration), own_start, own_duration)

    sums, busy, window = sum_by_code((first, start, duration), code, 3)

    assert (busy, window) == busy_time(some, own_start, own_duration)
    for of in range(3):
        mine = code[rows] == of
        assert sums[:, of].tolist() == [mine.sum(), own_duration[mine].sum(), own[mine].sum()]
