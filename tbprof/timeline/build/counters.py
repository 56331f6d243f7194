"""Values over time: the counters of a trace, and how full the memory of each allocator was."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.memory.memory_events import IN_USE, OWNERS, bytes_in_use, find_owners
from tbprof.analysis.spans.groups import group_rows
from tbprof.analysis.vocabulary.lines import host_planes
from tbprof.base import names
from tbprof.base.columns import empty_column
from tbprof.base.lazy import regex
from tbprof.base.natural_order import natural_order
from tbprof.base.records import dataclass
from tbprof.base.values import is_in, joined
from tbprof.events.space import Plane, Space
from tbprof.events.stats import DOUBLE, INT64, UINT64
from tbprof.timeline.model.counter_points import make_pyramid
from tbprof.timeline.model.store import Counter, Section
from tbprof.timeline.model.type_tables import UNNAMED
from tbprof.timeline.model.unlaid_tracks import CounterLine, UnlaidEvents, UnlaidTracks

_BYTES = "bytes"
_PERCENT = "%"
_IN_USE_LABEL = "memory in use"
# Stats are read for this many events at once: dense columns for all would be large.
_PIECE = 1 << 18
# The device of an allocator. Source: tensorflow/core/common_runtime/gpu/gpu_process_state.cc.
_DEVICE_ALLOCATOR = regex(r"(GPU|TPU)_([0-9]{1,9})(?:_|\Z)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Counters:
    """Counters by section and name; `time_ps` and `value` [points], one after the other.

    The points of a counter are by time, ties in the file's order. `low` and `high` are the pyramid
    of `counter_points`.
    """

    counters: list[Counter]
    time_ps: NDArray[np.int64]
    value: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Series:
    """The points of one counter, by time."""

    section: int
    name: str
    unit: str
    time_ps: NDArray[np.int64]
    value: NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Points:
    """Events that are points of counters."""

    time_ps: NDArray[np.int64]
    source: NDArray[np.int64]


def plan_counters(space: Space, unlaid: UnlaidTracks) -> Callable[[], Counters]:
    """A finder of the counters in the file, and of the bytes in use of each allocator.

    An event on a counter line is a point of the counter with its name: the first number among its
    stats. Memory is shown in the section of the allocator's device if there is one, else with its
    host. Events without a finite number are not points. The finder does not hold the columns of
    `unlaid`, which may be freed.
    """
    recorded = [
        (section, space.planes[row], *_points(list(lines)))
        for (section, row), lines in groupby(
            unlaid.counters, lambda line: (line.section, line.plane)
        )
    ]
    memory = list(_memory_points(space, unlaid))
    sections = unlaid.sections

    def find() -> Counters:
        series = [line_series for line_args in recorded for line_series in _of_lines(*line_args)]
        for section, plane, points in memory:
            series += memory_series(plane, section, points, sections)
        return join_series(series)

    return find


def join_series(series: list[Series]) -> Counters:
    """The points of all counters, which are sorted."""
    series.sort(
        key=lambda line_series: (line_series.section, natural_order(line_series.name.lower()))
    )
    counters: list[Counter] = []
    points = 0
    for line_series in series:
        end = points + line_series.time_ps.size
        counters.append(
            Counter(line_series.section, line_series.name, line_series.unit, points, end)
        )
        points = end
    value = np.concatenate([np.empty(0), *(line_series.value for line_series in series)])
    return Counters(
        counters,
        joined(line_series.time_ps for line_series in series),
        value,
        *make_pyramid(value),
    )


def _points(lines: list[CounterLine]) -> tuple[NDArray[np.int32], Points]:
    """(types, events) on some lines of counters, by time."""
    parts = [(line.columns, slice(line.first, line.last)) for line in lines]
    time = np.concatenate([columns.start_ps[rows] for columns, rows in parts])
    order = np.argsort(time, kind="stable")
    type_ = np.concatenate([columns.type[rows] for columns, rows in parts])
    source = np.concatenate([columns.source[rows] for columns, rows in parts])
    return type_[order], Points(time[order], source[order])


def _of_lines(
    section: int, plane: Plane, type_: NDArray[np.int32], points: Points
) -> Iterator[Series]:
    """The counters of a plane's lines of counters."""
    types, first, code = np.unique(type_, return_index=True, return_inverse=True)
    stat_of = _first_numbers(plane, points.source[first])
    full_names = plane.strings.take(np.append(plane.types.name, np.int32(-1))[types].tolist())
    display_names = plane.strings.take(
        np.append(plane.types.display_name, np.int32(-1))[types].tolist()
    )
    order = np.argsort(code, kind="stable")
    cuts = np.searchsorted(code[order], np.arange(types.size + 1))
    for kind, stat in enumerate(stat_of):
        if not stat:
            continue
        rows = order[cuts[kind] : cuts[kind + 1]]
        value = plane.event_stats(points.source[rows], [stat])[stat].numbers()
        name = display_names[kind] or full_names[kind] or UNNAMED
        series_of_line = _series(section, name, _unit(name, stat), points.time_ps[rows], value)
        if series_of_line is not None:
            yield series_of_line


