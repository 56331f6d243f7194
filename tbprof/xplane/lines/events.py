"""Events of timelines as columns.

Columns hold one line after the other, so one pass counts the events before another decodes them.
For long lines, the number is estimated (`event_estimates`); if an estimate is too small, all events
are counted. Long lines are read window by window, short ones many at a time, since plain Python per
line costs more than the line.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tbprof.base.columns import empty_column, release_end
from tbprof.base.process.parallel import in_parallel
from tbprof.base.records import dataclass
from tbprof.events.space import Aggregated
from tbprof.kernels.codes import FOLLOWS_TIMESTAMP
from tbprof.kernels.xplane.event_decoding import (
    DecodedEvents,
    LineEvents,
    SpanEvents,
    StatMarks,
    decode_span,
    decode_spans,
)
from tbprof.kernels.xplane.event_scan import scan_span, scan_spans
from tbprof.kernels.xplane.id_lookup import Lookup
from tbprof.kernels.xplane.passes import Pass, Window
from tbprof.xplane.buffer import Buffer
from tbprof.xplane.damage import Damage
from tbprof.xplane.lines.event_estimates import most_events
from tbprof.xplane.lines.following import Following
from tbprof.xplane.lines.line_index import Line, Span
from tbprof.xplane.lookup import build_lookup, rows_of_short_ids
from tbprof.xplane.metadata import Dictionary

Columns = tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]
Marks = tuple[NDArray[np.int32], NDArray[np.uint8]]

NO_MARKS: Marks = (np.empty(0, np.int32), np.empty(0, np.uint8))

# Lines of fewer windows are counted.
_LONG = 8


@dataclass(frozen=True, slots=True)
class StatsToRead:
    """Stats that are read while decoding: `AS_…` or 0 for each row of stat metadata, and their ids.

    `by_id` is the same as `wanted` by the ids that take one byte.
    """

    wanted: NDArray[np.int8]
    by_id: NDArray[np.int8]
    lookup: Lookup
    has_number: bool

    @classmethod
    def of(cls, wanted: NDArray[np.int8], lookup: Lookup, *, has_number: bool) -> StatsToRead:
        """The stats that are `wanted`, by the row of their metadata."""
        by_id = np.append(wanted, np.int8(0))[rows_of_short_ids(lookup)]
        return cls(wanted, by_id, lookup, has_number)


NO_STATS = StatsToRead.of(
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

    def take(self, lines: Sequence[int]) -> Decoded:
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


class _EstimateTooSmall(Exception):
    """A line has more events than estimated."""


class EventReader:
    """Decodes lines of one plane.

    `origin_ps` turns a time stamp in ns into the start of a span; `check_stamps` notes impossible
    time stamps of lines.
    """

    def __init__(
        self,
        buffer: Buffer,
        types: Dictionary,
        origin_ps: Callable[[int], int],
        check_stamps: Callable[[Sequence[Line]], None],
        damage: Damage,
    ) -> None:
        self._buffer = buffer
        self._types = types
        self._origin_ps = origin_ps
        self._check_stamps = check_stamps
        self._damage = damage

    def read(self, lines: Sequence[Line], stats_to_read: StatsToRead) -> Decoded:
        """The events of `lines`."""
        try:
            return self._read(lines, stats_to_read, estimates=True)
        except _EstimateTooSmall:
            return self._read(lines, stats_to_read, estimates=False)

    def _read(
        self, lines: Sequence[Line], stats_to_read: StatsToRead, *, estimates: bool
    ) -> Decoded:
        """The events of `lines`. Raises _EstimateTooSmall if an estimate was too small."""
        size = sum(span.end - span.begin for line in lines for span in line.spans)
        groups = _groups(lines, self._buffer.window)
        estimated = [self._most_events(lines, rows) if estimates else 0 for rows in groups]
        following = Following.of(len(lines))
        scanned, most_events = self._scan(lines, groups, estimated, size, following)
        first = np.concatenate(([0], np.cumsum(most_events))).astype(np.int64)
        total = int(first[-1])
        start, duration, source = (empty_column(total, np.int64) for _ in range(3))
        columns = empty_column(total, np.int32), start, duration, source
        reads = stats_to_read.wanted.any()
        marks = (
            empty_column(total if reads and stats_to_read.has_number else 0, np.int32),
            empty_column(total if reads else 0, np.uint8),
        )
        decoded_counts, merged = self._decode(
            scanned, groups, estimated, size, first, columns, stats_to_read, marks, following
        )
        aggregated = _aggregated(first, merged, columns)
        whole = following.complete(scanned, self._buffer)
        return Decoded(whole, *_compact(first, decoded_counts, columns, marks), aggregated)

    def _scan(
        self,
        lines: Sequence[Line],
        groups: Sequence[list[int]],
        estimated: Sequence[int],
        size: int,
        following: Following,
    ) -> tuple[list[Line], NDArray[np.int64]]:
        """(the lines with their time stamps, the number of events of each or an estimate)."""
        scanned = list(lines)
        event_counts = np.zeros(len(lines), np.int64)
        ends = following.ends(event_counts)

        def scan(group: int) -> None:
            rows = groups[group]
            if len(rows) > 1:
                begins, last = _ranges([lines[row] for row in rows])
                window = self._window(int(begins[0]), int(last[-1]))
                scan_spans(window, begins, last, np.array(rows, np.int64), ends)
                return
            row = rows[0]
            event_counts[row] = estimated[group]
            if estimated[group]:
                return
            spans = []
            for span in lines[row].spans:
                progress = Pass(span.begin, span.end)
                for window in self._buffer.along(progress):
                    scan_span(window, progress, ends, row)
                spans.append(following.stamped(span, row))
            if spans != [*lines[row].spans]:
                scanned[row] = lines[row]._replace(spans=tuple(spans))

        in_parallel(scan, range(len(groups)), size)
        for row in np.flatnonzero(following.follows & FOLLOWS_TIMESTAMP).tolist():
            # The short lines, of one span each.
            span = following.stamped(lines[row].spans[0], row)
            scanned[row] = lines[row]._replace(spans=(span,))
        return scanned, event_counts

    def _most_events(self, lines: Sequence[Line], rows: Sequence[int]) -> int:
        """How many events a long line has at most; 0 for others, which are counted."""
        spans = lines[rows[0]].spans
        size = spans[0].end - spans[0].begin
        if len(rows) > 1 or len(spans) > 1 or size < _LONG * self._buffer.window:
            return 0
        return most_events(self._buffer, spans[0])

    def _decode(
        self,
        lines: Sequence[Line],
        groups: Sequence[list[int]],
        estimated: Sequence[int],
        size: int,
        first: NDArray[np.int64],
        columns: Columns,
        stats_to_read: StatsToRead,
        marks: Marks,
        following: Following,
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """(events, aggregated entries) [lines]: how many were written into each line's rows."""
        counts = np.zeros((7, len(lines)), np.int64)
        events, aggregated, unsorted = counts[:3]
        of_lines = LineEvents(first[:-1], first[1:], *counts)
        decoded = DecodedEvents(*columns)
        stats = StatMarks(stats_to_read.wanted, stats_to_read.by_id, stats_to_read.lookup, *marks)
        origins = [[self._origin_ps(span.timestamp_ns) for span in line.spans] for line in lines]
        # For counted lines, the fields after the events are known already; this pass does not
        # count.
        noted, known = following.ends(), Following.of(len(lines)).ends()
        lack_room: list[int] = []
        cuts: list[tuple[int, Span, int]] = []

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
                decode_spans(window, of_spans, self._types.lookup, of_lines, decoded, stats, known)
                self._buffer.note_decoded(int(begins[0]), int(ends[-1]))
                for position in np.flatnonzero(cut_at >= 0).tolist():
                    row = rows[position]
                    cuts.append((row, lines[row].spans[0], int(cut_at[position])))
            else:
                row = rows[0]
                for span, origin_ps in zip(lines[row].spans, origins[row], strict=True):
                    progress = Pass(span.begin, span.end)
                    for window in self._buffer.along(progress):
                        cut = decode_span(
                            window, progress, origin_ps, row,
                            self._types.lookup, of_lines, decoded, stats,
                            noted if estimated[group] else known,
                        )  # fmt: skip
                        self._buffer.note_decoded(window.base, progress.at)
                        is_full = events[row] + aggregated[row] == first[row + 1] - first[row]
                        if cut >= 0 and estimated[group] and is_full:
                            lack_room.append(row)
                        elif cut >= 0:
                            cuts.append((row, span, cut))
                if estimated[group] and following.follows[row] & FOLLOWS_TIMESTAMP:
                    lack_room.append(row)  # only to find its time stamp
            for row in rows:
                if unsorted[row]:
                    begin = int(first[row])
                    _sort(columns, marks, begin, begin + int(events[row]))

        in_parallel(decode, range(len(groups)), size)
        if lack_room:
            raise _EstimateTooSmall
        self._check_stamps(lines)
        for row, span, offset in sorted(cuts):
            self._note_cut(lines[row], span, offset)
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
    """(first_event, columns, marks) of the first `event_counts` rows of each line's slice.

    Rows move to the front, in place.
    """
    if (event_counts == np.diff(first)).all():
        return first, columns, marks
    packed = np.concatenate(([0], np.cumsum(event_counts))).astype(np.int64)
    moves = [
        (slice(to, to + count), slice(begin, begin + count))
        for to, begin, count in zip(
            packed.tolist(), first.tolist(), event_counts.tolist(), strict=False
        )
        if to != begin and count
    ]
    total = int(packed[-1])
    for column in (*columns, *marks):
        if column.size:
            for to, rows in moves:
                column[to] = column[rows]
            release_end(column, total)
    type_, start, duration, source = columns
    number, bits = marks
    return (
        packed,
        (type_[:total], start[:total], duration[:total], source[:total]),
        (number[:total], bits[:total]),
    )
