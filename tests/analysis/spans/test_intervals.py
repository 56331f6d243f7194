"""Busy time and windows, against a count of moments."""

from builders.event_columns import event_columns
from hypothesis import given
from hypothesis import strategies as st

from tbprof.analysis.spans.intervals import busy_time

LINES = st.lists(
    st.lists(st.tuples(st.integers(-5, 30), st.integers(0, 9)), max_size=10), max_size=4
)


def busy(lines):
    return busy_time(*event_columns(lines))


@given(LINES)
def test_busy_is_the_union_and_the_window_from_first_start_to_last_end(lines):
    events = [event for line in lines for event in line]
    moments = {index for start, length in events for index in range(start, start + length)}
    window = (
        max(start + length for start, length in events) - min(start for start, _ in events)
        if events
        else 0
    )
    assert busy(lines) == (len(moments), window)


def test_two_streams_that_take_turns_leave_what_neither_covers():
    assert busy([[(0, 10)], [(20, 10)]]) == (20, 30)


def test_overlap_counts_once_within_and_between_lines():
    assert busy([[(0, 10), (5, 10)], [(8, 4)]]) == (15, 15)
