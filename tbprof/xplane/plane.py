"""One plane of a file: its lines by their headers, types and events when they are requested."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import cached_property, partial
from operator import is_

import numpy as np
from numpy.typing import NDArray

from tbprof.base.caches import OnceCache
from tbprof.base.errors import Notice
from tbprof.base.records import dataclass
from tbprof.events.marks import EventMarks, MarkNames
from tbprof.events.space import Events, Lines, Value
from tbprof.events.stats import StatColumn, StatRows, TextSource
from tbprof.events.strings import Strings
from tbprof.kernels.codes import LIMIT_PS
from tbprof.xplane.buffer import Buffer
from tbprof.xplane.damage import Damage
from tbprof.xplane.event_types import read_event_types
from tbprof.xplane.field_scan import Field, field_columns
from tbprof.xplane.lines.events import NO_STATS, Decoded, EventReader, StatsToRead
from tbprof.xplane.lines.line_index import Line, last_text, read_lines
from tbprof.xplane.metadata import Dictionary, read_dictionary
from tbprof.xplane.stat_reading import StatReader

# Fields of XPlane. Source: xplane.proto.
_ID = 1
_NAME = 2
_LINES = 3
_EVENT_METADATA = 4
_STAT_METADATA = 5
_STATS = 6

# Of XEvent and XEventMetadata.
_EVENT_STATS = 4
_TYPE_DISPLAY_NAME = 4
_TYPE_STATS = 5
_STAT_DESCRIPTION = 3

# Consequences of a file that ends inside a plane: reported once, for the file.
_OF_THE_CUT = frozenset(("plane_cut", "line_cut", "names_missing"))

# Several parts request short lines, such as those of steps: they are decoded once.
_SHARED_BYTES = 1 << 18
# For fewer types × names, all stats are read at once: a pass costs as much as a few thousand stats.
_READ_AT_ONCE = 1 << 16

# A recorder counts time from its start; larger time stamps count from 1970.
EPOCH_NS = 10**17


@dataclass(slots=True)
class Epoch:
    """The reference of a space's epoch time stamps: known after all planes have been read."""

    start_ns: int = 0


