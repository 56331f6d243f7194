# cython: wraparound=False
# Heaps of rows by the next event of each, in arrays that the caller gives.

from tbprof.kernels.types cimport Flags, Int32s, Ints, OutInts, i64


cdef class EventRows:
    cdef readonly Ints first
    cdef readonly Ints start
    cdef readonly Ints duration
    cdef readonly Int32s type
    cdef readonly Flags crowded


cdef class RowHeads:
    cdef OutInts heap
    cdef OutInts head
    cdef OutInts start
    cdef OutInts end


cdef inline void sink(OutInts heap, i64 size, i64 at, Ints start, Ints id_) noexcept nogil:
    """Moves the entry at `at` down until the heap's least by (start, id) is on top again."""
    cdef i64 entry = heap[at]
    cdef i64 child, other, left, right, below
    while True:
        child = 2 * at + 1
        if child >= size:
            break
        other = child + 1
        if other < size:
            left = heap[child]
            right = heap[other]
            if start[right] < start[left] or (
                start[right] == start[left] and id_[right] < id_[left]
            ):
                child = other
        below = heap[child]
        if start[below] < start[entry] or (
            start[below] == start[entry] and id_[below] < id_[entry]
        ):
            heap[at] = below
            at = child
        else:
            break
    heap[at] = entry


cdef inline bint is_before(i64 one, i64 other, Ints head_start, Ints head_end) noexcept nogil:
    """Whether the next event of a row comes before that of another: by start, longest first."""
    if head_start[one] != head_start[other]:
        return head_start[one] < head_start[other]
    if head_end[one] != head_end[other]:
        return head_end[one] > head_end[other]
    return one < other


cdef inline void sink_row(
    OutInts heap, i64 size, i64 at, Ints head_start, Ints head_end
) noexcept nogil:
    """Moves the row at `at` down until the row with the next event is on top again."""
    cdef i64 entry = heap[at]
    cdef i64 child
    while True:
        child = 2 * at + 1
        if child >= size:
            break
        if child + 1 < size and is_before(heap[child + 1], heap[child], head_start, head_end):
            child += 1
        if not is_before(heap[child], entry, head_start, head_end):
            break
        heap[at] = heap[child]
        at = child
    heap[at] = entry
