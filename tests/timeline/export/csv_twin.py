"""Tables of events the slow way: what a space's events become, and what a table says."""

import csv
import functools
import io
from collections.abc import Sequence
from decimal import Decimal

from timeline.export.chrome_twin import Event, opened

from tbprof.events.space import Space
from tbprof.timeline.export.chrome import Host, TimeRange
from tbprof.timeline.export.event_csv import event_csv

# Of names that are a megabyte long.
csv.field_size_limit(2**24)

Row = tuple[str, str, str, str, Decimal, Decimal]


def table(*spaces: Space, span: TimeRange | None = None) -> bytes:
    hosts = [
        Host(f"h{number}", functools.partial(opened, space), number * 10**6)
        for number, space in enumerate(spaces)
    ]
    return b"".join(event_csv(hosts, span))


def rows(content: bytes) -> list[Row]:
    head, *found = csv.reader(io.StringIO(content.decode("utf-8"), newline=""))
    assert head == ["host", "process", "thread", "name", "start_us", "duration_us"]
    return [(*row[:4], Decimal(row[4]), Decimal(row[5])) for row in found]  # type: ignore[misc]


def shown(text: str) -> str:
    text = text.replace("\0", "\ufffd")
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "\t", "\r")) else text


def check_rows(space: Space, events: Sequence[Event]) -> None:
    """That the table holds exactly these events, in order."""
    million = Decimal(10**6)
    assert rows(table(space)) == [
        (
            "h0", shown(event.plane), shown(event.line), shown(event.name),
            event.start_ps / million, event.duration_ps / million,
        )
        for event in events
    ]  # fmt: skip
