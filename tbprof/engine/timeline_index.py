"""What a client is told of a timeline before it asks for any event of it."""

import numpy as np
from numpy.typing import NDArray

from tbprof.timeline.categories import CATEGORIES
from tbprof.timeline.layout import MOST_DEPTHS
from tbprof.timeline.opened import shorten
from tbprof.timeline.store import Timeline
from tbprof.timeline.tiles import TILE_SHIFT


def timeline_index(timeline: Timeline, host: str, part: str, version: str) -> dict[str, object]:
    """The answer of the route `timeline`: sections, tracks and counters, numbered in order."""
    home = timeline.home
    return {
        "version": version,
        "host": host,
        "part": part,
        "origin_ns": str(timeline.origin_ns),
        "begin_ps": timeline.begin_ps,
        "end_ps": timeline.end_ps,
        "events_in_file": timeline.in_file,
        "events": int(timeline.start_ps.size) + timeline.counted,
        "unplaced": timeline.unplaced,
        "warnings": [
            {"code": notice.code, "message": notice.message, "hint": notice.hint}
            for notice in timeline.notices
        ],
        "max_level": max_level(timeline),
        "sections": _sections(timeline),
        "tracks": _tracks(timeline),
        "counters": [
            {
                "id": number,
                "section": counter.section,
                "name": shorten(counter.name),
                "unit": counter.unit,
                "points": counter.last - counter.first,
            }
            for number, counter in enumerate(timeline.counters)
        ],
        "categories": [{"name": name, "meaning": meaning} for name, meaning in CATEGORIES],
        "home": home and {"from_ps": home[0], "to_ps": home[1], "label": shorten(home[2])},
    }


def max_level(timeline: Timeline) -> int:
    """The level of detail at which the whole span lies in one tile."""
    span_ps = timeline.end_ps - timeline.begin_ps
    return max(0, span_ps.bit_length() - TILE_SHIFT)


def _sections(timeline: Timeline) -> list[dict[str, object]]:
    tracks: list[list[int]] = [[] for _ in timeline.sections]
    events = [0] * len(timeline.sections)
    for number, track in enumerate(timeline.tracks):
        tracks[track.section].append(number)
        events[track.section] += track.events
    busy_ps = _busy_ps(timeline)
    return [
        {
            "id": number,
            "name": shorten(section.name),
            "label": shorten(section.label),
            "kind": section.kind,
            "tracks": tracks[number],
            "events": events[number],
            "busy_ps": busy_ps[number],
        }
        for number, section in enumerate(timeline.sections)
    ]


def _tracks(timeline: Timeline) -> list[dict[str, object]]:
    """Tracks without events have null for `begin_ps` and `end_ps`."""
    begin_ps, end_ps = track_spans(timeline)
    return [
        {
            "id": number,
            "section": track.section,
            "name": shorten(track.name),
            "kind": track.kind,
            "row": track.first_row,
            "rows": track.rows,
            "events": track.events,
            "busy_ps": track.busy_ps,
            "begin_ps": begin if track.events else None,
            "end_ps": end if track.events else None,
            "derived": track.is_derived,
        }
        for number, (track, begin, end) in enumerate(
            zip(timeline.tracks, begin_ps.tolist(), end_ps.tolist(), strict=True)
        )
    ]


def track_spans(timeline: Timeline) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(begin_ps, end_ps) [tracks]: from the first start to the last end on any of its rows.

    Without events a span goes from the largest number to the smallest.
    """
    first, last = timeline.row_first[:-1], timeline.row_first[1:]
    track_of_row = timeline.track_of_row()
    used = np.flatnonzero(last > first)
    limits = np.iinfo(np.int64)
    begin_ps = np.full(len(timeline.tracks), limits.max, np.int64)
    end_ps = np.full(len(timeline.tracks), limits.min, np.int64)
    np.minimum.at(begin_ps, track_of_row[used], timeline.start_ps[first[used]])
    final = last[used] - 1
    ends = timeline.start_ps[final] + timeline.duration_ps[final]
    np.maximum.at(end_ps, track_of_row[used], ends)
    for number, track in enumerate(timeline.tracks):
        if track.rows == MOST_DEPTHS:  # events of its last row overlap: any may end last
            row = track.first_row + track.rows - 1
            part = slice(int(first[row]), int(last[row]))
            ends = timeline.start_ps[part] + timeline.duration_ps[part]
            end_ps[number] = max(int(end_ps[number]), int(ends.max(initial=limits.min)))
    return begin_ps, end_ps


def _busy_ps(timeline: Timeline) -> list[int]:
    """[sections] how long any track of a section was busy."""
    found = []
    for first, end in zip(timeline.busy_first[:-1], timeline.busy_first[1:], strict=True):
        if first == end:
            found.append(0)
            continue
        last = end - 1
        span_ps = timeline.busy_end_ps[last] - timeline.busy_start_ps[last]
        found.append(int(timeline.busy_before_ps[last] + span_ps - timeline.busy_before_ps[first]))
    return found
