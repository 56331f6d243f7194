"""The steps that devices recorded themselves, on lines of their own."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.device_phases import DeviceIntervals, DeviceSteps
from tbprof.analysis.file_groups import codes
from tbprof.analysis.grouping import Grouping
from tbprof.analysis.step_sources import are_numbered
from tbprof.analysis.step_windows import Windows, tile

# Steps are missing where so much of the time is there that they would take.
_TIME_OF_LOST = 0.6
_NO_ROWS: NDArray[np.int64] = np.empty(0, np.int64)


@dataclass(frozen=True, slots=True)
class LineSteps:
    """The steps of each device of a host.

    By device its windows, which [n] of these steps were not recorded, and of which a part was not.
    `has_explicit_numbers` says that the program numbered all of them, `doubts` in sentences what of
    them is not certain.
    """

    windows: list[Windows]
    is_lost: list[NDArray[np.bool_]]
    is_cut: list[NDArray[np.bool_]]
    has_explicit_numbers: bool
    doubts: list[str]


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


def find_line_steps(devices: Sequence[DeviceIntervals], grouping: Grouping) -> LineSteps:
    """The steps as the devices recorded them, each up to the start of the next.

    - Events in a row with one number, or of one step that the program marked, are one step.
    - Steps of several devices are the same where they have the same number; where some have none,
      those that share most of their time.
    - They are called what the program called them, where the two are linked; steps between and
      beside linked ones are counted on.
    - A step that another device of the kind has was not recorded, nor one whose number is missing
      between others and whose time is there (`_find_missing`). The step before it ends there.
    """
    doubts = [
        f"{device.name} has no Steps line, so that its steps are not known."
        for device in devices
        if device.steps is None and device.kind == "TPU"
    ]
    lines = [_read(device, grouping, doubts) for device in devices]
    used = _placed_by_markers([line for line in lines if len(line)], grouping)
    has_numbers = bool(used) and all(bool((line.place >= 0).all()) for line in used)
    if has_numbers:
        cores = {device.name for device in devices if device.kind == "TPU"}
        doubts += _contradictions([line for line in used if line.device in cores])
    else:
        used = _placed_by_time(used)
        if len(used) > 1:
            doubts.append(
                "The Steps lines have no numbers, so steps of several devices are paired by time."
            )
    used, is_named = _named(used, grouping)
    by_device = {line.device: line for line in used}
    windows, is_lost, is_cut = [], [], []
    for device, line in zip(devices, lines, strict=True):
        line = by_device.get(device.name, line)
        others = [
            by_device[other.name]
            for other in devices
            if other is not device and other.kind == device.kind and other.name in by_device
        ]
        peers = [other for other in others if _agree(line, other)]
        # Lines of GPUs are made of their kernels, and skip steps without any.
        missing = _NO_ROWS if device.kind == "GPU" else _find_missing(line, peers)
        whole = _put_in(line, missing, peers)
        tiled = tile(np.arange(len(whole)), whole.number, whole.label, whole.start_ps, whole.end_ps)
        windows.append(replace(tiled, group=whole.group[tiled.group]))
        is_lost.append(tiled.group >= len(line))
        is_cut.append(whole.is_cut[tiled.group])
    return LineSteps(windows, is_lost, is_cut, is_named, doubts)


def _read(device: DeviceIntervals, grouping: Grouping, doubts: list[str]) -> Line:
    """The line of a device, empty where it has none; events of one step are one."""
    steps = device.steps
    if steps is None:
        none = np.empty(0, bool)
        return Line(device.name, _NO_ROWS, _NO_ROWS, _NO_ROWS, _NO_ROWS, [], _NO_ROWS, none, none)
    group = _groups_of(steps, device, grouping)
    is_marked = np.append(grouping.roots.is_marker, False)[group]
    count = group.size
    is_again = np.zeros(count, bool)
    if np.unique(steps.number).size > 1:  # a number that all have counts nothing
        is_again[1:] = (np.diff(steps.number) == 0) & (steps.number[1:] >= 0)
    ends = steps.start_ps + steps.duration_ps
    at = np.flatnonzero(is_again & ~is_marked)
    is_copy = (steps.start_ps[at] == steps.start_ps[at - 1]) & (ends[at] == ends[at - 1])
    if not is_copy.all():
        doubts.append(f"On the Steps line of {device.name} several events count as one step.")
    # Recorders begin a step with each program, of which a step of the program may launch several.
    is_again[1:] |= (np.diff(group) == 0) & is_marked[1:]
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
        _lacks_programs(steps.number, first),
    )


def _lacks_programs(number: NDArray[np.int64], first: NDArray[np.int64]) -> NDArray[np.bool_]:
    """[steps] whether an event of a step is missing, that begins with each of the rows `first`.

    It has fewer than steps mostly have, and the numbers of events say that some are not there.
    """
    count = np.diff(np.append(first, number.size))
    jump = np.diff(number)
    usual = np.median(jump) if jump.size else 1
    is_hole = np.concatenate(([False], jump > usual, [False]))
    holes = np.cumsum(np.append(0, is_hole))  # of a step: before, within and behind it
    around = holes[np.append(first[1:], number.size) + 1] - holes[first]
    lacks: NDArray[np.bool_] = (
        (count < np.median(count)) & (around > 0) if count.size else is_hole[:0]
    )
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


def _placed_by_markers(lines: Sequence[Line], grouping: Grouping) -> list[Line]:
    """The lines with the program's numbers as places, where all steps have one."""
    roots = grouping.roots
    groups = np.concatenate([_NO_ROWS, *(line.group for line in lines)])
    if not all(bool(line.is_marked.all()) for line in lines) or not are_numbered(grouping, groups):
        return list(lines)
    return [replace(line, place=roots.number[line.group]) for line in lines]


