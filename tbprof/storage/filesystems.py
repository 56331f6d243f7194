# Names stay text: `Path` would fold them and slow down a scan. Methods are documented on the
# protocol.
# ruff: noqa: D102, PTH100, PTH111, PTH116, PTH118, PTH120
"""Lists directories and reads files, local or through fsspec, with one error type.

Local paths go through `os` alone: fsspec costs tens of milliseconds to import and a `stat` per
entry, and most logdirs are local. URLs with another scheme (`gs://`, `s3://`, `memory://`) are
opened by fsspec.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager
from io import BufferedReader
from stat import S_ISDIR
from typing import Protocol

from tbprof.base.errors import TbprofError
from tbprof.base.process.regular_files import open_regular
from tbprof.base.records import dataclass

_CHUNK = 1 << 18


@dataclass(frozen=True, slots=True)
class FileStat:
    """Size, age and, where the storage has one, the version of a file."""

    bytes: int
    modified_ns: int
    version: str = ""


@dataclass(frozen=True, slots=True)
class Listed:
    """One entry of a directory; `stat` is absent where it would cost a system call."""

    name: str
    is_directory: bool
    is_link: bool = False
    stat: FileStat | None = None


class FileSystem(Protocol):
    """What discovery and opening need from a storage. Every failure is `Unreachable` or OSError."""

    parallel: int

    def listings(self, urls: list[str]) -> Iterator[Iterator[Listed] | OSError | TbprofError]:
        """The entries of each directory, or the error, in the order of `urls`."""

    def stat(self, url: str) -> tuple[bool, FileStat]:
        """(whether it is a directory, its stat). Raises FileNotFoundError, OSError, Unreachable."""

    def join(self, directory: str, name: str) -> str:
        """The URL of an entry."""

    def parent(self, url: str) -> str:
        """The URL of the directory that holds `url`."""

    def tail(self, url: str) -> tuple[str, ...]:
        """The last components of `url`, up to three."""

    def link_target(self, root: str, url: str) -> object | None:
        """What identifies the directory that the link `url` leads to.

        None if its target does not exist, or is a directory on its own path from `root`.
        """

    def chunks(self, url: str, size: int) -> Iterator[bytes]:
        """The file's bytes in pieces, from the start; `size` is what its stat says."""


def is_remote(url: str) -> bool:
    """Whether `url` carries a scheme other than `file`."""
    scheme, separator, _ = url.partition("://")
    return bool(separator) and scheme not in ("file", "local")


def file_system(location: str) -> tuple[FileSystem, str]:
    """The storage that holds `location`, and its absolute URL there. Raises Unreachable."""
    if is_remote(location):
        from tbprof.storage.remote.remote_files import remote_files  # most logdirs are local

        remote = remote_files(location)
        return remote, remote.absolute(location)
    _, separator, rest = location.partition("://")
    return LocalFiles(), os.path.abspath(os.path.expanduser(rest if separator else location))


class LocalFiles:
    """Directories of this machine."""

    parallel = 1

    def listings(self, urls: list[str]) -> Iterator[Iterator[Listed] | OSError | TbprofError]:
        for url in urls:
            yield self._listing(url)

    def _listing(self, url: str) -> Iterator[Listed] | OSError:
        try:
            return _listed(os.scandir(url))
        except OSError as err:
            return err

    def stat(self, url: str) -> tuple[bool, FileStat]:
        facts = os.stat(url)
        # A copy may keep size and time of modification, and have another content.
        version = f"{facts.st_ino}.{facts.st_ctime_ns}"
        return S_ISDIR(facts.st_mode), FileStat(facts.st_size, facts.st_mtime_ns, version)

    def join(self, directory: str, name: str) -> str:
        return os.path.join(directory, name)

    def parent(self, url: str) -> str:
        return os.path.dirname(url)

    def tail(self, url: str) -> tuple[str, ...]:
        return tuple(part for part in url.replace(os.sep, "/").split("/")[-3:] if part)

    def chunks(self, url: str, size: int) -> Iterator[bytes]:  # noqa: ARG002 - read to its end
        with BufferedReader(open_regular(url)) as file:
            while chunk := file.read(_CHUNK):
                yield chunk

    def link_target(self, root: str, url: str) -> object | None:
        try:
            target = os.stat(url)
            above = os.path.dirname(url)
            while len(above) >= len(root):
                if os.path.samestat(os.stat(above), target):
                    return None
                if above == os.path.dirname(above):
                    break
                above = os.path.dirname(above)
        except OSError:
            return None
        return target.st_dev, target.st_ino


def _listed(entries: AbstractContextManager[Iterator[os.DirEntry[str]]]) -> Iterator[Listed]:
    with entries as opened:
        for entry in opened:
            is_directory = _is_directory(entry)
            yield Listed(entry.name, is_directory, is_directory and entry.is_symlink())


def _is_directory(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a link to itself
        return False
