"""Requests and responses, and the tools and files that a request names."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Mapping, Sequence
from functools import cached_property
from typing import Literal

from tbprof.base.digests import blake2b
from tbprof.base.errors import BadRequest, HostNotFound, NoData, ToolNotFound
from tbprof.base.records import dataclass, field
from tbprof.storage.runs import Run, TraceFile
from tbprof.tools import TOOLS
from tbprof.tools.model.tool import Tool

ALL_HOSTS = "ALL_HOSTS"


@dataclass(frozen=True, slots=True)
class DataRequest:
    """A client's request; no hosts means all of them.

    With a `first_row`, the answer is a batch of rows by columns.
    """

    run: str
    tag: str
    hosts: tuple[str, ...] = ()
    layout: Literal["rows", "columns"] = "rows"
    format: Literal["json", "csv"] = "json"
    table: int = 0
    first_row: int | None = None
    params: Mapping[str, str] = field(default_factory=dict)


class _Keeping:
    """Allows cached values beside the fields."""

    __slots__ = ("__dict__",)


@dataclass(frozen=True, slots=True)
class Body(_Keeping):
    """An encoded payload."""

    content: bytes
    content_type: str
    filename: str | None = None

    @cached_property
    def etag(self) -> str:
        """Equal for equal content; not computed for exports."""
        return blake2b(self.content, digest_size=12).hexdigest()

    @cached_property
    def gzipped(self) -> bytes:
        """The content compressed, made once."""
        import gzip

        # The first page waits for it. Level 5 saves a tenth of the bytes, but takes more than twice
        # as long: for the op stats of a trace of 3 MB, 18 ms more.
        return gzip.compress(self.content, 2, mtime=0)


@dataclass(frozen=True, slots=True)
class Stream:
    """A payload that is made while it is sent; its `etag` depends on the request and the files."""

    open: Callable[[bool], Generator[bytes, None, None]]
    content_type: str
    etag: str
    filename: str | None = None

    def chunks(self, *, is_strict: bool = True) -> Generator[bytes, None, None]:
        """The content. Later failures are raised if `is_strict`, otherwise reported at the end."""
        return self.open(is_strict)


def find_tool(tag: str) -> Tool:
    """The tool of this name or alias, without the trailing `^` or `#` of old releases."""
    name = tag.rstrip("^#")
    for tool in TOOLS:
        if name in (tool.name, *tool.aliases):
            return tool
    names = ", ".join(tool.name for tool in TOOLS)
    raise ToolNotFound(f"there is no tool {tag[:80]!r}", f"the tools are {names}")


def choose_files(run: Run, hosts: Sequence[str]) -> tuple[TraceFile, ...]:
    """The files of the hosts, in the run's order; all if none or `ALL_HOSTS` is named."""
    if not run.files:
        raise NoData(
            f"run {run.name!r} has no trace files",
            "the capture may have failed, or may still be writing: check its log",
        )
    if not hosts or ALL_HOSTS in hosts:
        return run.files
    known_hosts = {file.host for file in run.files}
    for host in hosts:
        if host not in known_hosts:
            first = ", ".join(file.host for file in run.files[:5])
            raise HostNotFound(
                f"host {host[:80]!r} is not in run {run.name!r}", f"its hosts are {first}"
            )
    return tuple(file for file in run.files if file.host in hosts)


def check_table(tool: Tool, table: int, tables: int) -> None:
    """Raises BadRequest if the tool has no such table."""
    if not 0 <= table < tables:
        raise BadRequest(f"{tool.name} has no table {table}", f"its tables are 0 to {tables - 1}")


def csv_filename(tool: Tool, run: Run, hosts: Sequence[str]) -> str:
    """`<tool>_<run>_<host>.csv` in characters that every system accepts."""
    host = hosts[0] if len(hosts) == 1 else ALL_HOSTS
    name = re.sub(r"[^\w.-]+", "_", f"{tool.name}_{run.name}_{host}", flags=re.ASCII)
    return f"{name[:200]}.csv"
