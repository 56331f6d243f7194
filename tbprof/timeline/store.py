"""A timeline: what a view of one host's trace is made of, as columns that may lie on disk.

An event's id is its row in the columns of `Timeline`. Events are ordered by (row, start, file
order), so that ids ascend with time within a row. Columns may be read-only memory maps: take what
is needed, and copy nothing whole.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tbprof.base.errors import Notice

# Rows of one track; what would lie deeper lies on the last of them.
MOST_DEPTHS = 1024


@dataclass(frozen=True, slots=True)
class Section:
    """Tracks that belong together: a device, the threads of a host.

    `name` is the plane's, `label` what people read; `kind` is `device`, `host` or `other`.
    """

    name: str
    label: str
    kind: str


@dataclass(frozen=True, slots=True)
class Track:
    """A line of a trace, as `rows` rows from `first_row` on: one per nesting depth.

    `kind` is one of steps, modules, ops, xla_ops, scopes, source, stream, thread, async, other.
    `plane` is the row in `Space.planes`, -1 where the track is derived. `busy_ps` is the time that
    at least one event of the track covers.
    """

    section: int
    name: str
    kind: str
    line_id: int
    plane: int
    first_row: int
    rows: int
    events: int
    is_derived: bool
    busy_ps: int


@dataclass(frozen=True, slots=True)
class TypeTable:
    """What events are called, each (name, full name, category) once.

    `category` [types] are rows of `categories.CATEGORIES`. Events that the file names nothing have
    a type whose name is empty.
    """

    name: list[str]
    full_name: list[str]
    category: NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class Counter:
    """A quantity over time: the points `counter_first[series]` to `counter_first[series + 1]`."""

    section: int
    name: str
    unit: str
    series: int


@dataclass(frozen=True, slots=True)
class Levels:
    """Coarser rows: runs of short events as one entry. `levels.py` says which, and why they help.

    The levels kept of row r are `row_first[r]` to `row_first[r + 1]`, fine to coarse; a row of few
    events has none. Level i is merged at `2**shift[i]` ps and has the entries `first[i]` to
    `first[i + 1]`, in time order. An entry reaches from `start_ps` over `extent_ps`, to the end of
    the last of its `count` events in file order; `event` is the longest of them (the first of
    equals), which lasts `longest_ps` and has the type `type`.
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
class Timeline:
    """One part of a host's trace. Times are picoseconds since `Space.start_ns`, here `origin_ns`.

    Row r has the events `row_first[r]` to `row_first[r + 1]` and belongs to the track
    `row_track[r]`. Events of one row do not overlap, but on the last row of a track that is deeper
    than `MOST_DEPTHS`. `source` is what `Plane.details` and `Plane.event_stats` take, -1 for
    derived events. `begin_ps` and `end_ps` are the first start and the last end, 0 where there are
    no events. `busy_…` are disjoint spans, ascending, per section: `busy_first[s]` to
    `busy_first[s + 1]`. `unplaced` counts events that the file gives no position.
    """

    origin_ns: int
    begin_ps: int
    end_ps: int
    events_in_file: int
    unplaced: int
    sections: tuple[Section, ...]
    tracks: tuple[Track, ...]
    types: TypeTable
    row_first: NDArray[np.int64]
    row_track: NDArray[np.int32]
    start_ps: NDArray[np.int64]
    duration_ps: NDArray[np.int64]
    type: NDArray[np.int32]
    source: NDArray[np.int64]
    levels: Levels
    counters: tuple[Counter, ...]
    counter_first: NDArray[np.int64]
    counter_time_ps: NDArray[np.int64]
    counter_value: NDArray[np.float64]
    busy_first: NDArray[np.int64]
    busy_start_ps: NDArray[np.int64]
    busy_end_ps: NDArray[np.int64]
    notices: tuple[Notice, ...]

    def __len__(self) -> int:
        return int(self.type.size)

    def row_of(self, events: NDArray[np.int64]) -> NDArray[np.int64]:
        """[n] the row that each event id lies on."""
        return np.searchsorted(self.row_first, events, "right") - 1
