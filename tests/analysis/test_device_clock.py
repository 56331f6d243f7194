"""The device's clock beside the host's."""

import numpy as np
import pytest
from analysis.tpu_steps import Overview
from hypothesis import given
from hypothesis import strategies as st
from jobs import TpuJob, draw_tpu_job

from tbprof.analysis.device_clock import Clock, _fit, nesting_order

SECOND = 10**12


def fit(times: list[int], shifts: list[int]) -> tuple[int, float]:
    return _fit(np.array(times, np.int64), np.array(shifts, np.int64))


def test_one_shift_and_equal_times_have_no_drift():
    assert fit([5], [70]) == (70, 0.0)
    assert fit([5, 5, 5], [70, 70, 70]) == (70, 0.0)


def test_a_drift_that_no_clock_has_is_none():
    assert fit([0, SECOND], [0, SECOND]) == (SECOND // 2, 0.0)
    # Crystals drift by about 100 ppm, and not by 300.
    assert fit([0, SECOND], [0, 100 * 10**6]) == (0, 1e-4)
    assert fit([0, SECOND], [0, 300 * 10**6]) == (150 * 10**6, 0.0)


@pytest.mark.parametrize("drift", [0.0, 80.0])
def test_one_clock_for_ops_and_steps(tmp_path, drift):
    """Cores' clocks start up to 2 s off; of each step of 100 ms nothing covers 7 ms."""
    job = TpuJob(cores=3, steps=8, core_drift_ppm=drift)
    found = Overview(tmp_path, *draw_tpu_job(job).files.values())
    idle = found.tables[0].properties["device_idle_time_percent"]
    assert found.shares["other"] == pytest.approx(7.0, abs=0.01)
    assert float(idle.rstrip("%")) == pytest.approx(7.0, abs=0.1)
    # Infeed, outfeed and idle time are no duty.
    assert found.figures["duty_cycle"] == pytest.approx(100 - 25 - 3 - 7, abs=0.1)


@given(
    st.integers(-(10**15), 10**15),
    st.integers(-99, 99),
    st.lists(st.booleans(), min_size=9, max_size=60),
    st.integers(1, 10**12),
)
def test_the_line_is_found_among_wrong_shifts(offset, drift_ppm, is_wrong, error):
    """Less than a third are wrong, on one side, as observed: the line is that of the others."""
    wrong = [number for number, one in enumerate(is_wrong) if one][: len(is_wrong) // 3]
    times = [number * SECOND for number in range(len(is_wrong))]
    line = [offset + number * drift_ppm * 10**6 for number in range(len(is_wrong))]
    shifts = [value + (error if number in wrong else 0) for number, value in enumerate(line)]
    found, drift = fit(times, shifts)
    ends = [found + round(drift * time) for time in times]
    assert all(abs(one - other) <= 1000 for one, other in zip(ends, line, strict=True))


def test_times_between_ops_move_linearly_and_outside_in_parallel():
    known = np.array([10, 20, 40], np.int64)
    shift = np.array([100, 100, 120], np.int64)
    clock = Clock(known, shift, shift)
    start, duration = clock.place(np.array([0, 10, 20, 30, 50]), np.array([5, 10, 20, 0, 1]))
    assert start.tolist() == [100, 110, 120, 140, 170]
    assert duration.tolist() == [5, 10, 40, 0, 1]


def test_a_moment_that_two_ops_share_is_an_end_or_a_start():
    known = np.array([0, 10, 20], np.int64)
    clock = Clock(known, np.array([0, 7, 7], np.int64), np.array([0, 3, 7], np.int64))
    start, duration = clock.place(np.array([0, 10]), np.array([10, 10]))
    assert (start.tolist(), duration.tolist()) == ([0, 17], [13, 10])


def test_parents_precede_their_children_on_each_line():
    first = np.array([0, 3, 5], np.int64)
    start = np.array([4, 0, 0, 9, 1], np.int64)
    duration = np.array([1, 2, 8, 1, 1], np.int64)
    assert nesting_order(first, start, duration).tolist() == [2, 1, 0, 4, 3]
