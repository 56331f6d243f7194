"""The Steps line of a device: its recorded steps, and those that are missing."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.grouping.file_groups import codes
from tbprof.analysis.grouping.grouping import Grouping
from tbprof.analysis.ops.device_phases import DeviceIntervals, DeviceSteps
from tbprof.analysis.steps.step_windows import Windows
from tbprof.base.records import dataclass, replace
from tbprof.base.values import difference, is_in, joined, median, unique

# Steps are missing if there is at least this share of the time that they would take.
_TIME_OF_LOST = 0.6
# With at least this many steps, the ops before the first and after the last one each form a step if
# they take no longer than this multiple of a usual step.
_LEAST_STEPS = 3
_TIME_OF_ONE = 1.1
_NO_ROWS: NDArray[np.int64] = np.empty(0, np.int64)
# The greatest number of a step.
_MOST = np.iinfo(np.int64).max


@dataclass(frozen=True, slots=True)
class StepsLine:
    """The steps on one device's line, by start.

    `place` is equal for the same step of all devices. `group` is -1 if no event of the host belongs
    to the step. `is_marked` marks steps that the program marked, `is_cut` steps of which a part is
    not on the line.
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
        """Whether the places ascend without repetition."""
        return bool((np.diff(self.place) > 0).all())


def read_line(device: DeviceIntervals, grouping: Grouping, doubts: list[str]) -> StepsLine:
    """The line of a device, empty if it has none; the events of one step are merged."""
    steps = device.steps
    if steps is None:
        none = np.empty(0, bool)
        return StepsLine(
            device.name, _NO_ROWS, _NO_ROWS, _NO_ROWS, _NO_ROWS, [], _NO_ROWS, none, none
        )
    group = _groups_of(steps, device, grouping)
    is_marked = np.append(grouping.roots.is_marker, False)[group]
    count = group.size
    continues = np.zeros(count, bool)
    if unique(steps.number).size > 1:  # a number that all events share is not informative
        continues[1:] = (np.diff(steps.number) == 0) & (steps.number[1:] >= 0)
    ends = steps.start_ps + steps.duration_ps
    rows = np.flatnonzero(continues & ~is_marked)
    is_copy = (steps.start_ps[rows] == steps.start_ps[rows - 1]) & (ends[rows] == ends[rows - 1])
    if not is_copy.all():
        doubts.append(f"On the Steps line of {device.name}, several events count as one step.")
    # Recorders begin a step with each program, while a step of the program may launch several.
    continues[1:] |= (np.diff(group) == 0) & is_marked[1:]
    is_cut_first = _join_unlinked(continues, is_marked)
    first = np.flatnonzero(~continues)
    end = np.maximum.reduceat(ends, first) if count else ends
    number, own_group = steps.number[first], group[first]
    return StepsLine(
        device.name,
        steps.start_ps[first],
        end,
        number,
        number,
        [steps.name[rows] for rows in first.tolist()],
        own_group,
        is_marked[first],
        _lacks_programs(steps.number, first)
        | _lacks_ends(steps, first, device)
        | ((first == 0) & is_cut_first),
    )


def _join_unlinked(continues: NDArray[np.bool_], is_marked: NDArray[np.bool_]) -> bool:
    """Joins events before the first marked one into steps, in place.

    Each step gets as many events as marked steps have. Their launches came before the recording.
    Returns whether the first step lacks events.
    """
    begins = np.flatnonzero(is_marked & ~continues)
    if not begins.size:
        return False
    marked_from = int(begins[0])
    usual = int(
        np.median(np.diff(np.append(np.flatnonzero(~continues), continues.size))[-begins.size :])
    )
    if usual < 2 or not is_marked[marked_from:].all():
        return False
    before = np.arange(marked_from, 0, -1)  # events from each one to the first marked one
    continues[:marked_from] = before % usual != 0
    continues[:1] = False
    return marked_from % usual != 0


