"""A trace as Chrome trace JSON, piece by piece: for Perfetto, chrome://tracing and scripts.

Nothing is left out, and nothing is held but the events of a line (of a plane, on TPUs): memory does
not follow the size of the document. A document is valid JSON wherever the trace is damaged.
"""

import json
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, replace

from tbprof import __version__
from tbprof.analysis.lines import gpu_planes, host_planes
from tbprof.analysis.recording import epoch_of_times
from tbprof.base import names
from tbprof.base.errors import Notice, TbprofError
from tbprof.events.space import Plane, Space
from tbprof.timeline.chrome_process import Process, Span, batches, has_events
from tbprof.timeline.chrome_tracks import Numbers, process_events, process_number
from tbprof.timeline.event_text import LAUNCH, LAUNCHED
from tbprof.timeline.sections import section_order

__all__ = ["Host", "Span", "chrome_trace", "has_events"]

_HEAD = b'{"displayTimeUnit":"ns","traceEvents":['
# Flows of more hosts share scopes.
_SCOPES = 128


@dataclass(frozen=True, slots=True)
class Host:
    """A host's trace, opened when its turn comes. `offset_ps` is added to its times."""

    name: str
    space: Callable[[], AbstractContextManager[Space]]
    offset_ps: int = 0


def chrome_trace(
    hosts: Sequence[Host],
    span: Span | None = None,
    notices: Sequence[Notice] = (),
    *,
    is_strict: bool = True,
) -> Generator[bytes, None, None]:
    """The document of some hosts, in pieces that end with an event.

    `notices` are what is known to be lost; what is found while reading is added to them. A host
    that cannot be read raises our error where `is_strict`, and is else told at the end.
    """
    document = _Document(span, has_several=len(hosts) > 1)
    document.notices.extend(notices)
    opening = _HEAD
    for index, host in enumerate(hosts):
        try:
            for piece in document.host(index, host):
                # Each event is preceded by a comma, but for the first.
                yield opening + piece[1:] if opening else piece
                opening = b""
        except TbprofError as error:
            if is_strict:
                raise
            document.lose(host, error)
    yield opening + document.end()


class _Document:
    """A document that is being written."""

    def __init__(self, span: Span | None, *, has_several: bool) -> None:
        self.notices: list[Notice] = []
        self._span = span
        self._has_several = has_several
        self._numbers = Numbers()
        self._places = 0
        self._hosts: list[dict[str, object]] = []
        self._is_complete = True

    def host(self, index: int, host: Host) -> Iterator[bytes]:
        """The processes of a host."""
        events = 0
        with host.space() as space:
            epoch_ns = epoch_of_times(space)
            links = _launch_links(space)
            for row in section_order(space):
                plane = space.planes[row]
                for piece, count in self._plane(index, host, plane, links.get(row, {})):
                    events += count
                    yield piece
            found = [*space.notices, *(one for plane in space.planes for one in plane.notices)]
        self.notices += [replace(one, host=host.name) for one in found]
        origin_ns = epoch_ns and epoch_ns - host.offset_ps // 1000
        self._hosts.append({"name": host.name, "origin_ns": str(origin_ns), "events": events})

    def lose(self, host: Host, error: TbprofError) -> None:
        """Notes that a host could not be read to its end."""
        self._is_complete = False
        self.notices.append(Notice(error.code, error.message, host.name, error.hint))

    def end(self) -> bytes:
        """What there is to say of the whole."""
        values: dict[str, object] = {
            "highres-ticks": True,
            "producer": f"tbprof {__version__}",
            "complete": self._is_complete,
            "hosts": self._hosts,
            "warnings": [asdict(notice) for notice in dict.fromkeys(self.notices)],
        }
        if self._span is not None:
            values["range_us"] = [self._span.from_ps / 1e6, self._span.to_ps / 1e6]
        return b'\n],"metadata":' + json.dumps(values).encode() + b"}\n"

    def _plane(
        self, index: int, host: Host, plane: Plane, links: Mapping[str, int]
    ) -> Iterator[tuple[bytes, int]]:
        """(text, how many events it is of) for a plane; nothing where none is to be written."""
        process: Process | None = None
        opening = b""
        unplaced = 0
        for rows, events in batches(plane):
            unplaced += events.aggregated.type.size
            if not len(events):
                continue
            if process is None:
                number = process_number(plane, (index + 1) * self._has_several, self._numbers)
                process = Process(plane, number, index % _SCOPES, links, host.offset_ps)
                opening = self._opening(number, host, plane)
            for piece, count in process.write(rows, events, self._span):
                yield opening + piece, count
                opening = b""
        if unplaced:
            self.notices.append(_left_out(plane, host, unplaced))

    def _opening(self, number: int, host: Host, plane: Plane) -> bytes:
        name = f"{host.name} {plane.name}" if self._has_several else plane.name
        self._places += 1
        events = process_events(number, name, self._places)
        return b"".join(b",\n" + event for event in events)


def _left_out(plane: Plane, host: Host, unplaced: int) -> Notice:
    return Notice(
        "unplaced",
        f"plane {plane.name[:80]!r}: {unplaced} entries stand for several events that were not "
        "recorded one by one: they have no position, and are left out",
        host.name,
    )


def _launch_links(space: Space) -> dict[int, dict[str, int]]:
    """By row of plane: what correlation ids are, where both launches and kernels carry them."""
    found = {}
    for planes, purpose in ((host_planes(space), LAUNCH), (gpu_planes(space), LAUNCHED)):
        with_ids = [plane for plane in planes if names.CORRELATION_ID in plane.stat_names]
        if not with_ids:
            return {}
        for plane in with_ids:
            found[space.planes.index(plane)] = {names.CORRELATION_ID: purpose}
    return found
