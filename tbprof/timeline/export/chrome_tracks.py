"""The processes and threads of a Chrome trace: their numbers, names and order.

A process is a plane, a thread a line. Numbers are those of other exporters of XPlane traces: a
device has its plane's id plus 1, custom devices count from 501, planes of hosts from 701; a thread
has its line's display id. A number that is taken, or 0, is replaced by the next free one. Source:
xla/tsl/profiler/utils/trace_utils.h.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from tbprof.base import names
from tbprof.base.natural_order import natural_order
from tbprof.base.records import dataclass
from tbprof.events.space import Lines, Plane
from tbprof.kernels.export.event_json import Tracks
from tbprof.timeline.build.lanes import MOST_LANES
from tbprof.timeline.build.tracks import KIND_ORDER, line_kinds
from tbprof.timeline.export.json_text import joined, json_string
from tbprof.timeline.model.sections import section_of
from tbprof.timeline.model.store import Track

_FIRST_DEVICE = 1
_FIRST_CUSTOM = 501
_FIRST_HOST = 701
_FIRST_OTHER = 901  # planes that other exporters leave out
_PER_HOST = 1000
_MOST_OF_KIND = 500
_CUSTOM_PREFIX = "/device:CUSTOM:"
_THREAD_MASK = 2**32 - 1
# More places than planes have lines.
_PER_KIND = 1 << 18


class Numbers:
    """Assigns each number once; `reserved` numbers only to those that request them."""

    def __init__(self, reserved: Collection[int] = ()) -> None:
        self._taken = {0}
        self._reserved = frozenset(reserved)
        self._next: dict[int, int] = {}

    def take(self, wanted: int, free_from: int = 1) -> int:
        """`wanted`, or the next free number from `free_from` on if that is taken."""
        number = wanted
        if number in self._taken:
            number = self._next.get(free_from, free_from)
            while number in self._taken or number in self._reserved:
                number += 1
            self._next[free_from] = number + 1
        self._taken.add(number)
        return number


def process_number(plane: Plane, host: int, numbers: Numbers) -> int:
    """The number of a plane's process; `host` is 0 for a single host, else counts from 1."""
    kind = section_of(plane).kind
    has_place = 0 <= plane.id < _MOST_OF_KIND
    wanted = free_from = _FIRST_OTHER
    if kind == "host":
        wanted = free_from = _FIRST_HOST
    elif kind == "device":
        wanted = _FIRST_DEVICE + plane.id if has_place else _FIRST_OTHER
    elif plane.name.startswith(_CUSTOM_PREFIX) and has_place:
        wanted = free_from = _FIRST_CUSTOM + plane.id
    return numbers.take(_PER_HOST * host + wanted, _PER_HOST * host + free_from)


def process_events(number: int, name: str, place: int) -> Iterator[bytes]:
    """The metadata events with a process's name and position."""
    head = b'{"args":{"name":%b},"name":"process_name","ph":"M","pid":%d}'
    yield head % (json_string(name), number)
    yield b'{"args":{"sort_index":%d},"name":"process_sort_index","ph":"M","pid":%d}' % (
        place,
        number,
    )


@dataclass(frozen=True, slots=True)
class ProcessThreads:
    """The threads of one process, numbered as their lines are read."""

    process: int
    plane: Plane
    rank: dict[int, int]
    numbers: Numbers

    @classmethod
    def of(cls, process: int, plane: Plane) -> ProcessThreads:
        """The threads of a plane, before any lines are read."""
        wanted = (plane.lines.display_id & _THREAD_MASK).tolist()
        return cls(process, plane, _ranks(plane), Numbers(wanted))

    def of_lines(self, rows: range, lines: Lines, lanes: NDArray[np.int64]) -> ThreadTable:
        """The threads of the lines `rows` of the plane: `lanes` [lines] for each, in order."""
        names_ = self.plane.strings.take(lines.name.tolist())
        labels = line_labels(self.plane, lines)
        thread: list[int] = []
        name: list[str] = []
        place: list[int] = []
        for index, row in enumerate(rows):
            for lane in range(int(lanes[index])):
                wanted = 0 if lane else int(lines.display_id[index]) & _THREAD_MASK
                thread.append(self.numbers.take(wanted))
                name.append(f"{labels[index]} ({lane + 1})" if lane else labels[index])
                place.append(self.rank[row] * MOST_LANES + lane)
        is_counter = np.array([text == names.COUNTERS_LINE for text in names_], np.bool_)
        return self._threads(thread, name, place, np.repeat(is_counter, lanes))

    def of_tracks(self, tracks: Sequence[Track]) -> ThreadTable:
        """The threads of derived tracks."""
        thread = [self.numbers.take(track.line_id & _THREAD_MASK) for track in tracks]
        place = [
            (KIND_ORDER.index(track.kind) * _PER_KIND + index) * MOST_LANES
            for index, track in enumerate(tracks)
        ]
        name = [track.name for track in tracks]
        return self._threads(thread, name, place, np.zeros(len(tracks), np.bool_))

    def _threads(
        self, thread: list[int], name: list[str], place: list[int], is_counter: NDArray[np.bool_]
    ) -> ThreadTable:
        texts = [b'"pid":%d,"tid":%d,"ts":' % (self.process, number) for number in thread]
        return ThreadTable(self.process, thread, name, place, Tracks(joined(texts), is_counter))


@dataclass(frozen=True, slots=True)
class ThreadTable:
    """Some threads of a process, and the text for their events."""

    process: int
    thread: list[int]
    name: list[str]
    place: list[int]
    tracks: Tracks

    def events(self, is_used: NDArray[np.bool_]) -> Iterator[bytes]:
        """The metadata events with the names and positions of the used threads [threads].

        Perfetto applies a name to the latest thread of that number, so each comes before the other
        events of its thread.
        """
        for row in np.flatnonzero(is_used).tolist():
            ids = b'"ph":"M","pid":%d,"tid":%d}' % (self.process, self.thread[row])
            name = json_string(self.name[row])
            yield b'{"args":{"name":%b},"name":"thread_name",%b' % (name, ids)
            yield b'{"args":{"sort_index":%d},"name":"thread_sort_index",%b' % (
                self.place[row],
                ids,
            )


def line_labels(plane: Plane, lines: Lines) -> list[str]:
    """The labels of a plane's lines."""
    display_names = plane.strings.take(lines.display_name.tolist())
    names_ = plane.strings.take(lines.name.tolist())
    numbers = (lines.display_id & _THREAD_MASK).tolist()
    return [
        label or name or f"Line {number}"
        for label, name, number in zip(display_names, names_, numbers, strict=True)
    ]


def _ranks(plane: Plane) -> dict[int, int]:
    """The position of each line: steps, programs, ops and scopes before streams and the rest."""
    texts = plane.strings.take(plane.lines.name.tolist())
    keys = [
        (KIND_ORDER.index(kind), natural_order(text.lower()), row)
        for row, (kind, text) in enumerate(zip(line_kinds(plane), texts, strict=True))
    ]
    return {row: rank * _PER_KIND + index for index, (rank, _, row) in enumerate(sorted(keys))}
