"""The events of a TPU core by the core's own clock, as on all pages."""

from dataclasses import replace

import numpy as np

from tbprof.analysis.device_clock import find_clock, nesting_order
from tbprof.analysis.lines import named_lines
from tbprof.base import names
from tbprof.events.space import Events


def on_device_clock(events: Events) -> Events:
    """The events, ordered again by (line, start, longest first), at the times they really ran.

    Steps and what ran in them would else not meet: see `device_clock.Clock`. Events of planes that
    are no TPU's, or whose ops lack the clock, are returned as they are.
    """
    plane = events.plane
    if not plane.name.startswith(names.TPU_PREFIX):
        return events
    is_op = np.zeros(events.first_event.size - 1, np.bool_)
    is_op[named_lines(plane, names.XLA_OPS_LINE, names.SPARSE_CORE_OPS_LINE)] = True
    on_op_line = np.repeat(is_op, np.diff(events.first_event))
    ops, others = np.flatnonzero(on_op_line), np.flatnonzero(~on_op_line)
    op_start, op_end, clock = find_clock(events.select(ops))
    if not clock.known.size:
        return events
    start, duration = np.empty_like(events.start_ps), np.empty_like(events.duration_ps)
    start[ops], duration[ops] = op_start, op_end - op_start
    start[others], duration[others] = clock.place(
        events.start_ps[others], events.duration_ps[others]
    )
    order = nesting_order(events.first_event, start, duration)
    return replace(
        events,
        start_ps=start[order],
        duration_ps=duration[order],
        type=events.type[order],
        source=events.source[order],
    )
