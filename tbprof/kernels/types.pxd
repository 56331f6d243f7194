# The C types of kernels: 64-bit integers, and arrays of one or two dimensions without gaps.
# Arrays that a kernel only reads may be read-only; `Out…` are those that it fills.

ctypedef long long i64

ctypedef const unsigned char[::1] Bytes
ctypedef const unsigned char[::1] Flags
ctypedef const signed char[::1] Int8s
ctypedef const int[::1] Int32s
ctypedef const unsigned int[::1] Uint32s
ctypedef const i64[::1] Ints
ctypedef const double[::1] Floats

ctypedef unsigned char[::1] OutBytes
ctypedef unsigned char[::1] OutFlags
ctypedef signed char[::1] OutInt8s
ctypedef unsigned short[:, ::1] OutUint16Table
ctypedef int[::1] OutInt32s
ctypedef unsigned int[::1] OutUint32s
ctypedef i64[::1] OutInts
ctypedef double[::1] OutFloats

ctypedef const i64[:, ::1] IntTable
ctypedef i64[:, ::1] OutIntTable
ctypedef unsigned char[:, ::1] OutByteTable
ctypedef unsigned char[:, ::1] OutFlagTable
ctypedef double[:, ::1] OutFloatTable
ctypedef const unsigned short[::1] Uint16s
ctypedef unsigned short[::1] OutUint16s
