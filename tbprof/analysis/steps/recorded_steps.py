"""The steps that devices recorded themselves, on lines of their own."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.grouping.grouping import Grouping
from tbprof.analysis.ops.device_phases import DeviceIntervals
from tbprof.analysis.steps.step_inference import shown
from tbprof.analysis.steps.step_sources import are_numbered
from tbprof.analysis.steps.step_windows import Windows, tile
from tbprof.analysis.steps.steps_line import (
    StepsLine,
    find_missing,
    put_in,
    read_line,
    with_cut_ends,
    works_in,
)
from tbprof.base.records import dataclass
from tbprof.base.values import common, is_in, median, unique

# Steps and annotations are the same where so many of the numbers are.
_SAME_NUMBERS = 0.5
_NO_ROWS: NDArray[np.int64] = np.empty(0, np.int64)


@dataclass(frozen=True, slots=True)
class RecordedSteps:
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


def find_recorded_steps(devices: Sequence[DeviceIntervals], grouping: Grouping) -> RecordedSteps:
    """The steps as the devices recorded them, each up to the start of the next.

    - Events in a row with one number, or of one step that the program marked, are one step.
    - Steps of several devices are the same where they have the same number; where some have none,
      those that share most of their time.
    - They are called what the program called them, where the two are linked; steps between and
      beside linked ones are counted on.
    - A step that another device of the kind has was not recorded, nor one whose number is missing
      between others and whose time is there (`find_missing`). The step before it ends there.
    - A step of which ops are there and no event of the line is cut: recorders write no event of a
      step that began before the recording, or ended after it.
    """
    doubts = [
        f"{device.name} has no Steps line, so that its steps are not known."
        for device in devices
        if device.steps is None and device.kind == "TPU"
    ]
    lines = [read_line(device, grouping, doubts) for device in devices]
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
    doubts += _unlinked(used, grouping)
    used, is_named = _named(used, grouping)
    by_name = {device.name: device for device in devices}
    by_device = {line.device: with_cut_ends(line, by_name[line.device]) for line in used}
    windows, is_lost, is_cut = [], [], []
    for device, line in zip(devices, lines, strict=True):
        line = by_device.get(device.name, line)
        beside = [
            other
            for other in devices
            if other is not device
            and other.name in by_device
            and _agree(line, by_device[other.name])
        ]
        peers = [by_device[other.name] for other in beside if other.kind == device.kind]
        # Lines of GPUs are made of their kernels, and skip steps without any.
        missing = _NO_ROWS if device.kind == "GPU" else find_missing(line, peers)
        whole = put_in(line, missing, [by_device[other.name] for other in beside])
        tiled = tile(np.arange(len(whole)), whole.number, whole.label, whole.start_ps, whole.end_ps)
        windows.append(replace(tiled, group=whole.group[tiled.group]))
        is_missing, works = tiled.group >= len(line), works_in(tiled, device)
        is_lost.append(is_missing & ~works)
        is_cut.append(whole.is_cut[tiled.group] | (is_missing & works))
    return RecordedSteps(windows, is_lost, is_cut, is_named, doubts)


def _placed_by_markers(lines: Sequence[StepsLine], grouping: Grouping) -> list[StepsLine]:
    """The lines with the program's numbers as places, where all steps have one.

    Lines of which no step is linked, such as those of SparseCores, are placed by time where their
    numbers are not those of the others: each recorder counts the programs of its own core.
    """
    marked = [line for line in lines if line.is_marked.any() and _is_marked_on(line)]
    others = [line for line in lines if not line.is_marked.any()]
    groups = [line.group[line.is_marked] for line in marked]
    if not marked or not are_numbered(grouping, np.concatenate(groups)):
        return list(lines)
    if len(marked) + len(others) < len(lines) or any(
        _has_numbers_of(line, marked) for line in others
    ):
        return list(lines)
    placed = {line.device: _numbered(line, grouping) for line in marked}
    place = np.concatenate([line.place for line in placed.values()])
    start = np.concatenate([line.start_ps for line in marked])
    order = np.argsort(start, kind="stable")
    for line in others:
        at = np.searchsorted(start[order], line.start_ps + (line.end_ps - line.start_ps) // 2) - 1
        own = place[order][at]
        if (at < 0).any() or (np.diff(own) <= 0).any():
            return list(lines)
        placed[line.device] = replace(line, place=own)
    return [placed[line.device] for line in lines]


def _is_marked_on(line: StepsLine) -> bool:
    """Whether all steps are marked from the first one on that is."""
    return bool(line.is_marked[int(line.is_marked.argmax()) :].all())


def _numbered(line: StepsLine, grouping: Grouping) -> StepsLine:
    """The line with the program's numbers as places, counted back before the first marked one."""
    at = int(line.is_marked.argmax())
    place = grouping.roots.number[line.group[at:]]
    usual = max(int(np.median(np.diff(place))), 1) if place.size > 1 else 1
    return replace(line, place=np.append(place[0] - usual * np.arange(at, 0, -1), place))


