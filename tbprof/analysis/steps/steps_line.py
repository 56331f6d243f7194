"""The Steps line of a device as it was recorded."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.grouping.file_groups import codes
from tbprof.analysis.grouping.grouping import Grouping
from tbprof.analysis.ops.device_phases import DeviceIntervals, DeviceSteps
from tbprof.analysis.steps.step_windows import Windows
from tbprof.base.records import dataclass
from tbprof.base.values import difference, is_in, median, unique

# Steps are missing where so much of the time is there that they would take.
_TIME_OF_LOST = 0.6
# Ops before and behind so many steps are those of one step where they take no longer than so.
_LEAST_STEPS = 3
_TIME_OF_ONE = 1.1
_NO_ROWS: NDArray[np.int64] = np.empty(0, np.int64)


@dataclass(frozen=True, slots=True)
class StepsLine:
    """The steps of one device's line, by start.

    `place` is equal for the same step of all devices. `group` is -1 where no event of the host
    belongs to the step. With `is_marked` the program marked it, with `is_cut` a part of it is not
    on the line.
    """

    device: str
    start_ps: NDArray[np.int64]
    end_ps: NDArray[np.int64]
    place: NDArray[np.int64]
    number: NDArray[np.int64]
    label: list[str]
    group: NDArray[np.int64]
    is_marked: NDArray[np.bool_]
    is_cut: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.label)

    @property
    def is_ascending(self) -> bool:
        """Whether no place comes twice or after a later one."""
        return bool((np.diff(self.place) > 0).all())


def read_line(device: DeviceIntervals, grouping: Grouping, doubts: list[str]) -> StepsLine:
    """The line of a device, empty where it has none; events of one step are one."""
    steps = device.steps
    if steps is None:
        none = np.empty(0, bool)
        return StepsLine(
            device.name, _NO_ROWS, _NO_ROWS, _NO_ROWS, _NO_ROWS, [], _NO_ROWS, none, none
        )
    group = _groups_of(steps, device, grouping)
    is_marked = np.append(grouping.roots.is_marker, False)[group]
    count = group.size
    is_again = np.zeros(count, bool)
    if unique(steps.number).size > 1:  # a number that all have counts nothing
        is_again[1:] = (np.diff(steps.number) == 0) & (steps.number[1:] >= 0)
    ends = steps.start_ps + steps.duration_ps
    at = np.flatnonzero(is_again & ~is_marked)
    is_copy = (steps.start_ps[at] == steps.start_ps[at - 1]) & (ends[at] == ends[at - 1])
    if not is_copy.all():
        doubts.append(f"On the Steps line of {device.name} several events count as one step.")
    # Recorders begin a step with each program, of which a step of the program may launch several.
    is_again[1:] |= (np.diff(group) == 0) & is_marked[1:]
    is_cut_first = _join_unlinked(is_again, is_marked)
    first = np.flatnonzero(~is_again)
    end = np.maximum.reduceat(ends, first) if count else ends
    number, own = steps.number[first], group[first]
    return StepsLine(
        device.name,
        steps.start_ps[first],
        end,
        number,
        number,
        [steps.name[at] for at in first.tolist()],
        own,
        is_marked[first],
        _lacks_programs(steps.number, first)
        | _lacks_ends(steps, first, device)
        | ((first == 0) & is_cut_first),
    )


def _join_unlinked(is_again: NDArray[np.bool_], is_marked: NDArray[np.bool_]) -> bool:
    """Joins events before the first marked one, as many as marked steps have, in `is_again`.

    The launches of these were before the recording. Answers whether the first step lacks some.
    """
    begins = np.flatnonzero(is_marked & ~is_again)
    if not begins.size:
        return False
    marked_from = int(begins[0])
    usual = int(
        np.median(np.diff(np.append(np.flatnonzero(~is_again), is_again.size))[-begins.size :])
    )
    if usual < 2 or not is_marked[marked_from:].all():
        return False
    before = np.arange(marked_from, 0, -1)  # how many events lie from each to the first marked one
    is_again[:marked_from] = before % usual != 0
    is_again[:1] = False
    return marked_from % usual != 0


def _lacks_programs(number: NDArray[np.int64], first: NDArray[np.int64]) -> NDArray[np.bool_]:
    """[steps] whether an event of a step is missing, that begins with each of the rows `first`.

    It has fewer than steps mostly have, and the numbers of events say that some are not there.
    """
    count = np.diff(np.append(first, number.size))
    jump = np.diff(number)
    usual = median(jump) if jump.size else 1
    is_hole = np.concatenate(([False], jump > usual, [False]))
    holes = np.cumsum(np.append(0, is_hole))  # of a step: before, within and behind it
    around = holes[np.append(first[1:], number.size) + 1] - holes[first]
    lacks: NDArray[np.bool_] = (count < median(count)) & (around > 0) if count.size else is_hole[:0]
    return lacks


def _lacks_ends(
    steps: DeviceSteps, first: NDArray[np.int64], device: DeviceIntervals
) -> NDArray[np.bool_]:
    """[steps] whether it is a first or last one of several programs, of which one is cut."""
    count = np.diff(np.append(first, steps.number.size))
    lacks = np.zeros(count.size, bool)
    if count.size and device.start_ps.size:
        is_few = count < median(count)
        end = (steps.start_ps + steps.duration_ps).max()
        lacks[0] |= is_few[0] and device.start_ps[0] < steps.start_ps[0]
        lacks[-1] |= is_few[-1] and device.start_ps[-1] >= end
    return lacks


def _groups_of(
    steps: DeviceSteps, device: DeviceIntervals, grouping: Grouping
) -> NDArray[np.int64]:
    """[n] the group of each step of a device's line, -1 for none."""
    if grouping.is_from_file:
        return codes(grouping.ids, steps.group).astype(np.int64)
    for core in grouping.cores:
        if core.plane is device.plane and core.start_ps.size == steps.start_ps.size:
            return core.group.astype(np.int64)  # the same events in the same order
    return np.full(steps.start_ps.size, -1, np.int64)


