"""When the sections of a timeline were busy, and for which share of a window."""

from dataclasses import dataclass
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.layers import unite
from tbprof.base.jit import kernel
from tbprof.timeline.drafts import Draft, TrackDraft
from tbprof.timeline.store import Timeline

# What a device is busy with, if it has such tracks: its other tracks gather these events (programs,
# ops, scopes), last longer than they (copies that go on beside others), or are the host's.
_WORK = ("stream", "xla_ops")


@dataclass(frozen=True, slots=True)
class Busy:
    """`track_ps` [tracks] is how long any event of a track went on.

    Spans `first[s]:first[s + 1]` are those in which section s was busy: disjoint, ascending, no two
    touch. `before_ps` is the sum of all spans before each, those of earlier sections too.
    """

    track_ps: NDArray[np.int64]
    first: NDArray[np.int64]
    start_ps: NDArray[np.int64]
    end_ps: NDArray[np.int64]
    before_ps: NDArray[np.int64]


@kernel
def _unite_tracks(first, last, counts, start, duration, out_start, out_end, busy):  # type: ignore[no-untyped-def]
    """Writes the disjoint spans of each track that counts, and how long each track was busy."""
    rows = 0
    for track in range(first.size):
        opened = False
        begin = end = total = np.int64(0)
        for row in range(first[track], last[track]):
            if duration[row] <= 0:
                continue
            if opened and start[row] <= end:
                end = max(end, start[row] + duration[row])
                continue
            if opened:
                total += end - begin
                if counts[track]:
                    out_start[rows] = begin
                    out_end[rows] = end
                    rows += 1
            opened = True
            begin, end = start[row], start[row] + duration[row]
        if opened:
            total += end - begin
            if counts[track]:
                out_start[rows] = begin
                out_end[rows] = end
                rows += 1
        busy[track] = total
    return rows


def find_busy(draft: Draft) -> Busy:
    """How long the tracks of a draft were busy, and when its sections were.

    A device is busy while it runs ops, kernels or copies, a host while any of its threads has an
    event; lines that were derived from others and steps say nothing, unless there is nothing else.
    """
    track_ps = [np.zeros(0, np.int64)]
    spans = {}
    for section, group in groupby(draft.tracks, lambda track: track.section):
        tracks = list(group)
        busy, *spans[section] = _of_section(tracks)
        track_ps.append(busy)
    nothing = np.zeros(0, np.int64), np.zeros(0, np.int64)
    of_section = [spans.get(section, nothing) for section in range(len(draft.sections))]
    start = np.concatenate([nothing[0], *(one for one, _ in of_section)])
    end = np.concatenate([nothing[0], *(one for _, one in of_section)])
    lengths = end - start
    return Busy(
        np.concatenate(track_ps),
        np.cumsum([0, *(one.size for one, _ in of_section)], dtype=np.int64),
        start,
        end,
        np.cumsum(lengths) - lengths,
    )


def _of_section(
    tracks: list[TrackDraft],
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """(how long each of a section's tracks was busy; starts and ends of when any was)."""
    columns = tracks[0].columns
    first = np.array([track.first for track in tracks], np.int64)
    last = np.array([track.last for track in tracks], np.int64)
    counts = _counted(tracks)
    most = int((last - first)[counts].sum())
    start, end = np.empty(most, np.int64), np.empty(most, np.int64)
    busy = np.empty(len(tracks), np.int64)
    rows = _unite_tracks(
        first, last, counts, columns.start_ps, columns.duration_ps, start, end, busy
    )
    return busy, *unite(start[:rows], end[:rows])


def _counted(tracks: list[TrackDraft]) -> NDArray[np.bool_]:
    """Which tracks of a section tell when it was busy."""
    is_work = [track.kind in _WORK and not track.is_derived for track in tracks]
    is_other = [track.kind != "steps" and not track.is_derived for track in tracks]
    anything = [track.kind != "steps" for track in tracks]
    for chosen in (is_work, is_other, anything):
        if any(chosen):
            return np.array(chosen, np.bool_)
    return np.ones(len(tracks), np.bool_)


def busy_shares(
    timeline: Timeline, section: int, from_ps: int, to_ps: int, buckets: int
) -> NDArray[np.float64]:
    """[buckets] the share (0 to 1) of each of equal parts of a window that a section was busy.

    Parts end at whole ps, so they differ by 1 ps at most; one of no length is busy when its instant
    is. The window is not empty. Costs two binary searches a bucket, however many spans there are.
    """
    rows = slice(int(timeline.busy_first[section]), int(timeline.busy_first[section + 1]))
    starts, ends = timeline.busy_start_ps[rows], timeline.busy_end_ps[rows]
    edges = _edges(from_ps, to_ps, buckets)
    if not starts.size:
        return np.zeros(buckets)
    at = np.searchsorted(starts, edges, side="right") - 1
    begun = np.maximum(at, 0)
    inside = np.clip(edges, starts[begun], ends[begun]) - starts[begun]
    busy = np.diff(timeline.busy_before_ps[rows][begun] + inside)
    length = np.diff(edges)
    is_busy = (at >= 0) & (edges < ends[begun])
    return np.where(length > 0, busy / np.maximum(length, 1), is_busy[:-1])


def _edges(from_ps: int, to_ps: int, buckets: int) -> NDArray[np.int64]:
    """[buckets + 1] the edges of equal parts of a window, rounded down to whole ps."""
    whole, rest = divmod(to_ps - from_ps, buckets)
    at = np.arange(buckets + 1, dtype=np.int64)
    return from_ps + whole * at + rest * at // buckets
