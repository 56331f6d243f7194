"""Which devices' Steps lines have the same steps at the same times."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tbprof.analysis.steps.sources.steps_line import StepsLine, agreement, find_missing

# The windows of the steps of one line by place: of some of the steps, at similar times.
WINDOWS = st.dictionaries(
    st.integers(0, 5), st.tuples(st.integers(0, 8), st.integers(0, 4)), max_size=6
)


def line_of(steps: list[tuple[int, int, int]]) -> StepsLine:
    """A line of steps: (place, start, end)."""
    place, start, end = np.array(steps, np.int64).reshape(-1, 3).T
    none = np.zeros(place.size, bool)
    return StepsLine("", start, end, place, place, [""] * place.size, place, none, none)


LINES = st.one_of(
    WINDOWS.map(
        lambda found: [
            (place, 4 * place + late, 4 * place + late + length)
            for place, (late, length) in sorted(found.items())
        ]
    ),
    # In any order, and some of them twice.
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 5), st.integers(5, 9)), max_size=3),
)


def agree(line: list[tuple[int, int, int]], other: list[tuple[int, int, int]]) -> bool:
    """Whether the places of both ascend, and half of the common steps or more overlap."""
    places = [[place for place, _, _ in steps] for steps in (line, other)]
    if any(sorted(set(found)) != found for found in places):
        return False
    overlaps = [
        min(own_end, end) > max(own_start, start)
        for own_place, own_start, own_end in line
        for place, start, end in other
        if place == own_place
    ]
    return 2 * sum(overlaps) >= len(overlaps)


@given(st.lists(LINES, max_size=5), st.lists(LINES, max_size=5))
def test_lines_agree_as_each_pair_of_them_does(
    lines: list[list[tuple[int, int, int]]], others: list[list[tuple[int, int, int]]]
):
    found = agreement([line_of(line) for line in lines], [line_of(other) for other in others])
    assert found.shape == (len(lines), len(others))
    assert found.tolist() == [[agree(line, other) for other in others] for line in lines]


def test_half_of_the_common_steps_are_enough():
    line = [(0, 0, 4), (1, 10, 14), (2, 20, 24)]
    half = [(1, 13, 17), (2, 24, 28)]
    fewer = [(0, 4, 8), *half]
    [found] = agreement([line_of(line)], [line_of(half), line_of(fewer), line_of([(3, 0, 4)])])
    assert found.tolist() == [True, False, True]


def test_steps_between_the_least_and_the_greatest_number_are_not_missing():
    """The stride between them is the usual one, and as a float beyond 64 bits."""
    line = line_of([(0, 0, 4), (2**63 - 1, 10, 14)])
    assert find_missing(line, []).tolist() == []
    assert find_missing(line, [line_of([(7, 5, 8)])]).tolist() == [7]
