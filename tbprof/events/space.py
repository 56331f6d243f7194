"""A space, its planes, lines, events and types, as frozen columns.

`X…` is a wire message, the bare noun is our columns: XSpace -> `Space`, XPlane -> `Plane`,
XLine -> `Lines`, XEvent -> `Events`, XEventMetadata -> `Types`. An index of -1 means "none".
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from tbprof.base.caches import OnceCache
from tbprof.base.errors import Notice
from tbprof.base.records import dataclass, replace
from tbprof.base.values import joined, take_rows
from tbprof.events.marks import EventMarks, MarkNames
from tbprof.events.stats import ABSENT, StatColumn, StatRows
from tbprof.events.strings import Strings
from tbprof.kernels.analysis.type_marks import find_types, mark_types

Value = int | float | str | bytes

# Rows that are processed together: intermediate arrays of this size stay in the processor's cache.
_PIECE = 1 << 16


@dataclass(frozen=True, slots=True)
class Lines:
    """The timelines of a plane, in file order.

    `start_ps` counts from `Space.start_ns`. Names are ids into the space's strings. The display
    fields follow the events on the wire: they are set after the events have been decoded.
    """

    id: NDArray[np.int64]
    name: NDArray[np.int32]
    start_ps: NDArray[np.int64]
    display_id: NDArray[np.int64]
    display_name: NDArray[np.int32]

    def take(self, rows: Sequence[int]) -> Lines:
        """Some of the lines, in their order."""
        return take_rows(self, np.array(rows, np.int64))


@dataclass(frozen=True, slots=True)
class Aggregated:
    """Entries for several events each, without a position: for op tables, not for timelines."""

    line: NDArray[np.int32]
    type: NDArray[np.int32]
    occurrences: NDArray[np.int64]
    duration_ps: NDArray[np.int64]
    source: NDArray[np.int64]

    def take(self, lines: Sequence[int]) -> Aggregated:
        """The entries of some lines, in the order of `lines`."""
        if not self.line.size:
            return self
        parts = [np.flatnonzero(self.line == line) for line in lines]
        rows = joined(parts)
        line = np.repeat(np.arange(len(lines), dtype=np.int32), [part.size for part in parts])
        return replace(take_rows(self, rows), line=line)


class Types(Protocol):
    """The kinds of event of a plane (XEventMetadata), one row per distinct id."""

    @property
    def id(self) -> NDArray[np.int64]:
        """[n] the metadata ids."""

    @property
    def name(self) -> NDArray[np.int32]:
        """[n] ids of the full names: classification uses these."""

    @property
    def full_names(self) -> Sequence[str]:
        """[n] the full names."""

    @property
    def display_name(self) -> NDArray[np.int32]:
        """[n] ids of the short labels, -1 for none."""

    def stats(self, names: Sequence[str]) -> dict[str, StatColumn]:
        """One column [n] per name: stats that all events of a type share."""

    def stat_rows(self) -> StatRows:
        """All stats of the types [n]."""

    def details(self, row: int) -> list[tuple[str, Value]]:
        """All stats of one type, in file order."""


class Plane(Protocol):
    """One plane; fields are decoded when requested. Only `cache` holds events."""

    @property
    def name(self) -> str:
        """The identity of the plane, such as `/device:GPU:0`."""

    @property
    def id(self) -> int:
        """The id in the file; not unique."""

    @property
    def lines(self) -> Lines:
        """The headers of the lines, without touching events."""

    @property
    def line_bytes(self) -> NDArray[np.int64]:
        """[lines] about how many bytes of the file each line takes."""

    @property
    def types(self) -> Types:
        """The kinds of event."""

    @property
    def stat_names(self) -> frozenset[str]:
        """Every stat name of the plane (and texts interned as such)."""

    @property
    def stats(self) -> Mapping[str, Value]:
        """The plane's own stats: device capabilities, versions, process id."""

    @property
    def notices(self) -> Sequence[Notice]:
        """The damage in what has been decoded so far."""

    @property
    def strings(self) -> Strings:
        """The space's names."""

    @property
    def expected_stats(self) -> set[str]:
        """The stats that will be requested for all host events, as far as known; a hint."""

    @property
    def cache(self) -> OnceCache:
        """Results about this plane that analyses share; cleared to free memory."""

    def events(self, lines: Sequence[int] | None = None, marks: MarkNames | None = None) -> Events:
        """The events of some lines (all by default); without marks if there are few."""

    def event_stats(
        self, source: NDArray[np.int64], names: Sequence[str], texts: Collection[str] = ()
    ) -> dict[str, StatColumn]:
        """One column [n] per name, read from the events at the offsets `source` [n].

        Those of the names that `texts` contains are read together with their texts.
        """

    def stat_rows(self, source: NDArray[np.int64]) -> StatRows:
        """All stats of the events at the offsets `source` [n]: for thousands, not millions."""

    def event_types(self, source: NDArray[np.int64]) -> NDArray[np.int32]:
        """[n] the rows in `types` of the events at the offsets `source` [n], -1 for none."""

    def details(self, source: int) -> list[tuple[str, Value]]:
        """All stats of one event, in file order."""


