"""The intervals of each TPU core's work, by its own clock."""

from __future__ import annotations

import numpy as np

from tbprof.analysis.devices.device_clock import find_core_ops
from tbprof.analysis.hlo.hlo import Programs
from tbprof.analysis.ops.device_phases import DeviceIntervals, intervals_of
from tbprof.analysis.tpu.tpu_phases import find_op_segments, tpu_phases
from tbprof.analysis.vocabulary.lines import named_lines
from tbprof.base import names
from tbprof.events.space import Plane


def tpu_intervals(plane: Plane, programs: Programs) -> DeviceIntervals:
    """The ops, asynchronous ops and waits for other cores of one core or SparseCore."""
    lines = (*names.OP_LINES, names.ASYNC_OPS_LINE, names.XLA_TRACE_LINE)
    rows = named_lines(plane, *lines)
    events = plane.events(rows)
    # Line names before the events in the file choose the ops below; names may also follow the
    # events.
    line_names = plane.strings.take(plane.lines.name[rows].tolist())
    op_rows, async_rows, marks = (
        np.flatnonzero(np.array([name in line_group for name in line_names], bool)[events.line])
        for line_group in (names.OP_LINES, lines[-2:-1], lines[-1:])
    )
    barriers = marks[events.type[marks] == _barrier_type(plane)]
    ops = find_core_ops(plane, *names.OP_LINES)
    start, duration, op = find_op_segments(ops)
    clock = ops.clock
    async_start, async_duration = clock.place(
        events.start_ps[async_rows], events.duration_ps[async_rows]
    )
    wait = clock.place_waits(events.start_ps[barriers], events.duration_ps[barriers])
    row = np.concatenate([op_rows[op], async_rows, barriers])
    start = np.concatenate([start, async_start, wait[0]])
    duration = np.concatenate([duration, async_duration, wait[1]])
    order = np.argsort(start, kind="stable")
    row, start, duration = row[order], start[order], duration[order]
    types, kind = np.unique(events.type[row], return_inverse=True)
    phase_of = tpu_phases(plane, programs, types.astype(np.int64))
    # The entry after the last type is for events without a type (-1): they have no name.
    label = np.append(plane.types.display_name, np.int32(-1))[types]
    texts = np.where(label >= 0, label, np.append(plane.types.name, np.int32(-1))[types])
    phase = phase_of[kind]
    return intervals_of(
        plane,
        events,
        row,
        start,
        duration,
        phase,
        lambda: phase,
        np.zeros(row.size, bool),
        kind.astype(np.int32),
        plane.strings.take(texts.tolist()),
        clock,
    )


def _barrier_type(plane: Plane) -> int:
    """The event type of a core's wait for other cores; no type's number if there is none."""
    texts = plane.types.full_names
    return texts.index(names.CORE_BARRIER) if names.CORE_BARRIER in texts else -2
