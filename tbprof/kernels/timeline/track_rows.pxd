# The events of a track in a window, one after another, by a heap of the next one of each row.

from tbprof.kernels.timeline.row_heaps cimport EventRows, sink_row
from tbprof.kernels.types cimport Ints, OutInts, i64


cdef class TrackBounds:
    cdef readonly Ints first_row
    cdef readonly Ints last_row
    cdef readonly Ints first
    cdef readonly OutInts low
    cdef readonly OutInts high
    cdef readonly OutInts events


cdef inline i64 next_in_range(
    i64 event, i64 stop, Ints start, Ints duration, i64 begin
) noexcept nogil:
    """The first of the events from `event` on that does not end before the range."""
    while event < stop and start[event] < begin and start[event] + duration[event] <= begin:
        event += 1
    return event


cdef inline i64 open_rows(
    EventRows rows, TrackBounds bounds, i64 track, i64 begin, OutInts heap, OutInts head,
    OutInts head_start, OutInts head_end,
) noexcept nogil:
    """Fills the heap with the first event of each row of a track; how many rows have any."""
    cdef i64 size = 0
    cdef i64 row, at, event
    for row in range(bounds.last_row[track] - bounds.first_row[track]):
        at = bounds.first[track] + row
        event = bounds.low[at]
        if rows.crowded[bounds.first_row[track] + row]:
            event = next_in_range(event, bounds.high[at], rows.start, rows.duration, begin)
        if event < bounds.high[at]:
            head[row] = event
            head_start[row] = rows.start[event]
            head_end[row] = rows.start[event] + rows.duration[event]
            heap[size] = row
            size += 1
    for at in range(size // 2 - 1, -1, -1):
        sink_row(heap, size, at, head_start, head_end)
    return size


cdef inline i64 pass_event(
    EventRows rows, TrackBounds bounds, i64 track, i64 begin, i64 size, OutInts heap,
    OutInts head, OutInts head_start, OutInts head_end,
) noexcept nogil:
    """Replaces the event on top of the heap by the next one of its row; how many rows are left."""
    cdef i64 row = heap[0]
    cdef i64 stop = bounds.high[bounds.first[track] + row]
    cdef i64 event = head[row] + 1
    if rows.crowded[bounds.first_row[track] + row]:
        event = next_in_range(event, stop, rows.start, rows.duration, begin)
    if event < stop:
        head[row] = event
        head_start[row] = rows.start[event]
        head_end[row] = rows.start[event] + rows.duration[event]
    else:
        size -= 1
        heap[0] = heap[size]
    if size > 1:
        sink_row(heap, size, 0, head_start, head_end)
    return size