def _lacks_programs(number: NDArray[np.int64], first: NDArray[np.int64]) -> NDArray[np.bool_]:
    """[steps] whether an event is missing from the step that begins with each of the rows `first`.

    The step has fewer events than usual, and the numbers of events show that some are missing.
    """
    count = np.diff(np.append(first, number.size))
    jump = np.diff(number)
    usual = median(jump) if jump.size else 1
    is_gap = np.concatenate(([False], jump > usual, [False]))
    gaps = np.cumsum(np.append(0, is_gap))  # counts gaps before, within and after a step
    gaps_around = gaps[np.append(first[1:], number.size) + 1] - gaps[first]
    lacks: NDArray[np.bool_] = (
        (count < median(count)) & (gaps_around > 0) if count.size else is_gap[:0]
    )
    return lacks


def _lacks_ends(
    steps: DeviceSteps, first: NDArray[np.int64], device: DeviceIntervals
) -> NDArray[np.bool_]:
    """[steps] whether a first or last step of several programs lacks one that was cut off."""
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
            return core.group.astype(np.int64)  # both have the same events in the same order
    return np.full(steps.start_ps.size, -1, np.int64)


def with_cut_ends(line: StepsLine, device: DeviceIntervals) -> StepsLine:
    """The line with steps for the ops before its first step and after its last one."""
    if device.kind == "GPU" or len(line) < _LEAST_STEPS or not line.is_ascending:
        return line
    start, end = device.start_ps, device.start_ps + device.duration_ps
    middle = start + device.duration_ps // 2
    is_before, is_after = middle < line.start_ps[0], middle > line.end_ps[-1]
    known_kinds = device.event_kind[~is_before & ~is_after]
    longest = _TIME_OF_ONE * float(median(np.diff(line.start_ps)))
    usual = max(int(median(np.diff(line.place))), 1)
    for rows, row, stride in ((is_after, -1, usual), (is_before, 0, -usual)):
        if not rows.any() or line.is_cut[row] or line.number[row] + stride < 0:
            continue
        begin, stop = int(start[rows].min()), int(end[rows].max())
        # Otherwise the ops are no step, or an unknown number of steps.
        if stop - begin <= longest and is_in(device.event_kind[rows], known_kinds).all():
            line = _with_cut(line, len(line) if row else 0, stride, begin, stop)
    return line


def _with_cut(line: StepsLine, index: int, stride: int, start: int, end: int) -> StepsLine:
    """The line with a cut step inserted at its start or end, `stride` from its neighbor."""
    row = max(index - 1, 0)
    number = int(line.number[row]) + stride
    stem = line.label[row].removesuffix(str(line.number[row]))
    return StepsLine(
        line.device,
        np.insert(line.start_ps, index, start),
        np.insert(line.end_ps, index, end),
        np.insert(line.place, index, line.place[row] + stride),
        np.insert(line.number, index, number),
        [*line.label[:index], f"{stem}{number}", *line.label[index:]],
        np.insert(line.group, index, -1),
        np.insert(line.is_marked, index, False),
        np.insert(line.is_cut, index, True),
    )


def agreement(lines: Sequence[StepsLine], others: Sequence[StepsLine]) -> NDArray[np.bool_]:
    """[lines, others] whether most of the steps that two devices have in common overlap in time.

    True if they have none in common; false if the places of either do not ascend.
    """
    device = np.repeat(np.arange(len(others)), [len(other) for other in others])
    place = joined(other.place for other in others)
    start = joined(other.start_ps for other in others)
    end = joined(other.end_ps for other in others)
    ascends = np.array([other.is_ascending for other in others], bool)
    agrees = np.zeros((len(lines), len(others)), bool)
    for row, line in enumerate(lines):
        if line.is_ascending:
            shared, overlaps = _overlaps(line, place, start, end)
            most = np.bincount(device[shared], 2 * overlaps - 1, len(others)) >= 0
            agrees[row] = ascends & most
    return agrees


