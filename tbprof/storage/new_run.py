"""A new run in a logdir: complete files that never replace others."""

from __future__ import annotations

import contextlib
import mmap
import os
import secrets
import shutil
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Protocol

from tbprof.base.errors import TbprofError, Unreachable
from tbprof.storage.filesystems import file_system, is_remote

_MOST_NAMES = 1000
# Stores in which objects appear as a whole or not at all.
_WHOLE = frozenset({"gs", "gcs", "s3", "s3a", "az", "abfs", "abfss", "memory"})
_READ_ONLY = frozenset({"http", "https"})


class NotWritten(TbprofError):
    """A file could not be written; the message says why."""

    code = "not_written"


class _Folder(Protocol):
    """Where the files of a run go. Every failure is an OSError, or a backend's own."""

    def make(self, url: str) -> bool:
        """Makes the run's folder; False if the name is taken."""

    def open(self, url: str) -> NewFile:
        """A file that takes its name when it is committed."""

    def exists(self, url: str) -> bool:
        """Whether there is something at `url`."""


class NewRun:
    """A run that is being recorded; its folder appears with its first file.

    `name` is the run's, with a number appended if that name was taken. Safe to use from
    several threads.
    """

    def __init__(self, logdir: str, name: str) -> None:
        if not logdir.strip():
            raise NotWritten("no logdir is given", "name the folder for the run")
        self.root = runs_root(logdir)
        self.name = name
        self._wanted = name
        self._folder: _Folder = _Remote(self.root) if is_remote(self.root) else _Local(self.root)
        self._join = file_system(self.root)[0].join
        self._url: str | None = None
        self._lock = threading.Lock()
        with storage_errors(self.root):
            self.name = next(
                candidate
                for candidate in self._names()
                if not self._folder.exists(self._place(candidate))
            )

    @property
    def url(self) -> str:
        """The run's folder."""
        return self._url or self._place(self.name)

    def open(self, name: str) -> NewFile:
        """A new file `name` of the run, to be written, then committed or discarded.

        `name` is a plain file name; the caller has made sure of that. Raises NotWritten.
        """
        if name in ("", ".", "..") or "/" in name or os.sep in name:
            raise NotWritten(f"{name!r} is not a file name")
        with storage_errors(self.root):
            return self._folder.open(self._join(self._make_folder(), name))

    def write(self, name: str, data: memoryview) -> str:
        """The URL of a new file `name` of the run with the content `data`. Raises NotWritten."""
        file = self.open(name)
        try:
            file.write(data)
            return file.commit()
        except BaseException:
            file.discard()
            raise

    def find(self, name: str) -> str | None:
        """The URL of a file of the run written by another process, or None."""
        url = self._join(self.url, name)
        try:
            return url if self._folder.exists(url) else None
        except (OSError, TbprofError):
            return None

    def _make_folder(self) -> str:
        with self._lock:
            if self._url is None:
                # The profiler may have made the folder itself.
                for name in self._names():
                    url = self._place(name)
                    if self._folder.make(url):
                        self._url, self.name = url, name
                        break
            if self._url is None:
                raise FileExistsError(f"there are {_MOST_NAMES} runs called {self._wanted}")
            return self._url

    def _names(self) -> list[str]:
        later = [f"{self._wanted}_{count}" for count in range(2, _MOST_NAMES + 1)]
        return list(dict.fromkeys([self.name, self._wanted, *later]))

    def _place(self, name: str) -> str:
        return self._join(self.root, name)


def runs_root(logdir: str) -> str:
    """The folder of a logdir's runs; accepts also this folder itself, or that of one run."""
    files, url = file_system(logdir)
    above = files.parent(url)
    for place in (url, above):
        if files.tail(place)[-2:] == ("plugins", "profile"):
            return place
    return files.join(files.join(url, "plugins"), "profile")


