"""The events that tiles show: all, or some with their own levels of detail."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tbprof.base.lazy import Later
from tbprof.base.records import as_dict, dataclass
from tbprof.kernels.timeline.hit_rows import count_chosen, gather_chosen
from tbprof.timeline.model.levels import find_levels
from tbprof.timeline.model.open_timeline import OpenTimeline
from tbprof.timeline.model.store import Levels, Timeline

# Searches are imported with the first filter.
_passing_types = Later("tbprof.timeline.tiles.event_filter.passing_types")


@dataclass(frozen=True, slots=True)
class TileFilter:
    """Which events tiles show; empty texts and 0 do not filter."""

    name: str = ""
    is_regex: bool = False
    has_case: bool = False
    categories: tuple[str, ...] = ()
    min_ps: int = 0

    @property
    def is_empty(self) -> bool:
        """Whether all events are visible."""
        return not (self.name or self.categories or self.min_ps > 0)


@dataclass(frozen=True, slots=True)
class VisibleEvents:
    """Rows of some events of a timeline: row r has `ids[row_first[r]:row_first[r + 1]]`.

    If all events are visible, `ids` is empty: ids are the positions themselves.
    """

    row_first: NDArray[np.int64]
    ids: NDArray[np.uint32]
    levels: Levels

    @property
    def bytes(self) -> int:
        """Its memory in addition to the timeline."""
        columns = as_dict(self.levels).values()
        return sum(column.nbytes for column in (*columns, self.ids)) if self.ids.size else 0


def find_visible(open_timeline: OpenTimeline, only: TileFilter) -> VisibleEvents:
    """The events that pass a filter; those of the latest few filters are cached.

    Raises BadRequest for an unknown category or a bad pattern.
    """
    timeline = open_timeline.timeline
    if only.is_empty:
        return all_events(timeline)

    def find() -> VisibleEvents:
        return filter_events(timeline, _passing_types(timeline.types, only), max(only.min_ps, 0))

    return open_timeline.answers.get_or_compute(only, find, lambda visible: visible.bytes)


def all_events(timeline: Timeline) -> VisibleEvents:
    """All events."""
    return VisibleEvents(timeline.row_first, np.empty(0, np.uint32), timeline.levels)


def filter_events(
    timeline: Timeline, is_wanted: NDArray[np.bool_], min_ps: int = 0
) -> VisibleEvents:
    """The events of the wanted types [types] that last at least `min_ps`.

    This takes one pass over all events; cache the result for further views with the same filter.
    """
    rows = timeline.row_first.size - 1
    row_first = np.zeros(rows + 1, np.int64)
    columns = (
        timeline.row_first, timeline.type, timeline.duration_ps, is_wanted.astype(np.uint8), min_ps,
    )  # fmt: skip
    count_chosen(*columns, row_first)
    row_first = np.cumsum(row_first)
    ids = np.empty(int(row_first[-1]), np.uint32)
    gather_chosen(*columns, ids)
    levels = find_levels(
        row_first, timeline.begin_ps, timeline.start_ps[ids], timeline.duration_ps[ids],
        timeline.type[ids], ids=ids,
    )  # fmt: skip
    return VisibleEvents(row_first, ids, levels)
