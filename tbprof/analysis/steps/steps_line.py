"""The Steps line of a device as it was recorded."""

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.grouping.file_groups import codes
from tbprof.analysis.grouping.grouping import Grouping
from tbprof.analysis.ops.device_phases import DeviceIntervals, DeviceSteps
from tbprof.base.records import dataclass
from tbprof.base.values import median, unique

_NO_ROWS: NDArray[np.int64] = np.empty(0, np.int64)


@dataclass(frozen=True, slots=True)
class Line:
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


def read_line(device: DeviceIntervals, grouping: Grouping, doubts: list[str]) -> Line:
    """The line of a device, empty where it has none; events of one step are one."""
    steps = device.steps
    if steps is None:
        none = np.empty(0, bool)
        return Line(device.name, _NO_ROWS, _NO_ROWS, _NO_ROWS, _NO_ROWS, [], _NO_ROWS, none, none)
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
    return Line(
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