def _first_numbers(plane: Plane, source: NDArray[np.int64]) -> list[str]:
    """The name of the first numeric stat of each event, "" if there is none."""
    stats = plane.stat_rows(source)
    texts = plane.strings.take(stats.names.tolist())
    is_number = is_in(stats.kind, (DOUBLE, INT64, UINT64)) & (stats.name >= 0)
    numbers = np.flatnonzero(is_number)
    first = np.searchsorted(numbers, stats.begin).tolist()
    return [
        texts[stats.name[numbers[begin]]] if begin < numbers.size and numbers[begin] < end else ""
        for begin, end in zip(first, stats.end.tolist(), strict=True)
    ]


def _unit(*texts: str) -> str:
    """The unit of a counter according to its names, "" if unknown."""
    for text in (text[:256].lower() for text in texts):
        if "byte" in text:
            return _BYTES
        if "percent" in text or "%" in text:
            return _PERCENT
    return ""


def _series(
    section: int, name: str, unit: str, time_ps: NDArray[np.int64], value: NDArray[np.float64]
) -> Series | None:
    is_finite = np.isfinite(value)
    if not is_finite.all():
        time_ps, value = time_ps[is_finite], value[is_finite]
    return Series(section, name, unit, time_ps, value) if value.size else None


def _memory_points(space: Space, unlaid: UnlaidTracks) -> Iterator[tuple[int, Plane, Points]]:
    """(section, plane, allocations and releases) of each host's plane with tracks."""
    hosts = {id(plane) for plane in host_planes(space)}
    for (section, row), tracks in groupby(
        unlaid.tracks, lambda track: (track.section, track.plane)
    ):
        plane = space.planes[row]
        if id(plane) in hosts:
            columns = {id(track.columns): track.columns for track in tracks}
            yield section, plane, memory_events(plane, list(columns.values()))


def memory_series(
    plane: Plane, section: int, points: Points, sections: list[Section]
) -> Iterator[Series]:
    """The bytes in use of each allocator after each of the `memory_events` of a host's plane.

    In the section (a row of `sections`) of the allocator's device, else in `section`.
    """
    if not points.time_ps.size:
        return
    allocator, ordinal, value = _read_memory(plane, points.source)
    time = points.time_ps
    is_point = (np.maximum(allocator, ordinal) >= 0) & np.isfinite(value)
    code, first = group_rows([allocator[is_point], ordinal[is_point]])
    time, value = time[is_point], value[is_point]
    allocator, ordinal = allocator[is_point][first], ordinal[is_point][first]
    for owner in range(first.size):
        rows = np.flatnonzero(code == owner)
        rows = rows[np.argsort(time[rows], kind="stable")]
        text = plane.strings[int(allocator[owner])]
        device = _section_of(text, int(ordinal[owner]), sections)
        name = f"{text}: {_IN_USE_LABEL}" if text else _IN_USE_LABEL
        if not text and device < 0:
            name = f"{ordinal[owner]}: {_IN_USE_LABEL}"
        place = device if device >= 0 else section
        yield Series(place, name, _BYTES, time[rows], value[rows])


def memory_events(plane: Plane, columns: Sequence[UnlaidEvents]) -> Points:
    """The allocations and releases among the events of a plane, in the file's order."""
    parts = [(column, _memory_rows(plane, column)) for column in columns]
    parts.sort(key=lambda part: part[0].source[part[1][:1]].tolist())
    events = sum(rows.size for _, rows in parts)
    points = Points(empty_column(events, np.int64), empty_column(events, np.int64))
    first = 0
    for events_plane, rows in parts:
        part = slice(first, first + rows.size)
        np.take(events_plane.start_ps, rows, out=points.time_ps[part])
        np.take(events_plane.source, rows, out=points.source[part])
        first += rows.size
    return points


def _memory_rows(plane: Plane, columns: UnlaidEvents) -> NDArray[np.int64]:
    """The rows of allocations and releases."""
    event_names = (names.MEMORY_ALLOCATION, names.MEMORY_DEALLOCATION)
    texts = plane.types.full_names
    is_memory = np.array([*(text in event_names for text in texts), False], np.bool_)
    if not is_memory.any():
        return np.empty(0, np.int64)
    pieces = [
        np.flatnonzero(is_memory[columns.type[begin : begin + _PIECE]]) + begin
        for begin in range(0, columns.type.size, _PIECE)
    ]
    return joined(pieces)


def _read_memory(
    plane: Plane, source: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """(allocator, number of the device, bytes in use) [n] of memory events; NaN where unknown."""
    stat_names = [name for name in (*OWNERS, *IN_USE) if name in plane.stat_names]
    parts = []
    for begin in range(0, source.size, _PIECE):
        piece = source[begin : begin + _PIECE]
        stats = plane.event_stats(piece, stat_names, OWNERS)
        used, is_known = bytes_in_use(stats, piece.size)
        parts.append((*find_owners(stats, piece.size), np.where(is_known, used, np.nan)))
    allocator, ordinal, value = (np.concatenate(column) for column in zip(*parts, strict=True))
    return allocator, ordinal, value


def _section_of(allocator: str, ordinal: int, sections: list[Section]) -> int:
    """The section of an allocator's device, -1 if it has none."""
    match = _DEVICE_ALLOCATOR.match(allocator)
    if match:
        plane_names = [f"/device:{match[1].upper()}:{int(match[2])}"]
    elif not allocator and ordinal >= 0:
        plane_names = [f"{prefix}{ordinal}" for prefix in (names.TPU_PREFIX, names.GPU_PREFIX)]
    else:
        return -1
    return next((row for row, section in enumerate(sections) if section.name in plane_names), -1)
