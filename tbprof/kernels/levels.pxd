from tbprof.kernels.types cimport Int32s, Ints, Uint32s


cdef class RowEvents:
    cdef readonly Ints first
    cdef readonly Uint32s ids
    cdef readonly Ints start
    cdef readonly Ints duration
    cdef readonly Int32s type
