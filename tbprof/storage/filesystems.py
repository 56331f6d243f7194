# Names stay text: `Path` would fold them and slow down a scan. Methods are documented on the
# protocol.
# ruff: noqa: D102, PTH100, PTH111, PTH116, PTH118, PTH120
"""Listing and reading directories, local or behind fsspec, with one error type.

Local paths go through `os` alone: fsspec costs tens of milliseconds to import and a `stat` per
entry, and most logdirs are local. URLs with another scheme (`gs://`, `s3://`, `memory://`) are
opened by fsspec.
"""

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager
from datetime import datetime, timezone
from io import BufferedReader
from stat import S_ISDIR
from typing import Any, BinaryIO, Protocol

from tbprof.base.errors import TbprofError, Unreachable
from tbprof.base.parallel import thread_pool
from tbprof.base.records import dataclass
from tbprof.base.regular_files import open_regular

PARALLEL_LISTINGS = 16  # a listing of an object store is one round trip, some 50 ms
_EXTRAS = {"gs": "gcs", "gcs": "gcs", "s3": "s3", "s3a": "s3"}


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

        None if it leads nowhere, or back to a directory on its own path from `root`.
        """

    def read(self, url: str) -> AbstractContextManager[BinaryIO]:
        """The file's bytes, to be read once from the start."""


def is_remote(url: str) -> bool:
    """Whether `url` carries a scheme other than `file`."""
    scheme, separator, _ = url.partition("://")
    return bool(separator) and scheme not in ("file", "local")


def file_system(location: str) -> tuple[FileSystem, str]:
    """The storage that holds `location`, and its absolute URL there. Raises Unreachable."""
    if is_remote(location):
        remote = RemoteFiles(location.partition("://")[0])
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

    def read(self, url: str) -> AbstractContextManager[BinaryIO]:
        return BufferedReader(open_regular(url))

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


def _listed(entries: "AbstractContextManager[Iterator[os.DirEntry[str]]]") -> Iterator[Listed]:
    with entries as opened:
        for entry in opened:
            is_directory = _is_directory(entry)
            yield Listed(entry.name, is_directory, is_directory and entry.is_symlink())


def _is_directory(entry: "os.DirEntry[str]") -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a link to itself
        return False


class RemoteFiles:
    """Directories behind an fsspec backend."""

    parallel = PARALLEL_LISTINGS

    def __init__(self, scheme: str) -> None:
        self._scheme = scheme
        try:
            import fsspec  # here, because it takes 30 ms and most logdirs are local
        except ImportError as err:
            raise Unreachable(
                f"fsspec is needed to read {scheme}://: {err}", "pip install fsspec"
            ) from err
        try:
            # Listings are not cached, so that new runs show up.
            self._files: Any = fsspec.filesystem(scheme, use_listings_cache=False)
        except ImportError as err:
            extra = _EXTRAS.get(scheme)
            hint = f"pip install 'tbprof[{extra}]'" if extra else str(err)
            raise Unreachable(f"the package that reads {scheme}:// is not installed", hint) from err
        except ValueError as err:
            raise Unreachable(
                f"no storage is known under {scheme}://: {err}",
                "use a local path or a scheme that fsspec supports",
            ) from err
        except Exception as err:  # see _unreachable
            raise self._unreachable(f"{scheme}://", err) from err

    def absolute(self, url: str) -> str:
        return self._url(self._path(url))

    def listings(self, urls: list[str]) -> Iterator[Iterator[Listed] | OSError | TbprofError]:
        if len(urls) == 1:
            yield self._listing(urls[0])
            return
        with thread_pool(len(urls), "tbprof-list") as pool:
            yield from pool.map(self._listing, urls)

    def _listing(self, url: str) -> Iterator[Listed] | OSError | TbprofError:
        path = self._path(url)
        try:
            self._files.invalidate_cache()
            infos = self._files.ls(path, detail=True)
        except OSError as err:
            return err
        except Exception as err:  # noqa: BLE001 - see _unreachable
            return self._unreachable(url, err)
        return iter([listed for info in infos if (listed := _listed_remote(path, info))])

    def stat(self, url: str) -> tuple[bool, FileStat]:
        try:
            info = self._files.info(self._path(url))
        except OSError:
            raise
        except Exception as err:  # see _unreachable
            raise self._unreachable(url, err) from err
        return info.get("type") == "directory", _stat_of(info)

    def join(self, directory: str, name: str) -> str:
        return f"{directory.rstrip('/')}/{name}"

    def parent(self, url: str) -> str:
        return url.rstrip("/").rpartition("/")[0]

    def tail(self, url: str) -> tuple[str, ...]:
        return tuple([part for part in url.partition("://")[2].split("/") if part][-3:])

    def link_target(self, root: str, url: str) -> object | None:  # noqa: ARG002
        return None  # object stores have no links

    def read(self, url: str) -> AbstractContextManager[BinaryIO]:
        try:
            opened: AbstractContextManager[BinaryIO] = self._files.open(self._path(url), "rb")
        except OSError:
            raise
        except Exception as err:  # see _unreachable
            raise self._unreachable(url, err) from err
        return opened

    def _path(self, url: str) -> str:
        path: str = self._files._strip_protocol(url)  # noqa: SLF001 - as fsspec's core does
        return path

    def _url(self, path: str) -> str:
        url: str = self._files.unstrip_protocol(path)
        return url.rstrip("/") if not url.endswith("://") else url

    @staticmethod
    def _unreachable(url: str, err: Exception) -> Unreachable:
        """A backend's error as ours.

        The callers catch `Exception`: the errors of gcsfs, s3fs, adlfs and their HTTP and
        authentication libraries share no base class, and missing credentials or a dead network
        must become a message on the page.
        """
        return Unreachable(
            f"{url} does not respond: {type(err).__name__}: {err}",
            "check the address, the credentials and the network",
        )


def _listed_remote(directory: str, info: dict[str, Any]) -> Listed | None:
    """The entry, or None for the placeholder object that object stores keep for a directory."""
    path = info["name"].rstrip("/")
    name = path.rpartition("/")[2]
    if not name or path.strip("/") == directory.strip("/"):
        return None
    return Listed(name, info.get("type") == "directory", stat=_stat_of(info))


def _stat_of(info: dict[str, Any]) -> FileStat:
    """Backends name the same facts differently: memory, local, gcsfs, s3fs, adlfs, http."""
    modified = next(
        (
            info[key]
            for key in ("mtime", "LastModified", "last_modified", "updated", "created")
            if info.get(key) is not None
        ),
        0,
    )
    version = next(
        (
            str(info[key])
            for key in ("generation", "ETag", "etag", "md5Hash", "crc32c")
            if info.get(key)
        ),
        "",
    )
    return FileStat(int(info.get("size") or 0), _nanoseconds(modified), version)


def _nanoseconds(moment: object) -> int:
    if isinstance(moment, str):
        try:
            moment = datetime.fromisoformat(moment.replace("Z", "+00:00"))
        except ValueError:
            return 0
    if isinstance(moment, datetime):
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=timezone.utc)
        return int(moment.timestamp() * 1e6) * 1000
    return int(moment * 1e9) if isinstance(moment, (int, float)) else 0
