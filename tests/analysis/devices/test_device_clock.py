"""The device's clock beside the host's."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jobs import TpuJob, draw_tpu_job
from traces.tpu_steps import Overview

from tbprof.analysis.devices.device_clock import Clock, _fit, _jump, nesting_order
from tbprof.kernels.analysis.line_fits import find_line

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
    overview = Overview(tmp_path, *draw_tpu_job(job).files.values())
    idle = overview.tables[0].properties["device_idle_time_percent"]
    assert overview.shares["other"] == pytest.approx(7.0, abs=0.01)
    assert float(idle.rstrip("%")) == pytest.approx(7.0, abs=0.1)
    # Infeed, outfeed and idle time are not duty.
    assert overview.figures["duty_cycle"] == pytest.approx(100 - 25 - 3 - 7, abs=0.1)


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


def clock(*columns: list[int]) -> Clock:
    first, shift, last, last_shift = (np.array(column, np.int64) for column in columns)
    return Clock(first, shift, last, last_shift)


# Ops at 0 to 10 and 20 to 30 in the file; the first is moved by 100, the second by 120.
CLOCK = clock([0, 20], [100, 120], [10, 30], [100, 120])


@pytest.mark.parametrize(
    ("event", "moved"),
    [
        ((-5, 10), (95, 110)),  # before all ops, until the first one ends
        ((0, 10), (100, 110)),
        ((12, 30), (132, 150)),  # it begins between them: with the one that follows
        ((0, 18), (100, 118)),  # and ends with the one before
        ((12, 18), (132, 132)),
        ((35, 40), (155, 160)),
    ],
)
def test_an_event_begins_with_the_next_op_and_ends_with_the_last(event, moved):
    start, duration = CLOCK.place(np.array([event[0]]), np.array([event[1] - event[0]]))
    assert (int(start[0]), int(start[0] + duration[0])) == moved


def test_no_event_is_moved_into_an_op():
    """Both ops are moved apart from each other, or towards each other."""
    near = clock([0, 20], [100, 91], [10, 30], [100, 91])
    start, duration = near.place(np.array([10, 0]), np.array([20, 19]))
    assert (start.tolist(), duration.tolist()) == ([110, 100], [11, 11])
    start, duration = near.place_waits(np.array([12]), np.array([8]))
    assert (start.tolist(), duration.tolist()) == ([110], [1])


def test_a_wait_moves_with_the_op_that_follows():
    start, duration = CLOCK.place_waits(np.array([12, 32]), np.array([8, 3]))
    assert (start.tolist(), duration.tolist()) == ([132, 152], [8, 3])


def test_parents_precede_their_children_on_each_line():
    first = np.array([0, 3, 5], np.int64)
    start = np.array([4, 0, 0, 9, 1], np.int64)
    duration = np.array([1, 2, 8, 1, 1], np.int64)
    assert nesting_order(first, start, duration).tolist() == [2, 1, 0, 4, 3]


@given(st.lists(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=4), max_size=4))
def test_nesting_orders_rows_by_line_start_and_longest_first(lines):
    rows = [(line, *event) for line, events in enumerate(lines) for event in events]
    first = np.append(0, np.cumsum([len(events) for events in lines])).astype(np.int64)
    _, start, duration = np.array(rows, np.int64).reshape(-1, 3).T
    expected = sorted(range(len(rows)), key=lambda row: (*rows[row][:2], -rows[row][2]))
    assert nesting_order(first, start, duration).tolist() == expected


finite = st.floats(-1e15, 1e15)


@given(
    st.lists(st.tuples(finite, finite), min_size=1, max_size=12),
    st.lists(st.tuples(finite, st.floats(-3, 3)), max_size=9),
    st.data(),
)
def test_the_nearest_line_is_that_of_plain_arrays(points, lines, data):
    rank = data.draw(st.integers(0, len(points) - 1))
    x, y = np.array(points).T.copy()
    level, slope = np.array(lines).reshape(-1, 2).T.copy()
    distance = np.sort(np.abs(y - level[:, None] - slope[:, None] * x), axis=1)[:, rank]
    distance[np.abs(slope) > 2] = np.inf
    expected = int(np.argmin(distance)) if np.isfinite(distance).any() else -1
    assert find_line(x, y, level, slope, 2.0, rank, np.empty(x.size)) == expected


@given(st.lists(st.tuples(st.integers(0, 99), st.integers(-(10**12), 10**12)), min_size=1))
def test_the_largest_error_in_a_row_is_the_median_of_a_block(points):
    time, error = np.array(points, np.int64).T.copy()
    order = np.argsort(time, kind="stable")
    blocks = np.array_split(order, max(1, time.size // 5))
    chosen = blocks[:: len(blocks) // 100 + 1]
    assert _jump(time, error) == max(int(abs(np.median(error[rows]))) for rows in chosen)


def test_a_long_row_of_errors_is_looked_at_in_places():
    error = np.zeros(5 * 1003 + 2, np.int64)
    error[5 * 11 * 90 + 2 :][:5] = 7  # the first two blocks have six rows
    assert _jump(np.arange(error.size), error) == 7
