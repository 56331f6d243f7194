"""What a timeline is built from: tracks of events in order, not yet in rows and levels."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tbprof.base.records import dataclass
from tbprof.timeline.model.store import Section, TypeTable

if TYPE_CHECKING:
    from tbprof.events.space import Events


@dataclass(frozen=True, slots=True)
class UnlaidEvents:
    """Events of several tracks, those of one track together.

    On a track they are ordered by (start, longest first), ties as in the file. `type` is -1 for
    none; `source` is the argument of `Plane.details`, -1 for derived events.
    """

    start_ps: NDArray[np.int64]
    duration_ps: NDArray[np.int64]
    type: NDArray[np.int32]
    source: NDArray[np.int64]


def unlaid_events(events: Events) -> UnlaidEvents:
    """The events of some lines of a plane."""
    return UnlaidEvents(events.start_ps, events.duration_ps, events.type, events.source)


@dataclass(frozen=True, slots=True)
class UnlaidTrack:
    """A track before layout: rows `[first, last)` of `columns`, at least one.

    `type_of[columns.type]` are rows of `UnlaidTracks.types`: its last entry is for events of no
    type (-1). The other fields are those of `store.Track`.
    """

    section: int
    name: str
    kind: str
    plane: int
    line_id: int
    is_derived: bool
    columns: UnlaidEvents
    type_of: NDArray[np.int32]
    first: int
    last: int

    @property
    def events(self) -> int:
        """The number of events on the track."""
        return self.last - self.first


@dataclass(frozen=True, slots=True)
class CounterLine:
    """A line whose events, rows `[first, last)` of `columns`, are points of counters."""

    section: int
    plane: int
    columns: UnlaidEvents
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class UnlaidTracks:
    """The tracks of one part of a timeline from top to bottom, section after section.

    A section has a track or a counter line; neighbours share their `columns`. `in_file` counts
    all events of the file that have a position, `counted` those of them that are points of
    counters instead of events of a track, and `unplaced` aggregated events without a position.
    `initial_window` is (begin, end, label) of the window to open with: a typical step, None
    if there is none.
    """

    sections: list[Section]
    tracks: list[UnlaidTrack]
    counters: list[CounterLine]
    types: TypeTable
    in_file: int
    counted: int
    unplaced: int
    initial_window: tuple[int, int, str] | None
