"""Sums over a range of some tracks: counts, durations, and idle time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from tbprof.base.caches import computed_once
from tbprof.base.errors import BadRequest
from tbprof.base.process.parallel import in_parallel
from tbprof.base.records import dataclass
from tbprof.base.values import unique
from tbprof.timeline.model.category_names import CATEGORIES
from tbprof.timeline.model.open_timeline import OpenTimeline, shorten
from tbprof.timeline.questions.interval_aggregation import (
    Bounds,
    IntervalSums,
    find_bounds,
    sum_tracks,
    union_ps,
)

By = Literal["name", "category", "track"]

# Fewer events are summed faster by one thread.
_SHARE = 1 << 18
_MOST_THREADS = 8


@dataclass(frozen=True, slots=True)
class EventGroups:
    """The groups of a sum: the group of each type [types + 1], empty if they are tracks."""

    of_type: NDArray[np.int32]
    key: list[str]
    category: list[str]


def aggregate(
    open_timeline: OpenTimeline,
    *,
    from_ps: int | None = None,
    to_ps: int | None = None,
    tracks: Sequence[int] | None = None,
    by: By = "name",
) -> dict[str, Any]:
    """The events of some tracks (all by default) that overlap [from_ps, to_ps), summed by `by`.

    An event that is partly in the range counts with the part inside, also for the least and the
    greatest time. Self time is what the direct children on the same track leave: the parent is the
    innermost event that contains the whole event. `share` is of the sum of self times, NaN if that
    is 0. `busy_ps` is how long any of the events was in progress, `idle_ps` the rest of the range,
    which ends with the timeline, including the instants at its very end.

        |aaaaaaaa..bb    from 2 to 10     a: 1 event, total 6, self 3, all of it within a's share
        |  ccc           ->               c: 1 event, total 3, self 3; busy 6, idle 2

    Rows are columns of lists, by descending self time; names in two categories have two rows. By
    track, `track` are their ids. Raises BadRequest for a track that does not exist.
    """
    begin, end = clip_range(open_timeline, from_ps, to_ps)
    chosen = chosen_tracks(open_timeline, tracks)
    groups = _groups(open_timeline, by, chosen)
    bounds = find_bounds(open_timeline, chosen, begin, end)
    parts = _shares(bounds)
    code = groups.of_type
    size = len(groups.key)
    of_parts = in_parallel(
        lambda part: sum_tracks(open_timeline.columns, bounds, parts[part], code, size, begin, end),
        range(len(parts)),
    )
    sums = of_parts[0]
    for other in of_parts[1:]:
        sums.add(other)
    busy = union_ps(bounds)
    length = max(0, min(end, open_timeline.timeline.end_ps) - begin)
    return {
        "events": int(sums.count.sum()),
        "busy_ps": busy,
        "idle_ps": max(0, length - busy),
        "rows": _rows(sums, groups, chosen),
    }


def clip_range(
    open_timeline: OpenTimeline, from_ps: int | None, to_ps: int | None
) -> tuple[int, int]:
    """[begin, end) of the range within the timeline, including the instants at its very end."""
    timeline = open_timeline.timeline
    begin = timeline.begin_ps if from_ps is None else max(from_ps, timeline.begin_ps)
    last = timeline.end_ps + 1
    end = last if to_ps is None or to_ps >= timeline.end_ps else to_ps
    # Nothing overlaps an empty range.
    return (begin, end) if end > begin else (timeline.begin_ps, timeline.begin_ps)


def chosen_tracks(open_timeline: OpenTimeline, tracks: Sequence[int] | None) -> NDArray[np.int64]:
    """Their ids, ascending, each once; all by default. Raises BadRequest."""
    known = len(open_timeline.timeline.tracks)
    if tracks is None:
        return np.arange(known, dtype=np.int64)
    for track in tracks:
        if not 0 <= track < known:
            raise BadRequest(f"there is no track {track}", f"tracks are 0 to {known - 1}")
    return unique(np.array(tracks, np.int64))


def _groups(open_timeline: OpenTimeline, by: By, chosen: NDArray[np.int64]) -> EventGroups:
    if by == "track":
        tracks = open_timeline.timeline.tracks
        names = [tracks[index].name for index in chosen.tolist()]
        return EventGroups(np.empty(0, np.int32), names, [""] * chosen.size)
    known = [name for name, _ in CATEGORIES]
    if by == "category":
        of_type = np.append(open_timeline.timeline.types.category, 0).astype(np.int32)
        return EventGroups(of_type, known, known)
    return groups_by_name(open_timeline)


@computed_once
def groups_by_name(open_timeline: OpenTimeline) -> EventGroups:
    """A group for each name and category; the last for events without a type."""
    categories = [name for name, _ in CATEGORIES]
    types = open_timeline.timeline.types
    rows: dict[tuple[str, int], int] = {}
    pairs = zip(types.name, types.category.tolist(), strict=True)
    of_type = [rows.setdefault(pair, len(rows)) for pair in pairs]
    of_type.append(rows.setdefault(("", 0), len(rows)))
    names = [name for name, _ in rows]
    return EventGroups(np.array(of_type, np.int32), names, [categories[code] for _, code in rows])


def _shares(bounds: Bounds) -> list[NDArray[np.int64]]:
    """The tracks (rows of `bounds`) in parts with about equally many events, one per thread."""
    before = bounds.room[:-1]
    total = int(bounds.room[-1])
    threads = min(_MOST_THREADS, max(1, total // _SHARE))
    part = before * threads // max(total, 1)
    rows = np.arange(before.size, dtype=np.int64)
    return np.split(rows, np.flatnonzero(np.diff(part)) + 1)


def _rows(
    sums: IntervalSums, groups: EventGroups, chosen: NDArray[np.int64]
) -> dict[str, list[Any]]:
    used = np.flatnonzero(sums.count)
    order = used[np.lexsort((used, -sums.total_ps[used], -sums.self_ps[used]))]
    count, total, own = sums.count[order], sums.total_ps[order], sums.self_ps[order]
    whole = int(own.sum())
    share = own / whole if whole else np.full(own.size, np.nan)
    rows = {
        "key": [shorten(groups.key[group]) for group in order.tolist()],
        "category": [groups.category[group] for group in order.tolist()],
        "count": count.tolist(),
        "total_ps": total.tolist(),
        "self_ps": own.tolist(),
        "mean_ps": (total / count).tolist(),
        "min_ps": sums.least_ps[order].tolist(),
        "max_ps": sums.most_ps[order].tolist(),
        "share": share.tolist(),
    }
    if not groups.of_type.size:
        rows["track"] = chosen[order].tolist()
    return rows
