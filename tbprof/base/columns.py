"""Columns whose memory returns to the system with the last reference to them."""

from __future__ import annotations

import contextlib
import mmap
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

# Smaller ones come from malloc, which is cheaper.
_LEAST_BYTES = 1 << 20
# Mappings that processes could share get no huge pages: 25 times as many page faults.
_PRIVATE = {"flags": mmap.MAP_PRIVATE | mmap.MAP_ANON} if hasattr(mmap, "MAP_PRIVATE") else {}


def empty_column(size: int, dtype: DTypeLike) -> NDArray[Any]:
    """An array [size] of undefined content, like `np.empty`.

    malloc keeps freed memory in the arena of a thread, up to 32 MB each. With columns that come and
    go by thread, half of it would stay with the process.
    """
    kind = np.dtype(dtype)
    if size * kind.itemsize < _LEAST_BYTES:
        return np.empty(size, kind)
    try:
        content = mmap.mmap(-1, size * kind.itemsize, **_PRIVATE)
    except OSError:
        return np.empty(size, kind)  # which raises MemoryError, or succeeds
    if hasattr(content, "madvise") and hasattr(mmap, "MADV_HUGEPAGE"):
        with contextlib.suppress(OSError):  # a kernel without huge pages
            content.madvise(mmap.MADV_HUGEPAGE)  # as NumPy does: a tenth of the page faults
    return np.frombuffer(content, kind)


def release_end(column: NDArray[Any], used: int) -> None:
    """Returns the memory after the first `used` rows of an empty column to the system.

    Its content is lost.
    """
    content: object = getattr(column.base, "obj", None)
    if not isinstance(content, mmap.mmap) or not hasattr(mmap, "MADV_DONTNEED"):
        return
    begin = -(-used * column.itemsize // mmap.PAGESIZE) * mmap.PAGESIZE
    if begin < len(content):
        content.madvise(mmap.MADV_DONTNEED, begin)