class FilePlane:
    """A `Plane` over the bytes [begin, end) of a file. Implements events.space.Plane.

    `epoch` receives the reference of epoch time stamps; XLines over `most_lines` are left out.
    """

    def __init__(
        self,
        buffer: Buffer,
        begin: int,
        end: int,
        strings: Strings,
        damage: Damage,
        epoch: Epoch,
        *,
        is_cut: bool,
        most_lines: int,
    ) -> None:
        self._buffer = buffer
        self.strings = strings
        self._epoch = epoch
        self.cache = OnceCache()
        self.expected_stats: set[str] = set()
        fields, damaged_at, cut = field_columns(buffer, begin, end)
        self._fields = fields
        self.name = last_text(buffer, fields, _NAME)
        self.id = fields.scalar(_ID)
        self._damage = damage.within(
            f"plane {self.name[:80]!r}", _OF_THE_CUT if is_cut else frozenset()
        )
        bodies = list(zip(*(column.tolist() for column in fields.bodies(_LINES)), strict=True))
        if cut is not None and cut[0] == _LINES:
            bodies.append(cut[1:])
        self.line_messages = len(bodies)
        self._line_bodies = bodies[:most_lines]
        self.is_damaged = is_cut or damaged_at >= 0
        self._stats = StatReader(
            buffer,
            strings,
            self._damage,
            partial(_dictionary, buffer, fields, self._damage, _STAT_METADATA, _STAT_DESCRIPTION),
        )
        if damaged_at >= 0:
            self._damage.note(
                "plane_cut",
                f"it is damaged (at byte {damaged_at}); what follows is lost, including names",
                "record again; the rest of the page shows what could be read",
            )
        if self.line_messages > most_lines:
            self._damage.note(
                "lines_left_out",
                f"{self.line_messages - most_lines} of {self.line_messages} lines left out: "
                "no trace has so many",
            )

    @property
    def notices(self) -> Sequence[Notice]:
        """The damage in what has been decoded so far."""
        return self._damage.notices

    @cached_property
    def timelines(self) -> tuple[Line, ...]:
        """The lines, found without touching their events."""
        return read_lines(self._buffer, self._line_bodies)

    @cached_property
    def lines(self) -> Lines:
        """The headers of the lines, without touching events."""
        return self._columns(self.timelines)

    @property
    def line_bytes(self) -> NDArray[np.int64]:
        """[lines] about how many bytes of the file each line takes."""
        return np.array(self._line_sizes, np.int64)

    @cached_property
    def _line_sizes(self) -> list[int]:
        return [sum(span.end - span.begin for span in line.spans) for line in self.timelines]

    def _columns(self, lines: Sequence[Line]) -> Lines:
        self._check_stamps(lines)
        starts = [min(self._origin_ps(span.timestamp_ns) for span in line.spans) for line in lines]
        return Lines(
            np.array([line.id for line in lines], np.int64),
            self.strings.intern([line.name for line in lines]),
            np.array(starts, np.int64),
            np.array([line.display_id or line.id for line in lines], np.int64),
            self.strings.intern([line.display_name or line.name for line in lines]),
        )

    def _origin_ps(self, timestamp_ns: int) -> int:
        since_ns = timestamp_ns - self._epoch.start_ns if timestamp_ns > EPOCH_NS else timestamp_ns
        return max(-LIMIT_PS, min(LIMIT_PS, since_ns * 1000))

    def _check_stamps(self, lines: Sequence[Line]) -> None:
        for line in lines:
            for span in line.spans:
                if abs(self._origin_ps(span.timestamp_ns)) == LIMIT_PS:
                    self._damage.note(
                        "times_damaged",
                        f"a line starts at an impossible time ({span.timestamp_ns} ns); "
                        "it was cut to 40 hours",
                    )

    @cached_property
    def types(self) -> FileTypes:
        """The kinds of event."""
        dictionary = _dictionary(
            self._buffer, self._fields, self._damage, _EVENT_METADATA, _TYPE_DISPLAY_NAME
        )
        return FileTypes(dictionary, self._buffer, self.strings, self._stats)

    @property
    def stat_names(self) -> frozenset[str]:
        """Every stat name of the plane (and texts interned as such)."""
        return self._stats.stat_names

    @cached_property
    def stats(self) -> Mapping[str, Value]:
        """The plane's own stats: device capabilities, versions, process id."""
        first_values: dict[str, Value] = {}
        for name, value in self._stats.values(*self._fields.bodies(_STATS)):
            first_values.setdefault(name, value)
        return first_values

    def events(self, lines: Sequence[int] | None = None, marks: MarkNames | None = None) -> Events:
        """The events of some lines (all by default); without marks if there are few."""
        timelines = self.timelines
        rows = tuple(range(len(timelines)) if lines is None else lines)
        is_short = sum(self._line_sizes[row] for row in rows) <= _SHARED_BYTES
        stats_to_read = NO_STATS
        if marks is not None and not is_short:
            stats_to_read = self._stats.stats_to_read(marks)

        of_lines, decoded = self._shared(rows) if is_short else self._read(rows, stats_to_read)
        read_too = None
        if marks is not None and stats_to_read.wanted.any():
            read_too = EventMarks(marks, *decoded.marks)
        return Events(
            self, of_lines, decoded.first_event, *decoded.columns, decoded.aggregated, read_too
        )

    def _shared(self, rows: tuple[int, ...]) -> tuple[Lines, Decoded]:
        """Some short lines, decoded once: what was decoded is kept, alone or with other lines.

        It does not refer to the plane, so a dropped space is freed at once.
        """
        known: dict[tuple[int, ...], tuple[Lines, Decoded]]
        known = self.cache.get_or_compute("events", dict)
        if rows not in known:
            superset = next((others for others in list(known) if set(rows) <= set(others)), ())
            if superset:
                places = [superset.index(row) for row in rows]
                known[rows] = known[superset][0].take(places), known[superset][1].take(places)
            else:
                known[rows] = self._read(rows, NO_STATS)
        return known[rows]

    def _read(self, rows: tuple[int, ...], stats_to_read: StatsToRead) -> tuple[Lines, Decoded]:
        reader = EventReader(
            self._buffer,
            self.types.dictionary,
            self._origin_ps,
            self._check_stamps,
            self._damage,
        )
        wanted = [self.timelines[row] for row in rows]
        decoded = reader.read(wanted, stats_to_read)
        is_known = all(map(is_, decoded.lines, wanted))
        return self.lines.take(rows) if is_known else self._columns(decoded.lines), decoded

    def event_stats(
        self, source: NDArray[np.int64], names: Sequence[str], texts: Collection[str] = ()
    ) -> dict[str, StatColumn]:
        """One column [n] per name, read from the events at the offsets `source` [n].

        Those of the names that `texts` contains are read together with their texts.
        """
        return self._stats.columns(source, names, _EVENT_STATS, texts)

    def stat_rows(self, source: NDArray[np.int64]) -> StatRows:
        """All stats of the events at the offsets `source` [n]: for thousands, not millions."""
        return self._stats.rows(source, _EVENT_STATS)

    def event_types(self, source: NDArray[np.int64]) -> NDArray[np.int32]:
        """[n] the rows in `types` of the events at the offsets `source` [n], -1 for none."""
        return read_event_types(self._buffer, self.types.dictionary, source)

    def details(self, source: int) -> list[tuple[str, Value]]:
        """All stats of one event, in file order."""
        fields, _, _ = field_columns(self._buffer, *self._buffer.body(source))
        return self._stats.values(*fields.bodies(_EVENT_STATS))


