"""The instructions that ran on a CPU, which XLA records as events of its threads."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.hlo.hlo import Programs
from tbprof.analysis.host.host_events import host_events, stats_by_pieces
from tbprof.analysis.host.late_ends import find_late_ends
from tbprof.analysis.programs.instruction_facts import InstructionFacts, InstructionReader
from tbprof.analysis.programs.op_rows import OpRows, ProgramName, Times, computed_work, id_text
from tbprof.analysis.programs.program_ops import ProgramOps
from tbprof.analysis.spans.groups import group_rows, reduce_groups
from tbprof.analysis.spans.intervals import busy_time
from tbprof.analysis.spans.nesting import nest, self_times
from tbprof.analysis.vocabulary.op_names import instruction_of
from tbprof.base import names
from tbprof.base.values import joined, unique
from tbprof.events.space import Events, Plane

_STATS = (names.HLO_OP, names.HLO_MODULE, names.PROGRAM_ID, names.DEVICE_ORDINAL)
_TEXTS = (names.HLO_OP, names.HLO_MODULE)


def cpu_program_ops(plane: Plane, programs: Programs, reader: InstructionReader) -> ProgramOps:
    """The instructions that threads of one host ran, on all devices that its CPU simulates.

    A loop contains the instructions of its body on the same thread. An instruction lasts until its
    work ends, which may be after its event (`late_ends`). Markers of the end of an
    instruction, and launches on other devices, do not count.
    """
    events, keys = find_executions(plane)
    rows = OpRows()
    if not len(events):
        return rows.table()
    own = self_times(
        nest(events.first_event, events.start_ps, events.duration_ps),
        events.start_ps, events.duration_ps,
    )  # fmt: skip
    duration = events.duration_ps.copy()
    late_rows, late = find_late_ends(plane).among(events)
    duration[late_rows] += late.late_ps
    own[late_rows] += late.own_ps
    code, first = group_rows(list(keys[:3]))
    count, total, _, _ = reduce_groups(code, duration, first.size)
    _, total_own, _, _ = reduce_groups(code, own, first.size)
    strings = plane.strings
    columns = zip(
        *(key[first].tolist() for key in keys[:3]), count.tolist(), total.tolist(),
        total_own.tolist(), strict=True,
    )  # fmt: skip
    for op, module_text, number, executions, took, own_ps in columns:
        name, module = instruction_of(strings[op]), strings[module_text]
        program = ProgramName(
            id_text(number), module or programs.name(number), reader.digest(number, module)
        )
        facts = reader.read(number, module, name) or InstructionFacts()
        rows.add(
            program, name, facts, Times(executions, 0, took, own_ps),
            computed_work(facts.cost, executions),
        )  # fmt: skip
    devices, window, idle = _windows(events, duration, keys[3])
    return rows.table(device_type="CPU", devices=devices, window_ps=window, idle_ps=idle)


def find_executions(plane: Plane) -> tuple[Events, list[NDArray[np.int64]]]:
    """(executions of instructions, [op, module, program, device] of each).

    Op and module are ids of texts, program and device numbers; -1 if unknown.
    """
    events = host_events(plane, is_kept=False)
    texts = plane.types.full_names
    is_end = np.array([text.startswith(names.THUNK_END) for text in [*texts, ""]])
    rows: list[NDArray[np.int64]] = []
    columns: list[list[NDArray[np.int64]]] = [[] for _ in _STATS]
    candidates = events.rows_of(~is_end)
    has_launches = names.CORRELATION_ID in plane.stat_names
    wanted = (*_STATS, *((names.CORRELATION_ID,) if has_launches else ()))
    for piece, stats in stats_by_pieces(events, wanted, candidates, _TEXTS):
        if names.HLO_OP not in stats:
            continue
        op = stats[names.HLO_OP].texts()
        is_op = op >= 0
        if has_launches:
            is_op &= ~stats[names.CORRELATION_ID].is_present
        rows.append(piece[is_op])
        for column, name in zip(columns, _STATS, strict=True):
            stat = stats.get(name)
            values = np.full(piece.size, -1, np.int64)
            if stat is not None:
                values[:] = stat.texts() if name in _TEXTS else stat.integers(-1)
            column.append(values[is_op])
    return events.select(joined(rows)), [joined(column) for column in columns]


def _windows(
    events: Events, duration_ps: NDArray[np.int64], device: NDArray[np.int64]
) -> tuple[int, int, int]:
    """(devices, sum of their windows, sum of their idle times)."""
    devices = unique(device).tolist()
    window = idle = 0
    for number in devices:
        rows = np.flatnonzero(device == number)
        ran = events.select(rows)
        busy, own_window = busy_time(ran.first_event, ran.start_ps, duration_ps[rows])
        window += own_window
        idle += own_window - busy
    return len(devices), window, idle
