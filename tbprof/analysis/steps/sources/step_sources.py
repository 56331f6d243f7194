"""Finds the source of a host's steps: annotations of the program, or the devices' own lines.

If nothing marks steps, they are inferred, and the pages say so.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.grouping.grouping import Grouping, find_grouping
from tbprof.analysis.hlo.hlo import Programs
from tbprof.analysis.host.driving_thread import find_driving_line
from tbprof.analysis.host.host_roles import stat_types
from tbprof.analysis.ops.device_phases import DeviceIntervals
from tbprof.analysis.spans.groups import reduce_groups
from tbprof.analysis.steps.sources.source_words import (
    CHOSEN,
    EXECUTIONS,
    INFERRED,
    MARKERS,
    NONE,
    STEPS_LINE,
    quoted_name,
)
from tbprof.analysis.steps.step_windows import GroupSteps
from tbprof.base.lazy import Later
from tbprof.base.records import dataclass, replace
from tbprof.events.space import Space

if TYPE_CHECKING:
    from tbprof.analysis.steps.sources.step_inference import InferredSteps

# Imported only if nothing marks steps.
doubt_of_rounds = Later("tbprof.analysis.steps.sources.step_doubts.doubt_of_rounds")
infer_steps = Later("tbprof.analysis.steps.sources.step_inference.infer_steps")

_NONE: NDArray[np.int64] = np.empty(0, np.int64)
# Markers of another thread that overlap less often are not the steps of a second loop.
_FEW_OVERLAPS = 0.1
_OF_SEVERAL_THREADS = (
    "Several threads mark steps at the same time. A step ends where the next one of any thread "
    "begins, so steps are shorter than what the program marked: give the loop of each thread a "
    "marker with another name, and choose one of them."
)
_NO_STEPS = (
    "The trace has no step markers: no step annotations from the program, no step lines from "
    "devices, and no work that recurs regularly on the thread that drives the program. Mark the "
    "steps, or record for longer."
)


@dataclass(frozen=True, slots=True)
class StepSource:
    """How step boundaries were determined.

    `source` and `marker` are those of `Steps`; `note` is a sentence on the source. `steps` are the
    groups that are steps; empty if the devices delimit their steps themselves, by their own lines
    ("steps_line") or by the executions of `program`. The thread that drives the program is `line`
    (a row of `events.lines`) of `grouping.hosts[plane]`, -1 if there is none. `doubts` are
    sentences on what is uncertain about the steps.
    """

    source: str
    marker: str
    note: str
    grouping: Grouping
    steps: GroupSteps
    program: str = ""
    plane: int = -1
    line: int = -1
    has_explicit_numbers: bool = False
    doubts: tuple[str, ...] = ()


def find_step_source(
    space: Space, devices: Sequence[DeviceIntervals], programs: Programs, marker: str = ""
) -> StepSource:
    """The best source of steps that the trace has.

    In this order: the user's choice, the step lines of all TPU cores, annotations of the program,
    events with step numbers, step lines of any devices, executions of the main program, a repeating
    pattern.
    """
    not_found = ""
    if marker:
        grouping = find_grouping(space, marker)
        if len(grouping.roots):
            all_groups = np.arange(len(grouping.roots))
            note = f"Each step runs from one {quoted_name(marker)} to the next, as chosen."
            return _of_groups(CHOSEN, marker, note, grouping, all_groups)
        not_found = f"No thread has an event {quoted_name(marker)}. "
    source = _find(space, devices, programs)
    return replace(source, note=not_found + source.note) if not_found else source


def _find(space: Space, devices: Sequence[DeviceIntervals], programs: Programs) -> StepSource:
    grouping = find_grouping(space)
    cores = [device for device in devices if device.kind == "TPU"]
    have_lines = all(core.steps is not None for core in cores)
    return (
        _step_lines(cores if have_lines else (), grouping)
        or _annotations(grouping)
        or _numbered_events(space, grouping)
        or _step_lines(devices, grouping)
        or _program_runs(devices, grouping)
        or _inferred(space, grouping, programs)
        or _without_groups(NONE, "", _NO_STEPS, grouping)
    )


def _step_lines(devices: Sequence[DeviceIntervals], grouping: Grouping) -> StepSource | None:
    """Steps as devices recorded them, None if no device did."""
    if all(device.steps is None for device in devices):
        return None
    note = "Each step runs from one event on the device's Steps line to the next."
    return _without_groups(STEPS_LINE, "Steps", note, grouping)


def _annotations(grouping: Grouping) -> StepSource | None:
    """Steps that the program annotated, None if it annotated none."""
    roots = grouping.roots
    marked = np.flatnonzero(roots.is_marker & (roots.start_ps >= 0))
    if not marked.size:
        return None
    count = Counter(roots.name[group] for group in marked.tolist())
    several = " or ".join(quoted_name(name) for name, _ in count.most_common(3))
    note = f"Each step runs from one {several} annotation of the program to the next."
    source = _of_groups(MARKERS, count.most_common(1)[0][0], note, grouping, marked)
    doubts = (_OF_SEVERAL_THREADS,) if _marks_on_several_threads(grouping, marked) else ()
    return replace(source, has_explicit_numbers=are_numbered(grouping, marked), doubts=doubts)


def _marks_on_several_threads(grouping: Grouping, marked: NDArray[np.int64]) -> bool:
    """Whether many markers begin while a marker of another thread is open."""
    roots = grouping.roots
    marked = marked[np.argsort(roots.start_ps[marked], kind="stable")]
    line = np.zeros(marked.size, np.int64)
    for plane, threads in enumerate(grouping.hosts):
        is_here = (roots.plane[marked] == plane) & (roots.row[marked] >= 0)
        line[is_here] = (
            1
            + plane
            + threads.events.line[roots.row[marked][is_here]].astype(np.int64) * len(grouping.hosts)
        )
    end_ps = roots.start_ps[marked] + roots.duration_ps[marked]
    is_other = (line[1:] != line[:-1]) & (line[1:] > 0) & (line[:-1] > 0)
    overlapping = is_other & (roots.start_ps[marked][1:] < end_ps[:-1])
    return bool(overlapping.sum() > max(1, _FEW_OVERLAPS * marked.size))


def _numbered_events(space: Space, grouping: Grouping) -> StepSource | None:
    """Steps that begin with events that have a step number, of the name that takes the most time.

    Keras numbers the batches that it profiles, and does not mark them otherwise (observed in 3.15).
    """
    total: Counter[str] = Counter()
    for threads in grouping.hosts:
        events = threads.events
        rows = events.rows_of(stat_types(events).has_number)
        texts = events.plane.types.full_names
        _, time, _, _ = reduce_groups(events.type[rows], events.duration_ps[rows], len(texts))
        for type_ in np.flatnonzero(time).tolist():
            total[texts[type_]] += int(time[type_])
    if not total:
        return None
    name = total.most_common(1)[0][0]
    note = f"Each step runs from one {quoted_name(name)}, which carries a step number, to the next."
    regrouped = find_grouping(space, name)
    source = _of_groups(MARKERS, name, note, regrouped, np.arange(len(regrouped.roots)))
    return replace(source, has_explicit_numbers=True)


def _program_runs(devices: Sequence[DeviceIntervals], grouping: Grouping) -> StepSource | None:
    """The executions of the program that takes most TPU time, if it ran more than once."""
    total: Counter[str] = Counter()
    for device in devices:
        runs = device.executions
        if device.kind != "TPU" or not runs.start_ps.size:
            continue
        for kind, name in enumerate(runs.name):
            is_run = runs.kind == kind
            if int(is_run.sum()) > 1:
                total[name] += int(runs.duration_ps[is_run].sum())
    if not total:
        return None
    name = total.most_common(1)[0][0]
    note = f"{INFERRED} One step is one execution of {quoted_name(name)}."
    doubts = _doubts_of_runs(
        name, next(device for device in devices if name in device.executions.name)
    )
    source = _without_groups(EXECUTIONS, name, note, grouping)
    return replace(source, program=name, doubts=tuple(doubts))


def _doubts_of_runs(name: str, device: DeviceIntervals) -> list[str]:
    """Sentences if the executions of a program on a device may be only parts of steps."""
    runs = device.executions
    rows_of = [np.flatnonzero(runs.kind == kind) for kind in range(len(runs.name))]
    times = {
        program: (runs.start_ps[rows], float(runs.duration_ps[rows].mean()))
        for program, rows in zip(runs.name, rows_of, strict=True)
    }
    main = times.pop(name)
    others = {quoted_name(program): time for program, time in times.items()}
    doubts: list[str] = doubt_of_rounds(quoted_name(name), *main, others)
    return doubts


def _inferred(space: Space, grouping: Grouping, programs: Programs) -> StepSource | None:
    """Steps that begin with repeated events of the host, by which events are grouped again."""
    inferred: InferredSteps | None = infer_steps(grouping.hosts, programs)
    if inferred is None:
        return None
    groups = _groups_at(grouping, inferred)
    if groups is None:
        grouping = find_grouping(space, inferred.name, thread=(inferred.plane, inferred.line))
        groups = _groups_at(grouping, inferred)
    if groups is None:
        groups = np.arange(len(grouping.roots))
    source = _of_groups(inferred.source, inferred.name, inferred.note, grouping, groups)
    number = np.arange(source.steps.group.size)
    end = source.steps.end_ps.copy()
    if end.size and source.steps.start_ps[-1] == inferred.start_ps[-1]:
        # No step follows the last one, so it lasts as long as the event that begins it.
        end[-1] = max(int(end[-1]), int(inferred.start_ps[-1] + inferred.duration_ps[-1]))
    labels = [str(own_number) for own_number in number.tolist()]
    steps = replace(source.steps, number=number, label=labels, end_ps=end)
    return replace(source, steps=steps, doubts=inferred.doubts)


def _without_groups(source: str, marker: str, note: str, grouping: Grouping) -> StepSource:
    """Steps that the devices delimit themselves, or no steps."""
    steps = GroupSteps.of(grouping.roots, _NONE)
    return _driven(StepSource(source, marker, note, grouping, steps))


def _of_groups(
    source: str, marker: str, note: str, grouping: Grouping, groups: NDArray[np.int64]
) -> StepSource:
    """Steps that are groups; the thread with most of their root events drives the program."""
    steps = GroupSteps.of(grouping.roots, groups)
    base = StepSource(source, marker, note, grouping, steps)
    lines: Counter[tuple[int, int]] = Counter()
    for plane, threads in enumerate(grouping.hosts):
        own_groups = groups[
            (grouping.roots.plane[groups] == plane) & (grouping.roots.row[groups] >= 0)
        ]
        rows = grouping.roots.row[own_groups]
        line = np.searchsorted(threads.events.first_event, rows, side="right") - 1
        for own_line, count in zip(*np.unique(line, return_counts=True), strict=True):
            lines[plane, int(own_line)] += int(count)
    if not lines:
        return _driven(base)
    (plane, line), _ = lines.most_common(1)[0]
    return replace(base, plane=plane, line=line)


def _driven(source: StepSource) -> StepSource:
    """The source with the thread that apparently drives the program."""
    for plane, threads in enumerate(source.grouping.hosts):
        line = find_driving_line(threads)
        if line >= 0:
            return replace(source, plane=plane, line=line)
    return source


def are_numbered(grouping: Grouping, groups: NDArray[np.int64]) -> bool:
    """Whether the program numbered each of the steps."""
    for plane, threads in enumerate(grouping.hosts):
        own_groups = groups[grouping.roots.plane[groups] == plane]
        rows = grouping.roots.row[own_groups]
        if not stat_types(threads.events).has_number[threads.events.type[rows]].all():
            return False
    return True


def _groups_at(grouping: Grouping, inferred: InferredSteps) -> NDArray[np.int64] | None:
    """The groups that begin with the inferred events, None if some have none."""
    roots = grouping.roots
    is_here = roots.plane == inferred.plane
    group_at = {
        row: group for group, row in enumerate(roots.row.tolist()) if is_here[group] and row >= 0
    }
    groups = [group_at.get(row, -1) for row in inferred.row.tolist()]
    return None if not groups or -1 in groups else np.array(groups, np.int64)
