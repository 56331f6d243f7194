"""Rows of events, and heaps of them by the next event of each."""

import cython
from cython.cimports.tbprof.kernels.types import Flags, Int32s, Ints, OutInts


@cython.final
@cython.cclass
class EventRows:
    """The events of rows; they may overlap on `crowded` rows, see TimelineColumns."""

    def __init__(
        self,
        first: Ints,
        start: Ints,
        duration: Ints,
        type: Int32s,
        crowded: Flags,
    ) -> None:
        self.first = first
        self.start = start
        self.duration = duration
        self.type = type
        self.crowded = crowded


@cython.final
@cython.cclass
class RowHeads:
    """A heap of rows by the next event of each, and that event; scratch [rows]."""

    def __init__(self, heap: OutInts, head: OutInts, start: OutInts, end: OutInts) -> None:
        self.heap = heap
        self.head = head
        self.start = start
        self.end = end
