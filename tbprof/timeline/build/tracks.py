"""Which lines of a trace become tracks: in what order, under which names, of which kinds.

Every event of the file is on a track, including bookkeeping of the recorder (`MemoryAllocation`,
events of thread pools), which has its own category and can be left out. Only counter lines are not
tracks, since their events are points of curves.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.hlo.hlo import Programs
from tbprof.analysis.host.host_roles import host_types
from tbprof.analysis.spans.groups import group_rows
from tbprof.analysis.vocabulary.lines import gpu_planes, is_derived, tpu_planes
from tbprof.base import names
from tbprof.base.natural_order import natural_order
from tbprof.base.process.parallel import in_parallel
from tbprof.base.records import dataclass, replace
from tbprof.events.space import Events, Plane, Space
from tbprof.kernels.timeline.track_layout import survey_types
from tbprof.timeline.build.pieces import PIECE_BYTES, Piece, read_pieces, sampled
from tbprof.timeline.model.categories import host_categories, track_categories
from tbprof.timeline.model.category_names import Category
from tbprof.timeline.model.initial_window import median_step
from tbprof.timeline.model.sections import section_of, section_order
from tbprof.timeline.model.store import Section
from tbprof.timeline.model.type_tables import TypeCollector
from tbprof.timeline.model.unlaid_tracks import (
    CounterLine,
    UnlaidTrack,
    UnlaidTracks,
    unlaid_events,
)

# The kinds of device lines, by their names; other lines of GPUs are streams.
_KIND_OF = {
    names.STEPS_LINE: "steps",
    names.SPARSE_CORE_STEPS_LINE: "steps",
    names.XLA_MODULES_LINE: "modules",
    names.SPARSE_CORE_MODULES_LINE: "modules",
    "Framework Ops": "ops",
    "TensorFlow Ops": "ops",
    names.XLA_OPS_LINE: "xla_ops",
    names.SPARSE_CORE_OPS_LINE: "xla_ops",
    "Framework Name Scope": "scopes",
    "TensorFlow Name Scope": "scopes",
    "Source code": "source",
    "Source": "source",
}
_ASYNC = ("Async ", "Host Offload Ops")
KIND_ORDER = (
    "steps", "modules", "ops", "xla_ops", "scopes", "source", "thread", "stream", "async", "other",
)  # fmt: skip
# Frames of the Python tracer, and events of Python's calls into its framework.
_CALLS = ("$", "PjitFunction(", "TFE_Py_", "np.asarray(")
_MAIN_THREADS = ("python", "main/")


def find_tracks(space: Space, piece_bytes: int = PIECE_BYTES) -> UnlaidTracks:
    """The tracks of the file; sections have at least a track or a counter.

    Lines are decoded in pieces of this many bytes, see `read_pieces`.

    Devices come first, then host threads, then all other planes. On a device steps come first, then
    programs, ops and scopes, then streams; threads on which the program calls its framework come
    before others. Ties are in the natural order of names.
    """
    has_device = any(plane.lines.id.size for plane in (*gpu_planes(space), *tpu_planes(space)))
    types = TypeCollector(space.strings)
    programs = Programs(space)
    sections: list[Section] = []
    tracks: list[UnlaidTrack] = []
    counters: list[CounterLine] = []
    in_file = unplaced = 0
    rows = [row for row in section_order(space) if space.planes[row].lines.id.size]
    all_pieces = read_pieces([space.planes[row] for row in rows], piece_bytes)
    for row, pieces in zip(rows, all_pieces, strict=True):
        events = sum(len(piece.events) for piece in pieces)
        in_file += events
        unplaced += sum(piece.events.aggregated.type.size for piece in pieces)
        if events:
            lines = _read_lines(pieces, section_of(space.planes[row]))
            place = row, len(sections)
            tracks += _tracks(pieces, lines, place, types, programs, has_device=has_device)
            counters += _counter_lines(pieces, lines, row, len(sections))
            sections.append(lines.section)
    table = types.table()
    counter_events = sum(line.last - line.first for line in counters)
    initial_window = _initial_window(tracks, table.name)
    return UnlaidTracks(
        sections, tracks, counters, table, in_file, counter_events, unplaced, initial_window
    )


@dataclass(frozen=True, slots=True)
class _PlaneLines:
    """The lines of one plane, piece by piece: their positions and kinds, "" for counters.

    `row` is the position in the file, `first` and `last` are rows of the events of `piece`.
    """

    section: Section
    piece: list[int]
    row: list[int]
    first: list[int]
    last: list[int]
    name: list[str]
    number: list[int]
    kind: list[str]
    is_derived: list[bool]


def _read_lines(pieces: Sequence[Piece], section: Section) -> _PlaneLines:
    all_lines = _PlaneLines(section, [], [], [], [], [], [], [], [])
    for number, piece in enumerate(pieces):
        lines, strings = piece.events.lines, piece.events.plane.strings
        names_ = strings.take(lines.name.tolist())
        display_names = strings.take(lines.display_name.tolist())
        numbers = lines.display_id.tolist()
        derived = is_derived(lines).tolist()
        first = piece.events.first_event.tolist()
        all_lines.piece.extend([number] * len(names_))
        all_lines.row.extend(piece.rows)
        all_lines.first.extend(first[:-1])
        all_lines.last.extend(first[1:])
        all_lines.number.extend(numbers)
        all_lines.is_derived.extend(derived)
        all_lines.name.extend(
            display_name or other or f"Line {number}"
            for display_name, other, number in zip(display_names, names_, numbers, strict=True)
        )
        all_lines.kind.extend(
            "" if name == names.COUNTERS_LINE else line_kind(name, section, is_derived=is_added)
            for name, is_added in zip(names_, derived, strict=True)
        )
    return all_lines


def line_kinds(plane: Plane) -> list[str]:
    """[lines] the kind of each line of a plane."""
    section = section_of(plane)
    texts = plane.strings.take(plane.lines.name.tolist())
    derived = is_derived(plane.lines).tolist()
    return [
        line_kind(text, section, is_derived=is_added)
        for text, is_added in zip(texts, derived, strict=True)
    ]


def line_kind(name: str, section: Section, *, is_derived: bool) -> str:
    """The kind of a line's track, by its name; `is_derived` as in `lines`."""
    if section.kind == "host":
        return "other" if is_derived else "thread"
    kind = _KIND_OF.get(name)
    if kind:
        return kind
    if name.startswith(_ASYNC):
        return "async"
    is_gpu = section.name.startswith(names.GPU_PREFIX)
    return "stream" if is_gpu and not is_derived else "other"


