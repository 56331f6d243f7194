"""What the guide promises of steps, on programs that xprof 2.24.2 shows otherwise than they ran.

What xprof says of them and their like is asserted in tests/parity.
"""

import numpy as np
import pytest
from helpers.drawn.drawn_steps import steps_of, table
from traces.misread_runs import copies, host_copies, instant, looping, many_steps, starving


def test_a_gpu_that_starves_between_steps_says_so():
    """Steps of 10 on the host every 20, input in front: not one step of the device's 6."""
    steps = steps_of(starving())
    assert (steps.duration_ps[:2] // 1_000_000).tolist() == [20, 20]
    assert table(steps)[0][2] == {"compute_32": 6, "input": 10, "kernel_launch": 1, "other": 3}


@pytest.mark.parametrize("count", [5, 6, 12])
def test_all_steps_are_there_and_count_where_they_were_recorded_whole(count: int):
    """xprof drops the first and the last of more than five, without a word."""
    steps = steps_of(many_steps(count))
    assert steps.label == [f"train {index}" for index in range(count)]
    assert not steps.is_truncated.any()


def test_a_loop_in_the_graph_takes_no_step_away():
    """xprof: iterations of any loop switch all grouping off, and there is no step."""
    steps = steps_of(looping())
    assert (steps.source, steps.marker) == ("markers", "train")
    assert steps.label == ["train 0", "train 1", "train 2"]


def test_a_mark_of_a_moment_is_no_work_until_the_next_event():
    """xprof: 6 of host compute, as the instant at 3 goes on to the end of the event at 7."""
    steps = steps_of(instant())
    assert table(steps)[0][2] == {"host_compute": 2, "other": 8}


def test_copies_are_no_compute():
    """xprof: 9 of 32 bit compute, copies of all directions among them."""
    steps = steps_of(copies())
    assert table(steps)[0][2] == {
        "compute_32": 3, "device_to_device": 1, "input": 2, "output": 1, "host_compute": 2,
        "kernel_launch": 1, "other": 2,
    }  # fmt: skip
    assert np.array_equal(steps.phase_ps.sum(axis=1), steps.duration_ps)


def test_copies_within_the_host_are_in_the_step():
    """xprof: 2 of host compute and 5 of all others; the copy is in no column."""
    assert table(steps_of(host_copies()))[0][2] == {"host_compute": 5, "other": 5}
