"""Chrome traces the slow way: what a space's events become, and what a document says."""

import contextlib
import functools
import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

import numpy as np

from tbprof.base import names
from tbprof.events.space import Plane, Space
from tbprof.events.stats import BYTES, DOUBLE, REFERENCE, TEXT, UINT64, StatRows
from tbprof.timeline.build.device_times import on_device_clock
from tbprof.timeline.export.chrome import Host, TimeRange, chrome_trace
from tbprof.timeline.model.sections import section_order

HIDDEN = {"flow", "_pt", "_p", "_ct", "_c", "_a", "_r", "program_id", "symbol_id"}
LONGEST = 10_000


@dataclass(frozen=True)
class Event:
    """One event as it should be read back; times in ps."""

    plane: str
    line: str
    name: str
    args: dict[str, Any]
    start_ps: int
    duration_ps: int


def opened(space: Space) -> contextlib.AbstractContextManager[Space]:
    return contextlib.nullcontext(space)


def written(*spaces: Space, span: TimeRange | None = None, offsets: Sequence[int] = ()) -> bytes:
    """The document of hosts h0, h1, …"""
    hosts = [
        Host(f"h{number}", functools.partial(opened, space), offset_ps)
        for number, (space, offset_ps) in enumerate(
            zip(spaces, offsets or [0] * len(spaces), strict=True)
        )
    ]
    return b"".join(chrome_trace(hosts, span))


def thread_names(trace: dict[str, Any]) -> dict[int, str]:
    """The names of threads by their numbers, of a trace of one process."""
    return {
        event["tid"]: event["args"]["name"]
        for event in trace["traceEvents"]
        if event.get("name") == "thread_name"
    }


def in_order(trace: dict[str, Any]) -> list[str]:
    """The names of threads in the order in which viewers show them."""
    names = thread_names(trace)
    place = {
        names[event["tid"]]: event["args"]["sort_index"]
        for event in trace["traceEvents"]
        if event.get("name") == "thread_sort_index"
    }
    return sorted(place, key=lambda thread: place[thread])


def expected_events(space: Space) -> list[Event]:
    """Every event of the space, sections and lines in order."""
    return [event for row in section_order(space) for event in _of_plane(space.planes[row])]


def _of_plane(plane: Plane) -> Iterator[Event]:
    events = on_device_clock(plane.events())
    text = plane.strings
    rows_of_types = plane.types.stat_rows()
    shared = [_type_args(plane, rows_of_types, row) for row in range(plane.types.id.size)]
    for line in range(events.lines.id.size):
        label = text[events.lines.display_name[line]] or text[events.lines.name[line]]
        for row in range(events.first_event[line], events.first_event[line + 1]):
            kind = int(events.type[row])
            stats = plane.details(int(events.source[row]))
            args = dict(shared[kind]) if kind >= 0 else {}
            args.update((key, plain(value)) for key, value in reversed(stats))
            yield Event(
                plane.name,
                label or f"Line {int(events.lines.display_id[line]) & 0xFFFFFFFF}",
                _name(plane, kind, stats),
                {key: value for key, value in args.items() if key not in HIDDEN},
                int(events.start_ps[row]),
                int(events.duration_ps[row]),
            )


def _name(plane: Plane, kind: int, stats: list[tuple[str, Any]]) -> str:
    given = dict(reversed(stats)).get(names.STEP_NAME)
    if isinstance(given, str):
        return given
    if kind < 0:
        return ""
    short = plane.types.display_name[kind]
    return plane.strings[short if short >= 0 else plane.types.name[kind]]


def _type_args(plane: Plane, rows: StatRows, row: int) -> dict[str, Any]:
    found: dict[str, Any] = {}
    short, full = plane.types.display_name[row], plane.types.name[row]
    long_name = plane.strings[full] if short >= 0 and short != full else ""
    if long_name:
        cut = long_name[:LONGEST] + "...<truncated>"
        found["long_name"] = long_name if len(long_name) <= LONGEST else cut
    for index in range(int(rows.end[row]) - 1, int(rows.begin[row]) - 1, -1):
        bits, kind = int(rows.bits[index]), rows.kind[index]
        value: Any = bits
        if kind == TEXT:
            value = rows.text(index)
        elif kind == BYTES:
            value = b"x" * int(rows.size[index])
        elif kind == REFERENCE:
            value = plane.strings[int(rows.names[bits]) if bits >= 0 else -1]
        elif kind == DOUBLE:
            value = float(np.int64(bits).view(np.float64))
        elif kind == UINT64:
            value = bits & (2**64 - 1)
        name = rows.names[rows.name[index]] if rows.name[index] >= 0 else -1
        found[plane.strings[int(name)]] = plain(value)
    return found


def plain(value: Any) -> Any:
    """A value of a stat as it should be read back."""
    if isinstance(value, bytes):
        return f"<{len(value)} bytes>"
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, int) and abs(value) > 2**53:
        return str(value)
    return value


def parsed(document: bytes) -> dict[str, Any]:
    """The document, strictly: UTF-8, no NaN, no key twice; times as `Decimal`."""

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        assert len(found) == len(pairs), [key for key, _ in pairs]
        return found

    def refuse(constant: str) -> None:
        raise ValueError(constant)

    found: dict[str, Any] = json.loads(
        document.decode("utf-8"),
        parse_float=Decimal,
        parse_constant=refuse,
        object_pairs_hook=once,
    )
    return found


def ps(time_us: Any) -> int:
    """Picoseconds of a time of the document, which states them exactly."""
    exact = Decimal(time_us) * 1_000_000
    assert exact == int(exact)
    return int(exact)


def read_events(document: dict[str, Any]) -> list[Event]:
    """The events of a document, in its order; pairs of asynchronous ones as one."""
    process = {
        event["pid"]: event["args"]["name"]
        for event in document["traceEvents"]
        if event["name"] == "process_name" and event["ph"] == "M"
    }
    thread = {
        (event["pid"], event["tid"]): event["args"]["name"]
        for event in document["traceEvents"]
        if event["name"] == "thread_name" and event["ph"] == "M"
    }
    found: list[Event] = []
    open_: dict[str, Any] | None = None
    for event in document["traceEvents"]:
        if event["ph"] == "M" or "tid" not in event:  # how full memory was
            continue
        if event["ph"] == "b":
            assert open_ is None
            open_ = event
            continue
        first = event
        if event["ph"] == "e":
            assert open_ is not None
            keys = ("pid", "tid", "id", "cat", "name")
            assert [open_[key] for key in keys] == [event[key] for key in keys]
            first, open_ = open_, None
            duration_ps = ps(event["ts"]) - ps(first["ts"])
        else:
            duration_ps = ps(event.get("dur", 0))
            assert (event["ph"] == "X") == ("dur" in event)
        found.append(
            Event(
                process[event["pid"]],
                thread[event["pid"], event["tid"]],
                event["name"],
                {
                    key: float(value) if isinstance(value, Decimal) else value
                    for key, value in first.get("args", {}).items()
                },
                ps(first["ts"]),
                duration_ps,
            )
        )
    assert open_ is None
    return found


def without_lane(event: Event) -> Event:
    """On lines that need several threads, those beside the first have a number in their name."""
    head, _, number = event.line.rpartition(" (")
    is_lane = number[:-1].isdigit() and number.endswith(")") and number != "1)"
    return replace(event, line=head) if is_lane else event
