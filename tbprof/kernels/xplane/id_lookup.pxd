from tbprof.kernels.types cimport Int32s, Ints


cdef class Lookup:
    cdef readonly Ints keys
    cdef readonly Int32s rows
