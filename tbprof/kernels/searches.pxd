# cython: wraparound=False
# Binary searches in columns that ascend.

from tbprof.kernels.types cimport Ints, Uint32s, i64


cdef inline i64 first_not_below(Ints column, i64 first, i64 last, i64 value) noexcept nogil:
    """The first of the rows [first, last) whose value is not below `value`, else `last`."""
    cdef i64 middle
    while first < last:
        middle = (first + last) >> 1
        if column[middle] < value:
            first = middle + 1
        else:
            last = middle
    return first


cdef inline i64 first_near(Ints column, i64 first, i64 last, i64 value) noexcept nogil:
    """As `first_not_below`, sooner where that row is near `first`."""
    cdef i64 step = 1
    while first + step < last and column[first + step] < value:
        first += step
        step *= 2
    return first_not_below(column, first, min(last, first + step), value)


cdef inline i64 first_chosen(
    Uint32s row, i64 first, i64 last, Ints column, i64 value
) noexcept nogil:
    """The first of the entries [first, last) of `row` whose row of `column` is not below `value`."""
    cdef i64 middle
    while first < last:
        middle = (first + last) >> 1
        if column[row[middle]] < value:
            first = middle + 1
        else:
            last = middle
    return first
