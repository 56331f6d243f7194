"""The processes and threads of a Chrome trace: their numbers, names and order.

A process is a plane, a thread a line. Numbers are those that scripts know from other exporters of
XPlane traces: a device has its plane's id plus 1, custom devices count from 501, planes of hosts
from 701; a thread has its line's display id. What would share a number, or have 0, gets the next
that is free. Source: xla/tsl/profiler/utils/trace_utils.h.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.lines import is_derived
from tbprof.events.space import Events, Lines, Plane
from tbprof.timeline.event_text import Tracks
from tbprof.timeline.json_text import joined, quoted
from tbprof.timeline.lanes import MOST_LANES
from tbprof.timeline.sections import natural_order, section_of
from tbprof.timeline.tracks import COUNTERS_LINE, KIND_ORDER, line_kind

_FIRST_DEVICE = 1
_FIRST_CUSTOM = 501
_FIRST_HOST = 701
_FIRST_OTHER = 901  # planes that other exporters leave out
_PER_HOST = 1000
_MOST_OF_KIND = 500
_CUSTOM_PREFIX = "/device:CUSTOM:"
_THREAD_MASK = 2**32 - 1


class Numbers:
    """Numbers that are given once each; what is `reserved` is given to those alone who want it."""

    def __init__(self, reserved: Collection[int] = ()) -> None:
        self._taken = {0}
        self._reserved = frozenset(reserved)
        self._next: dict[int, int] = {}

    def take(self, wanted: int, free_from: int = 1) -> int:
        """`wanted`, or where that is taken, the next free one from `free_from` on."""
        number = wanted
        if number in self._taken:
            number = self._next.get(free_from, free_from)
            while number in self._taken or number in self._reserved:
                number += 1
            self._next[free_from] = number + 1
        self._taken.add(number)
        return number


def process_number(plane: Plane, host: int, numbers: Numbers) -> int:
    """The number of a plane's process; `host` is 0 where there is one, else counts from 1."""
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
    """What tells viewers a process' name, and its place among others."""
    head = b'{"args":{"name":%b},"name":"process_name","ph":"M","pid":%d}'
    yield head % (quoted(name), number)
    yield b'{"args":{"sort_index":%d},"name":"process_sort_index","ph":"M","pid":%d}' % (
        place,
        number,
    )


@dataclass(frozen=True, slots=True)
class Threads:
    """The threads of one process, numbered as their lines are read."""

    process: int
    plane: Plane
    rank: dict[int, int]
    numbers: Numbers

    @classmethod
    def of(cls, process: int, plane: Plane) -> "Threads":
        """Those of a plane of which nothing has been read yet."""
        wanted = (plane.lines.display_id & _THREAD_MASK).tolist()
        return cls(process, plane, _ranks(plane), Numbers(wanted))

    def of_lines(self, rows: range, lines: Lines, lanes: NDArray[np.int64]) -> "LineThreads":
        """The threads of the lines `rows` of the plane: as many for each as it has `lanes`."""
        given = self.plane.strings.take(lines.name.tolist())
        labels = line_labels(self.plane, lines)
        thread: list[int] = []
        name: list[str] = []
        place: list[int] = []
        for at, row in enumerate(rows):
            for lane in range(int(lanes[at])):
                wanted = 0 if lane else int(lines.display_id[at]) & _THREAD_MASK
                thread.append(self.numbers.take(wanted))
                name.append(f"{labels[at]} ({lane + 1})" if lane else labels[at])
                place.append(self.rank[row] * MOST_LANES + lane)
        counts = np.repeat([text == COUNTERS_LINE for text in given], lanes)
        texts = [b'"pid":%d,"tid":%d,"ts":' % (self.process, number) for number in thread]
        first = np.concatenate(([0], np.cumsum(lanes)))[:-1]
        return LineThreads(
            self.process, thread, name, place, first, Tracks(joined(texts), counts.astype(np.bool_))
        )


@dataclass(frozen=True, slots=True)
class LineThreads:
    """The threads of some lines; `first` [lines] is that of each line's first lane."""

    process: int
    thread: list[int]
    name: list[str]
    place: list[int]
    first: NDArray[np.int64]
    tracks: Tracks

    def track(
        self, events: Events, lane: NDArray[np.int32], rows: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """[k] the thread of each of the events `rows` [k], as a row of `tracks`."""
        line = np.searchsorted(events.first_event, rows, side="right") - 1
        return self.first[line] + lane[rows]

    def events(self, tracks: NDArray[np.int64]) -> Iterator[bytes]:
        """What tells viewers the names of threads, and their places.

        Perfetto takes a name for the thread of that number that it has met last, so each comes
        before anything else of its thread.
        """
        for at in tracks.tolist():
            who = b'"ph":"M","pid":%d,"tid":%d}' % (self.process, self.thread[at])
            name = quoted(self.name[at])
            yield b'{"args":{"name":%b},"name":"thread_name",%b' % (name, who)
            yield b'{"args":{"sort_index":%d},"name":"thread_sort_index",%b' % (
                self.place[at],
                who,
            )


def line_labels(plane: Plane, lines: Lines) -> list[str]:
    """What lines of a plane are called."""
    shown = plane.strings.take(lines.display_name.tolist())
    given = plane.strings.take(lines.name.tolist())
    numbers = (lines.display_id & _THREAD_MASK).tolist()
    return [
        label or name or f"Line {number}"
        for label, name, number in zip(shown, given, numbers, strict=True)
    ]


def _ranks(plane: Plane) -> dict[int, int]:
    """The place of each line: steps, programs, ops and scopes before streams and the rest."""
    section = section_of(plane)
    texts = plane.strings.take(plane.lines.name.tolist())
    derived = is_derived(plane.lines).tolist()
    kinds = [
        line_kind(text, section, is_derived=is_added)
        for text, is_added in zip(texts, derived, strict=True)
    ]
    keys = [
        (KIND_ORDER.index(kind), natural_order(text), row)
        for row, (kind, text) in enumerate(zip(kinds, texts, strict=True))
    ]
    return {row: place for place, (_, _, row) in enumerate(sorted(keys))}
