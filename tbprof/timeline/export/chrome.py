"""A trace as Chrome trace JSON, piece by piece: for Perfetto, chrome://tracing and scripts.

Nothing is left out, and only the events of a line (on TPUs, of a plane) are in memory: memory does
not grow with the document. A document is valid JSON even if the trace is damaged.
"""

from __future__ import annotations

import json
from collections.abc import Generator, Iterator, Sequence

from tbprof import __version__
from tbprof.analysis.run.recording import epoch_of_times
from tbprof.base.errors import Notice, TbprofError
from tbprof.base.records import as_dict, replace
from tbprof.timeline.export.chrome_host import Host, HostWriter, Places
from tbprof.timeline.export.chrome_process import TimeRange, has_events
from tbprof.timeline.export.size_limit import Limited, TooLarge

__all__ = ["Host", "TimeRange", "chrome_trace", "has_events"]

_HEAD = b'{"displayTimeUnit":"ns","traceEvents":['


def chrome_trace(
    hosts: Sequence[Host],
    span: TimeRange | None = None,
    notices: Sequence[Notice] = (),
    *,
    is_strict: bool = True,
    limited: Limited = iter,
) -> Generator[bytes, None, None]:
    """The document of some hosts, in pieces that end with an event.

    `notices` are known at the start; those found while reading are added to them. A host that
    cannot be read raises our error if `is_strict`, and is reported at the end otherwise; so does a
    document that is not `limited`: no host follows.
    """
    document = _ChromeDocument(span, notices, has_several=len(hosts) > 1)
    opening = _HEAD
    for number, host in enumerate(hosts):
        try:
            for piece in limited(document.host(number, host)):
                # Each event is preceded by a comma, except the first.
                yield opening + piece[1:] if opening else piece
                opening = b""
        except TbprofError as error:
            if is_strict:
                raise
            document.lose(host, error)
            if isinstance(error, TooLarge):
                break
    yield opening + document.end()


class _ChromeDocument:
    """A document that is being written."""

    def __init__(
        self, span: TimeRange | None, notices: Sequence[Notice], *, has_several: bool
    ) -> None:
        self._span = span
        self._notices = list(notices)
        self._places = Places(has_several)
        self._hosts: list[dict[str, object]] = []
        self._is_complete = True

    def host(self, number: int, host: Host) -> Iterator[bytes]:
        """The processes of a host."""
        entry: dict[str, object] = {"name": host.name}
        self._hosts.append(entry)
        with host.space() as space:
            epoch_ns = epoch_of_times(space)
            entry["origin_ns"] = str(epoch_ns and epoch_ns - host.offset_ps // 1000)
            writer = HostWriter(number, host, space, self._span, self._places)
            yield from filter(None, writer.recorded())
            entry["events"] = writer.events
            if host.derived is not None:
                yield from filter(None, writer.derived(host.derived()))
                entry["derived_events"] = writer.derived_events
            self._notices += [replace(notice, host=host.name) for notice in writer.notices()]

    def lose(self, host: Host, error: TbprofError) -> None:
        """Notes that a host could not be read to its end."""
        self._is_complete = False
        self._notices.append(Notice(error.code, error.message, host.name, error.hint))

    def end(self) -> bytes:
        """The closing part, with metadata of the whole document."""
        values: dict[str, object] = {
            "highres-ticks": True,
            "producer": f"tbprof {__version__}",
            "complete": self._is_complete,
            "hosts": self._hosts,
            "warnings": [as_dict(notice) for notice in dict.fromkeys(self._notices)],
        }
        if self._span is not None:
            values["range_us"] = [self._span.from_ps / 1e6, self._span.to_ps / 1e6]
        return b'\n],"metadata":' + json.dumps(values).encode() + b"}\n"