def _contradictions(lines: Sequence[Line]) -> list[str]:
    """Where numbers of cores contradict the order of time, or the times of another core."""
    found = []
    lead = max(lines, key=len, default=None)
    for line in lines:
        back = np.flatnonzero(np.diff(line.place) < 0)
        if back.size:
            one, other = line.label[back[0]], line.label[back[0] + 1]
            text = f"The numbers on the Steps line of {line.device} are out of order"
            found.append(f"{text}: {other} follows {one}.")
        elif lead is not None and line is not lead and lead.is_ascending and not _agree(line, lead):
            text = f"Steps of {line.device} share no time with those of {lead.device} that have"
            found.append(f"{text} the same numbers. They are paired by number.")
    return found


def _agree(line: Line, other: Line) -> bool:
    """Whether most steps of two devices that have one place, if there are any, share time."""
    if not (line.is_ascending and other.is_ascending):
        return False
    _, mine, theirs = np.intersect1d(line.place, other.place, return_indices=True)
    begin = np.maximum(line.start_ps[mine], other.start_ps[theirs])
    end = np.minimum(line.end_ps[mine], other.end_ps[theirs])
    return bool((end > begin).sum() >= mine.size / 2)


def _placed_by_time(lines: Sequence[Line]) -> list[Line]:
    """The lines with places counted on the one with most steps: where the middle of a step lies."""
    if not lines:
        return []
    lead = max(lines, key=len)
    places = []
    for line in lines:
        order = np.arange(len(line))
        middle = line.start_ps + (line.end_ps - line.start_ps) // 2
        place = np.searchsorted(lead.start_ps, middle, side="right") - 1
        if (np.diff(place) <= 0).any():  # as beyond the lead's steps, and where times differ
            place = order + int(np.median(place - order))
        places.append(place)
    least = min(int(place.min()) for place in places)
    return [_counted_from(line, place - least) for line, place in zip(lines, places, strict=True)]


def _counted_from(line: Line, place: NDArray[np.int64]) -> Line:
    """The line with these places, which are the numbers of steps that have none."""
    is_known = line.number >= 0
    label = [
        name if known else f"{name} {at}".strip()
        for name, known, at in zip(line.label, is_known.tolist(), place.tolist(), strict=True)
    ]
    return replace(line, place=place, number=np.where(is_known, line.number, place), label=label)


