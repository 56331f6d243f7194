"""Events by their stats: one key of all events of a plane at a time, each distinct text once."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from tbprof.base.records import dataclass
from tbprof.base.values import is_in, unique
from tbprof.events.space import Plane
from tbprof.events.stats import DOUBLE, INT64, REFERENCE, TEXT, UINT64, StatColumn
from tbprof.timeline.model.open_timeline import OpenTimeline
from tbprof.timeline.search.query import Query, number_in, number_test, text_test

# Stats that say which line of a program an event comes from, best first.
SOURCE_STATS = ("source", "source_stack", "_src")
_TEXTS = (TEXT, REFERENCE)
_NUMBERS = (DOUBLE, INT64, UINT64)

_Matches = Callable[[StatColumn], NDArray[np.bool_]]


@dataclass(frozen=True, slots=True)
class PlaneEvents:
    """The events of a timeline that are in one plane of the file: ranges of ids."""

    plane: Plane
    ranges: list[tuple[int, int]]

    def pieces(self, size: int = 1 << 20) -> Iterator[tuple[NDArray[np.uint32], slice]]:
        """(ids, the same as a slice of the event columns), up to `size` at a time."""
        for first, last in self.ranges:
            for begin in range(first, last, size):
                end = min(begin + size, last)
                yield np.arange(begin, end, dtype=np.uint32), slice(begin, end)


def plane_events(open_timeline: OpenTimeline, *, is_recorded: bool = False) -> list[PlaneEvents]:
    """The events that are in the file, by plane, or those of them that were recorded.

    The others are on lines that were added to the file afterwards.
    """
    timeline = open_timeline.timeline
    ranges: dict[int, list[tuple[int, int]]] = {}
    for track in timeline.tracks:
        first = int(timeline.row_first[track.first_row])
        last = int(timeline.row_first[track.first_row + track.rows])
        if track.plane < 0 or first == last or (is_recorded and track.is_derived):
            continue
        plane_ranges = ranges.setdefault(track.plane, [])
        if plane_ranges and plane_ranges[-1][1] == first:
            plane_ranges[-1] = (plane_ranges[-1][0], last)
        else:
            plane_ranges.append((first, last))
    if not ranges:
        return []
    planes = open_timeline.space.planes
    return [
        PlaneEvents(planes[plane_row], spans)
        for plane_row, spans in ranges.items()
        if plane_row < len(planes)
    ]


def events_with_stat(open_timeline: OpenTimeline, query: Query) -> NDArray[np.uint32]:
    """The ids, ascending, of the events with a stat that matches the query."""
    folded = query.key.casefold()

    def asks_for(name: str) -> bool:
        return name == query.key if query.has_case else name.casefold() == folded

    matches = []
    for events in plane_events(open_timeline):
        for name in sorted(filter(asks_for, events.plane.stat_names)):
            matches += list(
                _matching(open_timeline, events, name, _value_test(events.plane, query))
            )
    return _together(matches)


def events_from_source(open_timeline: OpenTimeline, query: Query) -> NDArray[np.uint32]:
    """The ids, ascending, of the events that a stat places in the requested source."""
    matches = []
    for events in plane_events(open_timeline):
        for name in SOURCE_STATS:
            if name in events.plane.stat_names:
                matches += list(
                    _matching(open_timeline, events, name, _text_matches(events.plane, query))
                )
    return _together(matches)


def _together(pieces: list[NDArray[np.uint32]]) -> NDArray[np.uint32]:
    if not pieces:
        return np.empty(0, np.uint32)
    return pieces[0] if len(pieces) == 1 else unique(np.concatenate(pieces))


def _matching(
    open_timeline: OpenTimeline, events: PlaneEvents, name: str, matches: _Matches
) -> Iterator[NDArray[np.uint32]]:
    """The ids of the events of a plane whose stat `name`, or else that of their type, matches."""
    plane, source = events.plane, open_timeline.timeline.source
    shared = plane.types.stats([name])[name]
    has_shared = bool(shared.is_present.any())
    of_type = np.append(matches(shared), np.False_)
    for ids, rows in events.pieces():
        column = plane.event_stats(source[rows], [name])[name]
        is_hit = matches(column)
        if has_shared:
            lacks = np.flatnonzero(~column.is_present)
            is_hit[lacks] = of_type[plane.event_types(source[rows][lacks])]
        yield ids[is_hit]


def _value_test(plane: Plane, query: Query) -> _Matches:
    if not query.text:
        return lambda column: column.is_present
    is_text = _text_matches(plane, query)
    is_number = _number_matches(query)
    return lambda column: is_text(column) | is_number(column)


def _text_matches(plane: Plane, query: Query) -> _Matches:
    """Which values are texts that match the query; each distinct text is tested once."""
    test = text_test(query)

    def matches(column: StatColumn) -> NDArray[np.bool_]:
        is_text = is_in(column.kind, _TEXTS)
        out = np.zeros(column.kind.size, np.bool_)
        if is_text.any():
            some = StatColumn(column.kind[is_text], column.bits[is_text], column.source)
            ids, inverse = np.unique(some.texts(), return_inverse=True)
            out[is_text] = test(plane.strings.take(ids.tolist()))[inverse]
        return out

    return matches


def _number_matches(query: Query) -> _Matches:
    """Which values are numbers that match the query."""
    number = number_in(query)

    def equals(column: StatColumn) -> NDArray[np.bool_]:
        if number is None:
            return np.zeros(column.kind.size, np.bool_)
        is_equal: NDArray[np.bool_] = column.numbers() == float(number)
        if isinstance(number, int):  # doubles do not distinguish large integers
            low = (number & (2**64 - 1)) - (2**64 if number & 2**63 else 0)
            is_equal &= (column.bits == low) | (column.kind == DOUBLE)
        return is_equal

    def matches(column: StatColumn) -> NDArray[np.bool_]:
        is_number = is_in(column.kind, _NUMBERS)
        out = np.zeros(column.kind.size, np.bool_)
        for kind in _NUMBERS:
            rows = np.flatnonzero(column.kind == kind)
            if rows.size:
                bits, inverse = np.unique(column.bits[rows], return_inverse=True)
                values = bits.view({DOUBLE: np.float64, INT64: np.int64, UINT64: np.uint64}[kind])
                out[rows] = number_test(query)(values.tolist())[inverse]
        return out & is_number

    return matches if query.is_regex else equals
