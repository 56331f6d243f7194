"""A timeline: tracks of events in rows that never overlap, with levels of detail.

An event's id is its position in the event columns, which are ordered by (row, start): ids of one
row are consecutive and ascend with time. Times are picoseconds since `Space.start_ns`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tbprof.base.errors import Notice
from tbprof.base.records import as_dict, dataclass


@dataclass(frozen=True, slots=True)
class Section:
    """A group of tracks: a device, the threads of a host.

    `kind` is one of device, host, other.
    """

    name: str
    label: str
    kind: str


@dataclass(frozen=True, slots=True)
class Track:
    """One timeline of a section. Rows `[first_row, first_row + rows)` are its depths.

    `kind` is one of steps, modules, ops, xla_ops, scopes, source, stream, thread, async, other.
    `plane` is the row in `Space.planes` that its events come from, -1 for derived ones. `busy_ps`
    is how long any of its events was in progress.
    """

    section: int
    name: str
    kind: str
    plane: int
    line_id: int
    first_row: int
    rows: int
    events: int
    is_derived: bool
    busy_ps: int


@dataclass(frozen=True, slots=True)
class TypeTable:
    """The kinds of event: `name` is shown, `category` a row in `categories.CATEGORIES`."""

    name: list[str]
    full_name: list[str]
    category: NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class Levels:
    """Coarser rows: sequences of short events as one entry, see `levels.py`.

    The stored levels of row r are `row_first[r]:row_first[r + 1]`, fine to coarse; a row with few
    events has none. Level i is merged to buckets of 2^`shift[i]` ps and has the entries
    `first[i]:first[i + 1]`, in time order. An entry [m] covers `extent_ps` from the first start
    to the last end of the `count` events that it stands for; `event` is the longest of them (the
    first of equals), with duration `longest_ps` and type `type`.
    """

    row_first: NDArray[np.int64]
    shift: NDArray[np.uint8]
    first: NDArray[np.int64]
    start_ps: NDArray[np.int64]
    extent_ps: NDArray[np.int64]
    longest_ps: NDArray[np.int64]
    event: NDArray[np.uint32]
    type: NDArray[np.int32]
    count: NDArray[np.uint32]


@dataclass(frozen=True, slots=True)
class Counter:
    """A value over time; its points are rows `[first, last)` of the timeline's counter columns."""

    section: int
    name: str
    unit: str
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Timeline:
    """One part of a host's trace.

    Rows `row_first[r]:row_first[r + 1]` of the event columns [n] are the events of row r. `source`
    is the argument of `Plane.details`, -1 for derived events. Spans
    `busy_first[s]:busy_first[s + 1]` are when any track of section s was busy: disjoint, ascending;
    `busy_before_ps` is the sum of the spans before each, including those of earlier sections.
    `counter_low` and `counter_high` are the pyramid of least and greatest counter values
    (`counters.py`). `unplaced` counts aggregated events without a position, `in_file` all other
    events of the file, and `counted` those of them that are points of counters instead of events
    of a track.
    """

    sections: list[Section]
    tracks: list[Track]
    types: TypeTable
    row_first: NDArray[np.int64]
    start_ps: NDArray[np.int64]
    duration_ps: NDArray[np.int64]
    type: NDArray[np.int32]
    source: NDArray[np.int64]
    levels: Levels
    counters: list[Counter]
    counter_time_ps: NDArray[np.int64]
    counter_value: NDArray[np.float64]
    counter_low: NDArray[np.float64]
    counter_high: NDArray[np.float64]
    busy_first: NDArray[np.int64]
    busy_start_ps: NDArray[np.int64]
    busy_end_ps: NDArray[np.int64]
    busy_before_ps: NDArray[np.int64]
    begin_ps: int
    end_ps: int
    origin_ns: int
    in_file: int
    counted: int
    unplaced: int
    initial_window: tuple[int, int, str] | None
    notices: tuple[Notice, ...]

    def row_of(self, event: int) -> int:
        """The row of an event."""
        return int(np.searchsorted(self.row_first, event, side="right")) - 1

    def track_of_row(self) -> NDArray[np.int32]:
        """[rows] the track of each row."""
        rows = [track.rows for track in self.tracks]
        return np.repeat(np.arange(len(rows), dtype=np.int32), rows)


def freeze(timeline: Timeline) -> Timeline:
    """The same with read-only columns, like mapped ones: kernels are compiled for one kind."""
    for holder in (timeline, timeline.levels, timeline.types):
        for value in as_dict(holder).values():
            if isinstance(value, np.ndarray):
                value.flags.writeable = False
    return timeline
