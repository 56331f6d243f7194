from tbprof.kernels.types cimport Bytes, OutInts, OutIntTable, i64


cdef class LineEnds:
    cdef OutInts events
    cdef OutInts follows
    cdef OutInts id
    cdef OutInts timestamp_ns
    cdef OutInts display_id
    cdef OutIntTable name
    cdef OutIntTable display_name


cdef i64 note_field(
    Bytes buf, i64 base, i64 tag, i64 value_at, i64 end, LineEnds found, i64 line
) noexcept nogil
