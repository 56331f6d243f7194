"""The recorded memory accesses of TPU ops, by memory."""

from __future__ import annotations

from collections import Counter

from tbprof.analysis.hlo_messages.message_fields import DamagedMessage
from tbprof.analysis.hlo_messages.messages import Messages
from tbprof.base.records import NamedTuple

# Fields of MemoryAccessBreakdown and of its MemoryAccessed.
_ACCESSES = 1
_OPERATION, _SPACE, _BYTES = 1, 2, 3
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
    try:
        _, accesses = Messages.one(breakdown).parts(_ACCESSES)
        columns = accesses.numbers(_OPERATION, _SPACE, _BYTES).T.tolist()
    except DamagedMessage:
        return None
    if not columns:
        return None
    sums: Counter[tuple[int, bool]] = Counter()
    for operation, space, size in columns:
        sums[space if space in (_HBM, _CMEM) else 0, operation == _READ] += max(size, 0)
    return AccessedBytes(
        sums[_HBM, True] + sums[_HBM, False],
        sums[_CMEM, True], sums[_CMEM, False], sums[0, True], sums[0, False],
    )  # fmt: skip