def _has_numbers_of(line: StepsLine, others: Sequence[StepsLine]) -> bool:
    """Whether the numbers of a line are those of the longest of others, at the same time."""
    lead = max(others, key=len)
    shared = common(line.place, lead.place).size
    return 2 * shared >= min(len(line), len(lead)) and _agree(line, lead)


def _contradictions(lines: Sequence[StepsLine]) -> list[str]:
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


def _unlinked(lines: Sequence[StepsLine], grouping: Grouping) -> list[str]:
    """That the program marked steps, and nothing says which of the lines' steps these are."""
    roots = grouping.roots
    marked = np.flatnonzero(roots.is_marker & (roots.start_ps >= 0))
    number = np.concatenate([_NO_ROWS, *(line.number for line in lines if len(line))])
    if any(bool(line.is_marked.any()) for line in lines) or not (marked.size and number.size):
        return []
    if is_in(number, roots.number[marked]).mean() >= _SAME_NUMBERS:
        return []
    name = shown(roots.name[int(marked[0])])
    text = f"Nothing links the {name} annotations of the program to the steps that the devices"
    return [f"{text} recorded: these have the recorder's own numbers."]


def _agree(line: StepsLine, other: StepsLine) -> bool:
    """Whether most steps of two devices that have one place, if there are any, share time."""
    if not line.is_ascending:
        return False
    if np.array_equal(line.place, other.place):  # as of most: many cores are compared
        mine = theirs = np.arange(line.place.size)
    elif other.is_ascending:
        _, mine, theirs = np.intersect1d(line.place, other.place, return_indices=True)
    else:
        return False
    begin = np.maximum(line.start_ps[mine], other.start_ps[theirs])
    end = np.minimum(line.end_ps[mine], other.end_ps[theirs])
    return bool((end > begin).sum() >= mine.size / 2)


def _placed_by_time(lines: Sequence[StepsLine]) -> list[StepsLine]:
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
            place = order + int(median(place - order))
        places.append(place)
    least = min(int(place.min()) for place in places)
    return [_counted_from(line, place - least) for line, place in zip(lines, places, strict=True)]


def _counted_from(line: StepsLine, place: NDArray[np.int64]) -> StepsLine:
    """The line with these places, which are the numbers of steps that have none."""
    is_known = line.number >= 0
    label = [
        name if known else f"{name} {at}".strip()
        for name, known, at in zip(line.label, is_known.tolist(), place.tolist(), strict=True)
    ]
    return replace(line, place=place, number=np.where(is_known, line.number, place), label=label)


def _named(lines: Sequence[StepsLine], grouping: Grouping) -> tuple[list[StepsLine], bool]:
    """(the lines with what the program called their steps, whether it numbered all of them)."""
    roots = grouping.roots
    groups = np.concatenate([_NO_ROWS, *(line.group[line.is_marked] for line in lines)])
    places = np.concatenate([_NO_ROWS, *(line.place[line.is_marked] for line in lines)])
    stems = {roots.label[at].removesuffix(str(roots.number[at])) for at in groups.tolist()}
    apart = unique(roots.number[groups] - places)
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


def _counted(line: StepsLine, stem: str, apart: int) -> StepsLine:
    number = line.place + apart
    return replace(line, number=number, label=[f"{stem}{one}" for one in number.tolist()])
