# Methods are documented on the protocol.
# ruff: noqa: D102
"""Directories and files behind fsspec: object stores, web servers, memory.

Each operation has a time limit, and is retried after temporary errors. Files are read in ranges, a
few at a time.
"""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from collections.abc import Iterator
from typing import Any, ClassVar

from tbprof.base.errors import TbprofError, Unreachable
from tbprof.base.lazy import get_logger
from tbprof.base.process.parallel import thread_pool
from tbprof.storage.filesystems import FileStat, Listed
from tbprof.storage.remote.remote_errors import (
    is_transient,
    needs_login,
    not_installed,
    storage_error,
)
from tbprof.storage.remote.remote_facts import shown, stat_of

logger = get_logger(__name__)

PARALLEL_LISTINGS = 16  # a listing of an object store is one round trip, some 50 ms
_PARALLEL_RANGES = 4
_RANGE = 4 << 20
# The limit of an operation with all attempts. A listing has pages of 1,000 entries.
_SECONDS = 30.0
_UPLOAD_S = 3600.0
_PAUSES_S = (0.2, 0.8, 2.0)
# They log tracebacks of errors that are reported here.
_LOUD_LOGGERS = ("gcsfs", "azure")

_opened: dict[tuple[object, ...], Any] = {}
_opened_lock = threading.Lock()


def remote_files(url: str) -> RemoteFiles:
    """The storage that holds `url`. Raises Unreachable."""
    scheme = url.partition("://")[0]
    if scheme in ("http", "https"):
        from tbprof.storage.remote.web_files import WebFiles

        return WebFiles(url)
    return RemoteFiles(url)


class RemoteFiles:
    """Directories behind the fsspec backend of a URL."""

    parallel = PARALLEL_LISTINGS
    options: ClassVar[dict[str, Any]] = {}

    def __init__(self, url: str) -> None:
        self._scheme = url.partition("://")[0]
        self._key: tuple[object, ...] = ()
        try:
            self._key, self._files = _backend(url, self.options)
        except TbprofError:
            raise
        except Exception as err:
            raise self._failed(url, err) from err

    def absolute(self, url: str) -> str:
        if "@" in url.partition("://")[2].partition("/")[0]:  # the account of a container
            return url.rstrip("/")
        path = self._path(url).rstrip("/")
        return f"{self._scheme}://{path}"

    def listings(self, urls: list[str]) -> Iterator[Iterator[Listed] | OSError | TbprofError]:
        if len(urls) < 2:
            yield from map(self._listing, urls)
            return
        with thread_pool(len(urls), "tbprof-list") as pool:
            yield from pool.map(self._listing, urls)

    def _listing(self, url: str) -> Iterator[Listed] | OSError | TbprofError:
        try:
            infos = self.call("ls", url, detail=True)
        except (OSError, TbprofError) as err:
            return err
        directory = self._path(url)
        return iter([listed for info in infos if (listed := _listed(directory, info))])

    def stat(self, url: str) -> tuple[bool, FileStat]:
        info = self.call("info", url)
        return info.get("type") == "directory", stat_of(info)

    def join(self, directory: str, name: str) -> str:
        return f"{directory.rstrip('/')}/{name}"

    def parent(self, url: str) -> str:
        return url.rstrip("/").rpartition("/")[0]

    def tail(self, url: str) -> tuple[str, ...]:
        return tuple([part for part in url.partition("://")[2].split("/") if part][-3:])

    def link_target(self, root: str, url: str) -> object | None:  # noqa: ARG002
        return None  # object stores have no links

    def chunks(self, url: str, size: int) -> Iterator[bytes]:
        if size <= _RANGE:
            yield self._range(url, 0, _RANGE)
            return
        begins = range(0, size, _RANGE)
        waiting: deque[Any] = deque()
        with thread_pool(_PARALLEL_RANGES, "tbprof-read") as pool:
            for begin in begins:
                waiting.append(pool.submit(self._range, url, begin, min(begin + _RANGE, size)))
                if len(waiting) == _PARALLEL_RANGES:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()

    def _range(self, url: str, begin: int, end: int) -> bytes:
        data: bytes = self.call("cat_file", url, start=begin, end=end)
        return data

    def put(self, local: os.PathLike[str], url: str) -> None:
        """Copies a local file to `url`, which appears there as a whole."""
        self._repeated("put_file", url, _UPLOAD_S, (os.fspath(local), self._path(url)), {})

    def rename(self, url: str, target: str) -> None:
        """Gives a file another name."""
        self.call("mv", url, self._path(target))

    def call(self, name: str, url: str, *args: Any, **named: Any) -> Any:
        """What the backend's method returns for `url`.

        Raises FileNotFoundError, or Unreachable if the time is up or retrying is of no use.
        """
        return self._repeated(name, url, _SECONDS, (self._path(url), *args), named)

    def _repeated(
        self, name: str, url: str, seconds: float, args: tuple[Any, ...], named: dict[str, Any]
    ) -> Any:
        until = time.monotonic() + seconds
        for pause in (*_PAUSES_S, None):
            try:
                return self._try(name, until, args, named)
            except Exception as err:
                left = until - time.monotonic()
                if pause is None or pause > left or not is_transient(err):
                    raise self._failed(url, err) from err
                logger.debug("%s of %s is tried again: %s", name, shown(url), err)
            time.sleep(pause)
        raise AssertionError("the last attempt returns or raises")

    def _try(self, name: str, until: float, args: tuple[Any, ...], named: dict[str, Any]) -> Any:
        if not self._files.async_impl:
            return getattr(self._files, name)(*args, **named)
        from fsspec.asyn import sync

        method = getattr(self._files, f"_{name}")
        left = max(until - time.monotonic(), 0.1)
        return sync(self._files.loop, method, *args, timeout=left, **named)

    def _failed(self, url: str, err: Exception) -> OSError | TbprofError:
        if needs_login(err):  # after a login, the server need not be restarted
            with _opened_lock:
                _opened.pop(self._key, None)
        return storage_error(shown(url).rstrip("/"), err)

    def _path(self, url: str) -> str:
        path: str = self._files._strip_protocol(url)  # noqa: SLF001 - as fsspec's core does
        return path


