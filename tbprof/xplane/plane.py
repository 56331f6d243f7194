"""One plane of a file: lines by their headers, types and events when they are asked for."""

import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tbprof.base.errors import Notice
from tbprof.events.space import Aggregated, Events, Lines, Value
from tbprof.events.stats import ABSENT, BYTES, DOUBLE, REFERENCE, TEXT, UINT64, StatColumn
from tbprof.events.strings import Strings
from tbprof.xplane import decode
from tbprof.xplane.buffer import CHUNK, Buffer
from tbprof.xplane.interning import group_texts
from tbprof.xplane.lookup import find_row, find_rows
from tbprof.xplane.metadata import Dictionary, read_dictionary
from tbprof.xplane.scan import Field, field_columns, read_header
from tbprof.xplane.wire import read_length

_EVENT_STATS = 4
_TYPE_STATS = 5
_STATS_PER_PASS = 1 << 16

# A recorder counts time from its start; larger time stamps count from 1970.
_EPOCH_NS = 10**17


@dataclass(frozen=True, slots=True)
class LineHeader:
    """What the index knows of a line: its fields before the first event, and where events begin."""

    id: int
    name: str
    timestamp_ns: int
    display_id: int
    display_name: str
    events_at: int
    end: int


class FilePlane:
    """A `Plane` over the bytes [begin, end) of a file. Implements events.space.Plane."""

    def __init__(
        self,
        buffer: Buffer,
        begin: int,
        end: int,
        strings: Strings,
        epoch_ns: Callable[[], int],
        *,
        is_cut: bool,
    ) -> None:
        self._buffer = buffer
        self._strings = strings
        self._epoch_ns = epoch_ns
        self._notices: list[Notice] = []
        self._lock = threading.RLock()
        fields, damaged_at, cut = field_columns(buffer, begin, end)
        self._fields = fields
        self._cut_field = cut
        self.name = _last_text(buffer, fields, 2)
        self.id = fields.scalar(1)
        if damaged_at >= 0 or is_cut:
            self._note_cut(damaged_at if damaged_at >= 0 else end, is_cut)

    def _note_cut(self, offset: int, is_cut: bool) -> None:
        what = "the file ends inside it" if is_cut else "it is damaged"
        self._note(
            "plane_cut",
            f"{self._buffer.path}: plane {self.name!r}: {what} (at byte {offset}); "
            "what follows is lost, names among it",
            "record again; the rest of the page shows what could be read",
        )

    def _note(self, code: str, message: str, hint: str = "") -> None:
        notice = Notice(code, message, hint=hint)
        with self._lock:
            if notice not in self._notices:
                self._notices.append(notice)

    @property
    def notices(self) -> Sequence[Notice]:
        """What was damaged in what has been decoded so far."""
        return tuple(self._notices)

    @property
    def strings(self) -> Strings:
        """The space's names."""
        return self._strings

    # Lines.

    @cached_property
    def headers(self) -> tuple[LineHeader, ...]:
        """The header of each line, found without touching its events."""
        begins, ends = self._fields.bodies(3)
        spans = list(zip(begins.tolist(), ends.tolist(), strict=True))
        if self._cut_field is not None and self._cut_field[0] == 3:
            spans.append(self._cut_field[1:])
        return tuple(_line_header(self._buffer, begin, end) for begin, end in spans)

    @cached_property
    def lines(self) -> Lines:
        """The headers of the lines, without touching events."""
        return self._line_columns(self.headers)

    def _line_columns(self, headers: Sequence[LineHeader]) -> Lines:
        ids = np.array([header.id for header in headers], np.int64)
        display = np.array([header.display_id for header in headers], np.int64)
        return Lines(
            ids,
            self._strings.intern([header.name for header in headers]),
            np.array([self._origin_ps(header.timestamp_ns) for header in headers], np.int64),
            np.where(display == 0, ids, display),
            self._strings.intern([header.display_name or header.name for header in headers]),
        )

    def _origin_ps(self, timestamp_ns: int) -> int:
        if timestamp_ns > _EPOCH_NS:
            timestamp_ns -= self._epoch_ns()
        return max(-decode.LIMIT_PS, min(decode.LIMIT_PS, timestamp_ns * 1000))

    # Types and stats shared by a type.

    @cached_property
    def _stat_dictionary(self) -> Dictionary:
        with self._lock:
            return self._dictionary(5, 3)

    @cached_property
    def types(self) -> "FileTypes":
        """The kinds of event."""
        with self._lock:
            return FileTypes(self, self._dictionary(4, 4))

    def _dictionary(self, field: int, display_field: int) -> Dictionary:
        begins, ends = self._fields.bodies(field)
        if begins.size:
            self._buffer.bring(int(begins[0]), int(ends[-1]))
        found = read_dictionary(self._buffer.bytes, begins, ends, display_field)
        if found.damaged:
            self._note(
                "names_damaged",
                f"{self._buffer.path}: plane {self.name!r}: {found.damaged} damaged names "
                f"(from byte {int(begins[0])} on)",
            )
        return found

    @cached_property
    def _stat_texts(self) -> list[str]:
        return self.decode_texts(self._stat_dictionary.name)

    @cached_property
    def _stat_text_ids(self) -> NDArray[np.int32]:
        return self._strings.intern(self._stat_texts)

    @property
    def stat_names(self) -> frozenset[str]:
        """Every stat name of the plane (and texts interned as such)."""
        return frozenset(self._stat_texts)

    def decode_texts(self, ranges: NDArray[np.int64]) -> list[str]:
        """The texts [n] in byte ranges [n, 2]; "" for absent ones, U+FFFD for invalid UTF-8."""
        raw = self._buffer.bytes
        return [
            raw[begin:end].tobytes().decode("utf-8", "replace") if begin >= 0 else ""
            for begin, end in ranges.tolist()
        ]

    # Events.

    def events(self, lines: Sequence[int] | None = None) -> Events:
        """The events of some lines (all by default), each decoded in one pass over its bytes."""
        headers = self.headers
        chosen = range(len(headers)) if lines is None else lines
        picked = [headers[row] for row in chosen]
        dictionary = self.types.dictionary
        counts = [self._count(header) for header in picked]
        first = np.concatenate(([0], np.cumsum(counts, dtype=np.int64)))
        total = int(first[-1])
        columns = (
            np.empty(total, np.int32),
            np.empty(total, np.int64),
            np.empty(total, np.int64),
            np.empty(total, np.int64),
        )

        def decode_line(row: int) -> NDArray[np.int64]:
            part = slice(int(first[row]), int(first[row + 1]))
            return self._decode_line(picked[row], dictionary, [column[part] for column in columns])

        states = _in_parallel(decode_line, range(len(picked)), sum(counts))
        return self._assemble(picked, first, columns, states)

    def _count(self, header: LineHeader) -> int:
        total = 0
        position = header.events_at
        state = np.zeros(2, np.int64)
        while position < header.end:
            stop = min(position + CHUNK, header.end)
            self._buffer.bring(position, stop)
            state[0] = position
            total += int(decode.count_events(self._buffer.bytes, state, stop, header.end))
            self._buffer.release(position, min(int(state[0]), stop))
            if state[1]:
                break
            position = int(state[0])
        return total

    def _decode_line(
        self, header: LineHeader, dictionary: Dictionary, columns: list[NDArray[np.int64]]
    ) -> NDArray[np.int64]:
        state = np.zeros(decode.STATE_SIZE, np.int64)
        state[decode.POSITION] = header.events_at
        state[decode.NAME_AT] = state[decode.DISPLAY_AT] = -1
        state[decode.TIMESTAMP_NS] = header.timestamp_ns
        origin_ps = self._origin_ps(header.timestamp_ns)
        while state[decode.POSITION] < header.end and not state[decode.CUT]:
            begin = int(state[decode.POSITION])
            stop = min(begin + CHUNK, header.end)
            self._buffer.bring(begin, stop)
            decode.decode_events(
                self._buffer.bytes, state, stop, header.end, origin_ps,
                dictionary.keys, dictionary.rows, *columns,
            )  # fmt: skip
            self._buffer.release(begin, int(state[decode.POSITION]))
        if state[decode.UNSORTED]:
            self._sort(columns, int(state[decode.EVENTS]))
        return state

    @staticmethod
    def _sort(columns: list[NDArray[np.int64]], events: int) -> None:
        start, duration = columns[1][:events], columns[2][:events]
        order = np.lexsort((-duration, start))
        for column in columns:
            column[:events] = column[:events][order]

    def _assemble(
        self,
        headers: list[LineHeader],
        first: NDArray[np.int64],
        columns: tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]],
        states: list[NDArray[np.int64]],
    ) -> Events:
        self._note_damage(headers, states)
        counted = np.diff(first)
        kept = np.array([state[decode.EVENTS] for state in states], np.int64)
        merged = np.array([state[decode.AGGREGATED] for state in states], np.int64)
        lines = self._line_columns(
            [self._completed(header, state) for header, state in zip(headers, states, strict=True)]
        )
        aggregated = _aggregated(first, merged, columns)
        if (kept < counted).any():
            within = np.arange(first[-1]) - np.repeat(first[:-1], counted)
            keeps = within < np.repeat(kept, counted)
            columns = (columns[0][keeps], columns[1][keeps], columns[2][keeps], columns[3][keeps])
            first = np.concatenate(([0], np.cumsum(kept, dtype=np.int64)))
        return Events(self, lines, first, *columns, aggregated)

    def _completed(self, header: LineHeader, state: NDArray[np.int64]) -> LineHeader:
        """The header with the fields that followed the events; on the wire the last one counts."""
        name, display = header.name, header.display_name
        if state[decode.NAME_AT] >= 0:
            name = self._text(int(state[decode.NAME_AT]), int(state[decode.NAME_END]))
        if state[decode.DISPLAY_AT] >= 0:
            display = self._text(int(state[decode.DISPLAY_AT]), int(state[decode.DISPLAY_END]))
        return LineHeader(
            int(state[decode.LINE_ID]) or header.id,
            name,
            header.timestamp_ns,
            int(state[decode.DISPLAY_ID]) or header.display_id,
            display,
            header.events_at,
            header.end,
        )

    def _text(self, begin: int, end: int) -> str:
        return self._buffer.bytes[begin:end].tobytes().decode("utf-8", "replace")

    def _note_damage(self, headers: list[LineHeader], states: list[NDArray[np.int64]]) -> None:
        where = f"{self._buffer.path}: plane {self.name!r}"
        for header, state in zip(headers, states, strict=True):
            line = f"{where}, line {header.name[:80]!r}"
            if state[decode.CUT]:
                self._note(
                    "line_cut",
                    f"{line}: damaged at byte {state[decode.POSITION]}; "
                    f"{header.end - state[decode.POSITION]} bytes of events after it are lost",
                )
            if state[decode.DAMAGED]:
                self._note(
                    "events_damaged",
                    f"{line}: {state[decode.DAMAGED]} damaged events left out "
                    f"(first at byte {state[decode.DAMAGED_AT]})",
                )
            if state[decode.CLAMPED]:
                self._note(
                    "times_damaged",
                    f"{line}: {state[decode.CLAMPED]} events have impossible times (over 40 hours "
                    "or negative); they were cut to the limit",
                )
            if state[decode.DANGLING]:
                self._note(
                    "names_missing", f"{line}: {state[decode.DANGLING]} events have no name"
                )

    # Stats of events.

    def event_stats(self, source: NDArray[np.int64], names: Sequence[str]) -> dict[str, StatColumn]:
        """One column [n] per name, read from the events at the offsets `source` [n]."""
        return self.read_stats(source, names, _EVENT_STATS)

    def read_stats(
        self, source: NDArray[np.int64], names: Sequence[str], field: int
    ) -> dict[str, StatColumn]:
        """One column per name of the stats in field `field` of the messages at `source` [n]."""
        events = source.size
        kinds = np.zeros((events, len(names)), np.uint8)
        bits = np.zeros((events, len(names)), np.int64)
        dictionary = self._stat_dictionary
        slots = self._slots(names)
        if events and (slots >= 0).any():
            # Columns that no stat can fill would keep the pass from ending events early.
            used = np.unique(slots[slots >= 0])
            dense = np.full(len(names), -1, np.int32)
            dense[used] = np.arange(used.size)
            narrow = np.where(slots >= 0, dense[slots], -1).astype(np.int32)
            some_kinds = np.zeros((events, used.size), np.uint8)
            some_bits = np.zeros((events, used.size), np.int64)

            def decode_part(begin: int) -> int:
                end = min(begin + _STATS_PER_PASS, events)
                low, high = int(source[begin:end].min()), int(source[begin:end].max())
                if high - low < 4 * CHUNK:
                    self._buffer.bring(max(low, 0), min(high + 512, len(self._buffer)))
                damaged = decode.decode_stats(
                    self._buffer.bytes, source[begin:end], len(self._buffer), field,
                    dictionary.keys, dictionary.rows, narrow,
                    some_kinds[begin:end], some_bits[begin:end],
                )  # fmt: skip
                self._buffer.release(max(low, 0), high)
                return int(damaged)

            parts = range(0, events, _STATS_PER_PASS)
            damaged = sum(_in_parallel(decode_part, parts, events))
            kinds[:, used] = some_kinds
            bits[:, used] = some_bits
            if damaged:
                self._note(
                    "stats_damaged",
                    f"{self._buffer.path}: plane {self.name!r}: {damaged} damaged stats left out "
                    f"(after byte {int(source.min())})",
                )
        return {
            name: StatColumn(kinds[:, column].copy(), bits[:, column].copy(), self)
            for column, name in enumerate(names)
        }

    def _slots(self, names: Sequence[str]) -> NDArray[np.int32]:
        """[stat metadata rows] the output column of each stat, -1 for those not asked for."""
        column_of = {name: column for column, name in enumerate(names)}
        return np.array([column_of.get(text, -1) for text in self._stat_texts], np.int32)

    def text_ids(self, kind: NDArray[np.uint8], bits: NDArray[np.int64]) -> NDArray[np.int32]:
        """Ids [n] into the space's strings of text values and references, -1 for other kinds."""
        out = np.full(kind.size, -1, np.int32)
        is_reference = kind == REFERENCE
        if is_reference.any():
            dictionary = self._stat_dictionary
            ids = bits[is_reference]
            row = np.empty(ids.size, np.int32)
            find_rows(dictionary.keys, dictionary.rows, ids, row)
            # The last entry stands for references to nothing.
            out[is_reference] = np.append(self._stat_text_ids, np.int32(-1))[row]
        is_text = kind == TEXT
        if is_text.any():
            ranges, code = group_texts(self._buffer.bytes, bits[is_text])
            out[is_text] = self._strings.intern(self.decode_texts(ranges))[code]
        return out

    def bytes_at(self, bits: int) -> bytes:
        """The content of the text or bytes value whose length varint lies at offset `bits`."""
        begin, end = read_length(self._buffer.bytes, bits, len(self._buffer))
        return self._buffer.bytes[begin:end].tobytes() if begin >= 0 else b""

    def details(self, source: int) -> list[tuple[str, Value]]:
        """All stats of one event, in file order."""
        begin, end = read_length(self._buffer.bytes, source, len(self._buffer))
        fields, _, _ = field_columns(self._buffer, int(begin), int(end))
        return self._named_values(*fields.bodies(_EVENT_STATS))

    @cached_property
    def stats(self) -> Mapping[str, Value]:
        """The plane's own stats: device capabilities, versions, process id."""
        return dict(reversed(self._named_values(*self._fields.bodies(6))))

    def _named_values(
        self, begins: NDArray[np.int64], ends: NDArray[np.int64]
    ) -> list[tuple[str, Value]]:
        values: list[tuple[str, Value]] = []
        stat = np.zeros(3, np.int64)
        dictionary = self._stat_dictionary
        for begin, end in zip(begins.tolist(), ends.tolist(), strict=True):
            if not decode.decode_stat(self._buffer.bytes, begin, end, stat):
                continue
            row = int(find_row(dictionary.keys, dictionary.rows, int(stat[0])))
            value = self._value(int(stat[1]), int(stat[2]))
            if value is not None:
                values.append((self._stat_texts[row] if row >= 0 else "", value))
        return values

    def _value(self, kind: int, bits: int) -> Value | None:
        if kind == ABSENT:
            return None
        if kind == DOUBLE:
            return float(np.int64(bits).view(np.float64))
        if kind == UINT64:
            return bits & (2**64 - 1)
        if kind == BYTES:
            return self.bytes_at(bits)
        if kind in (TEXT, REFERENCE):
            ids = self.text_ids(np.array([kind], np.uint8), np.array([bits], np.int64))
            return self._strings[int(ids[0])]
        return bits


