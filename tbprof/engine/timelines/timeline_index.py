"""The index of a timeline: what a client needs before it asks for events."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tbprof.kernels.codes import MOST_DEPTHS, TILE_SHIFT
from tbprof.timeline.model.category_names import CATEGORIES
from tbprof.timeline.model.open_timeline import shorten
from tbprof.timeline.model.store import Timeline


def timeline_index(timeline: Timeline, host: str, part: str, version: str) -> dict[str, object]:
    """The answer of the route `timeline`: sections, tracks and counters, numbered in order.

    Rows are numbered track by track.
    """
    window = timeline.initial_window
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
        "home": window and {"from_ps": window[0], "to_ps": window[1], "label": shorten(window[2])},
    }


def max_level(timeline: Timeline) -> int:
    """The level of detail at which the whole span is one tile."""
    span_ps = timeline.end_ps - timeline.begin_ps
    return max(0, span_ps.bit_length() - TILE_SHIFT)


def _sections(timeline: Timeline) -> list[dict[str, object]]:
    """Tracks are numbered section by section, so those of one are `[first_track, last_track)`."""
    of_section = np.array([track.section for track in timeline.tracks], np.int64)
    first = np.searchsorted(of_section, np.arange(len(timeline.sections) + 1))
    before = np.cumsum([0, *(track.events for track in timeline.tracks)])
    columns = (
        first[:-1].tolist(), first[1:].tolist(), np.diff(before[first]).tolist(),
        _busy_ps(timeline),
    )  # fmt: skip
    return [
        {
            "id": number,
            "name": shorten(section.name),
            "label": shorten(section.label),
            "kind": section.kind,
            "first_track": first_track,
            "last_track": last_track,
            "events": events,
            "busy_ps": busy_ps,
        }
        for number, (section, first_track, last_track, events, busy_ps) in enumerate(
            zip(timeline.sections, *columns, strict=True)
        )
    ]


def _tracks(timeline: Timeline) -> dict[str, object]:
    """The tracks as columns: there may be 10^5 tracks.

    Times count `unit_ps`, which divides all of them. Without events, `begin` and `end`
    are null.
    """
    tracks = timeline.tracks
    kinds = list(dict.fromkeys(track.kind for track in tracks))
    number = {kind: row for row, kind in enumerate(kinds)}
    begin_ps, end_ps = track_spans(timeline)
    busy_ps = np.array([track.busy_ps for track in tracks], np.int64)
    has_any = np.array([track.events > 0 for track in tracks], np.bool_)
    unit_ps = int(np.gcd.reduce(np.concatenate([begin_ps[has_any], end_ps[has_any], busy_ps])))
    unit_ps = max(unit_ps, 1)
    begin, end = (
        (column // unit_ps).tolist()
        if has_any.all()
        else [
            time // unit_ps if is_used else None
            for time, is_used in zip(column.tolist(), has_any.tolist(), strict=True)
        ]
        for column in (begin_ps, end_ps)
    )
    return {
        "name": [shorten(track.name) for track in tracks],
        "kinds": kinds,
        "kind": [number[track.kind] for track in tracks],
        "rows": [track.rows for track in tracks],
        "events": [track.events for track in tracks],
        "derived": [row for row, track in enumerate(tracks) if track.is_derived],
        "unit_ps": unit_ps,
        "busy": (busy_ps // unit_ps).tolist(),
        "begin": begin,
        "end": end,
    }


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
    busy_ps = []
    for first, end in zip(timeline.busy_first[:-1], timeline.busy_first[1:], strict=True):
        if first == end:
            busy_ps.append(0)
            continue
        last = end - 1
        span_ps = timeline.busy_end_ps[last] - timeline.busy_start_ps[last]
        busy_ps.append(
            int(timeline.busy_before_ps[last] + span_ps - timeline.busy_before_ps[first])
        )
    return busy_ps
