import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tbprof.analysis.steps import incomplete_steps
from tbprof.analysis.steps.step_windows import Windows, hulls, tile


def windows(*spans: tuple[int, int]) -> Windows:
    numbers = np.arange(len(spans))
    return tile(
        numbers,
        numbers,
        [str(number) for number in numbers],
        np.array([start for start, _ in spans], np.int64),
        np.array([end for _, end in spans], np.int64),
    )


def find_truncated(windows: Windows, work: np.ndarray, missing: tuple[int, ...] = ()) -> np.ndarray:
    is_recorded = ~np.isin(np.arange(windows.start_ps.size), missing)
    return incomplete_steps.find_truncated(windows, work, is_recorded)


def test_a_step_goes_on_to_the_start_of_the_next():
    found = windows((20, 26), (0, 10), (40, 43))
    assert found.group.tolist() == [1, 0, 2]
    assert found.start_ps.tolist() == [0, 20, 40]
    assert found.duration_ps.tolist() == [20, 20, 3]
    assert found.own_ps.tolist() == [10, 6, 3]


def test_overlapping_steps_end_where_the_next_begins():
    found = windows((0, 30), (10, 20))
    assert found.duration_ps.tolist() == [10, 10]
    assert found.own_ps.tolist() == [10, 10]


def test_of_steps_that_begin_together_the_longest_is_left():
    assert windows((0, 5), (0, 30), (40, 50)).group.tolist() == [1, 2]


def test_steps_of_no_length_are_none():
    assert windows((5, 5)).label == []
    assert windows().label == []


def test_the_last_step_lacks_its_gap_where_gaps_are_notable():
    nothing = np.empty(0, np.int64)
    assert find_truncated(windows((0, 90), (100, 190)), nothing).tolist() == [False, True]
    assert find_truncated(windows((0, 95), (100, 195)), nothing).tolist() == [False, False]


def test_first_and_last_steps_with_too_little_work_are_cut():
    steps = windows((0, 10), (10, 20), (20, 30), (30, 40))

    def work(*counts: int) -> np.ndarray:
        return np.repeat(np.arange(len(counts)) * 10 + 1, counts)

    assert find_truncated(steps, work(3, 4, 4, 3)).tolist() == [False] * 4
    assert find_truncated(steps, work(2, 4, 4, 4)).tolist() == [True, False, False, False]
    assert find_truncated(steps, work(4, 4, 4, 2)).tolist() == [False, False, False, True]
    # Less work between is not a cut, and with one step between nothing is typical.
    assert find_truncated(steps, work(4, 2, 4, 4)).tolist() == [False] * 4
    assert find_truncated(windows((0, 10), (10, 20), (20, 30)), work(1, 4, 4)).sum() == 0


def test_small_steps_are_not_cut_where_the_program_has_small_steps():
    """As with gradients added up: every third step does more. One odd step is no such pattern."""
    steps = windows(*((index * 10, index * 10 + 10) for index in range(20)))

    def cut(*counts: int) -> tuple[bool, bool]:
        work = np.repeat(np.arange(len(counts)) * 10 + 1, counts)
        truncated = find_truncated(steps, work)
        assert not truncated[1:-1].any()
        return bool(truncated[0]), bool(truncated[-1])

    assert cut(*[4, 8, 8] * 6, 4, 4) == (False, False)
    assert cut(*[8, 4, 8] * 6, 8, 3) == (False, True)
    assert cut(4, *[8] * 9, 0, *[8] * 8, 8) == (True, False)


def test_steps_beside_those_that_were_not_recorded_may_be_cut():
    steps = windows(*((index * 10, index * 10 + 10) for index in range(8)))

    def work(*counts: int) -> np.ndarray:
        return np.repeat(np.arange(len(counts)) * 10 + 1, counts)

    assert np.flatnonzero(find_truncated(steps, work(4, 4, 2, 0, 4, 4, 4, 4), (3,))).tolist() == [2]
    assert np.flatnonzero(find_truncated(steps, work(4, 4, 4, 4, 2, 0, 0, 0), (5, 6, 7))) == [4]
    assert not find_truncated(steps, work(4, 4, 4, 0, 4, 4, 4, 4), (3,)).any()
    # Of steps with gaps the last one before a hole lacks its own, unless the hole's start shows it.
    gaps = windows((0, 8), (10, 18), (20, 28), (28, 40), (40, 48), (50, 58))
    assert np.flatnonzero(find_truncated(gaps, work(), (3,))).tolist() == [2, 5]


def test_one_step_is_whole():
    assert find_truncated(windows((0, 10)), np.empty(0, np.int64)).tolist() == [False]


def test_hulls_of_groups():
    first, last = hulls(np.array([1, -1, 0, 1]), np.array([5, 0, 7, 2]), np.array([6, 99, 9, 3]), 3)
    assert first[:2].tolist() == [7, 2]
    assert last[:2].tolist() == [9, 6]
    assert first[2] > last[2]


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 20)), max_size=10))
def test_windows_are_disjoint_and_cover_from_the_first_start_on(spans: list[tuple[int, int]]):
    found = windows(*((start, start + length) for start, length in spans))
    assert np.all(found.duration_ps > 0)
    assert np.all(found.start_ps[1:] == found.end_ps[:-1])
    assert np.all(found.own_ps <= found.duration_ps)
    assert np.all(found.own_ps >= 0)
