"""An open timeline with its file, for questions, and what these share."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from tbprof.base.caches import LatestCache, OnceCache, computed_once
from tbprof.base.errors import EventNotFound
from tbprof.base.lazy import Later
from tbprof.base.records import dataclass
from tbprof.base.texts import cut
from tbprof.kernels.codes import MOST_DEPTHS
from tbprof.timeline.model.store import Timeline, Track

if TYPE_CHECKING:
    from tbprof.analysis.hlo.hlo import Programs
    from tbprof.events.space import Space

_programs = Later("tbprof.analysis.hlo.hlo.Programs")

_T = TypeVar("_T")

_LONGEST_NAME = 1000
# Answers that are cached for the next page of results, or for the overview of the next view.
_ANSWERS = 8
_ANSWER_BYTES = 64 * 2**20


@dataclass(frozen=True, slots=True)
class TimelineColumns:
    """The event columns of a timeline, as read-only arrays for kernels.

    `track` [rows] is the track of each row, `first_row` [tracks + 1] the first row of each track.
    Events of a row do not overlap, so that they end in the order in which they start; but those of
    rows that are `crowded` [rows] may, since there is no deeper row.
    """

    row_first: NDArray[np.int64]
    start_ps: NDArray[np.int64]
    duration_ps: NDArray[np.int64]
    type: NDArray[np.int32]
    track: NDArray[np.int32]
    first_row: NDArray[np.int64]
    crowded: NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class TimelineNames:
    """The different names of a timeline: `text` [names], and `of_type` [types + 1] a row in it.

    The last row of `of_type` is for events without a type, and -1.
    """

    text: list[str]
    of_type: NDArray[np.int32]


class OpenTimeline:
    """A timeline and the file that it was made from, for questions about one part.

    `read_space` opens the file, or returns the open one, when something is needed that is not in
    the columns; `read_programs` likewise. Intermediate results are cached: small ones in `cache`,
    the latest of possibly large ones, such as search results, in `answers`. Timelines may share
    `answers`; `identity` distinguishes them there.
    """

    def __init__(
        self,
        timeline: Timeline,
        read_space: Callable[[], Space],
        read_programs: Callable[[], Programs] | None = None,
        answers: LatestCache[Hashable, Any] | None = None,
        identity: Hashable = "",
    ) -> None:
        self.timeline = timeline
        self.cache = OnceCache()
        answers = answers or LatestCache(_ANSWERS, _ANSWER_BYTES)
        self.answers = TimelineAnswers(answers, identity)
        self._read_space = read_space
        self._read_programs = read_programs

    @property
    def space(self) -> Space:
        """The file."""
        return self._read_space()

    @property
    def programs(self) -> Programs:
        """The compiled programs in the file."""
        if self._read_programs is not None:
            return self._read_programs()
        programs: Programs = self.cache.get_or_compute("programs", lambda: _programs(self.space))
        return programs

    @property
    @computed_once
    def columns(self) -> TimelineColumns:
        """The event columns."""
        return _columns(self.timeline)

    @property
    @computed_once
    def names(self) -> TimelineNames:
        """The different names."""
        rows: dict[str, int] = {}
        of_type = [rows.setdefault(name, len(rows)) for name in self.timeline.types.name]
        return TimelineNames(list(rows), read_only(np.array([*of_type, -1], np.int32)))

    @property
    @computed_once
    def name_counts(self) -> NDArray[np.int64]:
        """[names] how many events have each of the different names."""
        # By type first: the columns of events are long, and mapped.
        of_type = self.names.of_type
        by_type = np.bincount(self.timeline.type + 1, minlength=of_type.size)
        return np.bincount(of_type[:-1], by_type[1:], len(self.names.text)).astype(np.int64)

    def row(self, event: int) -> int:
        """The row that an event lies on; raises EventNotFound if there is no such event."""
        events = self.timeline.start_ps.size
        if not 0 <= event < events:
            raise EventNotFound(
                f"there is no event {event}", f"the events of this part are 0 to {events - 1:,}"
            )
        return self.timeline.row_of(event)

    def track(self, row: int) -> Track:
        """The track of a row."""
        return self.timeline.tracks[int(self.columns.track[row])]

    def name(self, event: int) -> str:
        """The name that is shown for an event, "" if it has no type."""
        type_ = int(self.timeline.type[event])
        return self.timeline.types.name[type_] if type_ >= 0 else ""

    def place(self, event: int) -> dict[str, Any]:
        """The position of an event for answers: id, name, track, row, start_ps, duration_ps."""
        row = self.timeline.row_of(event)
        return {
            "id": event,
            "name": shorten(self.name(event)),
            "track": int(self.columns.track[row]),
            "row": row,
            "start_ps": int(self.timeline.start_ps[event]),
            "duration_ps": int(self.timeline.duration_ps[event]),
        }


def shorten(name: str) -> str:
    """The name, cut if it has more than a thousand characters: lists hold many names."""
    return cut(name, _LONGEST_NAME)


class TimelineAnswers:
    """The answers of one timeline in a cache that several timelines share."""

    def __init__(self, cache: LatestCache[Hashable, Any], identity: Hashable) -> None:
        self._cache = cache
        self._identity = identity

    def get_or_compute(
        self, key: Hashable, compute: Callable[[], _T], size: Callable[[_T], int]
    ) -> _T:
        """The answer to `key`, computed unless it is cached; `size` returns its bytes."""
        answer: _T = self._cache.get_or_compute((self._identity, key), compute, size)
        return answer


def _columns(timeline: Timeline) -> TimelineColumns:
    track = timeline.track_of_row()
    first_row = np.append(0, np.cumsum([track.rows for track in timeline.tracks])).astype(np.int64)
    crowded = np.zeros(track.size, np.bool_)
    crowded[first_row[1:][np.diff(first_row) >= MOST_DEPTHS] - 1] = True
    return TimelineColumns(
        read_only(timeline.row_first),
        read_only(timeline.start_ps),
        read_only(timeline.duration_ps),
        read_only(timeline.type),
        read_only(track),
        read_only(first_row),
        read_only(crowded),
    )


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """A read-only plain array, for which kernels are compiled."""
    plain = np.ascontiguousarray(array).view(np.ndarray)
    plain.flags.writeable = False
    return plain
