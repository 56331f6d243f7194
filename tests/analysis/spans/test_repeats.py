"""Which events repeat, against a slow definition."""

from typing import Any

import numpy as np
import pytest
from builders.event_columns import event_columns
from hypothesis import given, settings
from hypothesis import strategies as st

from tbprof.analysis.spans.repeats import find_repeats, regularity, rows_of
from tbprof.events.space import Events

TYPES = 3
LINE = st.lists(
    st.tuples(st.integers(0, 20), st.integers(0, 5), st.integers(-1, TYPES - 1)), max_size=12
)

# Neither plane nor lines nor counts are looked at.
NOTHING: Any = None


def events_of(lines: list[list[tuple[int, int, int]]]) -> Events:
    first, start, duration, types = event_columns(lines, 3)
    type_ = types.astype(np.int32)
    return Events(NOTHING, NOTHING, first, type_, start, duration, start, NOTHING)


def slow_repeats(line, wanted: int, least: int) -> list[tuple[int, ...]]:
    """(type, count, total, first, last) of a line; an event that begins in one is part of it."""
    found: list[tuple[int, ...]] = []
    for kind in range(TYPES):
        events = sorted(event for event in line if event[2] == kind and event[1] > 0)
        events.sort(key=lambda event: (event[0], -event[1]))
        outer: list[tuple[int, int, int]] = []
        reached, overlaps = -1, False
        for event in events:
            end = event[0] + event[1]
            if event[0] >= reached:
                outer.append(event)
            elif end > reached:
                overlaps = True
            reached = max(reached, end)
        if kind != wanted and len(outer) >= least and not overlaps:
            total = sum(event[1] for event in outer)
            found.append((kind, len(outer), total, outer[0][0], outer[-1][0]))
    return found


@settings(deadline=None)  # the first example compiles
@given(st.lists(LINE, min_size=1, max_size=3), st.integers(-1, 2), st.integers(1, 3))
def test_repeats_are_the_outer_events_of_a_type_that_do_not_overlap(lines, left_out, least):
    events = events_of(lines)
    wanted = np.array([kind != left_out for kind in range(TYPES)])
    repeats = find_repeats(events, wanted, least)
    table = [
        sorted(
            tuple(int(column[at]) for column in (
                repeats.type, repeats.count, repeats.total_ps, repeats.first_ps, repeats.last_ps,
            ))
            for at in np.flatnonzero(repeats.line == line)
        )
        for line in range(len(lines))
    ]  # fmt: skip
    assert table == [slow_repeats(line, left_out, least) for line in lines]
    for at in range(repeats.line.size):
        rows = rows_of(events, int(repeats.line[at]), int(repeats.type[at]))
        assert rows.size == repeats.count[at]
        assert events.duration_ps[rows].sum() == repeats.total_ps[at]
    chosen = np.arange(repeats.line.size)[::-2]
    median_ps, regular = regularity(events, repeats, chosen)
    for at, middle, share in zip(chosen, median_ps, regular, strict=True):
        rows = rows_of(events, int(repeats.line[at]), int(repeats.type[at]))
        assert middle == int(np.median(events.duration_ps[rows]))
        gaps = np.diff(events.start_ps[rows])
        like = [1 for gap in gaps if np.median(gaps) / 1.5 <= gap <= np.median(gaps) * 1.5]
        assert share == pytest.approx(len(like) / max(gaps.size, 1))


@pytest.mark.parametrize(
    ("line", "share"),
    [
        ("a", 0),
        ("a.b.", 0),
        ("a..a..a..a", 1),
        ("a..a..a......a", 2 / 3),
        ("a...a.....a...a", 1),
        ("a...a......a...a", 2 / 3),
    ],
)
def test_regularity_is_the_share_of_intervals_like_the_median(line, share):
    events = events_of([[(at, 1, 0) for at, name in enumerate(line) if name == "a"]])
    repeats = find_repeats(events, np.ones(TYPES, bool), 1)
    _, [regular] = regularity(events, repeats, np.array([0]))
    assert regular == pytest.approx(share)
