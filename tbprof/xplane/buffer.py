"""The bytes of a file: small files in memory, large ones read in windows, never mapped.

No tool is faster with a map, and if another process truncates the file, reading a mapped page ends
this process, at any point of a compiled pass. What was read into our own memory stays: a file that
shrinks causes an error at the next window.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from tbprof.base.errors import BadTrace, Unreachable
from tbprof.base.process.regular_files import open_regular
from tbprof.kernels.xplane.fields import body_at, texts_in
from tbprof.kernels.xplane.passes import Pass, Window

# Smaller files are read completely, so later changes of the file do not matter.
HELD_BYTES = 16 * 2**20

# Windows fit into the processor's cache, where passes find what was just copied: 767 MB take about
# 25 ms with 128 KiB as with 16 MiB. Smaller windows cost calls of kernels, larger ones memory.
WINDOW = 2**19
# Most walks end after a few fields; the windows of longer walks grow.
_FIRST_WINDOW = 4096
# Most events and names are shorter; longer ones are read again, up to their stated length.
_MESSAGE = 512
# Progress is tracked in pieces of this size.
_PIECE = 2**16


class Buffer:
    """The bytes that were read from `path`, in windows; an empty file is refused.

    Callers only get windows of about `window` bytes, and each pass has its own windows, so threads
    share no memory here. Reading raises BadTrace if the file has become shorter, and Unreachable if
    it can no longer be read.
    """

    def __init__(self, content: bytes | OpenFile, path: str, window: int = WINDOW) -> None:
        self.path = path
        self.window = window
        self._source = _Held(content) if isinstance(content, bytes) else content
        self._size = self._source.size()
        self._is_decoded = np.zeros(-(-self._size // _PIECE), np.bool_)
        if not self._size:
            raise BadTrace(
                path,
                0,
                "the file is empty",
                "the recorder was stopped before it wrote, or is still writing",
            )

    @classmethod
    def of_file(cls, path: str | os.PathLike[str], name: str = "") -> Buffer:
        """The whole file at `path`; raises Unreachable if it cannot be read."""
        shown = name or str(path)
        try:
            file = OpenFile(path)
            if file.size() > HELD_BYTES:
                return cls(file, shown)
            with file.file:
                return cls(file.file.read(), shown)
        except (OSError, ValueError, OverflowError) as error:
            # Without the path that Python adds, which may be that of a copy.
            reason = getattr(error, "strerror", None) or error
            raise Unreachable(f"{shown}: cannot be read ({reason})") from error

    def __len__(self) -> int:
        return self._size

    def note_decoded(self, begin: int, end: int) -> None:
        """Notes that about the bytes [begin, end) have been decoded as events."""
        self._is_decoded[begin // _PIECE : -(-end // _PIECE)] = True

    def decoded_ratio(self) -> float:
        """How much of the file's bytes has been decoded as events, 0 to 1."""
        return float(self._is_decoded.mean())

    def view(self, begin: int, end: int) -> NDArray[np.uint8]:
        """The bytes [begin, end), or up to the end of the file."""
        return self._shown(begin, end, [])

    def along(self, progress: Pass) -> Iterator[Window]:
        """Windows for a pass from its current offset to its end; at least one.

        Each begins at the position of the pass, and replaces the previous one.
        """
        space: list[NDArray[np.uint8]] = []
        size = min(_FIRST_WINDOW, self.window)
        while True:
            begin = progress.at
            stop = min(max(begin + size, progress.reach), progress.end)
            yield Window(self._shown(begin, stop, space), begin)
            if progress.at >= progress.end:
                return
            size = min(8 * size, self.window)

    def messages(self) -> Pass:
        """A pass over messages anywhere in the file, by their rows."""
        return Pass(0, len(self))

    def around(self, progress: Pass, begins: NDArray[np.int64]) -> Iterator[Window]:
        """Windows for a pass over the messages at ascending offsets, from its current row on."""
        if isinstance(self._source, _Held) and self._size <= self.window:
            whole = Window(self._source.content, 0)
            while progress.at < begins.size:  # a pass may pause when its own output is full
                yield whole
            return
        space: list[NDArray[np.uint8]] = []
        while progress.at < begins.size:
            begin = int(begins[progress.at])
            last = begins[np.searchsorted(begins, begin + self.window) - 1]
            stop = max(int(last) + min(_MESSAGE, self.window), progress.reach)
            yield Window(self._shown(begin, stop, space), begin)

    def text(self, begin: int, end: int) -> str:
        """The text in [begin, end), with U+FFFD for invalid UTF-8."""
        return self.view(begin, end).tobytes().decode("utf-8", "replace")

    def texts(self, ranges: NDArray[np.int64]) -> list[str]:
        """The texts [n] in byte ranges [n, 2]; "" for absent ones, which begin at -1."""
        if isinstance(self._source, _Held):
            texts: list[str] = texts_in(self._source.bytes, 0, ranges)
            return texts
        decoded = [""] * len(ranges)
        rows = np.flatnonzero(ranges[:, 0] >= 0)
        rows = rows[np.argsort(ranges[rows, 0], kind="stable")]
        ranges = ranges[rows]
        begins, ends = np.ascontiguousarray(ranges.T)
        progress = self.messages()
        for window in self.around(progress, begins):
            content, base = bytes(window.content), window.base
            # Up to the first that is not completely in the window.
            fits = ends[progress.at :] <= base + len(content)
            stop = progress.at + (fits.size if fits.all() else int(np.argmin(fits)))
            part = slice(progress.at, stop)
            texts = texts_in(content, base, ranges[part])
            for row, text in zip(rows[part].tolist(), texts, strict=True):
                decoded[row] = text
            progress.at = stop
            progress.reach = int(ends[stop]) if stop < ends.size else 0
        return decoded

    def body(self, offset: int) -> tuple[int, int]:
        """The range that the length varint at `offset` states; empty if it is damaged."""
        if offset < 0:
            return 0, 0
        begin, end = body_at(self.view(offset, offset + 10), len(self) - offset)
        return (begin + offset, end + offset) if begin >= 0 else (0, 0)

    def _shown(self, begin: int, end: int, space: list[NDArray[np.uint8]]) -> NDArray[np.uint8]:
        """The existing bytes of [begin, end), read into the single array of `space` if it fits."""
        end = max(begin, min(end, len(self)))
        if isinstance(self._source, _Held):
            return self._source.content[begin:end]
        if not space or space[0].size < end - begin:
            space[:] = [np.empty(end - begin, np.uint8)]
        window = space[0][: end - begin]
        self._fill(self._source, begin, window.data)
        # Like those of a file in memory: kernels are compiled for one kind of array.
        window.flags.writeable = False
        return window

    def _fill(self, source: OpenFile, begin: int, out: memoryview) -> None:
        done = 0
        while done < len(out):
            try:
                count = source.read_into(out[done:], begin + done)
                end = min(source.size(), begin + done) if not count else 0
            except OSError as error:
                raise Unreachable(f"{self.path}: can no longer be read ({error})") from error
            if not count:
                raise BadTrace(
                    self.path,
                    end,
                    f"the file shrank from {len(self)} bytes while it was read",
                    "it is being rewritten: reload in a moment",
                )
            done += count


class _Held:
    """A file in memory."""

    def __init__(self, content: bytes) -> None:
        self.bytes = content
        self.content: NDArray[np.uint8] = np.frombuffer(content, np.uint8)

    def size(self) -> int:
        return int(self.content.size)


class OpenFile:
    """A file that is read at any offset, by several threads; closed with its last reference."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.file = open_regular(path)
        weakref.finalize(self, self.file.close)
        self._seeking = threading.Lock()

    def size(self) -> int:
        """The size of the file as it is now."""
        return os.fstat(self.file.fileno()).st_size

    def read_into(self, out: memoryview, begin: int) -> int:
        """Fills the front of `out` with bytes from `begin` on; returns how many, 0 at the end."""
        if hasattr(os, "preadv"):
            return os.preadv(self.file.fileno(), [out], begin)
        with self._seeking:  # Windows has no `pread`: all threads share one position
            self.file.seek(begin)
            return self.file.readinto(out)
