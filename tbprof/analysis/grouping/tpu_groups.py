"""Groups of the steps and program runs of TPU cores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.grouping.causality import CONSUMER, PRODUCER, keyed_rows, launch_keys
from tbprof.analysis.grouping.context_links import Ends, join
from tbprof.analysis.spans.groups import group_rows
from tbprof.analysis.vocabulary.lines import named_lines, tpu_planes
from tbprof.base import names
from tbprof.base.records import dataclass
from tbprof.base.values import unique
from tbprof.events.space import Events, Plane, Space


@dataclass(frozen=True, slots=True)
class Core:
    """The grouped events of one TPU core, by start: its steps, or else its program runs.

    `number` [m] are the step numbers, None unless each event has a different one; `program` [m] are
    ids of names. The rows of `producers`, `consumers` and `launched` count from `offset` on.
    """

    plane: Plane
    offset: int
    start_ps: NDArray[np.int64]
    end_ps: NDArray[np.int64]
    number: NDArray[np.int64] | None
    program: NDArray[np.int64]
    producers: Ends
    consumers: Ends
    launched: Ends


def read_cores(space: Space, offset: int, process: int) -> list[Core]:
    """The cores that have steps or program runs; their events are rows from `offset` on."""
    cores: list[Core] = []
    for plane in tpu_planes(space):
        core = _read_core(plane, offset, process)
        if core is not None:
            cores.append(core)
            offset += core.start_ps.size
    return cores


def _read_core(plane: Plane, offset: int, process: int) -> Core | None:
    steps = plane.events(named_lines(plane, *names.STEP_LINES))
    modules = plane.events(named_lines(plane, *names.MODULE_LINES))
    chosen = steps if len(steps) else modules
    if not len(chosen):
        return None
    order = np.argsort(chosen.start_ps, kind="stable")
    chosen_row = np.empty(order.size, np.int64)
    chosen_row[order] = np.arange(order.size)
    start, end = chosen.start_ps[order], (chosen.start_ps + chosen.duration_ps)[order]
    # The producers of a module are those of the step that contains it.
    module_row = _containing(start, end, modules) if chosen is steps else chosen_row
    sources = [(modules, module_row)]
    if chosen is steps:
        sources.append((steps, chosen_row))
    producers, consumers = (
        join([_contexts(events, row, stats, offset, process) for events, row in sources])
        for stats in (PRODUCER, CONSUMER)
    )
    inside = np.flatnonzero(module_row >= 0)
    launched, keys = launch_keys(modules, inside, core_number(plane))
    return Core(
        plane,
        offset,
        start,
        end,
        _step_numbers(steps, order) if chosen is steps else None,
        _names(chosen, order),
        producers,
        consumers,
        Ends(module_row[launched] + offset, [*keys, np.full(launched.size, process)]),
    )


def _containing(
    start: NDArray[np.int64], end: NDArray[np.int64], events: Events
) -> NDArray[np.int64]:
    """[n] the interval of [start, end) that contains each of `events`, -1 for none."""
    index = np.searchsorted(start, events.start_ps, side="right") - 1
    is_inside = (index >= 0) & (end[index] >= events.start_ps + events.duration_ps)
    return np.where(is_inside, index, -1)


def _contexts(
    events: Events, row: NDArray[np.int64], stats: Sequence[str], offset: int, process: int
) -> Ends:
    rows, keys = keyed_rows(events, np.flatnonzero(row >= 0), stats)
    return Ends(row[rows] + offset, [*keys, np.full(rows.size, process)])


def core_number(plane: Plane) -> int:
    """The number in a name such as `/device:TPU:1 SparseCore 2`, -1 if there is none."""
    text = plane.name.removeprefix(names.TPU_PREFIX).partition(" ")[0]
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else -1


def _names(events: Events, order: NDArray[np.int64]) -> NDArray[np.int64]:
    """[m] ids of the names of the events at `order`."""
    name = np.append(events.plane.types.name, np.int32(-1))
    return name[events.type[order]].astype(np.int64)


def _step_numbers(steps: Events, order: NDArray[np.int64]) -> NDArray[np.int64] | None:
    texts = steps.plane.types.full_names
    number = [
        int(text) if text.isascii() and text.isdigit() and len(text) < 19 else -1
        for text in [*texts, ""]
    ]
    number_of_event = np.array(number, np.int64)[steps.type[order]]
    is_unique = (number_of_event >= 0).all() and unique(
        number_of_event
    ).size == number_of_event.size
    return number_of_event if is_unique else None


def group_in_lock_step(
    cores: Sequence[Core], groups: int
) -> tuple[list[NDArray[np.int32]], NDArray[np.int64]]:
    """(group of each core's events, number of each group); groups are counted from `groups` on.

    Events of several cores form one group if they have the same step number (if every step has
    one), or else if they are the same run of one program. Groups are numbered by start.
    """
    start = np.concatenate([core.start_ps for core in cores])
    numbers = [core.number for core in cores if core.number is not None]
    code: NDArray[np.integer[Any]]
    if len(numbers) == len(cores):
        distinct, code = np.unique(np.concatenate(numbers), return_inverse=True)
    else:
        code, first = group_rows(_runs(cores, start))
        distinct = np.full(first.size, -1, np.int64)
    begin = np.full(distinct.size, np.iinfo(np.int64).max)
    np.minimum.at(begin, code, start)
    order = np.argsort(begin, kind="stable")
    rank = np.empty(order.size, np.int64)
    rank[order] = np.arange(groups, groups + order.size)
    cuts = np.cumsum([core.start_ps.size for core in cores])[:-1]
    number = np.where(distinct < 0, np.arange(groups, groups + order.size), distinct[order])
    return [part.astype(np.int32) for part in np.split(rank[code], cuts)], number


def _runs(
    cores: Sequence[Core], start: NDArray[np.int64]
) -> list[NDArray[np.int64] | NDArray[np.int32]]:
    """(program, the run's index among the runs of the program) of the events of all cores.

    Run ids count the launches of each core, so cores that ran other programs before have different
    ids for the same run. If a core recorded fewer runs of a program than another core, its first
    run is matched with the run of the other core that began nearest to it.
    """
    program = np.concatenate([core.program for core in cores])
    core_of = np.repeat(np.arange(len(cores)), [core.start_ps.size for core in cores])
    code, first = group_rows([program])
    order = np.lexsort((np.arange(code.size), core_of, code))
    begins = np.append(True, (np.diff(code[order]) != 0) | (np.diff(core_of[order]) != 0))
    part_of = np.cumsum(begins) - 1
    first_of_part = np.flatnonzero(begins)
    count = np.diff(np.append(first_of_part, order.size))
    most_runs = np.zeros(first.size, np.int64)
    np.maximum.at(most_runs, code[order[first_of_part]], count)
    shift = np.zeros(first_of_part.size, np.int64)
    fullest = {
        int(code[order[first_of_part[row]]]): row
        for row in np.flatnonzero(count == most_runs[code[order[first_of_part]]])[::-1]
    }
    for row in np.flatnonzero(count < most_runs[code[order[first_of_part]]]).tolist():
        other = fullest[int(code[order[first_of_part[row]]])]
        known_starts = start[order[first_of_part[other] : first_of_part[other] + count[other]]]
        nearest = np.abs(known_starts - start[order[first_of_part[row]]])[
            : count[other] - count[row] + 1
        ]
        shift[row] = int(nearest.argmin())
    run = np.empty(code.size, np.int64)
    run[order] = np.arange(code.size) - first_of_part[part_of] + shift[part_of]
    return [code, run]


def overlapping(
    start_ps: NDArray[np.int64], end_ps: NDArray[np.int64], events: Events
) -> NDArray[np.int64]:
    """[n] the interval, of those ordered by start, that each event overlaps; -1 for none.

    It is the last one that began before the event, if it lasts until the event starts, else the
    next one.
    """
    begin, end = events.start_ps, events.start_ps + events.duration_ps
    index = np.searchsorted(start_ps, begin, side="right") - 1
    is_in = (index >= 0) & (end_ps[index] >= begin)
    after = np.minimum(index + 1, start_ps.size - 1)
    is_near = (index + 1 < start_ps.size) & (start_ps[after] <= end)
    return np.where(is_in, index, np.where(is_near, after, -1))