class _Referable:
    """Allows weak references. Python 3.10 has no `dataclass(weakref_slot=True)`."""

    __slots__ = ("__weakref__",)


@dataclass(frozen=True, slots=True)
class Events(_Referable):
    """Rows ordered by (line, start, longest first), so that a parent precedes its children.

    Ties keep the file's order. `lines` are only the decoded lines, and rows
    `first_event[i]:first_event[i + 1]` are those of its row i. `source` is the offset of an event's
    bytes. Times are picoseconds since `Space.start_ns`. `marks` are stats read while decoding.
    """

    plane: Plane
    lines: Lines
    first_event: NDArray[np.int64]
    type: NDArray[np.int32]
    start_ps: NDArray[np.int64]
    duration_ps: NDArray[np.int64]
    source: NDArray[np.int64]
    aggregated: Aggregated
    marks: EventMarks | None = None

    def __len__(self) -> int:
        return int(self.type.size)

    @property
    def line(self) -> NDArray[np.int32]:
        """[n] the row in `lines` of each event."""
        rows = np.arange(self.first_event.size - 1, dtype=np.int32)
        return np.repeat(rows, np.diff(self.first_event))

    def by_type(self, table: NDArray[Any]) -> NDArray[Any]:
        """[n] the entry of `table` [types + 1] for each event's type; the last is for no type."""
        out = np.empty(len(self), table.dtype)
        for begin in range(0, out.size, _PIECE):  # indices of all rows would take much memory
            part = slice(begin, begin + _PIECE)
            np.take(table, self.type[part], out=out[part], mode="wrap")  # -1 is the last row
        return out

    def rows_of(self, wanted: NDArray[np.bool_]) -> NDArray[np.int64]:
        """The rows, ascending, of the types that are `wanted` [types + 1], the last for no type."""
        pieces = [np.empty(0, np.int64)]
        for begin in range(0, len(self) if np.count_nonzero(wanted) else 0, _PIECE):
            part = self.type[begin : begin + _PIECE]
            rows = np.empty(part.size, np.int64)
            pieces.append(rows[: find_types(part, wanted, rows)] + begin)
        return np.concatenate(pieces)

    def used_types(self, types: int) -> NDArray[np.int64]:
        """The rows of types that have events, ascending; the plane has `types` types."""
        used = np.zeros(types, np.uint8)
        mark_types(self.type, used)
        return np.flatnonzero(used)

    def select(self, rows: NDArray[np.int64]) -> Events:
        """The events `rows`, ascending, without the number of marks; aggregated events stay."""
        marks = self.marks
        if marks is not None:
            marks = EventMarks(marks.names, np.empty(0, np.int32), marks.bits[rows])
        return Events(
            self.plane,
            self.lines,
            np.searchsorted(rows, self.first_event).astype(np.int64),
            self.type[rows],
            self.start_ps[rows],
            self.duration_ps[rows],
            self.source[rows],
            self.aggregated,
            marks,
        )

    def stats(
        self,
        names: Sequence[str],
        rows: NDArray[np.int64] | None = None,
        texts: Collection[str] = (),
    ) -> dict[str, StatColumn]:
        """One column per name for the events `rows` (all by default), decoded in one pass.

        A stat that is missing from an event is taken from its type, which states defaults. The
        names of which all texts are needed are in `texts`: reading them later costs another pass.
        """
        source = self.source if rows is None else self.source[rows]
        kind_of = self.type if rows is None else self.type[rows]
        own_stats = self.plane.event_stats(source, names, texts)
        type_stats = self.plane.types.stats(names)
        return {name: _with_defaults(own_stats[name], type_stats[name], kind_of) for name in names}


def _with_defaults(
    own_column: StatColumn, type_column: StatColumn, kind_of: NDArray[np.int32]
) -> StatColumn:
    if not np.count_nonzero(type_column.kind):  # all are ABSENT
        return own_column
    fills = (own_column.kind == ABSENT) & (kind_of >= 0)
    kind = own_column.kind.copy()
    bits = own_column.bits.copy()
    kind[fills] = type_column.kind[kind_of[fills]]
    bits[fills] = type_column.bits[kind_of[fills]]
    return StatColumn(kind, bits, own_column.source)


@dataclass(frozen=True, slots=True)
class Space:
    """One trace file.

    `start_ns` is 0 if times count from the start of the profile, else the epoch time that they
    count from. `errors` and `warnings` are the recorder's; `notices` describe damage in this file,
    and `ends_early` says where it ends if it was cut off, "" if it is complete. `decoded_ratio` is
    how much of the file's bytes has been decoded as events so far, 0 to 1.
    """

    start_ns: int
    hostnames: tuple[str, ...]
    strings: Strings
    planes: tuple[Plane, ...]
    errors: tuple[str, ...]
    warnings: tuple[str, ...]
    notices: tuple[Notice, ...]
    ends_early: str = ""
    decoded_ratio: Callable[[], float] = lambda: 0.0
