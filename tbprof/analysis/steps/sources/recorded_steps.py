"""The steps that devices recorded themselves, on their Steps lines."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.grouping.grouping import Grouping
from tbprof.analysis.ops.device_phases import DeviceIntervals
from tbprof.analysis.steps.sources.source_words import quoted_name
from tbprof.analysis.steps.sources.step_sources import are_numbered
from tbprof.analysis.steps.sources.steps_line import (
    StepsLine,
    agreement,
    append_missing,
    find_missing,
    read_line,
    with_cut_ends,
    works_in,
)
from tbprof.analysis.steps.step_windows import Windows, tile
from tbprof.base.records import dataclass, replace
from tbprof.base.values import common, is_in, joined, median, unique

# Steps and annotations are the same if at least this share of their numbers is equal.
_SAME_NUMBERS = 0.5
_NO_ROWS: NDArray[np.int64] = np.empty(0, np.int64)


@dataclass(frozen=True, slots=True)
class RecordedSteps:
    """The recorded steps of each device of a host.

    Each device has its windows, the mask [n] of steps that were not recorded (`is_lost`), and that
    of steps that were recorded only partly (`is_cut`). `has_explicit_numbers` says that the program
    numbered all steps; `doubts` are sentences on what is uncertain about them.
    """

    windows: list[Windows]
    is_lost: list[NDArray[np.bool_]]
    is_cut: list[NDArray[np.bool_]]
    has_explicit_numbers: bool
    doubts: list[str]


def find_recorded_steps(devices: Sequence[DeviceIntervals], grouping: Grouping) -> RecordedSteps:
    """The steps as the devices recorded them, each until the start of the next one.

    - Consecutive events with the same number, or of one step that the program marked, are one
      step.
    - Steps of several devices are the same if they have the same number. If some have no number,
      those that share most of their time are the same.
    - Steps have the program's names if launches link the two. Steps before, between and after
      linked ones are numbered by counting from them.
    - A step is lost if another device of the same kind has it, or if its number is missing between
      others although there is time for it (`find_missing`). The step before it ends where it
      begins.
    - A step is cut if it has ops but no event on the line: recorders write no event for a step
      that began before the recording or ended after it.
    """
    doubts = [
        f"{device.name} has no Steps line, so its steps are unknown."
        for device in devices
        if device.steps is None and device.kind == "TPU"
    ]
    lines = [read_line(device, grouping, doubts) for device in devices]
    placed = _placed_by_markers([line for line in lines if len(line)], grouping)
    has_numbers = bool(placed) and all(bool((line.place >= 0).all()) for line in placed)
    if has_numbers:
        cores = {device.name for device in devices if device.kind == "TPU"}
        doubts += _contradictions([line for line in placed if line.device in cores])
    else:
        placed = _placed_by_time(placed)
        if len(placed) > 1:
            doubts.append(
                "The Steps lines have no numbers, so steps of several devices are matched by time."
            )
    doubts += _unlinked(placed, grouping)
    placed, is_named = _named(placed, grouping)
    by_name = {device.name: device for device in devices}
    by_device = {line.device: with_cut_ends(line, by_name[line.device]) for line in placed}
    lines = [by_device.get(device.name, line) for device, line in zip(devices, lines, strict=True)]
    windows, is_lost, is_cut = [], [], []
    for device, line, agrees in zip(devices, lines, agreement(lines, lines), strict=True):
        beside = [
            other
            for other, is_beside in zip(devices, agrees.tolist(), strict=True)
            if is_beside and other is not device and other.name in by_device
        ]
        peers = [by_device[other.name] for other in beside if other.kind == device.kind]
        # Steps lines of GPUs are derived from kernels, so steps without kernels are not missing.
        missing = _NO_ROWS if device.kind == "GPU" else find_missing(line, peers)
        complete = append_missing(line, missing, [by_device[other.name] for other in beside])
        window = tile(
            np.arange(len(complete)),
            complete.number,
            complete.label,
            complete.start_ps,
            complete.end_ps,
        )
        windows.append(replace(window, group=complete.group[window.group]))
        is_missing, works = window.group >= len(line), works_in(window, device)
        is_lost.append(is_missing & ~works)
        is_cut.append(complete.is_cut[window.group] | (is_missing & works))
    return RecordedSteps(windows, is_lost, is_cut, is_named, doubts)


def _placed_by_markers(lines: Sequence[StepsLine], grouping: Grouping) -> list[StepsLine]:
    """The lines with the program's step numbers as places, or unchanged if a step has no number.

    A line without linked steps, such as that of a SparseCore, is placed by time if its numbers
    differ from those of the other lines, since each recorder counts the programs of its own core.
    """
    marked = [line for line in lines if line.is_marked.any() and _is_marked_throughout(line)]
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
        index = (
            np.searchsorted(start[order], line.start_ps + (line.end_ps - line.start_ps) // 2) - 1
        )
        own_place = place[order][index]
        if (index < 0).any() or (np.diff(own_place) <= 0).any():
            return list(lines)
        placed[line.device] = replace(line, place=own_place)
    return [placed[line.device] for line in lines]


def _is_marked_throughout(line: StepsLine) -> bool:
    """Whether all steps from the first marked one on are marked."""
    return bool(line.is_marked[int(line.is_marked.argmax()) :].all())


def _numbered(line: StepsLine, grouping: Grouping) -> StepsLine:
    """The line with the program's numbers as places, counted back before the first marked step."""
    first_marked = int(line.is_marked.argmax())
    place = grouping.roots.number[line.group[first_marked:]]
    usual = max(int(np.median(np.diff(place))), 1) if place.size > 1 else 1
    return replace(line, place=np.append(place[0] - usual * np.arange(first_marked, 0, -1), place))


