"""The phases of host threads over time, as disjoint intervals per thread."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.host.driving_thread import FETCHING_LINES
from tbprof.analysis.host.host_events import HostThreads, async_rows
from tbprof.analysis.host.host_roles import HostTypes, Role
from tbprof.analysis.spans.nesting import inherit, nearest_above
from tbprof.analysis.vocabulary.phases import Phase
from tbprof.base import names
from tbprof.base.process.parallel import PIECE, in_line_ranges
from tbprof.base.values import is_in, unique
from tbprof.events.space import Events
from tbprof.kernels.analysis.phase_sweep import find_own_phases, flatten_phases, look_inside
from tbprof.kernels.codes import HOLDS_KNOWN, HOLDS_LAUNCHES, NO_PHASE


def host_intervals(
    threads: HostThreads, counts: NDArray[np.bool_], types: HostTypes
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int32], NDArray[np.int64]]:
    """(start_ps, end_ps, phase, cuts [lines + 1]), by (line, start), disjoint on each line.

    Only events with `counts` [n] and a duration are used. The innermost event with a phase decides,
    except that everything inside input, output and compilation belongs to these (only compilation
    inside the other two stays compilation), and that an op that launches something counts as
    launching. Waits outside of these three, Python frames, annotations and wrappers leave a gap.
    Wrappers are events that only delimit, such as the marker of steps. `cuts` are the starts of
    lines.

        |train...........|                train: marker, Iter: input, w: a wait, a: MatMul:MatMul
        |.Iter..aaaaaaa..|          ->    |.IIII..CC..CCC..|
        |..w......ww.....|
    """
    events = threads.events
    inside = np.zeros(len(events), np.uint8)
    phase = np.empty(len(events), np.int32)
    columns = events.type, events.duration_ps, threads.parent
    apart = threads.apart
    is_inside = apart.around >= 0
    launches = is_inside & (types.role[events.type[apart.row]] == Phase.KERNEL_LAUNCH)
    inside[apart.around[is_inside]] = HOLDS_KNOWN
    inside[apart.around[launches]] |= HOLDS_LAUNCHES
    first = events.first_event.tolist()

    def find_phases(begin: int, end: int) -> None:
        rows = first[begin], first[end]
        look_inside(*rows, *columns, types.role, inside)
        find_own_phases(*rows, *columns, counts, types.role, inside, phase)

    in_line_ranges(find_phases, first)
    builds = _builds_graphs(threads, types, phase)
    phase[builds[counts[builds]]] = Phase.COMPILATION
    phase[_copies_of_programs(threads, types, phase)] = Phase.KERNEL_LAUNCH
    phase[_parts_of_callbacks(threads, types)] = NO_PHASE
    most = 2 * int(np.count_nonzero(counts))
    return innermost_pieces(events, counts, phase, most)


def _builds_graphs(
    threads: HostThreads, types: HostTypes, phase: NDArray[np.int32]
) -> NDArray[np.int64]:
    """The rows of `tf.function` calls that trace, and of Python code that tracing runs.

    Other known events inside keep their phase, and so does the execution that follows.

        |ffffffffffff|   f: traces, T: TFE_Py_Execute, o: an op
        |....TTTTTTTT|   ->  |CCCC....oooo|
        |........oooo|
    """
    events = threads.events
    calls = events.rows_of(types.is_function)
    if not calls.size:
        return calls
    mode = events.stats([names.TF_FUNCTION_CALL], calls)[names.TF_FUNCTION_CALL].texts()
    modes, code = np.unique(mode, return_inverse=True)
    traces = [text.startswith("traced") for text in events.plane.strings.take(modes.tolist())]
    calls = calls[np.array(traces, np.bool_)[code]]
    if not calls.size:
        return calls
    executes = (
        is_in(types.role, (Role.WRAPPER, Role.LAUNCHER, Phase.KERNEL_LAUNCH)) & ~types.is_function
    )
    scope = np.where(events.by_type(executes), np.int64(0), np.int64(-1))
    scope[calls] = 1
    builds = (inherit(threads.parent, scope) == 1) & (phase == NO_PHASE)
    return np.flatnonzero(builds & (events.duration_ps > 0))


def _copies_of_programs(
    threads: HostThreads, types: HostTypes, phase: NDArray[np.int32]
) -> NDArray[np.int64]:
    """The rows of copies that a program makes while it is launched: no input, and no result.

    A loop copies its condition to the host, which then launches the next iteration.
    """
    if not types.is_program_launch.any():
        return np.empty(0, np.int64)
    launches = threads.events.by_type(types.is_program_launch)
    is_inside = nearest_above(threads.parent, launches) >= 0
    return np.flatnonzero(is_inside & is_in(phase, (Phase.INPUT, Phase.OUTPUT)))


def _parts_of_callbacks(threads: HostThreads, types: HostTypes) -> NDArray[np.int64]:
    """The rows of callbacks and of all events in them, beside a device.

    A callback interrupts the launching of its program, whatever it copies or launches itself.
    """
    if not types.is_callback.any():
        return np.empty(0, np.int64)
    calls = threads.events.by_type(types.is_callback)
    return np.flatnonzero(calls | (nearest_above(threads.parent, calls) >= 0))


def program_launches(
    threads: HostThreads,
    types: HostTypes,
    start: NDArray[np.int64],
    phase: NDArray[np.int32],
    cuts: NDArray[np.int64],
) -> NDArray[np.int64]:
    """The rows of `host_intervals` of launching that begin while XLA launches a program's kernels.

    The rest of the call that contains the launch may wait for arguments.
    """
    events = threads.events
    calls = events.rows_of(types.is_program_launch)
    line_of_call = np.searchsorted(events.first_event, calls, side="right") - 1
    rows = np.flatnonzero(phase == Phase.KERNEL_LAUNCH)
    line = np.searchsorted(cuts, rows, side="right") - 1
    is_inside = np.zeros(rows.size, np.bool_)
    for number in unique(line_of_call).tolist():
        own, here = calls[line_of_call == number], np.flatnonzero(line == number)
        begin, at = events.start_ps[own], start[rows[here]]
        end = np.append(begin + events.duration_ps[own], np.iinfo(np.int64).min)
        is_inside[here] = end[np.searchsorted(begin, at, side="right") - 1] > at
    return rows[is_inside]


def innermost_pieces(
    events: Events, counts: NDArray[np.bool_], code: NDArray[np.int32], most: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int32], NDArray[np.int64]]:
    """(start_ps, end_ps, code, cuts [lines + 1]): each thread's time by the innermost event.

    Only events that count and have a duration are used, each with its code. Those with a negative
    code leave a gap. `most` is twice the number of events that count.
    """
    first = events.first_event
    stack = np.empty((int(np.diff(first).max(initial=0)) + 1, 2), np.int64)
    cuts = np.zeros(first.size, np.int64)
    # An event ends the piece before it, and its own. Untouched pages take no memory.
    room = most + first.size
    start, end = np.empty(room, np.int64), np.empty(room, np.int64)
    out_codes = np.empty(room, np.int32)
    flatten_phases(
        first, events.start_ps, events.duration_ps, counts, code, stack, cuts, start, end, out_codes
    )
    size = int(cuts[-1])
    return start[:size], end[:size], out_codes[:size], cuts


# Threads of tf.data that work ahead, except those on which its ops fetch batches.
_AHEAD_LINES = ("tf_data_",)


def driving_rows(
    threads: HostThreads,
    types: HostTypes,
    *,
    driving_line: int,
    window_ps: tuple[int, int] | None = None,
    has_groups: bool = True,
) -> NDArray[np.bool_]:
    """[n] whether an event's time counts for steps, rather than being work ahead of them.

    These are the events of a group; all events of the driving line (a row of `events.lines`, -1 for
    none) and its driver calls on other lines, which explain gaps between steps; and events on any
    thread that ran instructions of compiled programs; but no events of prefetching threads. If
    nothing assigns ops to steps (`has_groups` is false), ops on any thread count. If a window
    (start, end) is given, only events that overlap it count.
    """
    events = threads.events
    counts: NDArray[np.bool_] = threads.group >= 0
    drives = (threads.apart.thread == driving_line).tolist()
    counts[events.rows_of(types.is_hlo if has_groups else types.is_hlo | types.is_op)] = True
    for line, text in enumerate(events.plane.strings.take(events.lines.name.tolist())):
        rows = slice(int(events.first_event[line]), int(events.first_event[line + 1]))
        if drives[line]:
            counts[rows] = True
        elif text.startswith(_AHEAD_LINES) and not text.startswith(FETCHING_LINES):
            counts[rows] = False
    counts[async_rows(events)] = False
    if window_ps is not None:
        _drop_outside(events, counts, window_ps)
    return counts


def _drop_outside(events: Events, counts: NDArray[np.bool_], window_ps: tuple[int, int]) -> None:
    """Clears `counts` of events that do not overlap the window, in place."""
    first, last = window_ps
    for begin in range(0, len(events), PIECE):
        rows = slice(begin, begin + PIECE)
        start = events.start_ps[rows]
        # Events that began earlier may reach into the window.
        reaches = (start >= first) | (start + events.duration_ps[rows] > first)
        counts[rows] &= reaches & (start < last)