class NewFile:
    """A file that appears under its name when it is complete, and never replaces another.

    Until then its bytes are in a local file: beside its final path, or for remote storage in the
    system's temporary folder. Failures are NotWritten or Unreachable.
    """

    def __init__(self, url: str, part: Path, publish: Callable[[Path], None]) -> None:
        self.url = url
        self.size = 0
        self._part = part
        self._publish = publish
        with storage_errors(url):
            part.parent.mkdir(parents=True, exist_ok=True)  # it may have been removed
            self._file = part.open("xb")

    def write(self, data: bytes | memoryview) -> None:
        """Adds to the file."""
        with storage_errors(self.url):
            self._file.write(data)
        self.size += len(data)

    @contextlib.contextmanager
    def content(self) -> Iterator[memoryview]:
        """What was written so far; valid inside the block."""
        self._flush()
        if not self.size:
            yield memoryview(b"")
            return
        with (
            self._part.open("rb") as file,
            mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped,
        ):
            view = memoryview(mapped)
            try:
                yield view
            finally:
                view.release()

    def commit(self) -> str:
        """Gives the file its name; returns its URL."""
        self._flush()
        with storage_errors(self.url):
            self._file.close()
            self._part.parent.mkdir(parents=True, exist_ok=True)
            self._publish(self._part)
        return self.url

    def discard(self) -> None:
        """Removes the file, and the run's folder if it is empty."""
        with contextlib.suppress(OSError):
            self._file.close()
        with contextlib.suppress(OSError):
            self._part.unlink()
        with contextlib.suppress(OSError):
            self._part.parent.rmdir()

    def _flush(self) -> None:
        with storage_errors(self.url):
            self._file.flush()


class _Local:
    def __init__(self, root: str) -> None:
        self._root = root

    def make(self, url: str) -> bool:
        os.makedirs(self._root, exist_ok=True)  # noqa: PTH103 - names stay text, as in filesystems
        try:
            os.mkdir(url)  # noqa: PTH102
        except FileExistsError:
            return False
        return True

    def open(self, url: str) -> NewFile:
        target = Path(url)
        part = target.with_name(f".{target.name[:100]}.{secrets.token_hex(6)}.part")
        return NewFile(url, part, lambda part_path: _take_name(part_path, target))

    def exists(self, url: str) -> bool:
        return os.path.lexists(url)


def _take_name(temporary: Path, target: Path) -> None:
    """Renames a file; FileExistsError if the name is taken, which `rename` would replace."""
    try:
        os.link(temporary, target)
    except FileExistsError:
        raise
    except OSError:  # a file system without links
        if target.exists():
            raise FileExistsError(f"{target} already exists") from None
        temporary.rename(target)
    else:
        temporary.unlink()


class _Remote:
    def __init__(self, root: str) -> None:
        from tbprof.storage.remote.remote_files import remote_files

        self._scheme = root.partition("://")[0]
        if self._scheme in _READ_ONLY:
            raise NotWritten(
                f"{self._scheme}:// can only be read",
                "give a folder of this machine, or a bucket: s3://, gs://, az://",
            )
        self._files = remote_files(root)

    def make(self, url: str) -> bool:
        if self.exists(url):
            return False
        if self._scheme not in _WHOLE:  # stores have no folders, and would make buckets
            self._files.call("makedirs", url, exist_ok=True)
        return True

    def open(self, url: str) -> NewFile:
        folder = Path(tempfile.mkdtemp(prefix="tbprof-"))
        return NewFile(url, folder / "part", lambda part_path: self._publish(part_path, url))

    def _publish(self, part_path: Path, url: str) -> None:
        if self.exists(url):
            raise FileExistsError(f"{url} already exists")
        if self._scheme in _WHOLE:
            self._files.put(part_path, url)
        else:
            temporary = f"{url}.{secrets.token_hex(6)}.part"
            try:
                self._files.put(part_path, temporary)
                self._files.rename(temporary, url)
            except BaseException:
                with contextlib.suppress(Exception):
                    self._files.call("rm_file", temporary)
                raise
        shutil.rmtree(part_path.parent, ignore_errors=True)

    def exists(self, url: str) -> bool:
        try:
            self._files.stat(url)
        except FileNotFoundError:
            return False
        return True


@contextlib.contextmanager
def storage_errors(root: str) -> Iterator[None]:
    """Translates the errors of storage backends, which share no base class."""
    try:
        yield
    except TbprofError:
        raise
    except OSError as error:
        raise NotWritten(
            f"{root} cannot be written: {error.strerror or error}",
            "check that it exists, its permissions, and the free space",
        ) from error
    except Exception as error:
        raise Unreachable(
            f"{root} does not respond: {type(error).__name__}: {error}",
            "check the address, the credentials and the network",
        ) from error
