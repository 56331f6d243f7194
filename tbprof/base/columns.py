"""Columns whose memory the system gets back with the last reference to them."""

import contextlib
import mmap
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

# Smaller ones are malloc's, whose calls are cheaper.
_LEAST_BYTES = 1 << 20
# What processes could share is given no huge pages: 25 times as many page faults.
_PRIVATE = {"flags": mmap.MAP_PRIVATE | mmap.MAP_ANON} if hasattr(mmap, "MAP_PRIVATE") else {}


def empty_column(size: int, dtype: DTypeLike) -> NDArray[Any]:
    """[size] without content, as `np.empty` gives it.

    What malloc is given back it keeps for later in the arena of a thread, up to 32 MB each: of
    columns that come and go by threads half would stay with the process.
    """
    kind = np.dtype(dtype)
    if size * kind.itemsize < _LEAST_BYTES:
        return np.empty(size, kind)
    try:
        content = mmap.mmap(-1, size * kind.itemsize, **_PRIVATE)
    except OSError:
        return np.empty(size, kind)  # which says that there is no memory, or finds some
    if hasattr(content, "madvise") and hasattr(mmap, "MADV_HUGEPAGE"):
        with contextlib.suppress(OSError):  # a kernel without
            content.madvise(mmap.MADV_HUGEPAGE)  # as NumPy asks for: a tenth of the page faults
    return np.frombuffer(content, kind)
