"""Events of timelines as columns, by two passes over their bytes.

The first counts, and finds what follows the events; the second decodes. Long lines are read window
by window, short ones many at a time: what is done for each in plain Python costs more than they do.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from tbprof.base.columns import empty_column
from tbprof.base.records import dataclass
from tbprof.events.space import Aggregated
from tbprof.kernels.codes import (
    AGGREGATED,
    AT,
    CLAMPED,
    CUT,
    DAMAGED,
    DAMAGED_AT,
    DANGLING,
    EVENTS,
    REACH,
    SCAN_DISPLAY_AT,
    SCAN_DISPLAY_ID,
    SCAN_ENDED,
    SCAN_HAS_DISPLAY_ID,
    SCAN_HAS_ID,
    SCAN_HAS_TIMESTAMP,
    SCAN_ID,
    SCAN_NAME_AT,
    SCAN_SIZE,
    SCAN_TIMESTAMP_NS,
    STATE_SIZE,
    UNSORTED,
)
from tbprof.kernels.events import decode_events, decode_spans, scan_span, scan_spans
from tbprof.xplane.buffer import Buffer
from tbprof.xplane.damage import Damage
from tbprof.xplane.lines import Line, Span
from tbprof.xplane.metadata import Dictionary
from tbprof.xplane.parallel import in_parallel

# Those that are told.
_NOTED = (DAMAGED, CLAMPED, DANGLING)
# What follows the events of a line.
_FOLLOWS = (
    SCAN_HAS_ID, SCAN_HAS_TIMESTAMP, SCAN_HAS_DISPLAY_ID, SCAN_NAME_AT, SCAN_DISPLAY_AT,
)  # fmt: skip

Columns = tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]


@dataclass(frozen=True, slots=True)
class Decoded:
    """The events of some lines: `columns` are type, start, duration and source.

    Rows `first_event[i]:first_event[i + 1]` are those of line i, ordered by start, longest first.
    """

    lines: list[Line]
    first_event: NDArray[np.int64]
    columns: Columns
    aggregated: Aggregated


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

    def read(self, lines: Sequence[Line]) -> Decoded:
        """The events of `lines`, each decoded in one pass after one that counts them."""
        size = sum(span.end - span.begin for line in lines for span in line.spans)
        groups = _groups(lines, self._buffer.window)
        found = list(lines)
        counted = np.zeros(len(lines), np.int64)

        def scan(group: int) -> None:
            rows = groups[group]
            completed, counted[rows] = self._scan([lines[row] for row in rows])
            for row, line in completed.items():
                found[rows[row]] = line

        in_parallel(scan, range(len(groups)), size)
        first = np.concatenate(([0], np.cumsum(counted))).astype(np.int64)
        total = int(first[-1])
        columns = (
            empty_column(total, np.int32),
            empty_column(total, np.int64),
            empty_column(total, np.int64),
            empty_column(total, np.int64),
        )
        states = np.zeros((len(lines), STATE_SIZE), np.int64)
        origins = [[self._origin_ps(span.timestamp_ns) for span in line.spans] for line in found]

        def decode(group: int) -> None:
            rows = groups[group]
            last = first[[row + 1 for row in rows]]
            states[rows] = self._decode(
                [found[row] for row in rows], [origins[row] for row in rows], first[rows], last,
                columns,
            )  # fmt: skip

        in_parallel(decode, range(len(groups)), size)
        for row in np.flatnonzero(states[:, _NOTED].any(axis=1)).tolist():
            self._note(found[row], states[row])
        aggregated = _aggregated(first, states[:, AGGREGATED], columns)
        return Decoded(found, *_compact(first, states[:, EVENTS], columns), aggregated)

    def _scan(self, lines: Sequence[Line]) -> tuple[dict[int, Line], NDArray[np.int64]]:
        """(those of a group of lines that something follows, by row, events [n])."""
        counted = np.zeros(len(lines), np.int64)
        if len(lines) == 1:
            line, counted[0] = self._scan_line(lines[0])
            return {0: line}, counted
        begins, ends = _ranges(lines)
        states = np.zeros((len(lines), SCAN_SIZE), np.int64)
        states[:, AT] = begins
        base = int(begins[0])
        scan_spans(self._buffer.view(base, int(ends[-1])), base, states, ends, counted)
        rows = np.flatnonzero(states[:, _FOLLOWS].any(axis=1))
        texts = [
            self._buffer.texts(
                np.where(states[rows][:, [at]] > 0, states[rows][:, [at, at + 1]], -1)
            )
            for at in (SCAN_NAME_AT, SCAN_DISPLAY_AT)
        ]
        return {
            row: _completed(
                replace(lines[row], spans=(_at_its_time(lines[row].spans[0], states[row]),)),
                states[row],
                name,
                display_name,
            )
            for row, name, display_name in zip(rows.tolist(), *texts, strict=True)
        }, counted

    def _scan_line(self, line: Line) -> tuple[Line, int]:
        """The line with what follows its events, and how many there are."""
        total = 0
        spans = []
        for span in line.spans:
            state = np.zeros(SCAN_SIZE, np.int64)
            state[AT] = span.begin
            for buf, base in self._buffer.along(state, span.end):
                total += int(scan_span(buf, base, state, span.end))
                if state[SCAN_ENDED]:
                    break
            spans.append(_at_its_time(span, state))
            texts = (
                self._buffer.text(int(state[at]), int(state[at + 1])) if state[at] else ""
                for at in (SCAN_NAME_AT, SCAN_DISPLAY_AT)
            )
            line = _completed(line, state, *texts)
        return replace(line, spans=tuple(spans)), total

    def _decode(
        self,
        lines: Sequence[Line],
        origins: Sequence[Sequence[int]],
        first: NDArray[np.int64],
        last: NDArray[np.int64],
        columns: Columns,
    ) -> NDArray[np.int64]:
        """The states [n] after all events of a group of lines; their rows are `first:last`."""
        states = np.zeros((len(lines), STATE_SIZE), np.int64)
        if len(lines) == 1:
            own = _rows_of(columns, int(first[0]), int(last[0]))
            for span, origin_ps in zip(lines[0].spans, origins[0], strict=True):
                self._decode_span(lines[0], span, origin_ps, states[0], own)
        else:
            begins, ends = _ranges(lines)
            states[:, AT] = begins
            base = int(begins[0])
            decode_spans(
                self._buffer.view(base, int(ends[-1])), base, states, ends,
                np.array(origins, np.int64)[:, 0], first, last,
                self._types.keys, self._types.rows, *columns,
            )  # fmt: skip
            for row in np.flatnonzero(states[:, CUT]).tolist():
                self._note_cut(lines[row], lines[row].spans[0], states[row])
        for row in np.flatnonzero(states[:, UNSORTED]).tolist():
            own = _rows_of(columns, int(first[row]), int(last[row]))
            _sort(own, int(states[row, EVENTS]))
        return states

    def _decode_span(
        self,
        line: Line,
        span: Span,
        origin_ps: int,
        state: NDArray[np.int64],
        columns: Columns,
    ) -> None:
        state[AT] = span.begin
        state[REACH] = 0
        state[CUT] = 0
        for buf, base in self._buffer.along(state, span.end):
            decode_events(
                buf, base, state, span.end, origin_ps,
                self._types.keys, self._types.rows, *columns,
            )  # fmt: skip
            if state[CUT]:
                break
        if state[CUT]:
            self._note_cut(line, span, state)

    def _note_cut(self, line: Line, span: Span, state: NDArray[np.int64]) -> None:
        at = int(state[AT])
        self._damage.note(
            "line_cut",
            f"line {line.name[:80]!r}: damaged at byte {at}; "
            f"the {span.end - at} bytes of events from there on are lost",
        )

    def _note(self, line: Line, state: NDArray[np.int64]) -> None:
        where = f"line {line.name[:80]!r}"
        if state[DAMAGED]:
            self._damage.note(
                "events_damaged",
                f"{where}: {state[DAMAGED]} damaged events left out "
                f"(first at byte {state[DAMAGED_AT]})",
            )
        if state[CLAMPED]:
            self._damage.note(
                "times_damaged",
                f"{where}: {state[CLAMPED]} events have impossible times (over 40 hours or "
                "negative); they were cut to the limit",
            )
        if state[DANGLING]:
            self._damage.note("names_missing", f"{where}: {state[DANGLING]} events have no name")


def _groups(lines: Sequence[Line], window: int) -> list[list[int]]:
    """The rows of lines that one pass takes: many that lie in one window, or one by itself."""
    groups: list[list[int]] = []
    starts = [line.spans[0].begin for line in lines]
    reach = -1  # where the window of the last group ends; no group is open without
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


def _rows_of(columns: Columns, first: int, last: int) -> Columns:
    type_, start, duration, source = columns
    part = slice(first, last)
    return type_[part], start[part], duration[part], source[part]


def _at_its_time(span: Span, state: NDArray[np.int64]) -> Span:
    """With the time stamp that followed the events, if one did."""
    if not state[SCAN_HAS_TIMESTAMP]:
        return span
    return replace(span, timestamp_ns=int(state[SCAN_TIMESTAMP_NS]))


def _completed(line: Line, state: NDArray[np.int64], name: str, display_name: str) -> Line:
    """With the fields that followed the events of a span; on the wire the last one counts."""
    return Line(
        int(state[SCAN_ID]) if state[SCAN_HAS_ID] else line.id,
        name if state[SCAN_NAME_AT] else line.name,
        int(state[SCAN_DISPLAY_ID]) if state[SCAN_HAS_DISPLAY_ID] else line.display_id,
        display_name if state[SCAN_DISPLAY_AT] else line.display_name,
        line.spans,
    )


def _sort(columns: Columns, events: int) -> None:
    start, duration = columns[1][:events], columns[2][:events]
    order = np.lexsort((-duration, start))
    for column in columns:
        column[:events] = column[:events][order]


def _aggregated(
    first: NDArray[np.int64], merged: NDArray[np.int64], columns: Columns
) -> Aggregated:
    """The rows that were written from the back of each line's slice, in file order."""
    rows = [
        np.arange(first[line + 1] - 1, first[line + 1] - 1 - merged[line], -1)
        for line in np.flatnonzero(merged)
    ]
    picked = np.concatenate(rows) if rows else np.zeros(0, np.int64)
    line = np.repeat(np.arange(merged.size, dtype=np.int32), merged)
    type_, occurrences, duration, source = (column[picked] for column in columns)
    return Aggregated(line, type_, occurrences, duration, source)


def _compact(
    first: NDArray[np.int64], kept: NDArray[np.int64], columns: Columns
) -> tuple[NDArray[np.int64], Columns]:
    """(first_event, columns) of the first `kept` rows of each line's slice."""
    counted = np.diff(first)
    if (kept == counted).all():
        return first, columns
    within = np.arange(first[-1]) - np.repeat(first[:-1], counted)
    keeps = within < np.repeat(kept, counted)
    type_, start, duration, source = columns
    packed = (type_[keeps], start[keeps], duration[keeps], source[keeps])
    return np.concatenate(([0], np.cumsum(kept))).astype(np.int64), packed
