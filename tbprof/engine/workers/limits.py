"""How much memory and time the parts of one trace may take."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

from tbprof.base.records import dataclass
from tbprof.storage.runs import TraceFile

MEMORY_GIB = "TBPROF_TRACE_GIB"
SECONDS = "TBPROF_TRACE_SECONDS"

# Measured: small traces take 20 MB, large ones 0.8 times their size, all parts together.
_LEAST_BYTES, _BYTES_PER_BYTE = 2 << 30, 8
# Of the machine, or of the container.
_MOST_SHARE = 0.8
# A trace of 767 MB takes 3 s. A remote one is copied first.
_LEAST_SECONDS, _BYTES_PER_SECOND = 120.0, 1e6
# A compressed trace is up to so many times as large.
_INFLATED = 30
_GROUPS = Path("/sys/fs/cgroup")


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits that the user chose for all traces; 0 derives them from the size of each."""

    bytes: int = 0
    seconds: float = 0.0

    def bytes_of(self, file: TraceFile) -> int:
        """How many bytes computing parts of a file may take, beyond what the process held before.

        8 times the size of the trace, at least 2 GiB, at most 0.8 of the memory there is.
        """
        by_size = max(_LEAST_BYTES, _BYTES_PER_BYTE * _inflated(file))
        return self.bytes or min(by_size, int(_memory() * _MOST_SHARE))

    def seconds_of(self, file: TraceFile) -> float:
        """How long a request for parts of a file may take: 2 minutes, and a second per MB."""
        return self.seconds or _LEAST_SECONDS + _inflated(file) / _BYTES_PER_SECOND


def chosen_limits() -> Limits:
    """The limits in the environment."""
    return Limits(int(_number(MEMORY_GIB) * (1 << 30)), _number(SECONDS))


@contextmanager
def held_to(most: int) -> Iterator[None]:
    """Inside the block, allocating more than `most` additional bytes raises MemoryError.

    Only on Linux, where the limit covers allocated memory and not mapped files.
    """
    if sys.platform != "linux":
        yield
        return
    import resource

    before, hard = resource.getrlimit(resource.RLIMIT_DATA)
    known = [limit for limit in (before, hard) if limit != resource.RLIM_INFINITY]
    resource.setrlimit(resource.RLIMIT_DATA, (min(_held() + most, *known, sys.maxsize), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (before, hard))


def _number(name: str) -> float:
    text = os.environ.get(name, "")
    return float(text) if text.replace(".", "", 1).isdecimal() else 0.0


def _inflated(file: TraceFile) -> int:
    return file.bytes * (_INFLATED if file.compression else 1)


@cache
def _memory() -> int:
    """The memory of the machine, or of the control group if that is less."""
    if sys.platform != "linux":
        return sys.maxsize
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    for place in ("memory.max", "memory/memory.limit_in_bytes"):
        with suppress(OSError, ValueError):  # "max": no limit
            total = min(total, int((_GROUPS / place).read_text("ascii")))
    return total


def _held() -> int:
    """The memory that counts towards the limit. Source: proc(5), the sixth number of statm."""
    pages = int(Path("/proc/self/statm").read_text("ascii").split()[5])
    return pages * os.sysconf("SC_PAGE_SIZE")