def _tracks(
    pieces: Sequence[Piece],
    lines: _PlaneLines,
    place: tuple[int, int],
    types: TypeCollector,
    programs: Programs,
    *,
    has_device: bool,
) -> list[UnlaidTrack]:
    """The tracks of one plane, in order. Their kinds of event are added to `types`.

    `place` is the row of the plane and of its section.
    """
    plane_row, section = place
    plane = pieces[0].events.plane
    sample = sampled(pieces) if lines.section.kind == "host" else None
    is_call = (
        np.zeros(plane.types.id.size + 1, np.bool_)
        if sample is None
        else _calls(sample, has_device=has_device)
    )
    kinds = sorted(set(lines.kind))
    used, calls = _look(pieces, lines, kinds, is_call)
    columns = [unlaid_events(piece.events) for piece in pieces]
    type_of: dict[tuple[int, str], NDArray[np.int32]] = {}
    for kind, in_use in zip(kinds, used, strict=True):
        if not kind:
            continue
        if kind == "steps" and names.STEP_NAME in plane.stat_names:
            for piece_row, rows in _rows_of_kind(lines, kind).items():
                column, type_of[piece_row, kind] = _named_steps(
                    pieces[piece_row].events, rows, types
                )
                columns[piece_row] = replace(columns[piece_row], type=column)
            continue
        rows = np.flatnonzero(in_use)
        rows = np.where(rows == is_call.size - 1, -1, rows)
        category = (
            track_categories(plane, rows, kind, programs)
            if sample is None
            else host_categories(sample, rows, has_device=has_device)
        )
        shared = types.add(rows, is_call.size, *_names(plane, rows), category)
        type_of.update(((index, kind), shared) for index in range(len(pieces)))
    return [
        UnlaidTrack(
            section,
            lines.name[line],
            lines.kind[line],
            plane_row,
            lines.number[line],
            lines.is_derived[line],
            columns[lines.piece[line]],
            type_of[lines.piece[line], lines.kind[line]],
            lines.first[line],
            lines.last[line],
        )
        for line in _line_order(lines, calls)
    ]


