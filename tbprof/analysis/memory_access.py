"""Which memory an op's bytes went to."""

from tbprof._pb import message

_HBM = 1


def hbm_bytes(breakdown: bytes) -> int:
    """The bytes of one execution that went to the device's main memory.

    `breakdown` is a `memory_access_breakdown` stat: repeated {1: read or write, 2: memory space,
    3: bytes}; space 1 is HBM. A damaged one counts nothing. Source: op_metrics.proto.
    """
    from google.protobuf.message import DecodeError

    proto = message("tensorflow.profiler.MemoryAccessBreakdown")()
    try:
        proto.ParseFromString(breakdown)
    except DecodeError:
        return 0
    return sum(
        access.bytes_accessed for access in proto.memory_accessed if access.memory_space == _HBM
    )
