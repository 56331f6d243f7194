"""Runs and their trace files, and what the entries of a run directory mean."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal

from tbprof.base.errors import TbprofError
from tbprof.base.natural_order import natural_order
from tbprof.base.records import dataclass
from tbprof.storage.filesystems import FileStat, FileSystem, Listed, is_remote

_TRACE_ENDINGS: tuple[tuple[str, Literal["", "gz"]], ...] = (
    (".xplane.pb", ""),
    (".xplane.pb.gz", "gz"),
)
_NAMED_ENDINGS = (*_TRACE_ENDINGS, (".pb", ""), (".pb.gz", "gz"))
_MARKS = ("xplane.pb", "xplane.pb.gz", "xplane.riegeli")


@dataclass(frozen=True, slots=True)
class TraceFile:
    """One host's trace. `version` is the storage's own version of the content, if it has one."""

    host: str
    url: str
    bytes: int
    modified_ns: int
    compression: Literal["", "gz"]
    version: str = ""


@dataclass(frozen=True, slots=True)
class Ignored:
    """A path that looks like a profile, or could hold one, and why it is not read."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class Run:
    """A directory of traces of one capture, one file per host, ordered by host.

    Not `is_whole`: the user pointed at these files, and other files beside them are ignored.
    """

    name: str
    url: str
    files: tuple[TraceFile, ...]
    ignored: tuple[Ignored, ...] = ()
    is_whole: bool = True


def looks_like_profile(name: str) -> bool:
    """Whether a person would expect a file of this name to be opened."""
    return name.endswith(_MARKS)


def sendable_name(name: str) -> str:
    """`name` with the bytes that are not UTF-8 replaced, so that every name can be sent."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def called(file: TraceFile) -> str:
    """The name of the file in messages: its run's folder and its name, or its address.

    Messages are sent to browsers, which need not know the path of the logdir.
    """
    if is_remote(file.url):
        from tbprof.storage.remote.remote_facts import shown  # most logdirs are local

        return shown(file.url)
    return "/".join(sendable_name(file.url).replace("\\", "/").split("/")[-2:])


def list_run(files: FileSystem, name: str, url: str) -> Run:
    """The run at `url` as it is now. Raises OSError or TbprofError if it cannot be listed."""
    listing = next(files.listings([url]))
    if isinstance(listing, (OSError, TbprofError)):
        raise listing
    return run_of(files, name, url, (entry for entry in listing if looks_like_profile(entry.name)))


def run_of(files: FileSystem, name: str, url: str, entries: Iterable[Listed]) -> Run:
    """The run in a directory with these entries, without other tools' cache files.

    Hosts are file names minus their ending. Source: the file names of TensorFlow's
    `tsl/profiler/rpc/client/save_profile.cc`.
    """
    traces: dict[str, TraceFile] = {}
    ignored: list[Ignored] = []
    for entry in sorted(entries, key=lambda entry: entry.name):
        path = files.join(url, entry.name)
        trace = _trace(files, path, entry, _TRACE_ENDINGS)
        if isinstance(trace, TraceFile) and trace.host.startswith("ALL_HOSTS"):
            trace = Ignored(sendable_name(path), "ALL_HOSTS means every host and cannot name one")
        if isinstance(trace, TraceFile) and trace.host in traces:
            other = sendable_name(traces[trace.host].url)
            trace = Ignored(sendable_name(path), f"the host is read from {other}")
        if isinstance(trace, TraceFile):
            traces[trace.host] = trace
        else:
            ignored.append(trace)
    return Run(name, url, sorted_by_host(traces), tuple(ignored))


def sorted_by_host(traces: Mapping[str, TraceFile]) -> tuple[TraceFile, ...]:
    """The traces by host, `worker-2` before `worker-10`."""
    return tuple(traces[host] for host in sorted(traces, key=natural_order))


def named_trace(files: FileSystem, url: str, stat: FileStat) -> TraceFile | Ignored:
    """A file that the user named: any name that ends in `.pb` or `.pb.gz` is accepted."""
    name = (files.tail(url) or ("",))[-1]
    return _trace(files, url, Listed(name, is_directory=False, stat=stat), _NAMED_ENDINGS)


def _trace(
    files: FileSystem,
    path: str,
    entry: Listed,
    endings: Iterable[tuple[str, Literal["", "gz"]]],
) -> TraceFile | Ignored:
    if entry.is_directory:
        return Ignored(sendable_name(path), "is a directory, not a trace file")
    if entry.name.endswith("xplane.riegeli"):
        return Ignored(
            sendable_name(path), "the riegeli format is not supported; capture to .xplane.pb"
        )
    for ending, compression in endings:
        host = entry.name.removesuffix(ending)
        if host and host != entry.name:
            try:
                stat = entry.stat or files.stat(path)[1]
            except (OSError, TbprofError) as err:
                return Ignored(sendable_name(path), reason(err))
            return TraceFile(
                sendable_name(host), path, stat.bytes, stat.modified_ns, compression, stat.version
            )
    if looks_like_profile(entry.name):
        return Ignored(sendable_name(path), "has no host name before .xplane.pb")
    return Ignored(sendable_name(path), "is not a trace file: its name does not end in .xplane.pb")


def reason(err: OSError | TbprofError) -> str:
    """Why a path cannot be read, as a clause that follows the path."""
    if isinstance(err, TbprofError):
        return err.message
    if isinstance(err, FileNotFoundError):
        return "does not exist"
    if isinstance(err, PermissionError):
        return "cannot be read: permission denied"
    if isinstance(err, NotADirectoryError):
        return "is not a directory"
    return err.strerror or str(err) or type(err).__name__