def _named(lines: Sequence[Line], grouping: Grouping) -> tuple[list[Line], bool]:
    """(the lines with what the program called their steps, whether it numbered all of them)."""
    roots = grouping.roots
    groups = np.concatenate([_NO_ROWS, *(line.group[line.is_marked] for line in lines)])
    places = np.concatenate([_NO_ROWS, *(line.place[line.is_marked] for line in lines)])
    stems = {roots.label[at].removesuffix(str(roots.number[at])) for at in groups.tolist()}
    apart = np.unique(roots.number[groups] - places)
    if len(stems) == 1 and apart.size == 1:
        (stem,) = stems
        named = [_counted(line, stem, int(apart[0])) for line in lines]
        return named, are_numbered(grouping, groups)
    called = {
        place: (int(roots.number[group]), roots.label[group])
        for place, group in zip(places.tolist(), groups.tolist(), strict=True)
    }
    if not all(line.is_ascending for line in lines):
        called = {}
    named, rest = [], 0
    for line in lines:
        number, label = line.number.copy(), list(line.label)
        for row, (place, group) in enumerate(
            zip(line.place.tolist(), line.group.tolist(), strict=True)
        ):
            if line.is_marked[row]:
                number[row], label[row] = roots.number[group], roots.label[group]
            elif place in called:
                number[row], label[row] = called[place]
            else:
                label[row] = label[row] or str(number[row])
                rest += 1
        named.append(replace(line, number=number, label=label))
    return named, bool(groups.size) and not rest and are_numbered(grouping, groups)


def _counted(line: Line, stem: str, apart: int) -> Line:
    number = line.place + apart
    return replace(line, number=number, label=[f"{stem}{one}" for one in number.tolist()])


def _find_missing(line: Line, others: Sequence[Line]) -> NDArray[np.int64]:
    """The places, ascending, of steps that are not on a line.

    Those that another device has, if there is time for them; and all between two steps where the
    second one begins as much later as these would take.
    """
    if not len(line) or not line.is_ascending:
        return _NO_ROWS
    step, later = np.diff(line.place), np.diff(line.start_ps)
    usual = max(int(np.median(step)), 1) if step.size else 1
    period = float(np.median(later[step == usual])) if (step == usual).any() else np.inf
    steps = step // usual
    holes = np.flatnonzero((steps > 1) & (later >= _TIME_OF_LOST * period * steps)).tolist()
    places = [other.place for other in others] + [
        np.arange(line.place[row] + usual, line.place[row + 1], usual) for row in holes
    ]
    missing = np.setdiff1d(np.concatenate([_NO_ROWS, *places]), line.place)
    row = np.searchsorted(line.place, missing) - 1
    after = np.minimum(row + 1, len(line) - 1)
    is_between = (row >= 0) & (row < len(line) - 1)
    out: NDArray[np.int64] = missing[~is_between | (line.start_ps[after] > line.end_ps[row])]
    return out


def _put_in(line: Line, missing: NDArray[np.int64], others: Sequence[Line]) -> Line:
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
    following = np.append(start[order][1:], start.max() + np.median(line.end_ps - line.start_ps))
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


def _begins(line: Line, missing: NDArray[np.int64], others: Sequence[Line]) -> NDArray[np.int64]:
    """[n] when steps began that are missing.

    When they did on other devices, and as much later as the steps of this one mostly do. Else they
    share the time that is left once the step before them and the usual gap are over.
    """
    row = np.searchsorted(line.place, missing) - 1
    low = line.end_ps[np.maximum(row, 0)]
    high = line.start_ps[np.minimum(row + 1, len(line) - 1)]
    gap = max(int(np.median(line.start_ps[1:] - line.end_ps[:-1])), 0) if len(line) > 1 else 0
    size = np.bincount(row + 1)[row + 1]
    nth = np.arange(missing.size) - np.searchsorted(row, row)
    free = np.minimum(low + gap, (low + high) // 2)
    begin = free + (high - free) * nth / size
    known = np.full((len(others), missing.size), np.nan)
    for at, other in enumerate(others):
        _, mine, theirs = np.intersect1d(line.place, other.place, return_indices=True)
        _, where, found = np.intersect1d(missing, other.place, return_indices=True)
        if mine.size:
            later = int(np.median(line.start_ps[mine] - other.start_ps[theirs]))
            known[at, where] = other.start_ps[found] + later
    is_known = np.isfinite(known).any(axis=0)
    begin[is_known] = np.nanmedian(known[:, is_known], axis=0)
    begin = np.where(row < 0, np.minimum(begin, line.start_ps[0]), np.maximum(begin, low))
    begin = np.where(row < len(line) - 1, np.minimum(begin, high), begin)
    out: NDArray[np.int64] = np.rint(begin).astype(np.int64)
    return out
