# Methods are documented on the protocol.
# ruff: noqa: D102
"""Traces on web servers: single files, and directories that servers list as a page of links."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar
from urllib.parse import quote, unquote, urlsplit

from tbprof.base.errors import TbprofError
from tbprof.base.process.parallel import thread_pool
from tbprof.base.records import replace
from tbprof.storage.filesystems import FileStat, Listed
from tbprof.storage.remote.remote_errors import is_transient
from tbprof.storage.remote.remote_facts import stat_of
from tbprof.storage.remote.remote_files import PARALLEL_LISTINGS, RemoteFiles
from tbprof.storage.runs import looks_like_profile

_CHUNK = 1 << 20
_ATTEMPTS = 4
_CONNECT_S, _READ_S = 10.0, 30.0


async def _session(**named: Any) -> Any:
    """A client that waits for each piece, not for the whole, which may take an hour."""
    import aiohttp

    timeout = aiohttp.ClientTimeout(total=None, sock_connect=_CONNECT_S, sock_read=_READ_S)
    return aiohttp.ClientSession(timeout=timeout, **named)


class WebFiles(RemoteFiles):
    """What a web server shows; nothing is written there."""

    options: ClassVar[dict[str, Any]] = {"get_client": _session}

    def absolute(self, url: str) -> str:
        return url.partition("#")[0].rstrip("/")

    def _listing(self, url: str) -> Iterator[Listed] | OSError | TbprofError:
        try:
            infos = self.call("ls", f"{url}/", detail=True)  # without the slash, it is redirected
            entries = [entry for info in infos if (entry := _entry(url, info["name"]))]
            return iter(self._with_stats(url, entries))
        except (OSError, TbprofError) as err:
            return err

    def _with_stats(self, url: str, entries: list[Listed]) -> list[Listed]:
        """Requests size and time of each file, which pages of links do not contain."""
        traces = [entry for entry in entries if looks_like_profile(entry.name)]
        others = [entry for entry in entries if not looks_like_profile(entry.name)]
        if not traces:
            return others
        with thread_pool(min(len(traces), PARALLEL_LISTINGS), "tbprof-list") as pool:
            stats = pool.map(lambda entry: self.stat(self.join(url, entry.name))[1], traces)
            known = zip(traces, stats, strict=True)
            return [*others, *(replace(entry, stat=stat) for entry, stat in known)]

    def stat(self, url: str) -> tuple[bool, FileStat]:
        if not self.tail(url)[-1:] or not self.tail(url)[-1].endswith((".pb", ".pb.gz")):
            return True, FileStat(0, 0)  # its listing says whether it exists
        return False, stat_of(self.call("info", url))

    def join(self, directory: str, name: str) -> str:
        return f"{directory.rstrip('/')}/{quote(name, safe='')}"

    def tail(self, url: str) -> tuple[str, ...]:
        parts = urlsplit(url)
        return tuple(
            [unquote(part) for part in (parts.netloc, *parts.path.split("/")) if part][-3:]
        )

    def chunks(self, url: str, size: int) -> Iterator[bytes]:
        """Not in ranges, which servers may ignore. After a lost connection, starts again."""
        done = 0
        for attempt in range(_ATTEMPTS):
            skipped = 0
            try:
                for chunk in self._stream(url, size):
                    fresh = chunk[max(done - skipped, 0) :]
                    skipped += len(chunk)
                    done += len(fresh)
                    if fresh:
                        yield fresh
            except Exception as err:
                if attempt + 1 == _ATTEMPTS or not is_transient(err):
                    raise self._failed(url, err) from err
            else:
                return

    def _stream(self, url: str, size: int) -> Iterator[bytes]:
        with self._files.open(self._path(url), "rb", block_size=0, size=size or 1) as file:
            while chunk := file.read(_CHUNK):
                yield chunk


def _entry(directory: str, link: str) -> Listed | None:
    """The entry that a link of the directory's page leads to, None unless it is directly below."""
    path = urlsplit(link).path
    above, _, name = path.rstrip("/").rpartition("/")
    name = unquote(name)
    is_below = above == urlsplit(directory).path.rstrip("/") and not urlsplit(link).query
    if not is_below or "/" in name or name in ("", ".", ".."):
        return None
    return Listed(name, path.endswith("/"))
