"""Host thread activity in step time that neither device work nor ops cover."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, chain

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.hlo.hlo import Programs
from tbprof.analysis.host.host_activity import Activity, ThreadActivity, find_activity
from tbprof.analysis.host.host_events import HostThreads, async_rows
from tbprof.analysis.host.host_phases import innermost_pieces
from tbprof.analysis.host.host_roles import host_types
from tbprof.analysis.host.single_ops import SingleOps
from tbprof.analysis.job.step_calls import StepCalls, find_step_calls
from tbprof.analysis.spans.layers import Spans, exclusive_time, join_spans, unite, unite_all
from tbprof.analysis.steps.step_finding import find_step_bounds, find_step_layers
from tbprof.analysis.steps.step_layers import StepLayers
from tbprof.base import names
from tbprof.base.columns import empty_column
from tbprof.base.process.parallel import in_parallel
from tbprof.base.records import dataclass
from tbprof.events.space import Space
from tbprof.kernels.analysis.activity_sweep import (
    keep_active,
    label_states,
    sort_pieces,
    tally_pieces,
)

# Distinguish this many activities; others are merged by kind.
_MOST = 48
# Activities of threads other than the driving one, by precedence: Python and annotations are last.
_OTHERS = (
    Activity.COMPILATION,
    Activity.TF_DATA_FUNCTION,
    Activity.TF_DATA,
    Activity.TRANSFER,
    Activity.OPS,
    Activity.EAGER,
    Activity.RUNTIME,
    Activity.GARBAGE,
    Activity.MEMORY,
    Activity.PYTHON,
    Activity.ANNOTATION,
)


@dataclass(frozen=True, slots=True)
class IdleTime:
    """The uncovered time of a host's steps by activity, in ps.

    `step`, `activity`, `time_ps` and `open_ps` have one row per (row of the host's `Steps`,
    activity): `step` is the row of `Steps`, `activity` a row of the columns below. The `time_ps` of
    a step add up to its time in `Phase.OTHER`: every instant has one activity, `UNCOVERED` where no
    recorded event covers it. `open_ps` is how long events with the activity's name were open on the
    driving thread within the step, including nested events; 0 without a name.

    `kind` is an `Activity`; `name` is the event name of the Python function or annotation, `part`
    that of the event inside it, "" for none. `is_driver`: the driving thread did it. `calls` are
    the calls of the driving thread in each step.
    """

    step: NDArray[np.int64]
    activity: NDArray[np.int64]
    time_ps: NDArray[np.int64]
    kind: NDArray[np.int64]
    name: list[str]
    part: list[str]
    is_driver: NDArray[np.bool_]
    open_ps: NDArray[np.int64]
    calls: StepCalls


@dataclass(frozen=True, slots=True)
class _LinePieces:
    """Spans of a plane's thread activities by line; `label` is the number of the activity.

    Rows `cuts[i]:cuts[i + 1]` belong to line i and are in time order. `is_for` [workers, lines]:
    whether a line explains a worker's idle time.
    """

    cuts: NDArray[np.int64]
    start_ps: NDArray[np.int64]
    end_ps: NDArray[np.int64]
    label: NDArray[np.int32]
    is_for: NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class _Pieces:
    """The same spans by label: rows `cuts[i]:cuts[i + 1]` have label i and are ordered by line."""

    cuts: NDArray[np.int64]
    start_ps: NDArray[np.int64]
    end_ps: NDArray[np.int64]
    line: NDArray[np.int32]
    is_for: NDArray[np.bool_]


_Label = tuple[int, str, str, bool]
_NOTHING = np.empty(0, np.int64)
_REST: _Label = (int(Activity.UNCOVERED), "", "", False)
# Between ops of a compiled program that runs on the host, regardless of what other threads did.
_RUNNING: _Label = (int(Activity.RUNTIME), "", names.RUNS_PROGRAM, False)
# After device work, until the driving thread goes on.
_COMPLETION: _Label = (int(Activity.COMPLETION), "", "", True)
# Before device work that was launched.
_UNSTARTED: _Label = (int(Activity.UNSTARTED), "", "", False)
# Between eagerly dispatched ops, where no other event shows what Python does.
_DISPATCH: _Label = (int(Activity.EAGER), "", "", True)


def find_idle_time(
    space: Space, programs: Programs, single_ops: SingleOps, marker: str = ""
) -> IdleTime:
    """Return the host's thread activity while a worker was idle, by step."""
    # Find activities first: usually another thread computes the step layers meanwhile.
    activities = _find_activities(find_step_bounds(space, programs, marker))
    layers = find_step_layers(space, programs, marker)
    covered = in_parallel(layers.covered, range(len(layers.windows)), layers.host.nbytes)
    labels, pieces = _find_pieces(activities, layers, _idle(layers, covered))
    step, activity, time, open_ps = _split(layers, covered, single_ops, labels, pieces)
    known = [*labels, _REST, _RUNNING, _DISPATCH, _COMPLETION, _UNSTARTED]
    return IdleTime(
        step,
        activity,
        time,
        np.array([kind for kind, _, _, _ in known], np.int64),
        [name for _, name, _, _ in known],
        [part for _, _, part, _ in known],
        np.array([is_driver for _, _, _, is_driver in known], np.bool_),
        open_ps,
        find_step_calls(layers),
    )


