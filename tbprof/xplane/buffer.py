"""The mapped bytes of a file, with pages let go once they are read."""

import contextlib
import mmap
import os
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tbprof.base.errors import BadTrace, Unreachable

# Pages are brought in and let go by pieces of this size, so that resident memory stays small
# however large the file is.
CHUNK = 16 * 2**20

# Linux 5.14: map a range in one system call instead of one fault per 16 pages. Source: madvise(2).
_POPULATE_READ = 22


class Buffer:
    """A read-only view of a whole file as `bytes` [n] uint8; empty files are refused."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = str(path)
        try:
            self._file = Path(path).open("rb")  # noqa: SIM115 - open as long as the map, to see it shrink
            size = os.fstat(self._file.fileno()).st_size
            if size == 0:
                raise BadTrace(
                    self.path,
                    0,
                    "the file is empty",
                    "the recorder was stopped before it wrote, or is still writing",
                )
            self._map = mmap.mmap(self._file.fileno(), size, access=mmap.ACCESS_READ)
        except (OSError, ValueError) as error:
            raise Unreachable(f"{self.path}: cannot be read ({error})") from error
        self.bytes: NDArray[np.uint8] = np.frombuffer(self._map, np.uint8)

    def __len__(self) -> int:
        return int(self.bytes.size)

    def bring(self, begin: int, end: int) -> None:
        """Maps the pages of a range ahead of a pass over it.

        Raises BadTrace where the file has become shorter than it was: reading a mapped page that
        is gone would end the process.
        """
        size = os.fstat(self._file.fileno()).st_size
        if size < len(self):
            raise BadTrace(
                self.path,
                size,
                f"the file shrank from {len(self)} bytes while it was read",
                "it is being written again: reload in a moment",
            )
        self._advise(_POPULATE_READ, begin, end)

    def release(self, begin: int, end: int) -> None:
        """Lets the pages of a range go; they stay in the system's cache and can be read again."""
        self._advise(getattr(mmap, "MADV_DONTNEED", None), begin, end)

    def _advise(self, advice: int | None, begin: int, end: int) -> None:
        if advice is None or not hasattr(self._map, "madvise"):
            return
        begin -= begin % mmap.PAGESIZE
        if end <= begin:
            return
        # Advice alone: where the kernel does not know it, reading works all the same.
        with contextlib.suppress(OSError, ValueError):
            self._map.madvise(advice, begin, min(end, len(self)) - begin)
