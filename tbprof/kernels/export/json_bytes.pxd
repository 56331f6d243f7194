from tbprof.kernels.types cimport Bytes, Ints, OutBytes, i64


cdef class Texts:
    cdef readonly Bytes text
    cdef readonly Ints first
    cdef i64 say(self, i64 number, OutBytes out, i64 at) noexcept nogil


cdef i64 copy_bytes(Bytes text, i64 first, i64 last, OutBytes out, i64 at) noexcept nogil
cpdef i64 write_text(Bytes text, i64 first, i64 last, OutBytes out, i64 at) noexcept nogil
cpdef i64 write_integer(i64 kind, i64 bits, OutBytes out, i64 at) noexcept nogil
cpdef i64 write_us(i64 time_ps, OutBytes out, i64 at) noexcept nogil
cpdef i64 write_hex(i64 value, OutBytes out, i64 at) noexcept nogil
