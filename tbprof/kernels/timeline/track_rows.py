"""The events of tracks that may overlap a window, in order of time over all rows of a track."""

import cython
from cython.cimports.tbprof.kernels.searches import first_not_below
from cython.cimports.tbprof.kernels.timeline.row_heaps import EventRows
from cython.cimports.tbprof.kernels.types import Ints, OutInts, i64


@cython.final
@cython.cclass
class TrackBounds:
    """The events of tracks that may overlap a window, and the space for their unions.

    The columns of `interval_aggregation.Bounds`; `bound_rows` fills in `low`, `high` and `events`,
    `add_tracks` fills in `spans`, `begin_ps` and `end_ps`.
    """

    first_row: Ints
    last_row: Ints
    first: Ints
    low: OutInts
    high: OutInts
    events: OutInts

    def __init__(
        self, first_row: Ints, last_row: Ints, first: Ints, low: OutInts, high: OutInts,
        events: OutInts,
    ) -> None:  # fmt: skip
        self.first_row = first_row
        self.last_row = last_row
        self.first = first
        self.low = low
        self.high = high
        self.events = events


@cython.ccall
@cython.exceptval(check=False)
@cython.locals(
    at=i64,
    duration=Ints,
    first=i64,
    middle=i64,
    row=i64,
    start=Ints,
    stop=i64,
    track=i64,
)
def bound_rows(rows: EventRows, begin: i64, end: i64, bounds: TrackBounds) -> cython.void:
    """Fills in the events of each row that may overlap [begin, end), and their number per track."""
    start, duration = rows.start, rows.duration
    with cython.nogil:
        at = 0
        for track in range(bounds.first_row.shape[0]):
            for row in range(bounds.first_row[track], bounds.last_row[track]):
                first = rows.first[row]
                stop = rows.first[row + 1]
                bounds.high[at] = first_not_below(start, first, stop, end)
                if not rows.crowded[row]:
                    stop = bounds.high[at]
                    while first < stop:  # the first event in progress in the range
                        middle = (first + stop) >> 1
                        if start[middle] < begin and start[middle] + duration[middle] <= begin:
                            first = middle + 1
                        else:
                            stop = middle
                bounds.low[at] = first
                bounds.events[track] += bounds.high[at] - first
                at += 1
