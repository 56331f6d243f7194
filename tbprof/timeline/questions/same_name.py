"""The events that an event is compared with: those with its name and of the same kind.

A kernel and the call that launches it may have the same name, and an op is on a line of ops as well
as on its stream: these are not comparable. So only events with the same name and category count, on
tracks of the same kind in sections of the same kind (devices, hosts).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.spans.groups import group_rows
from tbprof.base.caches import computed_once
from tbprof.base.records import dataclass
from tbprof.kernels.timeline.hit_rows import sum_names
from tbprof.timeline.model.open_timeline import OpenTimeline, read_only
from tbprof.timeline.search.search_results import SearchResults, events_of_types, results_of


@dataclass(frozen=True, slots=True)
class _Likes:
    """The grouping of events: `of_type` [types + 1] by name and category, -1 for none.

    `side` [rows] numbers the kinds of section and track that rows belong to.
    """

    of_type: NDArray[np.int32]
    side: NDArray[np.int64]


def same_name(open_timeline: OpenTimeline, event: int) -> dict[str, Any] | None:
    """Count, total, mean, least and greatest duration of comparable events.

    `others` counts events of the name that are of another kind. None for an event without a name.
    """
    likes = _likes(open_timeline)
    type_ = int(open_timeline.timeline.type[event])
    code = int(likes.of_type[type_])
    if code < 0:
        return None
    side = int(likes.side[open_timeline.row(event)])
    sums = open_timeline.cache.get_or_compute(
        f"sums of side {side}", lambda: _sums(open_timeline, side)
    )
    count, total, least, most = (int(column[code]) for column in sums)
    others = int(open_timeline.name_counts[open_timeline.names.of_type[type_]]) - count
    return {
        "count": count, "total_ps": total, "mean_ps": total / count, "min_ps": least,
        "max_ps": most, "others": others,
    }  # fmt: skip


def find_same_name(open_timeline: OpenTimeline, event: int) -> SearchResults:
    """The comparable events, including the event itself."""
    likes = _likes(open_timeline)
    code = int(likes.of_type[open_timeline.timeline.type[event]])
    side = int(likes.side[open_timeline.row(event)])

    def find() -> SearchResults:
        columns = open_timeline.columns
        named = events_of_types(columns, np.asarray(likes.of_type == code)).event
        row = np.searchsorted(columns.row_first, named, "right") - 1
        return results_of(columns, named[likes.side[row] == side])

    return open_timeline.answers.get_or_compute(
        ("name", code, side), find, lambda results: results.nbytes
    )


@computed_once
def _likes(open_timeline: OpenTimeline) -> _Likes:
    timeline = open_timeline.timeline
    category = np.append(timeline.types.category.astype(np.int64), -1)
    of_type, _ = group_rows([open_timeline.names.of_type.astype(np.int64), category])
    of_type = np.where(open_timeline.names.of_type >= 0, of_type, -1).astype(np.int32)
    kinds: dict[tuple[str, str], int] = {}
    of_track = [
        kinds.setdefault((timeline.sections[track.section].kind, track.kind), len(kinds))
        for track in timeline.tracks
    ]
    return _Likes(read_only(of_type), np.array(of_track, np.int64)[open_timeline.columns.track])


def _sums(open_timeline: OpenTimeline, side: int) -> tuple[NDArray[np.int64], ...]:
    """Events, total, least and greatest duration by code, of the rows of a kind."""
    columns, likes = open_timeline.columns, _likes(open_timeline)
    size = int(likes.of_type.max(initial=-1)) + 1
    count, total, most = (np.zeros(size, np.int64) for _ in range(3))
    least = np.full(size, np.iinfo(np.int64).max)
    rows = np.flatnonzero(likes.side == side)
    sum_names(
        columns.type, columns.duration_ps, likes.of_type, columns.row_first, rows,
        count, total, least, most,
    )  # fmt: skip
    return count, total, least, most
