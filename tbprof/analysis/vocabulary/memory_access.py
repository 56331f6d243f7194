"""Which memory an op's bytes went to."""

from tbprof._pb import message

_HBM = 1


def hbm_bytes(breakdown: bytes) -> int | None:
    """The bytes of one execution that went to the device's main memory, None where unreadable.

    `breakdown` is a `memory_access_breakdown` stat: repeated {1: read or write, 2: memory space,
    3: bytes}; space 1 is HBM. Source: op_metrics.proto.
    """
    from google.protobuf.message import DecodeError

    proto = message("tensorflow.profiler.MemoryAccessBreakdown")()
    try:
        proto.ParseFromString(breakdown)
    except DecodeError:
        return None
    if not proto.memory_accessed:
        return None
    return sum(
        int(access.bytes_accessed)
        for access in proto.memory_accessed
        if access.memory_space == _HBM
    )
