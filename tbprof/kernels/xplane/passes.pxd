from tbprof.kernels.types cimport Bytes, i64


cdef class Window:
    cdef readonly Bytes content
    cdef readonly i64 base
    cdef readonly i64 size


cdef class Pass:
    cdef public i64 at
    cdef public i64 end
    cdef public i64 reach


cdef class FieldWalk(Pass):
    cdef i64 stop_field
    cdef readonly bint has_ended
    cdef readonly bint is_damaged
    cdef readonly i64 cut_field
    cdef readonly i64 cut_at


cdef class StatListing(Pass):
    cdef readonly i64 listed
    cdef readonly i64 copied


cdef class Writing:
    cdef public i64 at
    cdef readonly i64 written
    cdef readonly i64 needed
    cdef readonly i64 stamp
