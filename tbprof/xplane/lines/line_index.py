"""The timelines of a plane, found by their headers without touching their events."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tbprof.base.records import NamedTuple
from tbprof.kernels.codes import (
    LINE_DISPLAY_ID,
    LINE_DISPLAY_NAME,
    LINE_EVENTS,
    LINE_ID,
    LINE_NAME,
    LINE_TIMESTAMP_NS,
)
from tbprof.kernels.xplane.fields import LineHeads, read_heads
from tbprof.xplane.buffer import Buffer
from tbprof.xplane.field_scan import Field, read_header


class Span(NamedTuple):
    """The events of one XLine: the bytes [begin, end), and the time that offsets count from."""

    begin: int
    end: int
    timestamp_ns: int


class Line(NamedTuple):
    """One timeline: an XLine, or several with the same id and name."""

    id: int
    name: str
    display_id: int
    display_name: str
    spans: tuple[Span, ...]


def read_lines(buffer: Buffer, bodies: Sequence[tuple[int, int]]) -> tuple[Line, ...]:
    """The timelines in XLine messages [begin, end), in file order.

    Recorders that write in chunks repeat a line. Lines with the same id but different names stay
    separate: some writers do not set ids, and these lines are different threads.
    """
    heads, names, display_names = _read_heads(buffer, bodies)
    lines: dict[tuple[int, str], Line] = {}
    spans: dict[tuple[int, str], list[Span]] = {}
    for (_, end), id_, timestamp_ns, display_id, events_at, name, display_name in zip(
        bodies, *heads.tolist(), names, display_names, strict=True
    ):
        span = Span(events_at, end, timestamp_ns)
        key = (id_, name)
        if key in spans:
            spans[key].append(span)
        else:
            spans[key] = [span]
            lines[key] = Line(id_, name, display_id, display_name, (span,))
    return tuple(
        line._replace(spans=tuple(spans[key])) if len(spans[key]) > 1 else line
        for key, line in lines.items()
    )


def _read_heads(
    buffer: Buffer, bodies: Sequence[tuple[int, int]]
) -> tuple[NDArray[np.int64], list[str], list[str]]:
    """(scalars, names, display names) of XLine messages [n] in file order.

    Scalars are [4, n]: id, time stamp, display id, and where the events begin.
    """
    begins, ends = np.array(bodies, np.int64).reshape(-1, 2).T.copy()
    scalars = np.zeros((4, begins.size), np.int64)
    ranges = np.full((2, begins.size, 2), -1, np.int64)
    heads = LineHeads(*scalars, *ranges)
    progress = buffer.messages()
    for window in buffer.around(progress, begins):
        read_heads(window, progress, begins, ends, heads)
    for row in np.flatnonzero(scalars[-1] < 0).tolist():
        scalars[:, row], ranges[:, row] = _long_head(buffer, *bodies[row])
    return scalars, buffer.texts(ranges[0]), buffer.texts(ranges[1])


def _long_head(buffer: Buffer, begin: int, end: int) -> tuple[list[int], list[tuple[int, int]]]:
    """The scalars and the ranges of names of a line that does not fit into a window."""
    fields = read_header(buffer, begin, end, stop_field=LINE_EVENTS)
    texts = [fields.bodies(number) for number in (LINE_NAME, LINE_DISPLAY_NAME)]
    ranges = [(begins[-1], ends[-1]) if begins.size else (-1, -1) for begins, ends in texts]
    scalars = [fields.scalar(number) for number in (LINE_ID, LINE_TIMESTAMP_NS, LINE_DISPLAY_ID)]
    return [*scalars, fields.stopped_at], ranges


def last_text(buffer: Buffer, fields: Field, number: int) -> str:
    """The last value of a text field, as protobuf requires; "" if it is absent."""
    begins, ends = fields.bodies(number)
    return buffer.text(int(begins[-1]), int(ends[-1])) if begins.size else ""