def with_cut_ends(line: StepsLine, device: DeviceIntervals) -> StepsLine:
    """The line with the step of the ops before its first one, and with that of those behind."""
    if device.kind == "GPU" or len(line) < _LEAST_STEPS or not line.is_ascending:
        return line
    start, end = device.start_ps, device.start_ps + device.duration_ps
    middle = start + device.duration_ps // 2
    is_before, is_behind = middle < line.start_ps[0], middle > line.end_ps[-1]
    among = device.event_kind[~is_before & ~is_behind]
    most = _TIME_OF_ONE * float(median(np.diff(line.start_ps)))
    usual = max(int(median(np.diff(line.place))), 1)
    for rows, row, by in ((is_behind, -1, usual), (is_before, 0, -usual)):
        if not rows.any() or line.is_cut[row] or line.number[row] + by < 0:
            continue
        begin, until = int(start[rows].min()), int(end[rows].max())
        # What else runs is no step, and nobody knows how many more of them are.
        if until - begin <= most and is_in(device.event_kind[rows], among).all():
            line = _with_cut(line, len(line) if row else 0, by, begin, until)
    return line


def _with_cut(line: StepsLine, at: int, by: int, start: int, end: int) -> StepsLine:
    """The line with a step at its begin or end, whose place and number are `by` further."""
    row = max(at - 1, 0)
    number = int(line.number[row]) + by
    stem = line.label[row].removesuffix(str(line.number[row]))
    return StepsLine(
        line.device,
        np.insert(line.start_ps, at, start),
        np.insert(line.end_ps, at, end),
        np.insert(line.place, at, line.place[row] + by),
        np.insert(line.number, at, number),
        [*line.label[:at], f"{stem}{number}", *line.label[at:]],
        np.insert(line.group, at, -1),
        np.insert(line.is_marked, at, False),
        np.insert(line.is_cut, at, True),
    )


