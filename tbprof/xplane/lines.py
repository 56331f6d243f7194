"""The timelines of a plane, found by their headers without touching their events."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from tbprof.xplane.buffer import Buffer
from tbprof.xplane.scan import Field, read_header

# Fields of XLine. Source: xplane.proto.
ID = 1
NAME = 2
TIMESTAMP_NS = 3
EVENTS_FIELD = 4
DISPLAY_ID = 10
DISPLAY_NAME = 11


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


def read_lines(buffer: Buffer, bodies: Iterable[tuple[int, int]]) -> tuple[Line, ...]:
    """The timelines in XLine messages [begin, end), in file order.

    Recorders that write in chunks repeat a line. Lines of one id but of different names stay
    apart: writers that set no id exist, and their lines are different threads.
    """
    lines: dict[tuple[int, str], Line] = {}
    for begin, end in bodies:
        header = read_header(buffer, begin, end, stop_field=EVENTS_FIELD)
        span = Span(header.stopped_at, end, header.scalar(TIMESTAMP_NS))
        line = Line(
            header.scalar(ID),
            last_text(buffer, header, NAME),
            header.scalar(DISPLAY_ID),
            last_text(buffer, header, DISPLAY_NAME),
            (span,),
        )
        key = (line.id, line.name)
        known = lines.get(key)
        lines[key] = line if known is None else replace(known, spans=(*known.spans, span))
    return tuple(lines.values())


def last_text(buffer: Buffer, fields: Field, number: int) -> str:
    """The last value of a text field, as counts on the wire; "" where it is absent."""
    begins, ends = fields.bodies(number)
    return buffer.text(int(begins[-1]), int(ends[-1])) if begins.size else ""
