from tbprof.kernels.types cimport OutFlags, OutInt32s, OutInts, i64


cdef class ProgramScan:
    cdef i64 fills
    cdef public i64 computations
    cdef public i64 instructions
    cdef public i64 operands
    cdef public i64 called
    cdef public i64 headers
    cdef public i64 damaged
    cdef public i64 entry_id
    cdef public i64 name_at
    cdef public i64 name_end
    cdef public i64 is_full


cdef class ComputationColumns:
    cdef OutInts id
    cdef OutInts root_id
    cdef OutInt32s first
    cdef OutInt32s name_at
    cdef OutInt32s name_end
    cdef OutInt32s shape_at
    cdef OutInt32s shape_end
    cdef OutInt32s thread_at
    cdef OutInt32s thread_end
    cdef OutFlags is_fusion
    cdef OutInt32s header_at
    cdef OutInt32s header_end


cdef class InstructionColumns:
    cdef OutInts id
    cdef OutInt32s at
    cdef OutInt32s end
    cdef OutInt32s name_at
    cdef OutInt32s name_end
    cdef OutInt32s metadata_at
    cdef OutInt32s metadata_end
    cdef OutInt32s opcode
    cdef OutInt32s shape
    cdef OutInt32s parameter
    cdef OutInt32s operands_end
    cdef OutInt32s called_end
    cdef OutInts operand_id
    cdef OutInts called_id
