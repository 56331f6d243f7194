"""Timelines made by hand, for tests of what is asked about them."""

import dataclasses
import functools
from collections.abc import Mapping, Sequence
from typing import Any, get_type_hints

import numpy as np

from tbprof.events.space import Space
from tbprof.timeline.build.build import build_timeline
from tbprof.timeline.build.tracks import find_tracks
from tbprof.timeline.model.layout import lay_out
from tbprof.timeline.model.open_timeline import OpenTimeline
from tbprof.timeline.model.store import Levels, Section, Timeline, Track, TypeTable
from tbprof.timeline.search import search as search_module
from tbprof.timeline.search.query import Query, parse_query
from tbprof.timeline.search.search_results import SearchResults

# Start, duration, name.
Event = tuple[int, int, str]


def opened(
    tracks: Sequence[Sequence[Event]],
    *,
    categories: Mapping[str, int] | None = None,
    full_names: Mapping[str, str] | None = None,
    space: Space | None = None,
    **fields: Any,
) -> OpenTimeline:
    """A timeline of tracks in one section; `fields` replace those of each `Track`, as lists."""
    rows: list[tuple[int, int, int, str, int]] = [
        (track, start, duration, name, -1)
        for track, events in enumerate(tracks)
        for start, duration, name in events
    ]
    planes = [-1] * len(tracks)
    return _opened(rows, planes, space, dict(categories or {}), dict(full_names or {}), fields)


def opened_space(space: Space, **fields: Any) -> OpenTimeline:
    """A timeline of all lines of a space, a track each."""
    rows: list[tuple[int, int, int, str, int]] = []
    planes: list[int] = []
    kinds: list[str] = []
    full_names: dict[str, str] = {}
    for at, plane in enumerate(space.planes):
        events = plane.events()
        texts = plane.strings.take(plane.types.name.tolist())
        shown = plane.strings.take(plane.types.display_name.tolist())
        for line, first in enumerate(events.first_event[:-1].tolist()):
            last = int(events.first_event[line + 1])
            for event in range(first, last):
                type_ = int(events.type[event])
                name = (shown[type_] or texts[type_]) if type_ >= 0 else ""
                full_names[name] = texts[type_] if type_ >= 0 else ""
                rows.append((
                    len(planes), int(events.start_ps[event]), int(events.duration_ps[event]), name,
                    int(events.source[event]),
                ))  # fmt: skip
            planes.append(at)
            kinds.append("thread")
    return _opened(rows, planes, space, {}, full_names, {"kind": kinds, **fields})


def built(space: Space) -> OpenTimeline:
    """The timeline of a space, as servers build it."""
    return OpenTimeline(build_timeline(space, find_tracks(space)), lambda: space)


def _opened(
    rows: list[tuple[int, int, int, str, int]],
    planes: list[int],
    space: Space | None,
    categories: dict[str, int],
    full_names: dict[str, str],
    fields: dict[str, Any],
) -> OpenTimeline:
    rows = sorted(rows, key=lambda row: (row[0], row[1], -row[2]))
    track, start, duration, source = (
        np.array([row[column] for row in rows], np.int64) for column in (0, 1, 2, 4)
    )
    names = list(dict.fromkeys(row[3] for row in rows))
    type_ = np.array([names.index(row[3]) for row in rows], np.int32)
    first = np.searchsorted(track, np.arange(len(planes) + 1)).astype(np.int64)
    layout = lay_out(first[:-1], first[1:], start, duration)
    order = np.lexsort((np.arange(len(rows)), layout.depth, track))
    first_row = np.append(0, np.cumsum(layout.rows))
    made = [
        Track(
            section=0, name=f"track {at}", kind="thread", plane=plane, line_id=at + 1,
            first_row=int(first_row[at]), rows=int(layout.rows[at]),
            events=int(first[at + 1] - first[at]), is_derived=plane < 0,
            busy_ps=int(layout.busy_ps[at]),
        )
        for at, plane in enumerate(planes)
    ]  # fmt: skip
    for name, values in fields.items():
        made = [
            dataclasses.replace(one, **{name: value})
            for one, value in zip(made, values, strict=True)
        ]
    types = TypeTable(
        names,
        [full_names.get(name, name) for name in names],
        np.array([categories.get(name, 0) for name in names], np.uint8),
    )
    known: dict[str, Any] = {
        "sections": [Section("s", "s", "host")],
        "tracks": made,
        "types": types,
        "row_first": layout.row_first,
        "start_ps": start[order],
        "duration_ps": duration[order],
        "type": type_[order],
        "source": source[order],
        "levels": Levels(**_empty(Levels)),
        "counters": [],
        "begin_ps": int(start.min()) if rows else 0,
        "end_ps": int((start + duration).max()) if rows else 0,
        "origin_ns": 0,
        "in_file": len(rows),
        "unplaced": 0,
        "initial_window": None,
        "notices": (),
    }
    timeline = Timeline(**{**_empty(Timeline), **known})
    return OpenTimeline(timeline, lambda: _known(space))


def _known(space: Space | None) -> Space:
    if space is None:
        raise AssertionError("the file was asked for")
    return space


@functools.cache
def _empty(kind: type) -> dict[str, Any]:
    """An empty array for every column of a dataclass."""
    hints = get_type_hints(kind)
    return {
        field.name: np.empty(0, np.float64 if "float" in str(hints[field.name]) else np.int64)
        for field in dataclasses.fields(kind)
    }


def first(opened: OpenTimeline, name: str) -> int:
    """The first event of a name."""
    return next(
        index for index in range(opened.timeline.start_ps.size) if opened.name(index) == name
    )


def search(opened: OpenTimeline, text: str, **options: Any) -> dict[str, Any]:
    """A page of the events that a text finds."""
    query, rest = _parsed(text, options)
    return search_module.search(opened, query, **rest)


def match_overview(opened: OpenTimeline, text: str, **options: Any) -> dict[str, Any]:
    """Where on some rows the events lie that a text finds."""
    query, rest = _parsed(text, options)
    return search_module.match_overview(opened, query, **rest)


def find_results(opened: OpenTimeline, text: str, **options: Any) -> SearchResults:
    """The events that a text finds."""
    query, rest = _parsed(text, options)
    return search_module.find_results(opened, query, **rest)


def _parsed(text: str, options: dict[str, Any]) -> tuple[Query, dict[str, Any]]:
    rest = dict(options)
    flags = {name: bool(rest.pop(name, False)) for name in ("is_regex", "has_case")}
    return parse_query(text, **flags), rest
