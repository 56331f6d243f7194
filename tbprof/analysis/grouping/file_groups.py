"""Groups that are stored in a file, if events were grouped before it was written."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.grouping.roots import Roots, names_at
from tbprof.analysis.host.host_events import GROUP_STATS, kinds, stats_by_pieces
from tbprof.analysis.vocabulary.lines import (
    gpu_planes,
    gpus_with_lines,
    host_planes,
    named_lines,
    tpu_planes,
)
from tbprof.base import names
from tbprof.base.process.parallel import in_pieces
from tbprof.base.records import dataclass
from tbprof.base.texts import whole_number
from tbprof.base.values import joined, unique
from tbprof.events.space import Events, Plane, Space
from tbprof.events.stats import StatColumn
from tbprof.kernels.analysis.row_groups import renumber_groups
from tbprof.kernels.analysis.type_marks import mark_types

_Ids = NDArray[np.int64] | NDArray[np.int32]
_Id = TypeVar("_Id", np.int32, np.int64)

# The best root of a group first.
_NAMED, _ROOT, _EXECUTION = range(3)


@dataclass(slots=True)
class _Host:
    """The groups of one host's events, and the events that may be roots of groups.

    `own` [n] is an index into the distinct `ids`, -1 for none; `rank` [m] is the reason why `row`
    [m] may be a root, `label` [m] the id of its step name or -1.
    """

    ids: NDArray[np.int64]
    own: NDArray[np.int32]
    row: NDArray[np.int64]
    rank: NDArray[np.int64]
    label: NDArray[np.int64]


_NONE = int(np.iinfo(np.int64).min)
_PIECE = 1 << 16


def is_grouped(space: Space) -> bool:
    """Whether groups are stored in the file: its planes have the stat `group_id`."""
    planes = [*host_planes(space), *gpu_planes(space), *tpu_planes(space)]
    return any(names.GROUP_ID in plane.stat_names for plane in planes)


def read_groups(
    space: Space, hosts: Sequence[Events]
) -> tuple[NDArray[np.int64], list[NDArray[np.int32]], Roots]:
    """(the ids in the file, ascending; the group of each host's events; the groups).

    Group g has the id `ids[g]`. Ids that only devices have come from their step lines. The root of
    a group is its first event with a step name, else its first with a root level, else its first
    execution of a function or graph.
    """
    parsed = [_read(events) for events in hosts]
    planes = [*gpus_with_lines(space), *tpu_planes(space)]
    device_steps = [_device_steps(plane) for plane in planes]
    distinct = [*(host.ids for host in parsed), *(id_ for id_, _ in device_steps)]
    ids = unique(joined(distinct))
    labels = [""] * ids.size
    for id_, texts in device_steps:
        for code, text in zip(codes(ids, id_).tolist(), texts, strict=True):
            labels[code] = labels[code] or text
    for host in parsed:
        _renumber(host.own, codes(ids, host.ids))
    group = [host.own for host in parsed]
    return ids, group, _roots(ids, hosts, parsed, group, labels)


def _renumber(groups: NDArray[np.int32], new_number: NDArray[np.int32]) -> None:
    """Replaces each number by `new_number[number]`, in place; -1 stays."""
    in_pieces(lambda begin, end: renumber_groups(groups[begin:end], new_number), groups.size)


def codes(ids: _Ids, column: _Ids) -> NDArray[np.int32]:
    """[n] the index into the ascending `ids` of each value of the column, -1 if it has none."""
    if not ids.size:
        return np.full(column.size, -1, np.int32)
    low, high = int(ids[0]), int(ids[-1])
    if high - low < max(column.size, _PIECE):  # a table is faster than searching
        table = np.full(high - low + 2, -1, np.int32)
        table[ids - low] = np.arange(ids.size)
        out = np.empty(column.size, np.int32)
        for begin in range(0, column.size, _PIECE):  # intermediate arrays stay in the cache
            values = column[begin : begin + _PIECE]
            is_near = (values >= low) & (values <= high)
            out[begin : begin + _PIECE] = table[np.where(is_near, values - low, -1)]
        return out
    index = np.minimum(np.searchsorted(ids, column), ids.size - 1)
    return np.where(ids[index] == column, index, -1).astype(np.int32)


def group_ids(stat: StatColumn) -> NDArray[np.int64]:
    """[n] the values of a stat `group_id`, `_NONE` (not a valid id) if it is missing."""
    return stat.integers(_NONE)


def _read(events: Events) -> _Host:
    number: dict[int, int] = {}  # by id, in order of first appearance

    def number_of(distinct: _Ids) -> NDArray[np.int32]:
        """The number of each distinct id, and a last one for none."""
        numbers = [number.setdefault(own_id, len(number)) for own_id in distinct.tolist()]
        return np.array([*numbers, -1], np.int32)

    marks = events.marks
    others = None  # the rows whose stats are read below; None means all
    groups = None if marks is None else marks.take_number()
    if marks is None or groups is None:
        groups = np.full(len(events), -1, np.int32)
    else:
        others = marks.odd_rows(or_rare=True)
        groups[others] = -1
        _number_all(groups, number_of)
    row, rank, label = [], [], []
    for rows, stats in stats_by_pieces(events, GROUP_STATS, others):
        if names.GROUP_ID in stats:
            id_ = group_ids(stats[names.GROUP_ID])
            distinct = _distinct(id_, _NONE)
            groups[rows] = number_of(distinct)[codes(distinct, id_)]
        for name, worth in ((names.STEP_NAME, _NAMED), (names.ROOT, _ROOT)):
            if name in stats:
                has = np.flatnonzero(stats[name].is_present)
                row.append(rows[has])
                rank.append(np.full(has.size, worth))
                label.append(stats[name].texts()[has].astype(np.int64))
    executions = np.flatnonzero(kinds(events, dict.fromkeys(names.IMPLICIT_ROOTS, 1)))
    row.append(executions)
    rank.append(np.full(executions.size, _EXECUTION))
    label.append(np.full(executions.size, -1))
    ids = np.array(list(number), np.int64)
    return _Host(ids, groups, np.concatenate(row), np.concatenate(rank), np.concatenate(label))


def _number_all(groups: NDArray[np.int32], number_of: Callable[[_Ids], NDArray[np.int32]]) -> None:
    """Replaces ids by their numbers, in place; -1 stays."""
    most = int(groups.max(initial=-1))
    if most < max(groups.size, _PIECE):  # a table is faster than searching
        is_used = np.zeros(most + 1, np.uint8)
        mark_types(groups, is_used)
        used = np.flatnonzero(is_used)
        number = np.full(most + 1, -1, np.int32)
        number[used] = number_of(used)[:-1]
        _renumber(groups, number)
        return
    distinct = _distinct(groups, -1)
    numbers = number_of(distinct)

    def replace(begin: int, end: int) -> None:
        groups[begin:end] = numbers[codes(distinct, groups[begin:end])]

    in_pieces(replace, groups.size, _PIECE)


def _distinct(column: NDArray[_Id], none: int) -> NDArray[_Id]:
    """The distinct ids of a column, without `none`."""
    # Neighbours usually have the same id, so few values are left to sort.
    is_new = np.append(True, column[1:] != column[:-1])[: column.size]
    ids = unique(column[is_new])
    present: NDArray[_Id] = ids[ids != none]
    return present


def _device_steps(plane: Plane) -> tuple[NDArray[np.int64], list[str]]:
    """(ids, names) of the steps on a device's line of steps."""
    if names.GROUP_ID not in plane.stat_names:
        return np.zeros(0, np.int64), []
    events = plane.events(named_lines(plane, *names.STEP_LINES))
    stats = events.stats([names.GROUP_ID, names.STEP_NAME])
    id_ = group_ids(stats[names.GROUP_ID])
    texts = plane.strings.take(stats[names.STEP_NAME].texts().tolist())
    keeps = id_ != _NONE
    return id_[keeps], [text for text, keep in zip(texts, keeps.tolist(), strict=True) if keep]


def _roots(
    ids: NDArray[np.int64],
    hosts: Sequence[Events],
    parsed: Sequence[_Host],
    group: Sequence[NDArray[np.int32]],
    labels: list[str],
) -> Roots:
    best = _best_candidates(hosts, parsed, group)
    name = [""] * ids.size
    is_marker = np.zeros(ids.size, bool)
    plane = np.full(ids.size, -1, np.int64)
    row = np.full(ids.size, -1, np.int64)
    start = np.full(ids.size, -1, np.int64)
    duration = np.zeros(ids.size, np.int64)
    for index, (events, (groups, candidates)) in enumerate(zip(hosts, best, strict=True)):
        rows = parsed[index].row[candidates]
        plane[groups], row[groups] = index, rows
        start[groups], duration[groups] = events.start_ps[rows], events.duration_ps[rows]
        texts = events.plane.strings.take(parsed[index].label[candidates].tolist())
        for code, text, own_label in zip(
            groups.tolist(), names_at(events, rows), texts, strict=True
        ):
            name[code] = text
            labels[code] = own_label or labels[code]
            is_marker[code] = text not in names.IMPLICIT_ROOTS
    number = np.array(
        [_number(text, id_) for text, id_ in zip(labels, ids.tolist(), strict=True)], np.int64
    )
    label = [text or str(value) for text, value in zip(labels, number.tolist(), strict=True)]
    return Roots(name, number, label, is_marker, plane, row, start, duration)


def _best_candidates(
    hosts: Sequence[Events],
    parsed: Sequence[_Host],
    group: Sequence[NDArray[np.int32]],
) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Per host: (groups, rows of its candidates) of the groups whose best root is on it."""
    if not hosts:
        return []
    plane = np.concatenate([np.full(host.row.size, index) for index, host in enumerate(parsed)])
    candidate = np.concatenate([np.arange(host.row.size) for host in parsed])
    group_of = np.concatenate([group[index][host.row] for index, host in enumerate(parsed)])
    rank = np.concatenate([host.rank for host in parsed])
    start = np.concatenate([hosts[index].start_ps[host.row] for index, host in enumerate(parsed)])
    order = np.lexsort((start, rank, group_of))
    order = order[group_of[order] >= 0]
    _, first = np.unique(group_of[order], return_index=True)
    chosen = order[first]
    return [
        (group_of[candidates].astype(np.int64), candidate[candidates].astype(np.int64))
        for candidates in (chosen[plane[chosen] == index] for index in range(len(hosts)))
    ]


def _number(label: str, id_: int) -> int:
    """The number at the end of a step's name (`train 3`), else the group's id."""
    number = whole_number(label.rpartition(" ")[2], 18, is_signed=True)
    return id_ if number is None else number