def _overlaps(
    line: StepsLine, place: NDArray[np.int64], start: NDArray[np.int64], end: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """(rows of the steps that `line` also has, whether they overlap in time)."""
    shared = np.flatnonzero(is_in(place, line.place))
    own = np.searchsorted(line.place, place[shared])
    begin = np.maximum(line.start_ps[own], start[shared])
    return shared, np.minimum(line.end_ps[own], end[shared]) > begin


def find_missing(line: StepsLine, others: Sequence[StepsLine]) -> NDArray[np.int64]:
    """The places, ascending, of steps that are missing from a line.

    These are steps that another device has, if there is time for them, and steps between two
    others, if the time between these suffices.
    """
    if not len(line) or not line.is_ascending:
        return _NO_ROWS
    strides, intervals = np.diff(line.place), np.diff(line.start_ps)
    # As a float, the greatest stride exceeds the 64-bit range by one.
    usual = min(max(int(median(strides)), 1), _MOST) if strides.size else 1
    period = float(median(intervals[strides == usual])) if (strides == usual).any() else np.inf
    stride_count = strides // usual
    is_long = intervals >= _TIME_OF_LOST * period * np.maximum(stride_count, 1)
    gaps = np.flatnonzero((stride_count > 1) & is_long).tolist()
    places = [other.place for other in others] + [
        np.arange(line.place[row] + usual, line.place[row + 1], usual) for row in gaps
    ]
    missing = difference(joined(places), line.place)
    row = np.searchsorted(line.place, missing) - 1
    after = np.minimum(row + 1, len(line) - 1)
    is_between = (row >= 0) & (row < len(line) - 1)
    out: NDArray[np.int64] = missing[~is_between | (line.start_ps[after] > line.end_ps[row])]
    return out


def append_missing(
    line: StepsLine, missing: NDArray[np.int64], others: Sequence[StepsLine]
) -> StepsLine:
    """The line with the missing steps appended after those that it has."""
    if not missing.size:
        return line
    known_labels = {
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
            known_labels.get(place, f"{stem}{own_number}")
            for place, own_number in zip(missing.tolist(), number.tolist(), strict=True)
        ],
        group=np.append(line.group, np.full(missing.size, -1)),
        is_marked=np.append(line.is_marked, np.zeros(missing.size, bool)),
        is_cut=np.append(line.is_cut, np.zeros(missing.size, bool)),
    )


def _begins(
    line: StepsLine, missing: NDArray[np.int64], others: Sequence[StepsLine]
) -> NDArray[np.int64]:
    """[n] when the missing steps began.

    If other devices have a step, it begins with the usual delay between the two devices. Otherwise,
    missing steps share the time between the step before them, followed by the usual gap, and the
    step after them.
    """
    row = np.searchsorted(line.place, missing) - 1
    low = line.end_ps[np.maximum(row, 0)]
    high = line.start_ps[np.minimum(row + 1, len(line) - 1)]
    gap = max(int(median(line.start_ps[1:] - line.end_ps[:-1])), 0) if len(line) > 1 else 0
    size = np.bincount(row + 1)[row + 1]
    rank = np.arange(missing.size) - np.searchsorted(row, row)
    free = np.minimum(low + gap, (low + high) // 2)
    begin = free + (high - free) * rank / size
    begins = np.full((len(others), missing.size), np.nan)
    for index, other in enumerate(others):
        _, own_row, other_row = np.intersect1d(line.place, other.place, return_indices=True)
        _, missing_row, known_row = np.intersect1d(missing, other.place, return_indices=True)
        if own_row.size:
            later = int(median(line.start_ps[own_row] - other.start_ps[other_row]))
            begins[index, missing_row] = other.start_ps[known_row] + later
    is_known = np.isfinite(begins).any(axis=0)
    begin[is_known] = np.nanmedian(begins[:, is_known], axis=0)
    begin = np.where(row < 0, np.minimum(begin, line.start_ps[0]), np.maximum(begin, low))
    begin = np.where(row < len(line) - 1, np.minimum(begin, high), begin)
    out: NDArray[np.int64] = np.rint(begin).astype(np.int64)
    return out


def works_in(windows: Windows, device: DeviceIntervals) -> NDArray[np.bool_]:
    """[n] whether the device did any work in each of its windows."""
    middle = device.start_ps + device.duration_ps // 2
    index = np.searchsorted(windows.start_ps, middle, side="right") - 1
    inside = (index >= 0) & (middle < windows.end_ps[index]) if len(windows.label) else index >= 0
    count = np.bincount(index[inside], minlength=len(windows.label))
    out: NDArray[np.bool_] = count > 0
    return out
