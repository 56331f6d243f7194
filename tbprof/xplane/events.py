"""Events of timelines as columns, by two passes over their bytes.

The first pass counts, and finds what follows the events; the second decodes. Long lines are read
window by window, short ones many at a time, since plain Python per line costs more than the line.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tbprof.base.columns import empty_column
from tbprof.base.parallel import in_parallel
from tbprof.base.records import dataclass
from tbprof.events.space import Aggregated
from tbprof.kernels.codes import (
    FOLLOWS_DISPLAY_ID,
    FOLLOWS_DISPLAY_NAME,
    FOLLOWS_ID,
    FOLLOWS_NAME,
    FOLLOWS_TIMESTAMP,
)
from tbprof.kernels.xplane.event_decoding import (
    DecodedEvents,
    LineEvents,
    SpanEvents,
    StatMarks,
    decode_span,
    decode_spans,
)
from tbprof.kernels.xplane.event_scan import LineEnds, scan_span, scan_spans
from tbprof.kernels.xplane.id_lookup import Lookup, find_rows
from tbprof.kernels.xplane.passes import Pass, Window
from tbprof.xplane.buffer import Buffer
from tbprof.xplane.damage import Damage
from tbprof.xplane.line_index import Line, Span
from tbprof.xplane.lookup import build_lookup
from tbprof.xplane.metadata import Dictionary

Columns = tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]
Marks = tuple[NDArray[np.int32], NDArray[np.uint8]]

NO_MARKS: Marks = (np.empty(0, np.int32), np.empty(0, np.uint8))

# Smaller varints are one byte.
_IDS_OF_ONE_BYTE = 128


@dataclass(frozen=True, slots=True)
class OnTheWay:
    """Stats to read while decoding: `AS_…` or 0 for each row of stat metadata, and their ids.

    `by_id` is what is `wanted` of the stats with ids of one byte.
    """

    wanted: NDArray[np.int8]
    by_id: NDArray[np.int8]
    lookup: Lookup
    has_number: bool

    @classmethod
    def of(cls, wanted: NDArray[np.int8], lookup: Lookup, *, has_number: bool) -> "OnTheWay":
        """The stats that are `wanted`, by the row of their metadata."""
        rows = np.empty(_IDS_OF_ONE_BYTE, np.int32)
        find_rows(lookup, np.arange(_IDS_OF_ONE_BYTE, dtype=np.int64), rows)
        return cls(wanted, np.append(wanted, np.int8(0))[rows], lookup, has_number)


NOTHING_ON_THE_WAY = OnTheWay.of(
    np.zeros(0, np.int8), build_lookup(np.zeros(0, np.int64)), has_number=False
)


@dataclass(frozen=True, slots=True)
class Decoded:
    """The events of some lines: `columns` are type, start, duration and source.

    Rows `first_event[i]:first_event[i + 1]` are those of line i, ordered by start, longest first.
    `marks` are number and bits of events.marks.EventMarks, empty if they were not requested.
    """

    lines: list[Line]
    first_event: NDArray[np.int64]
    columns: Columns
    marks: Marks
    aggregated: Aggregated

    def take(self, lines: Sequence[int]) -> "Decoded":
        """Some of the lines, in their order, without marks."""
        first = self.first_event.tolist()
        slices = [slice(first[line], first[line + 1]) for line in lines]
        type_, start, duration, source = (
            np.concatenate([column[rows] for rows in slices] or [column[:0]])
            for column in self.columns
        )
        counts = np.array([rows.stop - rows.start for rows in slices], np.int64)
        return Decoded(
            [self.lines[line] for line in lines],
            np.append(0, np.cumsum(counts)),
            (type_, start, duration, source),
            NO_MARKS,
            self.aggregated.take(lines),
        )


_NO_ROWS, _NO_NUMBERS = np.zeros(0, np.int32), np.zeros(0, np.int64)
_NOTHING_AGGREGATED = Aggregated(_NO_ROWS, _NO_ROWS, _NO_NUMBERS, _NO_NUMBERS, _NO_NUMBERS)


class EventReader:
    """Decodes lines of one plane; `origin_ps` turns a time stamp in ns into the start of a span."""

    def __init__(
        self,
        buffer: Buffer,
        types: Dictionary,
        origin_ps: Callable[[int], int],
        damage: Damage,
    ) -> None:
        self._buffer = buffer
        self._types = types
        self._origin_ps = origin_ps
        self._damage = damage

    def read(self, lines: Sequence[Line], on_the_way: OnTheWay) -> Decoded:
        """The events of `lines`, each decoded in one pass after one that counts them."""
        size = sum(span.end - span.begin for line in lines for span in line.spans)
        groups = _groups(lines, self._buffer.window)
        scanned, event_counts = self._scan(lines, groups, size)
        first = np.concatenate(([0], np.cumsum(event_counts))).astype(np.int64)
        total = int(first[-1])
        columns = (
            empty_column(total, np.int32),
            empty_column(total, np.int64),
            empty_column(total, np.int64),
            empty_column(total, np.int64),
        )
        reads = on_the_way.wanted.any()
        marks = (
            empty_column(total if reads and on_the_way.has_number else 0, np.int32),
            empty_column(total if reads else 0, np.uint8),
        )
        decoded_counts, merged = self._decode(
            scanned, groups, size, first, columns, on_the_way, marks
        )
        aggregated = _aggregated(first, merged, columns)
        return Decoded(scanned, *_compact(first, decoded_counts, columns, marks), aggregated)

    def _scan(
        self, lines: Sequence[Line], groups: Sequence[list[int]], size: int
    ) -> tuple[list[Line], NDArray[np.int64]]:
        """(the lines with the fields that follow their events, the number of events of each)."""
        scalars = np.zeros((5, len(lines)), np.int64)
        event_counts, follows, id_, timestamp_ns, display_id = scalars
        ranges = np.full((2, len(lines), 2), -1, np.int64)
        ends = LineEnds(*scalars, *ranges)
        scanned = list(lines)

        def stamped(span: Span, row: int) -> Span:
            """The span with the time stamp that followed its events, if any."""
            if not follows[row] & FOLLOWS_TIMESTAMP:
                return span
            follows[row] &= ~FOLLOWS_TIMESTAMP
            return span._replace(timestamp_ns=int(timestamp_ns[row]))

        def scan(group: int) -> None:
            rows = groups[group]
            if len(rows) > 1:
                begins, last = _ranges([lines[row] for row in rows])
                window = self._window(int(begins[0]), int(last[-1]))
                scan_spans(window, begins, last, np.array(rows, np.int64), ends)
            else:
                row = rows[0]
                spans = []
                for span in lines[row].spans:
                    progress = Pass(span.begin, span.end)
                    for window in self._buffer.along(progress):
                        scan_span(window, progress, ends, row)
                    spans.append(stamped(span, row))
                if spans != [*lines[row].spans]:
                    scanned[row] = lines[row]._replace(spans=tuple(spans))

        in_parallel(scan, range(len(groups)), size)
        rows = np.flatnonzero(follows)
        if not rows.size:
            return scanned, event_counts
        names, display_names = (self._buffer.texts(texts[rows]) for texts in ranges)
        for row, has, name, display_name in zip(
            rows.tolist(), follows[rows].tolist(), names, display_names, strict=True
        ):
            line = scanned[row]
            scanned[row] = Line(
                int(id_[row]) if has & FOLLOWS_ID else line.id,
                name if has & FOLLOWS_NAME else line.name,
                int(display_id[row]) if has & FOLLOWS_DISPLAY_ID else line.display_id,
                display_name if has & FOLLOWS_DISPLAY_NAME else line.display_name,
                (stamped(line.spans[0], row), *line.spans[1:]),
            )
        return scanned, event_counts

    def _decode(
        self,
        lines: Sequence[Line],
        groups: Sequence[list[int]],
        size: int,
        first: NDArray[np.int64],
        columns: Columns,
        on_the_way: OnTheWay,
        marks: Marks,
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """(events, aggregated entries) [lines]: how many were written into each line's rows."""
        counts = np.zeros((7, len(lines)), np.int64)
        events, aggregated, unsorted = counts[:3]
        of_lines = LineEvents(first[:-1], first[1:], *counts)
        decoded = DecodedEvents(*columns)
        stats = StatMarks(on_the_way.wanted, on_the_way.by_id, on_the_way.lookup, *marks)
        origins = [[self._origin_ps(span.timestamp_ns) for span in line.spans] for line in lines]

        def decode(group: int) -> None:
            rows = groups[group]
            if len(rows) > 1:
                begins, ends = _ranges([lines[row] for row in rows])
                cut_at = np.full(len(rows), -1, np.int64)
                of_spans = SpanEvents(
                    begins, ends, np.array(rows, np.int64),
                    np.array([origins[row][0] for row in rows], np.int64), cut_at,
                )  # fmt: skip
                window = self._window(int(begins[0]), int(ends[-1]))
                decode_spans(window, of_spans, self._types.lookup, of_lines, decoded, stats)
                self._buffer.note_decoded(int(begins[0]), int(ends[-1]))
                for position in np.flatnonzero(cut_at >= 0).tolist():
                    line = lines[rows[position]]
                    self._note_cut(line, line.spans[0], int(cut_at[position]))
            else:
                line = lines[rows[0]]
                for span, origin_ps in zip(line.spans, origins[rows[0]], strict=True):
                    progress = Pass(span.begin, span.end)
                    for window in self._buffer.along(progress):
                        cut = decode_span(
                            window, progress, origin_ps, rows[0],
                            self._types.lookup, of_lines, decoded, stats,
                        )  # fmt: skip
                        self._buffer.note_decoded(window.base, progress.at)
                        if cut >= 0:
                            self._note_cut(line, span, cut)
            for row in rows:
                if unsorted[row]:
                    begin = int(first[row])
                    _sort(columns, marks, begin, begin + int(events[row]))

        in_parallel(decode, range(len(groups)), size)
        for row in np.flatnonzero(counts[3:].any(axis=0)).tolist():
            self._note(lines[row], *counts[3:, row].tolist())
        return events, aggregated

    def _window(self, begin: int, end: int) -> Window:
        return Window(self._buffer.view(begin, end), begin)

    def _note_cut(self, line: Line, span: Span, offset: int) -> None:
        self._damage.note(
            "line_cut",
            f"line {line.name[:80]!r}: damaged at byte {offset}; "
            f"the {span.end - offset} bytes of events from there on are lost",
        )

    def _note(self, line: Line, damaged: int, damaged_at: int, clamped: int, dangling: int) -> None:
        where = f"line {line.name[:80]!r}"
        if damaged:
            self._damage.note(
                "events_damaged",
                f"{where}: {damaged} damaged events left out (first at byte {damaged_at})",
            )
        if clamped:
            self._damage.note(
                "times_damaged",
                f"{where}: {clamped} events have impossible times (over 40 hours or "
                "negative); they were cut to the limit",
            )
        if dangling:
            self._damage.note("names_missing", f"{where}: {dangling} events have no name")