def _has_numbers_of(line: StepsLine, others: Sequence[StepsLine]) -> bool:
    """Whether a line has the numbers of the longest of the others, at the same times."""
    lead = max(others, key=len)
    shared = common(line.place, lead.place).size
    return 2 * shared >= min(len(line), len(lead)) and bool(agreement([line], [lead]).all())


def _contradictions(lines: Sequence[StepsLine]) -> list[str]:
    """Sentences on cores whose numbers contradict the order of time, or another core."""
    if not lines:
        return []
    doubts = []
    lead = max(lines, key=len)
    agrees_with_lead = agreement(lines, [lead])[:, 0].tolist()
    for line, agrees in zip(lines, agrees_with_lead, strict=True):
        back = np.flatnonzero(np.diff(line.place) < 0)
        if back.size:
            label, following = line.label[back[0]], line.label[back[0] + 1]
            text = f"The numbers on the Steps line of {line.device} are out of order"
            doubts.append(f"{text}: {following} follows {label}.")
        elif line is not lead and lead.is_ascending and not agrees:
            text = f"Steps of {line.device} share no time with those of {lead.device} that have"
            doubts.append(f"{text} the same numbers. They are matched by number.")
    return doubts


def _unlinked(lines: Sequence[StepsLine], grouping: Grouping) -> list[str]:
    """A sentence if the program marked steps and nothing links them to the lines' steps."""
    roots = grouping.roots
    marked = np.flatnonzero(roots.is_marker & (roots.start_ps >= 0))
    number = joined(line.number for line in lines if len(line))
    if any(bool(line.is_marked.any()) for line in lines) or not (marked.size and number.size):
        return []
    if is_in(number, roots.number[marked]).mean() >= _SAME_NUMBERS:
        return []
    name = quoted_name(roots.name[int(marked[0])])
    text = f"Nothing links the program's {name} annotations to the steps that the devices"
    return [f"{text} recorded: these keep the recorder's numbers."]


def _placed_by_time(lines: Sequence[StepsLine]) -> list[StepsLine]:
    """The lines with places on the line with most steps, by the middle of each step."""
    if not lines:
        return []
    lead = max(lines, key=len)
    places = []
    for line in lines:
        order = np.arange(len(line))
        middle = line.start_ps + (line.end_ps - line.start_ps) // 2
        place = np.searchsorted(lead.start_ps, middle, side="right") - 1
        if (np.diff(place) <= 0).any():  # beyond the steps of `lead`, or at different times
            place = order + int(median(place - order))
        places.append(place)
    least = min(int(place.min()) for place in places)
    return [_counted_from(line, place - least) for line, place in zip(lines, places, strict=True)]


def _counted_from(line: StepsLine, place: NDArray[np.int64]) -> StepsLine:
    """The line with these places, which number the steps that have no number."""
    is_known = line.number >= 0
    label = [
        name if is_placed else f"{name} {index}".strip()
        for name, is_placed, index in zip(
            line.label, is_known.tolist(), place.tolist(), strict=True
        )
    ]
    return replace(line, place=place, number=np.where(is_known, line.number, place), label=label)


def _named(lines: Sequence[StepsLine], grouping: Grouping) -> tuple[list[StepsLine], bool]:
    """(the lines with the program's names of steps, whether the program numbered all steps)."""
    roots = grouping.roots
    groups = joined(line.group[line.is_marked] for line in lines)
    places = joined(line.place[line.is_marked] for line in lines)
    stems = {roots.label[group].removesuffix(str(roots.number[group])) for group in groups.tolist()}
    offsets = unique(roots.number[groups] - places)
    if len(stems) == 1 and offsets.size == 1:
        (stem,) = stems
        named_lines = [_counted(line, stem, int(offsets[0])) for line in lines]
        return named_lines, are_numbered(grouping, groups)
    known_names = {
        place: (int(roots.number[group]), roots.label[group])
        for place, group in zip(places.tolist(), groups.tolist(), strict=True)
    }
    if not all(line.is_ascending for line in lines):
        known_names = {}
    named_lines, unnamed = [], 0
    for line in lines:
        number, label = line.number.copy(), list(line.label)
        for row, (place, group) in enumerate(
            zip(line.place.tolist(), line.group.tolist(), strict=True)
        ):
            if line.is_marked[row]:
                number[row], label[row] = roots.number[group], roots.label[group]
            elif place in known_names:
                number[row], label[row] = known_names[place]
            else:
                label[row] = label[row] or str(number[row])
                unnamed += 1
        named_lines.append(replace(line, number=number, label=label))
    return named_lines, bool(groups.size) and not unnamed and are_numbered(grouping, groups)


def _counted(line: StepsLine, stem: str, offset: int) -> StepsLine:
    """The line with steps numbered from their places."""
    number = line.place + offset
    return replace(
        line, number=number, label=[f"{stem}{own_number}" for own_number in number.tolist()]
    )
