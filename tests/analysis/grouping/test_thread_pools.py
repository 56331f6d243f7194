"""When work in pools of threads is a step's own."""

import numpy as np

from tbprof.analysis.grouping.thread_pools import find_windows

FOREVER = np.iinfo(np.int64).max


def windows(*roots: tuple[int, int, int]) -> tuple[list[int], list[int]]:
    """(starts_before, ends_by) of roots (line, start, duration)."""
    line, start, duration = (np.array(column, np.int64) for column in zip(*roots, strict=True))
    starts_before, ends_by = find_windows(line, start, duration)
    return starts_before.tolist(), ends_by.tolist()


def test_a_step_accepts_work_until_the_next_begins_which_ends_before_the_one_after():
    assert windows((0, 0, 4), (0, 6, 4), (0, 20, 5)) == ([6, 20, 34], [20, 34, 48])


def test_the_last_step_lasts_as_long_as_the_longest_at_least():
    assert windows((0, 0, 4), (0, 5, 30)) == ([5, 35], [35, 40])


def test_threads_have_steps_of_their_own_and_a_lone_one_is_unlimited():
    assert windows((1, 0, 4), (0, 3, 1), (0, 6, 4), (2, 8, 4)) == (
        [FOREVER, 6, 10, FOREVER],
        [FOREVER, 10, 13, FOREVER],
    )


def test_roots_inside_a_root_do_not_end_it():
    starts_before, ends_by = windows((0, 0, 10), (0, 2, 3), (0, 6, 2), (0, 12, 10))
    assert starts_before == [12, 6, 12, 24]
    assert ends_by == [24, 12, 24, 36]


def test_instants_and_roots_of_unknown_threads():
    assert windows((0, 0, 0), (0, 0, 0), (0, 3, 0), (-1, 5, 0)) == (
        [0, 3, 6, -1],
        [3, 6, 9, -1],
    )
