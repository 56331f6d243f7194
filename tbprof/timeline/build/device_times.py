"""The events of a TPU core by the core's own clock, as on all pages."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.devices.device_clock import nesting_order, place_ops
from tbprof.analysis.vocabulary.lines import named_lines
from tbprof.base import names
from tbprof.base.records import replace
from tbprof.events.space import Events

_WAIT_LINES = (names.XLA_TRACE_LINE,)


def on_device_clock(events: Events) -> Events:
    """The events, ordered again by (line, start, longest first), at the times they really ran.

    Otherwise steps and their ops would not match: see `device_clock.Clock`. Events of planes that
    do not belong to a TPU, or without device times, are returned unchanged.
    """
    plane = events.plane
    if not plane.name.startswith(names.TPU_PREFIX):
        return events
    ops, waits, others = _rows_of_lines(events)
    placed = place_ops(events.select(ops))
    clock = placed.clock
    if not clock.begin.size:
        return events
    start, duration = np.empty_like(events.start_ps), np.empty_like(events.duration_ps)
    start[ops], duration[ops] = placed.begin, placed.end - placed.begin
    for rows, place in ((waits, clock.place_waits), (others, clock.place)):
        start[rows], duration[rows] = place(events.start_ps[rows], events.duration_ps[rows])
    order = nesting_order(events.first_event, start, duration)
    return replace(
        events,
        start_ps=start[order],
        duration_ps=duration[order],
        type=events.type[order],
        source=events.source[order],
    )


def _rows_of_lines(events: Events) -> list[NDArray[np.int64]]:
    """The rows of ops, of waits that cores mark between ops, and of all other lines."""
    kind = np.full(events.first_event.size - 1, 2)
    for number, wanted in enumerate((names.OP_LINES, _WAIT_LINES)):
        kind[named_lines(events.plane, *wanted)] = number
    of_row = np.repeat(kind, np.diff(events.first_event))
    return [np.flatnonzero(of_row == number) for number in range(3)]