def _look(
    pieces: Sequence[Piece], lines: _PlaneLines, kinds: list[str], is_call: NDArray[np.bool_]
) -> tuple[NDArray[np.bool_], list[int]]:
    """(the types in use [kinds, types + 1] on lines of each kind, the calls on each line)."""
    number = {kind: row for row, kind in enumerate(kinds)}
    kind_of = np.array([number[kind] for kind in lines.kind], np.int64)
    used = np.zeros((len(kinds), is_call.size), np.bool_)
    calls = np.zeros(kind_of.size, np.int64)
    ends = np.cumsum([len(piece.rows) for piece in pieces]).tolist()

    def look(piece: int) -> None:
        events = pieces[piece].events
        piece_rows = slice(ends[piece] - len(pieces[piece].rows), ends[piece])
        survey_types(
            events.first_event, kind_of[piece_rows], events.type, is_call, used, calls[piece_rows]
        )

    in_parallel(look, range(len(pieces)))
    return used, calls.tolist()


def _rows_of_kind(lines: _PlaneLines, kind: str) -> dict[int, NDArray[np.int64]]:
    """The rows of the events on lines of a kind, by piece."""
    rows_of_piece: dict[int, list[NDArray[np.int64]]] = {}
    for line, other in enumerate(lines.kind):
        if other == kind:
            rows = np.arange(lines.first[line], lines.last[line])
            rows_of_piece.setdefault(lines.piece[line], []).append(rows)
    return {piece: np.concatenate(rows) for piece, rows in rows_of_piece.items()}


def _calls(events: Events, *, has_device: bool) -> NDArray[np.bool_]:
    """[types + 1] whether events of the type are calls of the program into its framework."""
    types = host_types(events, has_device=has_device)
    texts = events.plane.types.full_names
    by_name = [text.startswith(_CALLS) for text in texts]
    return np.array([*by_name, False], np.bool_) | types.has_number | types.is_function


def _names(
    plane: Plane, types: NDArray[np.int64] | NDArray[np.int32]
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """(display names, full names) of `types` as ids, -1 for none."""
    # The entry after the last type is for events without a type (-1), which have no name.
    nothing = np.int32(-1)
    return (
        np.append(plane.types.display_name, nothing)[types],
        np.append(plane.types.name, nothing)[types],
    )


def _named_steps(
    events: Events, rows: NDArray[np.int64], types: TypeCollector
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """(types [n] with a separate type for each of the events `rows`, `type_of` for these).

    A step is named by its `step_name` if it has one: the event's own name is only a number.
    """
    step_names = events.stats([names.STEP_NAME], rows)[names.STEP_NAME].texts()
    name, full_name = _names(events.plane, events.type[rows])
    name = np.where(step_names >= 0, step_names, name).astype(np.int32)
    code, first = group_rows([name, full_name])
    column = events.type.copy()
    column[rows] = code
    category = np.full(first.size, Category.STEPS, np.uint8)
    kinds = np.arange(first.size)
    return column, types.add(kinds, first.size + 1, name[first], full_name[first], category)


def _line_order(lines: _PlaneLines, calls: list[int]) -> list[int]:
    """The lines that are tracks, in their order."""

    def key(line: int) -> tuple[object, ...]:
        kind = lines.kind[line]
        rank = KIND_ORDER.index(kind)
        if kind == "other" and lines.is_derived[line]:
            rank = KIND_ORDER.index("source")
        name = lines.name[line]
        is_driven = calls[line] > 0 or name.startswith(_MAIN_THREADS)
        return rank, kind == "other", not is_driven, natural_order(name.lower()), lines.row[line]

    used = (
        line
        for line, kind in enumerate(lines.kind)
        if kind and lines.first[line] < lines.last[line]
    )
    return sorted(used, key=key)


def _counter_lines(
    pieces: Sequence[Piece], lines: _PlaneLines, plane_row: int, section: int
) -> list[CounterLine]:
    """The lines of counters, in the file's order."""
    chosen = [
        line
        for line, kind in enumerate(lines.kind)
        if not kind and lines.first[line] < lines.last[line]
    ]
    columns = {
        piece: unlaid_events(pieces[piece].events)
        for piece in {lines.piece[line] for line in chosen}
    }
    return [
        CounterLine(
            section, plane_row, columns[lines.piece[line]], lines.first[line], lines.last[line]
        )
        for line in sorted(chosen, key=lambda line: lines.row[line])
    ]


def _initial_window(tracks: list[UnlaidTrack], name: list[str]) -> tuple[int, int, str] | None:
    """The typical step of the first device with steps in the file."""
    for track in tracks:
        if track.kind == "steps":
            rows = slice(track.first, track.last)
            columns = track.columns
            labels = [name[row] for row in track.type_of[columns.type[rows]].tolist()]
            step = median_step(columns.start_ps[rows], columns.duration_ps[rows], labels)
            if step is not None:
                begin, end, label = step
                return begin, end, f"step {label}" if label.isdigit() else label
    return None