def _groups(lines: Sequence[Line], window: int) -> list[list[int]]:
    """The rows of lines for each pass: many lines in one window, or a single one."""
    groups: list[list[int]] = []
    starts = [line.spans[0].begin for line in lines]
    reach = -1  # where the window of the last group ends; -1: no open group
    for row in sorted(range(len(lines)), key=starts.__getitem__):
        spans = lines[row].spans
        is_short = len(spans) == 1 and spans[0].end - spans[0].begin <= window
        if is_short and spans[0].end <= reach:
            groups[-1].append(row)
            continue
        groups.append([row])
        reach = spans[0].begin + window if is_short else -1
    return groups


def _ranges(lines: Sequence[Line]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(begins, ends) of the events of lines of one span each."""
    begins = np.array([line.spans[0].begin for line in lines], np.int64)
    return begins, np.array([line.spans[0].end for line in lines], np.int64)


def _sort(columns: Columns, marks: Marks, begin: int, end: int) -> None:
    """Puts the rows of a line in order."""
    start, duration = columns[1][begin:end], columns[2][begin:end]
    order = np.lexsort((-duration, start))
    for column in (*columns, *marks):
        line_column: NDArray[Any] = column[begin:end]  # empty if nothing was read
        line_column[:] = line_column[order[: line_column.size]]


def _aggregated(
    first: NDArray[np.int64], merged: NDArray[np.int64], columns: Columns
) -> Aggregated:
    """The rows that were written from the back of each line's slice, in file order."""
    rows = [
        np.arange(first[line + 1] - 1, first[line + 1] - 1 - merged[line], -1)
        for line in np.flatnonzero(merged)
    ]
    if not rows:
        return _NOTHING_AGGREGATED
    picked = np.concatenate(rows)
    line = np.repeat(np.arange(merged.size, dtype=np.int32), merged)
    type_, occurrences, duration, source = (column[picked] for column in columns)
    return Aggregated(line, type_, occurrences, duration, source)


def _compact(
    first: NDArray[np.int64], event_counts: NDArray[np.int64], columns: Columns, marks: Marks
) -> tuple[NDArray[np.int64], Columns, Marks]:
    """(first_event, columns, marks) of the first `event_counts` rows of each line's slice."""
    capacity = np.diff(first)
    if (event_counts == capacity).all():
        return first, columns, marks
    within = np.arange(first[-1]) - np.repeat(first[:-1], capacity)
    keeps = within < np.repeat(event_counts, capacity)
    type_, start, duration, source = columns
    packed = (type_[keeps], start[keeps], duration[keeps], source[keeps])
    number, bits = marks
    packed_marks = number[keeps[: number.size]], bits[keeps[: bits.size]]
    return np.concatenate(([0], np.cumsum(event_counts))).astype(np.int64), packed, packed_marks