def _find_pieces(
    activities: list[ThreadActivity], layers: StepLayers, idle: Spans
) -> tuple[dict[_Label, int], list[_Pieces]]:
    """Return (labels, pieces by label) of the activities in idle time; empties `activities`."""
    labels: dict[_Label, int] = {}
    by_line = [
        _pieces(activity, layers, plane, idle, labels)
        for plane, activity in enumerate(activities if idle[0].size else ())
    ]
    activities.clear()  # as large as a column of events
    return _merge_rare_labels(labels, by_line)


def _split(
    layers: StepLayers,
    covered: Sequence[Spans],
    single_ops: SingleOps,
    labels: dict[_Label, int],
    pieces: Sequence[_Pieces],
) -> tuple[NDArray[np.int64], ...]:
    """Return (step, activity, time, time open) as in `IdleTime`."""
    running, completion = layers.runs.in_progress(), layers.host.completion
    first = [0, *accumulate(window.start_ps.size for window in layers.windows)]
    between = _NOTHING, _NOTHING
    if single_ops.is_many(first[-1] // len(layers.windows)):
        between = unite(single_ops.start_ps, single_ops.end_ps)
    order = sorted(range(len(labels)), key=lambda number: _precedence(list(labels)[number]))
    names, name_of = _open_names(labels)
    opened = [_opened(layers, name) for name in names]
    count = len(labels)
    column_activity = np.array([count + 4, count + 3, -1, count + 1, *order, count + 2, count])

    def split(worker: int) -> tuple[NDArray[np.int64], ...]:
        window = layers.windows[worker]
        spans = (_spans(pieces, worker, label) for label in order)
        first_spans = [layers.worked(worker), layers.host.unstarted[worker], completion]
        whole = chain(first_spans, [covered[worker], running], spans, [between])
        times = exclusive_time(window.start_ps, window.end_ps, whole)
        rest = window.duration_ps - times.sum(axis=1)
        times = np.column_stack([times[:, 1:], rest])
        times[:, 2] = 0  # covered
        step, column = np.nonzero(times)
        activity = column_activity[column]
        each = [exclusive_time(window.start_ps, window.end_ps, [when])[:, 0] for when in opened]
        is_open = np.column_stack([*each, np.zeros(window.start_ps.size, np.int64)])
        return first[worker] + step, activity, times[step, column], is_open[step, name_of[activity]]

    size = sum(spans.start_ps.nbytes for spans in pieces)
    columns = zip(*in_parallel(split, range(len(layers.windows)), size), strict=True)
    return tuple(np.concatenate(column).astype(np.int64) for column in columns)


def _open_names(labels: dict[_Label, int]) -> tuple[list[str], NDArray[np.int64]]:
    """Return (names of the driving thread's activities; [labels + 5] the name's index, or -1)."""
    names: dict[str, int] = {}
    number = [
        names.setdefault(name, len(names)) if name and is_driver else -1
        for _, name, _, is_driver in labels
    ]
    return list(names), np.array([*number, *[-1] * 5], np.int64)


def _opened(layers: StepLayers, name: str) -> Spans:
    """Return disjoint spans in which events with a name were open on the driving thread."""
    source = layers.source
    if source.line < 0:
        return np.empty(0, np.int64), np.empty(0, np.int64)
    threads = source.grouping.hosts[source.plane]
    events = threads.events
    texts = threads.plane.types.full_names
    rows = events.rows_of(np.array([*(text == name for text in texts), False], bool))
    first, last = events.first_event[source.line], events.first_event[source.line + 1]
    rows = rows[(rows >= first) & (rows < last)]
    return unite(events.start_ps[rows], events.start_ps[rows] + events.duration_ps[rows])


def _precedence(label: _Label) -> tuple[int, int, _Label]:
    """Return a sort key: work of the driving thread, work of other threads, waits of the former."""
    kind, _, _, is_driver = label
    if kind == Activity.WAIT:
        return 2, 0, label
    return (0, 0, label) if is_driver else (1, _OTHERS.index(Activity(kind)), label)


def _idle(layers: StepLayers, covered: Sequence[Spans]) -> Spans:
    """Return disjoint spans in which any worker is idle within a step."""
    idle: list[Spans] = []
    for window, (begin, end) in zip(layers.windows, covered, strict=True):
        if not window.start_ps.size:
            continue
        lowest, highest = window.start_ps[:1], window.end_ps[-1:]
        begins = np.concatenate([lowest, end])
        stops = np.concatenate([begin, highest])
        is_gap = (stops > begins) & (stops > lowest) & (begins < highest)
        idle.append((np.maximum(begins[is_gap], lowest), np.minimum(stops[is_gap], highest)))
    return unite_all(idle)


def _find_activities(bounds: StepLayers) -> list[ThreadActivity]:
    """Return the thread activity of each host plane; [] if there are no steps."""
    if not any(window.start_ps.size for window in bounds.windows):
        return []
    has_device = bool(bounds.devices)
    return [
        find_activity(
            threads, host_types(threads.events, has_device=has_device), bounds.source.marker
        )
        for threads in bounds.source.grouping.hosts
    ]


def _pieces(
    activity: ThreadActivity, layers: StepLayers, plane: int, idle: Spans, labels: dict[_Label, int]
) -> _LinePieces:
    """Return a plane's thread activity in the idle time; adds new labels to `labels`."""
    threads = layers.source.grouping.hosts[plane]
    counts, label_of = _label_rows(threads, activity, layers, plane, idle, labels)
    most = 2 * int(np.count_nonzero(counts))
    start, end, label, cuts = innermost_pieces(threads.events, counts, label_of, most)
    return _LinePieces(cuts, start, end, label, layers.host.explains[plane])


def _label_rows(
    threads: HostThreads,
    activity: ThreadActivity,
    layers: StepLayers,
    plane: int,
    idle: Spans,
    labels: dict[_Label, int],
) -> tuple[NDArray[np.bool_], NDArray[np.int32]]:
    """Return [n] (whether an event counts in the idle time; its label, -1 for none).

    Labels overwrite `activity.state`; new labels are added to `labels`.
    """
    events = threads.events
    is_driver = np.zeros(events.first_event.size - 1, np.bool_)
    if plane == layers.source.plane and layers.source.line >= 0:
        is_driver[layers.source.line] = True
    counts = np.ones(len(events), np.bool_)
    counts[async_rows(events)] = False
    keys = np.empty(2 * activity.kind.size, np.int64)
    key_count = keep_active(
        events.first_event, events.start_ps, events.duration_ps, *idle, activity.state,
                activity.kind >= 0, is_driver, counts, np.zeros(keys.size, np.bool_), keys,
    )  # fmt: skip
    # Waits of other threads explain nothing; those of the driving thread name what it waits for.
    hides = (activity.kind == Activity.WAIT) | activity.is_sleep
    texts = [*threads.plane.types.full_names, "", ""]
    label_of = np.full(keys.size, -1, np.int32)
    for key in keys[:key_count].tolist():
        state, is_own = key // 2, bool(key % 2)
        kind, name, part = (
            int(column[state]) for column in (activity.kind, activity.name, activity.part)
        )
        label = kind, texts[name], texts[part], is_own
        number = labels.setdefault(label, len(labels))
        label_of[key] = -1 if hides[state] and not is_own else number
    label_states(events.first_event, is_driver, label_of, activity.state)
    return counts, activity.state


def _merge_rare_labels(
    labels: dict[_Label, int], by_line: Sequence[_LinePieces]
) -> tuple[dict[_Label, int], list[_Pieces]]:
    """Return (labels, pieces by label): the longest labels, others merged by name or kind."""
    count, time = np.zeros((2, len(by_line), len(labels)), np.int64)
    for line, *sums in zip(by_line, count, time, strict=True):
        tally_pieces(line.label, line.start_ps, line.end_ps, *sums)
    ranked = np.argsort(-time.sum(axis=0), kind="stable")
    shown = set(ranked[:_MOST].tolist())
    names = {(kind, name) for (kind, name, _, _), index in labels.items() if index in shown}
    fewer: dict[_Label, int] = {}
    number = np.empty(len(labels), np.int32)
    for label, old_number in labels.items():
        kind, name, _, is_driver = label
        if old_number not in shown:
            label = (kind, name if (kind, name) in names else "", "", is_driver)
        number[old_number] = fewer.setdefault(label, len(fewer))
    return fewer, [
        _by_label(line, number, label_counts, len(fewer))
        for line, label_counts in zip(by_line, count, strict=True)
    ]


def _by_label(
    by_line: _LinePieces, number: NDArray[np.int32], count: NDArray[np.int64], labels: int
) -> _Pieces:
    """Return the pieces sorted by new label `number`; `count` is the pieces per old label."""
    cuts = np.zeros(labels + 1, np.int64)
    np.add.at(cuts, number + 1, count)
    cuts = np.cumsum(cuts)
    size = by_line.label.size
    start, end = empty_column(size, np.int64), empty_column(size, np.int64)
    line = empty_column(size, np.int32)
    sort_pieces(
        by_line.cuts, by_line.label, number, by_line.start_ps, by_line.end_ps, cuts[:-1].copy(),
        start, end, line,
    )  # fmt: skip
    return _Pieces(cuts, start, end, line, by_line.is_for)


def _spans(pieces: Sequence[_Pieces], worker: int, label: int) -> Spans:
    """Return the spans with a label that explain a worker's idle time, as views if possible."""
    parts = []
    for plane_pieces in pieces:
        rows = slice(int(plane_pieces.cuts[label]), int(plane_pieces.cuts[label + 1]))
        start, end = plane_pieces.start_ps[rows], plane_pieces.end_ps[rows]
        is_mine = plane_pieces.is_for[worker][plane_pieces.line[rows]]
        if not is_mine.all():
            start, end = start[is_mine], end[is_mine]
        parts.append((start, end))
    return parts[0] if len(parts) == 1 else join_spans(parts)
