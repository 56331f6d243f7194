"""When the sections of a timeline were busy, and for which share of a window."""

from __future__ import annotations

from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.spans.layers import NO_SPANS, Spans, join_spans, unite_all
from tbprof.base.columns import empty_column
from tbprof.base.records import dataclass
from tbprof.kernels.timeline.track_layout import unite_tracks
from tbprof.timeline.model.store import Timeline
from tbprof.timeline.model.unlaid_tracks import UnlaidTrack, UnlaidTracks

# What a device is busy with, if it has such tracks. Its other tracks repeat these events (programs,
# ops, scopes), last longer (copies that are asynchronous), or belong to the host.
_WORK = ("stream", "xla_ops")


@dataclass(frozen=True, slots=True)
class Busy:
    """Spans `first[s]:first[s + 1]` are those in which section s was busy.

    They are disjoint and ascending, and no two touch. `before_ps` is the sum of all spans before
    each, those of earlier sections too.
    """

    first: NDArray[np.int64]
    start_ps: NDArray[np.int64]
    end_ps: NDArray[np.int64]
    before_ps: NDArray[np.int64]


def find_busy(unlaid: UnlaidTracks) -> Busy:
    """When the sections of unlaid tracks were busy.

    A device is busy while it runs ops, kernels or copies, a host while any of its threads has an
    event; derived lines and steps do not count, unless there is nothing else.
    """
    spans = [NO_SPANS] * len(unlaid.sections)
    for section, tracks in groupby(unlaid.tracks, lambda track: track.section):
        spans[section] = _of_section(_counted(list(tracks)))
    start, end = join_spans(spans)
    length = end - start
    first = np.cumsum([0, *(part.size for part, _ in spans)], dtype=np.int64)
    return Busy(first, start, end, np.cumsum(length) - length)


def _of_section(tracks: list[UnlaidTrack]) -> Spans:
    """When any of some tracks of one section was busy."""
    groups = [list(group) for _, group in groupby(tracks, lambda track: id(track.columns))]
    return unite_all(map(_of_tracks, groups))


def _of_tracks(tracks: list[UnlaidTrack]) -> Spans:
    """The spans of each of some tracks of the same columns."""
    columns = tracks[0].columns
    first = np.array([track.first for track in tracks], np.int64)
    last = np.array([track.last for track in tracks], np.int64)
    most = int((last - first).sum())
    start, end = empty_column(most, np.int64), empty_column(most, np.int64)
    rows = unite_tracks(first, last, columns.start_ps, columns.duration_ps, start, end)
    # Copies, since the allocated room may be many times as large.
    return start[:rows].copy(), end[:rows].copy()


def _counted(tracks: list[UnlaidTrack]) -> list[UnlaidTrack]:
    """The tracks of a section that show when it was busy."""
    recorded = [track for track in tracks if not track.is_derived]
    work = [track for track in recorded if track.kind in _WORK]
    return (
        work
        or [track for track in recorded if track.kind != "steps"]
        or [track for track in tracks if track.kind != "steps"]
        or tracks
    )


def busy_shares(
    timeline: Timeline, section: int, from_ps: int, to_ps: int, buckets: int
) -> NDArray[np.float64]:
    """[buckets] the share (0 to 1) of each of equal parts of a window that a section was busy.

    Parts end at whole ps, so they differ by 1 ps at most; one of no length is busy if its instant
    is. The window is not empty. Takes two binary searches per bucket, however many spans there are.
    """
    rows = slice(int(timeline.busy_first[section]), int(timeline.busy_first[section + 1]))
    starts, ends = timeline.busy_start_ps[rows], timeline.busy_end_ps[rows]
    edges = _edges(from_ps, to_ps, buckets)
    if not starts.size:
        return np.zeros(buckets)
    position = np.searchsorted(starts, edges, side="right") - 1
    first = np.maximum(position, 0)
    inside = np.clip(edges, starts[first], ends[first]) - starts[first]
    busy = np.diff(timeline.busy_before_ps[rows][first] + inside)
    length = np.diff(edges)
    is_busy = (position >= 0) & (edges < ends[first])
    return np.where(length > 0, busy / np.maximum(length, 1), is_busy[:-1])


def _edges(from_ps: int, to_ps: int, buckets: int) -> NDArray[np.int64]:
    """[buckets + 1] the edges of equal parts of a window, rounded down to whole ps."""
    width, rest = divmod(to_ps - from_ps, buckets)
    index = np.arange(buckets + 1, dtype=np.int64)
    return from_ps + width * index + rest * index // buckets
