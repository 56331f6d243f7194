from tbprof.kernels.types cimport Bytes, OutBytes, OutInt32s, OutInts, i64


cdef class KnownTexts:
    cdef i64 multiplier
    cdef readonly i64 first
    cdef Bytes source
    cdef OutBytes content
    cdef OutInts ends
    cdef OutInt32s slots
    cdef OutInt32s latest
    cdef readonly i64 texts
    cdef readonly i64 needed


cdef i64 number_text(i64 first, i64 last, KnownTexts known) noexcept nogil