class FileTypes:
    """XEventMetadata of one plane; names are decoded when they are first asked for."""

    def __init__(self, plane: FilePlane, dictionary: Dictionary) -> None:
        self._plane = plane
        self.dictionary = dictionary

    @property
    def id(self) -> NDArray[np.int64]:
        """[n] the metadata ids."""
        return self.dictionary.id

    @cached_property
    def name(self) -> NDArray[np.int32]:
        """[n] ids of the full names."""
        return self._plane.strings.intern(self._plane.decode_texts(self.dictionary.name))

    @cached_property
    def display_name(self) -> NDArray[np.int32]:
        """[n] ids of the short labels, -1 where there is none."""
        ranges = self.dictionary.display_name
        ids = self._plane.strings.intern(self._plane.decode_texts(ranges))
        return np.where(ranges[:, 1] > ranges[:, 0], ids, np.int32(-1)).astype(np.int32)

    def stats(self, names: Sequence[str]) -> dict[str, StatColumn]:
        """One column [n] per name: stats that all events of a type share."""
        return self._plane.read_stats(self.dictionary.value, names, _TYPE_STATS)


def _line_header(buffer: Buffer, begin: int, end: int) -> LineHeader:
    header = read_header(buffer, begin, end, stop_field=decode.EVENT_FIELD)
    return LineHeader(
        header.scalar(1),
        _last_text(buffer, header, 2),
        header.scalar(3),
        header.scalar(10),
        _last_text(buffer, header, 11),
        header.stopped_at,
        end,
    )


