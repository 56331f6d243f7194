"""Sums of the times of nested events, by code, without a column per event."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.spans.intervals import united_time
from tbprof.analysis.spans.layers import NO_SPANS, Spans
from tbprof.kernels.analysis.nested_sums import NestedSums, sum_nested

# (first_event, start_ps, duration_ps), as for `nesting.nest`.
Times = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]


def sum_by_code(
    times: Times, code: NDArray[np.int32], codes: int, also_busy: Spans = NO_SPANS
) -> tuple[NDArray[np.int64], int, int]:
    """([3, codes] occurrences, total and self time of each code; busy time and window of all).

    Events with a code below 0 are ignored. Self time is defined as in `nesting.self_times`, busy
    time and window as in `intervals.busy_time`, and include the spans `also_busy`.
    """
    first_event, start_ps, duration_ps = times
    sums = np.zeros((codes, 3), np.int64)
    window = np.array([2**63 - 1, -(2**63)], np.int64)
    # Few of these rows are written, and untouched pages take no memory.
    size = code.size + also_busy[0].size
    start, end = (np.empty(size, np.int64) for _ in range(2))
    longest = int(np.diff(first_event).max(initial=0))
    stack, covered = (np.empty(longest, np.int64) for _ in range(2))
    out = NestedSums(sums, window, start, end, stack, covered)
    spans = sum_nested(first_event, start_ps, duration_ps, code, out)
    if not sums.any():
        return sums.T, 0, 0
    size = spans + also_busy[0].size
    start[spans:size], end[spans:size] = also_busy
    window[1] = also_busy[1].max(initial=window[1])
    return sums.T, united_time(start[:size], end[:size]), int(window[1] - window[0])