def _dictionary(
    buffer: Buffer, fields: Field, damage: Damage, number: int, display_field: int
) -> Dictionary:
    begins, ends = fields.bodies(number)
    dictionary = read_dictionary(buffer, begins, ends, display_field)
    if dictionary.damaged:
        damage.note(
            "names_damaged", f"{dictionary.damaged} damaged names (from byte {int(begins[0])} on)"
        )
    return dictionary


class FileTypes:
    """XEventMetadata of one plane; names are decoded when first requested."""

    def __init__(
        self, dictionary: Dictionary, buffer: Buffer, strings: Strings, stats: StatReader
    ) -> None:
        self.dictionary = dictionary
        self.id = dictionary.id
        self._buffer = buffer
        self.strings = strings
        self._stats = stats
        self._known_stats: dict[str, StatColumn] = {}

    @cached_property
    def name(self) -> NDArray[np.int32]:
        """[n] ids of the full names."""
        return self.strings.intern(self._buffer.texts(self.dictionary.name))

    @cached_property
    def full_names(self) -> Sequence[str]:
        """[n] the full names; most analyses begin with those of all types."""
        return self.strings.take(self.name.tolist())

    @cached_property
    def display_name(self) -> NDArray[np.int32]:
        """[n] ids of the short labels, -1 for none."""
        ranges = self.dictionary.display_name
        ids = self.strings.intern(self._buffer.texts(ranges))
        return np.where(ranges[:, 1] > ranges[:, 0], ids, np.int32(-1)).astype(np.int32)

    def stats(self, names: Sequence[str]) -> dict[str, StatColumn]:
        """One column [n] per name: stats that all events of a type share, each read once."""
        # Other threads may do the same at the same time, with the same result.
        known = self._known_stats
        missing = [name for name in names if name in self._stat_names and name not in known]
        if missing:
            if len(self._stat_names) * self.dictionary.value.size <= _READ_AT_ONCE:
                missing = [*self._stat_names]
            columns = self._stats.columns(self.dictionary.with_stats, missing, _TYPE_STATS)
            for name, column in columns.items():
                known[name] = StatColumn(column.kind, column.bits, _ReadOnce(self._stats))
        return {name: known.get(name, self._no_values) for name in names}

    @cached_property
    def _stat_names(self) -> frozenset[str]:
        """The names of the stats that types have, which are few."""
        return self._stats.used_names(self.dictionary.with_stats, _TYPE_STATS)

    @cached_property
    def _no_values(self) -> StatColumn:
        size = self.dictionary.value.size
        source = _ReadOnce(self._stats)
        return StatColumn(np.zeros(size, np.uint8), np.zeros(size, np.int64), source)

    def stat_rows(self) -> StatRows:
        """All stats of the types [n]."""
        return self._stats.rows(self.dictionary.with_stats, _TYPE_STATS)

    def details(self, row: int) -> list[tuple[str, Value]]:
        """All stats of one type, in file order."""
        body = self._buffer.body(int(self.dictionary.value[row]))
        fields, _, _ = field_columns(self._buffer, *body)
        return self._stats.values(*fields.bodies(_TYPE_STATS))


class _ReadOnce:
    """The texts of one column, cached for many users. Implements events.stats.TextSource."""

    def __init__(self, source: TextSource) -> None:
        self._source = source
        self._known: tuple[NDArray[np.int64], NDArray[np.int32]] | None = None

    def text_ids(self, kind: NDArray[np.uint8], bits: NDArray[np.int64]) -> NDArray[np.int32]:
        """Ids [n] into the space's strings, -1 where the value is not a text."""
        cached = self._known
        if cached is None or cached[0] is not bits:
            ids = self._source.text_ids(kind, bits)
            ids.flags.writeable = False
            self._known = cached = bits, ids
        return cached[1]

    def bytes_at(self, bits: int) -> memoryview:
        """The content of one bytes value."""
        return self._source.bytes_at(bits)
