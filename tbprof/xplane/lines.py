"""The timelines of a plane, found by their headers without touching their events."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from tbprof.base.records import dataclass
from tbprof.kernels.codes import (
    HEAD_DISPLAY_AT,
    HEAD_DISPLAY_END,
    HEAD_DISPLAY_ID,
    HEAD_EVENTS_AT,
    HEAD_ID,
    HEAD_NAME_AT,
    HEAD_NAME_END,
    HEAD_SIZE,
    HEAD_TIMESTAMP_NS,
    LINE_DISPLAY_ID,
    LINE_DISPLAY_NAME,
    LINE_EVENTS,
    LINE_ID,
    LINE_NAME,
    LINE_TIMESTAMP_NS,
)
from tbprof.kernels.fields import read_heads
from tbprof.xplane.buffer import Buffer
from tbprof.xplane.scan import Field, read_header

# Fields of XLine. Source: xplane.proto.


@dataclass(frozen=True, slots=True)
class Span:
    """The events of one XLine: the bytes [begin, end), and what their offsets count from."""

    begin: int
    end: int
    timestamp_ns: int


@dataclass(frozen=True, slots=True)
class Line:
    """One timeline: an XLine, or several of one id and name that continue each other."""

    id: int
    name: str
    display_id: int
    display_name: str
    spans: tuple[Span, ...]


def read_lines(buffer: Buffer, bodies: Sequence[tuple[int, int]]) -> tuple[Line, ...]:
    """The timelines in XLine messages [begin, end), in file order.

    Recorders that write in chunks repeat a line. Lines of one id but of different names stay
    apart: writers that set no id exist, and their lines are different threads.
    """
    heads, names, display_names = _read_heads(buffer, bodies)
    lines: dict[tuple[int, str], Line] = {}
    spans: dict[tuple[int, str], list[Span]] = {}
    columns = (
        heads[:, column].tolist()
        for column in (HEAD_ID, HEAD_TIMESTAMP_NS, HEAD_DISPLAY_ID, HEAD_EVENTS_AT)
    )
    for (_, end), id_, timestamp_ns, display_id, events_at, name, display_name in zip(
        bodies, *columns, names, display_names, strict=True
    ):
        span = Span(events_at, end, timestamp_ns)
        key = (id_, name)
        if key in spans:
            spans[key].append(span)
        else:
            spans[key] = [span]
            lines[key] = Line(id_, name, display_id, display_name, (span,))
    return tuple(
        replace(line, spans=tuple(spans[key])) if len(spans[key]) > 1 else line
        for key, line in lines.items()
    )


# Columns of what is known of a line before its events.


def _read_heads(
    buffer: Buffer, bodies: Sequence[tuple[int, int]]
) -> tuple[NDArray[np.int64], list[str], list[str]]:
    """(heads [n, HEAD_SIZE], names, display names) of XLine messages in file order."""
    begins, ends = np.array(bodies, np.int64).reshape(-1, 2).T.copy()
    heads = np.zeros((begins.size, HEAD_SIZE), np.int64)
    heads[:, [HEAD_NAME_AT, HEAD_DISPLAY_AT]] = -1
    state = np.zeros(2, np.int64)
    for buf, base in buffer.around(state, begins):
        read_heads(buf, base, state, begins, ends, heads)
    for row in np.flatnonzero(heads[:, HEAD_EVENTS_AT] < 0).tolist():
        heads[row] = _long_head(buffer, *bodies[row])
    names = buffer.texts(heads[:, [HEAD_NAME_AT, HEAD_NAME_END]])
    return heads, names, buffer.texts(heads[:, [HEAD_DISPLAY_AT, HEAD_DISPLAY_END]])


def _long_head(buffer: Buffer, begin: int, end: int) -> NDArray[np.int64]:
    """The head of a line that no window holds."""
    fields = read_header(buffer, begin, end, stop_field=LINE_EVENTS)
    texts = [fields.bodies(number) for number in (LINE_NAME, LINE_DISPLAY_NAME)]
    ranges = [(begins[-1], ends[-1]) if begins.size else (-1, 0) for begins, ends in texts]
    scalars = [fields.scalar(number) for number in (LINE_ID, LINE_TIMESTAMP_NS, LINE_DISPLAY_ID)]
    return np.array([*scalars, fields.stopped_at, *ranges[0], *ranges[1]], np.int64)


def last_text(buffer: Buffer, fields: Field, number: int) -> str:
    """The last value of a text field, as counts on the wire; "" where it is absent."""
    begins, ends = fields.bodies(number)
    return buffer.text(int(begins[-1]), int(ends[-1])) if begins.size else ""
