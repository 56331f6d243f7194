from tbprof.kernels.export.json_bytes cimport Texts
from tbprof.kernels.types cimport Bytes, Int32s, Ints, OutBytes, i64


cdef class StatColumns:
    cdef Ints begin
    cdef Ints end
    cdef Int32s name
    cdef readonly Bytes kind
    cdef Ints bits
    cdef Ints size
    cdef Bytes content
    cdef Texts number


cdef class StatNames:
    cdef Texts text
    cdef readonly Ints distinct
    cdef readonly Bytes purpose
    cdef i64 full_name
    cdef bint has_flows
    cdef i64 at(self, i64 row) noexcept nogil


cdef i64 write_value(
    StatColumns stats, i64 row, StatNames names, Texts words, OutBytes out, i64 at
) noexcept nogil
cdef i64 stat_room(StatColumns stats, i64 row, StatNames names) noexcept nogil
cdef (i64, i64, i64, bint) find_flow(
    StatColumns stats, i64 first, i64 last, StatNames names
) noexcept nogil
