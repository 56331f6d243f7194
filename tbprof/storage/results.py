"""Files that are kept between requests and processes, in the user's cache directory.

Every file is written under a temporary name and renamed, so a reader sees all of it or nothing, and
several processes may share a directory. When the directory outgrows its limit, the least recently
used files are removed first.
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from errno import EACCES
from pathlib import Path
from typing import BinaryIO

from tbprof.base.digests import blake2b
from tbprof.base.lazy import get_logger
from tbprof.base.process.user_dirs import ENVIRONMENT, cache_bytes, cache_directory

logger = get_logger(__name__)

_RECOUNT_S = 30.0  # others may have written since
_ABANDONED_S = 3600.0  # a temporary file this old belongs to a process that died
# Of computed results (of earlier versions: `.npz`), and of traces that were copied here.
_SUFFIXES = (".map", ".npz", ".pb")


class ResultStore:
    """Files by key, at most `max_bytes` in all, see `cache_bytes`.

    If the directory is not writable, the store stays empty, and logs that once:
    caching never makes a request fail.
    """

    def __init__(self, directory: Path | None = None, max_bytes: int | None = None) -> None:
        self.directory = cache_directory() / "results" if directory is None else Path(directory)
        self.max_bytes = cache_bytes() if max_bytes is None else max_bytes
        self._lock = threading.Lock()
        self._bytes = 0  # in the directory, as last counted, plus what was written since
        self._counted_at: float | None = None
        self._in_use: dict[Path, int] = {}
        self._is_failing = False

    def is_private(self) -> bool:
        """Whether other users cannot have written files here, which are mapped and trusted.

        True for a directory that does not exist yet.
        """
        try:
            facts = self.directory.stat()
        except FileNotFoundError:
            return True
        except OSError as err:
            self.failed(err)
            return False
        if os.name != "posix" or (facts.st_uid == os.geteuid() and not facts.st_mode & 0o022):
            return True
        self.failed(PermissionError(EACCES, "other users can write it"))
        return False

    def path(self, key: str, suffix: str) -> Path:
        """The path of the file for `key`, which may be any text."""
        digest = blake2b(key.encode("utf-8", "surrogatepass"), digest_size=20).hexdigest()
        return self.directory / f"{digest}{suffix}"

    @contextmanager
    def writing(self, path: Path) -> Iterator[BinaryIO]:
        """A file that is moved to `path` when the block ends without an error. Raises OSError."""
        self.directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not self.is_private():
            raise PermissionError(EACCES, "other users can write it", str(self.directory))
        temporary = self.directory / f"{os.urandom(8).hex()}.tmp"
        try:
            with open(temporary, "x+b", opener=_open_private) as file:
                yield file
                size = file.seek(0, os.SEEK_END)
                _protect(file)
            temporary.replace(path)
        except BaseException:
            remove(temporary)
            raise
        self._grew(path, size)

    @contextmanager
    def using(self, path: Path) -> Iterator[None]:
        """Keeps this process from evicting `path` inside the block."""
        with self._lock:
            self._in_use[path] = self._in_use.get(path, 0) + 1
        try:
            self.touch(path)
            yield
        finally:
            with self._lock:
                self._in_use[path] -= 1
                if not self._in_use[path]:
                    del self._in_use[path]

    def touch(self, path: Path) -> None:
        """Marks the file as just used, for the order of eviction."""
        with contextlib.suppress(OSError):  # read-only, or just evicted by another process
            os.utime(path)

    def _grew(self, path: Path, size: int) -> None:
        with self._lock:
            self._bytes += size
            now = time.monotonic()
            is_counted = self._counted_at is not None and now - self._counted_at < _RECOUNT_S
            if is_counted and self._bytes <= self.max_bytes:
                return
            self._counted_at = now
            self._bytes = self._evict({*self._in_use, path})

    def _evict(self, in_use: set[Path]) -> int:
        """Removes the least recently used files above the limit; returns the bytes that remain."""
        files: list[tuple[float, int, Path]] = []
        try:
            with os.scandir(self.directory) as entries:
                for entry in entries:
                    if not entry.name.endswith((*_SUFFIXES, ".tmp")):
                        continue  # not ours
                    try:
                        facts = entry.stat(follow_symlinks=False)
                    except OSError:
                        continue  # another process was faster
                    path = Path(entry.path)
                    if not entry.name.endswith(".tmp"):
                        files.append((facts.st_mtime, facts.st_size, path))
                    elif time.time() - facts.st_mtime > _ABANDONED_S:
                        remove(path)
        except OSError as err:
            logger.debug("The cache directory cannot be listed: %s", err)
            return 0
        total = sum(size for _, size, _ in files)
        # A little below the limit, so that not every write evicts.
        goal = self.max_bytes if total <= self.max_bytes else self.max_bytes * 9 // 10
        for _, size, path in sorted(files):
            if total <= goal:
                break
            if path not in in_use and remove(path):
                total -= size
        return total

    def failed(self, err: OSError) -> None:
        """Logs once that nothing can be stored."""
        with self._lock:
            is_first, self._is_failing = not self._is_failing, True
        if is_first:
            logger.warning(
                "The cache directory %s is not used (%s); results are computed each time. Set "
                "%s to a directory that you, and nobody else, can write.",
                self.directory, err, ENVIRONMENT,
            )  # fmt: skip


def _open_private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _protect(file: BinaryIO) -> None:
    """Makes the file read-only: shrinking a mapped file ends the process that has mapped it.

    It can still be replaced and removed. Windows refuses both while a file is mapped, and never
    removes a read-only file.
    """
    if os.name == "posix":
        os.fchmod(file.fileno(), 0o400)


def remove(path: Path) -> bool:
    """Whether the file could be removed, or was missing."""
    try:
        path.unlink(missing_ok=True)
    except OSError as err:  # Windows keeps open and mapped files
        logger.debug("%s cannot be removed: %s", path, err)
        return False
    return True
