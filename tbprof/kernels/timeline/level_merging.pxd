from tbprof.kernels.types cimport Int32s, Ints, Uint32s, i64


# Neighbours of a row that are one at a level; event and type are those of the longest.
cdef struct LevelEntry:
    i64 start
    i64 end
    i64 event
    i64 type
    i64 count


cdef class RowEvents:
    cdef readonly Ints first
    cdef readonly Uint32s ids
    cdef readonly Ints start
    cdef readonly Ints duration
    cdef readonly Int32s type
