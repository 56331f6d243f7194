"""The recorded memory accesses of TPU ops, by memory."""

from collections import Counter

from tbprof._pb import message
from tbprof.base.records import NamedTuple

_READ = 1
_HBM, _CMEM = 1, 2


class AccessedBytes(NamedTuple):
    """Bytes of one execution: in main memory, in CMEM, and in the other memories on the chip."""

    hbm: int
    cmem_read: int
    cmem_written: int
    vmem_read: int
    vmem_written: int


def read_breakdown(breakdown: bytes) -> AccessedBytes | None:
    """The contents of a `memory_access_breakdown` stat, None if it is damaged or empty.

    It is repeated {1: read or write, 2: memory space, 3: bytes}; space 1 is HBM, 2 CMEM.
    Source: op_metrics.proto, OpMetrics.MemoryAccessed.
    """
    from google.protobuf.message import DecodeError

    proto = message("tensorflow.profiler.MemoryAccessBreakdown")()
    try:
        proto.ParseFromString(breakdown)
    except DecodeError:
        return None
    if not proto.memory_accessed:
        return None
    sums: Counter[tuple[int, bool]] = Counter()
    for access in proto.memory_accessed:
        space = access.memory_space if access.memory_space in (_HBM, _CMEM) else 0
        sums[space, access.operation_type == _READ] += max(int(access.bytes_accessed), 0)
    return AccessedBytes(
        sums[_HBM, True] + sums[_HBM, False],
        sums[_CMEM, True], sums[_CMEM, False], sums[0, True], sums[0, False],
    )  # fmt: skip