def _backend(url: str, options: dict[str, Any]) -> tuple[tuple[object, ...], Any]:
    """(what identifies it, fsspec's file system for the URL), one for all threads.

    fsspec keeps one for each thread, which would connect and log in again for each search.
    """
    scheme = url.partition("://")[0]
    # gcsfs queries the kind of a bucket over gRPC, which takes a minute if gRPC is blocked.
    os.environ.setdefault("GCSFS_EXPERIMENTAL_ZB_HNS_SUPPORT", "false")
    try:
        import fsspec  # here, because it takes 30 ms and most logdirs are local

        backend = fsspec.get_filesystem_class(scheme)
    except ImportError as err:
        raise not_installed(scheme, err) from err
    except ValueError as err:
        raise Unreachable(
            f"no storage is known under {scheme}://: {err}",
            "use a local path or a scheme that fsspec supports",
        ) from err
    account = backend._get_kwargs_from_urls(url)  # noqa: SLF001 - as fsspec's core does
    key = (os.getpid(), scheme, *sorted(account.items()))
    with _opened_lock:
        if key not in _opened:
            for name in _LOUD_LOGGERS:
                get_logger(name).setLevel("CRITICAL")
            # Listings are not cached, so that new runs show up.
            _opened[key] = fsspec.filesystem(
                scheme, use_listings_cache=False, skip_instance_cache=True, **account, **options
            )
            _retry_at_once(_opened[key])
        return key, _opened[key]


def _retry_at_once(files: Any) -> None:
    """Turns off the retries of Azure's client, which waits 15 s; adlfs has no option for this."""
    client = getattr(files, "service_client", None)
    policy = getattr(getattr(client, "_config", None), "retry_policy", None)
    if policy is not None:
        policy.total_retries = 0  # see `_repeated`


def _listed(directory: str, info: dict[str, Any]) -> Listed | None:
    """The entry, or None for the placeholder object that object stores keep for a directory."""
    above, _, name = info["name"].rstrip("/").rpartition("/")
    if not name or above.strip("/") != directory.strip("/"):
        return None
    return Listed(name, info.get("type") == "directory", stat=stat_of(info))
