"""Work that is passed to thread pools: the regions in which it ran, and their steps."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.grouping.causality import CONSUMER, PRODUCER, CausalKind, contexts
from tbprof.analysis.grouping.context_links import CROWD
from tbprof.analysis.host.host_events import stats_by_pieces
from tbprof.base.records import dataclass, field_names
from tbprof.events.space import Events
from tbprof.kernels.analysis.group_spreading import find_regions, match_records

_FOREVER = np.iinfo(np.int64).max


@dataclass(frozen=True, slots=True)
class Pools:
    """The submissions to thread pools, by row, and the regions that ran.

    Rows `begin[i]:stop[i]` contain the events of region i. Its mark is row `mark[i]`, which may
    follow events that begin at the same time. The submission `row[j]` at `time_ps[j]` led to the
    regions `first[j]:until[j]`, usually one.
    """

    row: NDArray[np.int64]
    time_ps: NDArray[np.int64]
    first: NDArray[np.int64]
    until: NDArray[np.int64]
    begin: NDArray[np.int64]
    mark: NDArray[np.int64]
    stop: NDArray[np.int64]
    start_ps: NDArray[np.int64]
    stop_ps: NDArray[np.int64]


def read_pools(
    events: Events,
    kind: NDArray[np.int8],
    group: NDArray[np.int32],
    last: NDArray[np.int32],
    offset: int,
) -> Pools:
    """The pools of a plane's threads, without regions whose events all have a group.

    `kind`, `group` and `last` [n] are the kind of each event, its group so far, and its last
    descendant, counted from `offset` on. A region lasts from a StartRegion to its StopRegion on one
    thread; a region with only one of the two is ignored. The Record with the same id submitted it.
    """
    starts = np.count_nonzero(kind == CausalKind.POOL_START)
    opened, regions = np.empty(starts, np.int64), np.empty((3, starts), np.int64)
    count = find_regions(
        events.first_event, kind, events.start_ps, group, last, offset, opened, regions
    )
    has_id, region_id = _pool_ids(events, regions[1, :count], CONSUMER)
    order = np.argsort(region_id, kind="stable")  # most ids ascend, which makes it fast
    begin, mark, stop = (column[has_id[order]] for column in regions)
    records = np.flatnonzero(kind == CausalKind.POOL_RECORD) if mark.size else mark
    has_id, record_id = _pool_ids(events, records, PRODUCER)
    records = records[has_id]
    first, until = np.zeros(records.size, np.int64), np.zeros(records.size, np.int64)
    match_records(
        np.argsort(record_id, kind="stable"), record_id, region_id[order], CROWD, first, until
    )
    matched = np.flatnonzero(first < until)
    records, first, until = records[matched], first[matched], until[matched]
    start = events.start_ps
    return Pools(records, start[records], first, until, begin, mark, stop, start[mark], start[stop])


def _pool_ids(
    events: Events, rows: NDArray[np.int64], side: Sequence[str]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(indices of the `rows` that have the id of a pool context, the ids)."""
    has, ids = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    begin = 0
    for piece, stats in stats_by_pieces(events, side, rows):
        if stats.keys() >= set(side):
            is_pool, pool_ids, _ = contexts(*(stats[name] for name in side), of_pools=True)
            has.append(begin + is_pool)
            ids.append(pool_ids)
        begin += piece.size
    return np.concatenate(has), np.concatenate(ids)


def join_pools(parts: Sequence[Pools], offsets: Sequence[int]) -> Pools:
    """The pools of several planes, whose rows are counted from `offsets` on."""
    if len(parts) == 1:
        return parts[0]
    regions = np.concatenate(([0], np.cumsum([part.mark.size for part in parts]))).tolist()
    shift_of = {
        **dict.fromkeys(("row", "begin", "mark", "stop"), offsets),
        **dict.fromkeys(("first", "until"), regions),
    }
    columns = []
    for name in field_names(Pools):
        shift = shift_of.get(name, [0] * len(parts))
        values = [getattr(part, name) + offset for part, offset in zip(parts, shift, strict=False)]
        columns.append(np.concatenate(values))
    return Pools(*columns)


def find_windows(
    line: NDArray[np.int64], start_ps: NDArray[np.int64], duration_ps: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(starts_before [g], ends_by [g]) of groups whose roots are on these lines, -1 if unknown.

    Work that a step passes to a pool belongs to the step if it starts before the next root of the
    thread starts, and ends before the root after that starts: asynchronous work ends during the
    next step, while a background loop runs for many steps. Nested roots do not count. After the
    last root, the longest step is the limit. A single root does not show the length of a step, so
    everything that it caused belongs to it.

        main |aaaa..bbbb..cccc..     a: starts before b begins, ends by the begin of c
    """
    starts_before = np.full(line.size, -1, np.int64)
    ends_by = np.full(line.size, -1, np.int64)
    order = np.lexsort((start_ps, line))
    order = order[line[order] >= 0]
    cuts = np.flatnonzero(np.diff(line[order])) + 1
    for rows in np.split(order, cuts):
        start, end = start_ps[rows], start_ps[rows] + duration_ps[rows]
        following = np.searchsorted(start, end)
        following = np.maximum(following, np.arange(1, rows.size + 1))
        steps = (np.append(start, 0)[following] - start)[following < rows.size]
        if not steps.size:
            starts_before[rows] = ends_by[rows] = _FOREVER
            continue
        longest = steps.max()
        limit = np.where(following < rows.size, np.append(start, 0)[following], start + longest)
        limit = np.maximum(limit, end)
        starts_before[rows] = limit
        ends_by[rows] = np.append(limit, 0)[following]
        last = following >= rows.size
        ends_by[rows[last]] = limit[last] + longest
    return starts_before, ends_by
