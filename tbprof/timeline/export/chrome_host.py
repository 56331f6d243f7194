"""The processes of one host in a Chrome trace."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager

from tbprof.analysis.run.recording import recorder_notices
from tbprof.analysis.vocabulary.lines import gpu_planes, host_planes
from tbprof.base import names
from tbprof.base.errors import Notice
from tbprof.base.records import dataclass
from tbprof.events.space import Plane, Space
from tbprof.kernels.codes import LAUNCH, LAUNCHED
from tbprof.timeline.export.chrome_counters import memory_text
from tbprof.timeline.export.chrome_derived import derived_text
from tbprof.timeline.export.chrome_process import Process, TimeRange, as_items, batches
from tbprof.timeline.export.chrome_tracks import (
    Numbers,
    ProcessThreads,
    process_events,
    process_number,
)
from tbprof.timeline.model.sections import section_order
from tbprof.timeline.model.store import Timeline

# With more hosts, flows share scopes.
_SCOPES = 128


@dataclass(frozen=True, slots=True)
class Host:
    """A host's trace, opened when its turn comes. `offset_ps` is added to its times.

    `derived` returns the derived tracks, if they are to be written.
    """

    name: str
    space: Callable[[], AbstractContextManager[Space]]
    offset_ps: int = 0
    derived: Callable[[], Timeline] | None = None


class Places:
    """The numbers of processes, and their positions from top to bottom."""

    def __init__(self, has_several: bool) -> None:
        self.has_several = has_several
        self.numbers = Numbers()
        self._taken = 0

    def next(self) -> int:
        """The position below all others."""
        self._taken += 1
        return self._taken


class HostWriter:
    """Writes a host's events, each preceded by a comma; some pieces are empty.

    `events` and `derived_events` count those that have been written.
    """

    def __init__(
        self, number: int, host: Host, space: Space, span: TimeRange | None, places: Places
    ) -> None:
        self.events = 0
        self.derived_events = 0
        self._number = number
        self._host = host
        self._space = space
        self._span = span
        self._places = places
        self._threads: dict[int, ProcessThreads] = {}  # by row of plane
        self._told: set[int] = set()
        self._notices: list[Notice] = []

    def recorded(self) -> Iterator[bytes]:
        """The events in the file, plane by plane."""
        links = _launch_links(self._space)
        for row in section_order(self._space):
            yield from self._plane(row, links.get(row, {}))

    def derived(self, timeline: Timeline) -> Iterator[bytes]:
        """The derived events; after the recorded ones."""
        rows: dict[str, int] = {}
        for row, plane in enumerate(self._space.planes):
            rows.setdefault(plane.name, row)
        used: list[int] = []

        def threads_of(section: str) -> ProcessThreads:
            used.append(rows[section])
            return self._threads_of(rows[section])

        offset_ps = self._host.offset_ps
        for piece, count in derived_text(timeline, threads_of, self._span, offset_ps):
            yield b"".join(map(self._opening, used)) + piece
            used.clear()
            self.derived_events += count

    def notices(self) -> list[Notice]:
        """What was lost of the host's file."""
        all_notices = [*recorder_notices(self._space), *self._space.notices, *self._notices]
        for plane in self._space.planes:
            all_notices.extend(plane.notices)
        return all_notices

    def _plane(self, row: int, links: Mapping[str, int]) -> Iterator[bytes]:
        plane = self._space.planes[row]
        offset_ps = self._host.offset_ps
        process: Process | None = None
        unplaced = 0
        for lines, events in batches(plane):
            unplaced += events.aggregated.type.size
            if not len(events):
                continue
            threads = self._threads_of(row)
            if process is None:
                process = Process(plane, threads, self._number % _SCOPES, links, offset_ps)
            for piece, count in process.write(lines, events, self._span):
                self.events += count
                yield self._opening(row) + piece if piece else piece
            known_processes = {
                self._space.planes[row].name: self._threads[row].process for row in self._told
            }
            if row in self._told:
                yield from memory_text(
                    events, threads.process, known_processes, self._span, offset_ps
                )
        if unplaced:
            self._notices.append(_left_out(plane, unplaced))

    def _threads_of(self, row: int) -> ProcessThreads:
        """The threads of a plane, which has a number from now on."""
        if row not in self._threads:
            plane = self._space.planes[row]
            host = (self._number + 1) * self._places.has_several
            number = process_number(plane, host, self._places.numbers)
            self._threads[row] = ProcessThreads.of(number, plane)
        return self._threads[row]

    def _opening(self, row: int) -> bytes:
        """The metadata of a process, once, before its other events."""
        if row in self._told:
            return b""
        self._told.add(row)
        plane = self._space.planes[row].name
        name = f"{self._host.name} {plane}" if self._places.has_several else plane
        return as_items(process_events(self._threads[row].process, name, self._places.next()))


def _left_out(plane: Plane, unplaced: int) -> Notice:
    return Notice(
        "unplaced",
        f"plane {plane.name[:80]!r}: {unplaced} entries stand for several events that were not "
        "recorded one by one: they have no position and are left out",
    )


def _launch_links(space: Space) -> dict[int, dict[str, int]]:
    """By row of plane: the purpose of correlation ids, if both launches and kernels have them."""
    links = {}
    for planes, purpose in ((host_planes(space), LAUNCH), (gpu_planes(space), LAUNCHED)):
        with_ids = [plane for plane in planes if names.CORRELATION_ID in plane.stat_names]
        if not with_ids:
            return {}
        for plane in with_ids:
            links[space.planes.index(plane)] = {names.CORRELATION_ID: purpose}
    return links
