"""Finds the thread on which the program runs, and the threads that work ahead of it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.host.host_events import HostThreads
from tbprof.analysis.host.host_roles import stat_types
from tbprof.analysis.spans.repeats import find_repeats
from tbprof.analysis.vocabulary.name_families import name_families
from tbprof.events.space import Events

# Threads of tf.data and of compilers that work ahead, except those on which ops of tf.data fetch
# batches.
_AHEAD = ("tf_data_", "tf_xla-cpu-codegen", "tf_PjRtCompilerThreadPool")
FETCHING_LINES = ("tf_data_iterator_get_next", "tf_data_multi_device_iterator_get_next")
# Frames of the Python tracer, and calls from Python into its framework.
_CALLS = ("$", "PjitFunction(", "TFE_Py_", "np.asarray(")


def is_ahead(events: Events) -> NDArray[np.bool_]:
    """[lines] whether the thread prepares something that other threads will need."""
    texts = events.plane.strings.take(events.lines.name.tolist())
    return np.array(
        [text.startswith(_AHEAD) and not text.startswith(FETCHING_LINES) for text in texts],
        np.bool_,
    )


def find_driving_line(threads: HostThreads) -> int:
    """The line (a row of `events.lines`) of the thread on which the program runs, -1 for none.

    It is the busiest of the lines on which the program calls its framework; if there are none, the
    busiest that does not work ahead.
    """
    busy = _busy(threads) * ~is_ahead(threads.events)
    for line_time in (busy * calls_framework(threads.events), busy):
        if line_time.any():
            return int(line_time.argmax())
    return -1


def calls_framework(events: Events) -> NDArray[np.bool_]:
    """[lines] whether the program calls its framework on the thread."""
    types = stat_types(events)
    is_call = name_families(events.plane).classify(_is_call, np.bool_)
    is_call |= types.has_number | types.is_function
    calls = np.zeros(events.first_event.size - 1, np.bool_)
    calls[find_repeats(events, is_call[:-1], 1).line] = True
    return calls


def _is_call(text: str) -> bool:
    return text.startswith(_CALLS)


def _busy(threads: HostThreads) -> NDArray[np.float64]:
    """[lines] the total time of outermost events, in ps."""
    own_ps = np.where(threads.parent < 0, threads.events.duration_ps, 0)
    until_ps = np.concatenate(([0], np.cumsum(own_ps)))
    return np.diff(until_ps[threads.events.first_event]).astype(np.float64)


def window_ps(threads: HostThreads) -> int:
    """The time from the first start to the last end of the threads' events."""
    events = threads.events
    if not len(events):
        return 0
    return int((events.start_ps + events.duration_ps).max() - events.start_ps.min())