def find_missing(line: StepsLine, others: Sequence[StepsLine]) -> NDArray[np.int64]:
    """The places, ascending, of steps that are not on a line.

    Those that another device has, if there is time for them; and all between two steps where the
    second one begins as much later as these would take.
    """
    if not len(line) or not line.is_ascending:
        return _NO_ROWS
    step, later = np.diff(line.place), np.diff(line.start_ps)
    usual = max(int(median(step)), 1) if step.size else 1
    period = float(median(later[step == usual])) if (step == usual).any() else np.inf
    steps = step // usual
    is_long = later >= _TIME_OF_LOST * period * np.maximum(steps, 1)
    holes = np.flatnonzero((steps > 1) & is_long).tolist()
    places = [other.place for other in others] + [
        np.arange(line.place[row] + usual, line.place[row + 1], usual) for row in holes
    ]
    missing = difference(np.concatenate([_NO_ROWS, *places]), line.place)
    row = np.searchsorted(line.place, missing) - 1
    after = np.minimum(row + 1, len(line) - 1)
    is_between = (row >= 0) & (row < len(line) - 1)
    out: NDArray[np.int64] = missing[~is_between | (line.start_ps[after] > line.end_ps[row])]
    return out


def put_in(line: StepsLine, missing: NDArray[np.int64], others: Sequence[StepsLine]) -> StepsLine:
    """The line with the steps that are missing behind those that it has."""
    if not missing.size:
        return line
    called = {
        place: label
        for other in others
        for place, label in zip(other.place.tolist(), other.label, strict=True)
    }
    stem = line.label[0].removesuffix(str(line.number[0]))
    number = missing + line.number[0] - line.place[0]
    begin = _begins(line, missing, others)
    start = np.append(line.start_ps, begin)
    order = np.argsort(start, kind="stable")
    following = np.append(start[order][1:], start.max() + median(line.end_ps - line.start_ps))
    end = np.empty(start.size, np.int64)
    end[order] = following
    return replace(
        line,
        start_ps=start,
        end_ps=np.append(line.end_ps, end[len(line) :]),
        place=np.append(line.place, missing),
        number=np.append(line.number, number),
        label=line.label
        + [
            called.get(place, f"{stem}{own}")
            for place, own in zip(missing.tolist(), number.tolist(), strict=True)
        ],
        group=np.append(line.group, np.full(missing.size, -1)),
        is_marked=np.append(line.is_marked, np.zeros(missing.size, bool)),
        is_cut=np.append(line.is_cut, np.zeros(missing.size, bool)),
    )


def _begins(
    line: StepsLine, missing: NDArray[np.int64], others: Sequence[StepsLine]
) -> NDArray[np.int64]:
    """[n] when steps began that are missing.

    When they did on other devices, and as much later as the steps of this one mostly do. Else they
    share the time that is left once the step before them and the usual gap are over.
    """
    row = np.searchsorted(line.place, missing) - 1
    low = line.end_ps[np.maximum(row, 0)]
    high = line.start_ps[np.minimum(row + 1, len(line) - 1)]
    gap = max(int(median(line.start_ps[1:] - line.end_ps[:-1])), 0) if len(line) > 1 else 0
    size = np.bincount(row + 1)[row + 1]
    nth = np.arange(missing.size) - np.searchsorted(row, row)
    free = np.minimum(low + gap, (low + high) // 2)
    begin = free + (high - free) * nth / size
    known = np.full((len(others), missing.size), np.nan)
    for at, other in enumerate(others):
        _, mine, theirs = np.intersect1d(line.place, other.place, return_indices=True)
        _, where, found = np.intersect1d(missing, other.place, return_indices=True)
        if mine.size:
            later = int(median(line.start_ps[mine] - other.start_ps[theirs]))
            known[at, where] = other.start_ps[found] + later
    is_known = np.isfinite(known).any(axis=0)
    begin[is_known] = np.nanmedian(known[:, is_known], axis=0)
    begin = np.where(row < 0, np.minimum(begin, line.start_ps[0]), np.maximum(begin, low))
    begin = np.where(row < len(line) - 1, np.minimum(begin, high), begin)
    out: NDArray[np.int64] = np.rint(begin).astype(np.int64)
    return out


def works_in(windows: Windows, device: DeviceIntervals) -> NDArray[np.bool_]:
    """[n] whether the device did anything in each of its windows."""
    middle = device.start_ps + device.duration_ps // 2
    at = np.searchsorted(windows.start_ps, middle, side="right") - 1
    inside = (at >= 0) & (middle < windows.end_ps[at]) if len(windows.label) else at >= 0
    count = np.bincount(at[inside], minlength=len(windows.label))
    out: NDArray[np.bool_] = count > 0
    return out
