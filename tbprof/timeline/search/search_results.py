"""Some of a timeline's events: how they are gathered, counted and listed in time order."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tbprof.base.process.parallel import PIECE, in_pieces
from tbprof.base.records import dataclass
from tbprof.kernels.timeline.hit_rows import (
    count_wanted,
    gather_wanted,
    keep_in_range,
    last_hit,
    mark_names,
    merge_hits,
)
from tbprof.timeline.model.open_timeline import OpenTimeline, TimelineColumns


@dataclass(frozen=True, slots=True)
class SearchResults:
    """The ids of events, ascending; those of row r are `event[row_first[r]:row_first[r + 1]]`."""

    event: NDArray[np.uint32]
    row_first: NDArray[np.int64]

    def __len__(self) -> int:
        return int(self.event.size)

    @property
    def nbytes(self) -> int:
        """The memory of the arrays."""
        return self.event.nbytes + self.row_first.nbytes


def results_of(columns: TimelineColumns, event: NDArray[np.uint32]) -> SearchResults:
    """The results of ascending ids."""
    firsts = np.searchsorted(event, columns.row_first).astype(np.int64)
    return SearchResults(event, firsts)


def events_of_types(columns: TimelineColumns, wanted: NDArray[np.bool_]) -> SearchResults:
    """The events of the types that are `wanted` [types + 1], the last for no type."""
    if not wanted.any():
        return results_of(columns, np.empty(0, np.uint32))
    type_ = columns.type
    counts = in_pieces(lambda begin, end: int(count_wanted(type_, wanted, begin, end)), type_.size)
    places = np.append(0, np.cumsum(counts)).astype(np.int64)
    event = np.empty(int(places[-1]), np.uint32)
    in_pieces(
        lambda begin, end: gather_wanted(
            type_, wanted, begin, end, event[places[begin // PIECE] :]
        ),
        type_.size,
    )
    return results_of(columns, event)


def in_range(
    columns: TimelineColumns, results: SearchResults, from_ps: int, to_ps: int
) -> SearchResults:
    """The results that overlap [from_ps, to_ps): instants count at its begin, not at its end."""
    if to_ps <= from_ps:
        return results_of(columns, results.event[:0].copy())
    event = np.empty_like(results.event)
    count = keep_in_range(
        results.event, columns.start_ps, columns.duration_ps, from_ps, to_ps, event
    )
    return results_of(columns, event[:count].copy())


def count_types(open_timeline: OpenTimeline, results: SearchResults) -> int:
    """The number of distinct names of the results."""
    names = open_timeline.names
    is_used = np.zeros(len(names.text) + 1, np.bool_)
    columns = open_timeline.columns
    in_pieces(
        lambda begin, end: mark_names(
            results.event[begin:end], columns.type, names.of_type, is_used
        ),
        len(results),
    )
    return int(is_used[:-1].sum())


def count_by_track(open_timeline: OpenTimeline, results: SearchResults) -> dict[int, int]:
    """The number of results on each track; tracks without any are left out."""
    if not open_timeline.timeline.tracks:
        return {}
    tracks = open_timeline.columns.track
    count = np.bincount(
        tracks, weights=np.diff(results.row_first), minlength=len(open_timeline.timeline.tracks)
    ).astype(np.int64)
    return {track: int(count[track]) for track in np.flatnonzero(count).tolist()}


def next_results(
    columns: TimelineColumns, results: SearchResults, after: tuple[int, int] | None, limit: int
) -> NDArray[np.uint32]:
    """Up to `limit` results in order of (start, id), following `after`.

    The results of a row are in that order, so that only the rows have to be merged.
    """
    rows = columns.row_first.size - 1
    out = np.empty(min(limit, len(results)), np.uint32)
    start, event = (np.iinfo(np.int64).min, -1) if after is None else after
    count = merge_hits(
        results.event, results.row_first, columns.start_ps, start, event,
        np.empty(rows, np.int64), np.empty(rows, np.int64), np.empty(rows, np.int64), out,
    )  # fmt: skip
    return out[:count]


def previous_result(
    columns: TimelineColumns, results: SearchResults, before: tuple[int, int]
) -> int:
    """The last result in order of (start, id) before `before`, -1 for none."""
    return int(last_hit(results.event, results.row_first, columns.start_ps, *before))