def _last_text(buffer: Buffer, fields: Field, number: int) -> str:
    begins, ends = fields.bodies(number)
    if not begins.size:
        return ""
    return buffer.bytes[int(begins[-1]) : int(ends[-1])].tobytes().decode("utf-8", "replace")


def _aggregated(
    first: NDArray[np.int64],
    merged: NDArray[np.int64],
    columns: tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]],
) -> Aggregated:
    """The rows that were written from the back of each line's slice, in file order."""
    rows = [
        np.arange(first[line + 1] - 1, first[line + 1] - 1 - merged[line], -1)
        for line in np.flatnonzero(merged)
    ]
    picked = np.concatenate(rows) if rows else np.zeros(0, np.int64)
    line = np.repeat(np.arange(merged.size, dtype=np.int32), merged)
    return Aggregated(line, columns[0][picked], columns[1][picked], columns[2][picked], columns[3][picked])


_PARALLEL_FROM = 20_000


def _in_parallel(function: Callable[[int], object], items: Sequence[int], events: int) -> list:  # type: ignore[type-arg]
    """`function` of each item, in order; by threads where the events are many enough to pay."""
    if events < _PARALLEL_FROM or len(items) < 2:
        return [function(item) for item in items]
    with ThreadPoolExecutor() as pool:
        return list(pool.map(function, items))
