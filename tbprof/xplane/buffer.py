"""The bytes of a file: small files in memory, large ones mapped with pages let go once read."""

import contextlib
import mmap
import os
import stat
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tbprof.base.errors import BadTrace, Unreachable
from tbprof.xplane.wire import read_length

# Pages are brought in and let go by pieces of this size, so that resident memory stays small
# however large the file is. Smaller files are read as they are: quicker than faults of pages, and
# nothing that happens to the file later matters.
CHUNK = 16 * 2**20

# Linux 5.14: map a range in one system call instead of one fault per 16 pages. Source: madvise(2).
_POPULATE_READ = 22


class Buffer:
    """A read-only view of bytes that were read from `path`; no bytes at all are refused."""

    def __init__(self, content: bytes | mmap.mmap, path: str) -> None:
        self.path = path
        # A map keeps its file open on its own, and closes it when the last view of it is gone.
        self._map = content if isinstance(content, mmap.mmap) else None
        self._bytes: NDArray[np.uint8] = np.frombuffer(content, np.uint8)
        if not self._bytes.size:
            raise BadTrace(
                path,
                0,
                "the file is empty",
                "the recorder was stopped before it wrote, or is still writing",
            )

    @classmethod
    def of_file(cls, path: str | os.PathLike[str]) -> "Buffer":
        """The whole file at `path`; raises Unreachable where it cannot be read."""
        try:
            if not stat.S_ISREG(Path(path).stat().st_mode):
                raise Unreachable(f"{path}: cannot be read (it is no file)")
            with Path(path).open("rb") as file:
                if os.fstat(file.fileno()).st_size <= CHUNK:
                    return cls(file.read(), str(path))
                return cls(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ), str(path))
        except (OSError, ValueError, OverflowError) as error:
            raise Unreachable(f"{path}: cannot be read ({error})") from error

    def __len__(self) -> int:
        return int(self._bytes.size)

    @property
    def bytes(self) -> NDArray[np.uint8]:
        """[n] all bytes; ask anew before each pass.

        Raises BadTrace where the file has become shorter than it was: reading a mapped page that
        is gone would end the process.
        """
        if self._map is not None:
            size = self._map.size()
            if size < len(self):
                raise BadTrace(
                    self.path,
                    size,
                    f"the file shrank from {len(self)} bytes while it was read",
                    "it is being written again: reload in a moment",
                )
        return self._bytes

    def text(self, begin: int, end: int) -> str:
        """The text in [begin, end), U+FFFD for invalid UTF-8."""
        return self.bytes[begin:end].tobytes().decode("utf-8", "replace")

    def texts(self, ranges: NDArray[np.int64]) -> list[str]:
        """The texts [n] in byte ranges [n, 2]; "" for absent ones, which begin at -1."""
        raw = self.bytes
        return [
            raw[begin:end].tobytes().decode("utf-8", "replace") if begin >= 0 else ""
            for begin, end in ranges.tolist()
        ]

    def body(self, at: int) -> tuple[int, int]:
        """The range that the length varint at offset `at` announces; empty where it is damaged."""
        begin, end = read_length(self.bytes, at, len(self)) if at >= 0 else (-1, -1)
        return (int(begin), int(end)) if begin >= 0 else (0, 0)

    def bring(self, begin: int, end: int) -> None:
        """Maps the pages of a range ahead of a pass over it."""
        self._advise(_POPULATE_READ, begin, end)

    def release(self, begin: int, end: int) -> None:
        """Lets the pages of a range go; they stay in the system's cache and can be read again."""
        self._advise(getattr(mmap, "MADV_DONTNEED", None), begin, end)

    def _advise(self, advice: int | None, begin: int, end: int) -> None:
        if advice is None or self._map is None or not hasattr(self._map, "madvise"):
            return
        begin = max(begin - begin % mmap.PAGESIZE, 0)
        end = min(end, len(self))
        # Advice alone: where the kernel does not know it, reading works all the same.
        if begin < end:
            with contextlib.suppress(OSError, ValueError):
                self._map.madvise(advice, begin, end - begin)
