"""Opening files whose names come from a logdir."""

from __future__ import annotations

import os
import stat
from errno import EINVAL
from io import FileIO


def open_regular(path: str | os.PathLike[str]) -> FileIO:
    """The file, unbuffered, for reading. Raises OSError, also for what is not a regular file.

    Opening a FIFO blocks until something is written to it, and a device may be endless.
    """
    return FileIO(path, opener=_open)


def _open(path: str | os.PathLike[str], flags: int) -> int:
    descriptor = os.open(path, flags | getattr(os, "O_NONBLOCK", 0))
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        return descriptor
    os.close(descriptor)
    raise OSError(EINVAL, "not a regular file")
