"""Answers requests for a logdir: which runs, hosts and tools there are, and each tool's payload."""

import dataclasses
import gzip
import hashlib
import logging
import re
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from tbprof.base.errors import (
    BadRequest,
    HostNotFound,
    NoData,
    Notice,
    TbprofError,
    ToolNotFound,
)
from tbprof.base.jit import is_prepared
from tbprof.engine.encode import encode_csv, encode_json
from tbprof.engine.parts import Outline
from tbprof.engine.progress import Progress
from tbprof.engine.summaries import Found, SummaryCache
from tbprof.engine.warm_up import prepare_kernels
from tbprof.storage.files import fingerprint
from tbprof.storage.logdir import Logdir
from tbprof.storage.results import ResultStore
from tbprof.storage.runs import Run, TraceFile
from tbprof.tools import TOOLS
from tbprof.tools.datatable import Table
from tbprof.tools.tool import Summaries, Tool

_log = logging.getLogger(__name__)

ALL_HOSTS = "ALL_HOSTS"
_BODIES_BYTES = 128 * 2**20
_HOSTS_AT_ONCE = 4


@dataclass(frozen=True, slots=True)
class DataRequest:
    """What a client asks for; no hosts means all of them."""

    run: str
    tag: str
    hosts: tuple[str, ...] = ()
    layout: Literal["rows", "columns"] = "rows"
    format: Literal["json", "csv"] = "json"
    table: int = 0
    params: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Body:
    """An encoded payload; equal content has an equal `etag`."""

    content: bytes
    content_type: str
    etag: str
    filename: str | None = None

    @cached_property
    def gzipped(self) -> bytes:
        """The content compressed, made once."""
        return gzip.compress(self.content, 5, mtime=0)


class Engine:
    """Everything a client can ask about one logdir. Safe to use from several threads.

    With `background`, the first payload of a run is followed by the parts of its other tools, so
    that a second page opens at once.
    """

    def __init__(
        self, logdir: Logdir, results: ResultStore | None = None, *, background: bool = False
    ) -> None:
        self._logdir = logdir
        self._cache = SummaryCache(results)
        self._bodies: OrderedDict[object, Body] = OrderedDict()
        self._lock = threading.Lock()
        self._progress = Progress()
        self._ahead = ThreadPoolExecutor(1, "tbprof-ahead") if background else None
        self._foreseen: set[object] = set()

    # What there is.

    def runs(self) -> list[str]:
        """The names of the runs, descending."""
        return list(self._logdir.runs())

    def run_tools(self, run: str) -> list[str]:
        """The names of the tools that the run has something for, in menu order."""
        outlines = self._outlines(self._logdir.run(run))
        planes = _planes(outlines)
        return [tool.name for tool in TOOLS if planes and not _absence(tool, planes)]

    def hosts(self, run: str, tag: str) -> list[str]:
        """The hosts that a tool can show; with several, `ALL_HOSTS` comes first."""
        _find_tool(tag)
        names = [file.host for file in self._logdir.run(run).files]
        return [ALL_HOSTS, *names] if len(names) > 1 else names

    def session(self, run: str) -> dict[str, object]:
        """One run for the shell: its hosts with their errors, and every tool with its reason."""
        found = self._logdir.run(run)
        outlines = self._outlines(found)
        planes = _planes(outlines)
        tools = []
        for tool in TOOLS:
            reason = _absence(tool, planes) if planes else _emptiness(found, outlines)
            tools.append(
                {
                    "name": tool.name,
                    "label": tool.label,
                    "hosts": "any",
                    "available": not reason,
                    "reason": reason or None,
                }
            )
        hosts = [
            {
                "hostname": file.host,
                "bytes": file.bytes,
                "modified_ms": file.modified_ns / 1e6,
                "error": _error(outlines[file.host]),
            }
            for file in found.files
        ]
        return {"run": run, "hosts": hosts, "tools": tools}

    def progress(self, run: str, tag: str) -> dict[str, object]:
        """What is being done for a request that has not been answered yet."""
        return self._progress.of(run, tag)

    def warm_up(self) -> None:
        """Compiles the kernels in the background, so that the first page need not wait."""
        threading.Thread(target=prepare_kernels, name="tbprof-warm-up", daemon=True).start()

    # Payloads.

    def data(self, request: DataRequest) -> Body:
        """The encoded payload of a request; the second time from memory.

        Raises our errors: run, host or tool not found, nothing for this tool, no readable host.
        """
        tool = _find_tool(request.tag)
        run = self._logdir.run(request.run)
        files = _choose(run, request.hosts)
        key = (tool.name, _versions(files), request.layout, request.format, request.table,
               tuple(sorted(request.params.items())))  # fmt: skip
        with self._lock:
            body = self._bodies.get(key)
            if body is not None:
                self._bodies.move_to_end(key)
        if body is None:
            with self._progress.request(run.name, request.tag, len(files)):
                body = self._encode(tool, run, files, request)
            self._keep(key, body)
        self._look_ahead(run, files)
        return body

    def tables(self, request: DataRequest) -> tuple[Table, ...]:
        """The tables of a request, before they are encoded."""
        tool = _find_tool(request.tag)
        run = self._logdir.run(request.run)
        return self._tables(tool, run, _choose(run, request.hosts), request.params)

    def _encode(
        self, tool: Tool, run: Run, files: Sequence[TraceFile], request: DataRequest
    ) -> Body:
        tables = self._tables(tool, run, files, request.params)
        if request.format == "json":
            content = encode_json(tables, layout=request.layout, is_list=tool.is_list)
            return Body(content, "application/json; charset=utf-8", _etag(content))
        if not 0 <= request.table < len(tables):
            raise BadRequest(f"{tool.name} has {len(tables)} tables; there is no {request.table}")
        content = encode_csv(tables[request.table])
        hosts = request.hosts[0] if len(request.hosts) == 1 else ALL_HOSTS
        name = re.sub(r"[^\w.-]+", "_", f"{tool.name}_{run.name}_{hosts}", flags=re.ASCII)
        return Body(content, "text/csv; charset=utf-8", _etag(content), f"{name[:200]}.csv")

    def _tables(
        self, tool: Tool, run: Run, files: Sequence[TraceFile], params: Mapping[str, str]
    ) -> tuple[Table, ...]:
        wanted = ("outline", *tool.parts)
        results = self._map(files, wanted, self._reporter(run, tool))
        good = [(file, found) for file, found in zip(files, results, strict=True)
                if not isinstance(found, TbprofError)]  # fmt: skip
        failures = [one for one in results if isinstance(one, TbprofError)]
        if not good:
            raise failures[0]
        planes = {name for _, found in good for name in found["outline"][0].planes}
        reason = _absence(tool, planes)
        if reason:
            raise NoData(f"{tool.label} has nothing to show: {reason}", _DAMAGE_HINT if failures else "")
        summaries = Summaries(
            tuple(file.host for file, _ in good),
            {name: [found[name][0] for _, found in good] for name in tool.parts},
            params,
        )
        tables = tool.build(summaries)
        warnings = _warnings(files, results)
        return (dataclasses.replace(tables[0], warnings=warnings), *tables[1:])

    def _map(
        self,
        files: Sequence[TraceFile],
        wanted: Sequence[str],
        on_work: Callable[[TraceFile, str], None],
    ) -> list[dict[str, Found] | TbprofError]:
        """The parts of every file, or the error that its host met: one bad host hides no other."""

        def one(file: TraceFile) -> dict[str, Found] | TbprofError:
            try:
                return self._cache.parts(file, wanted, lambda name: on_work(file, name))
            except TbprofError as error:
                return error

        if len(files) == 1:
            return [one(files[0])]
        with ThreadPoolExecutor(min(_HOSTS_AT_ONCE, len(files))) as pool:
            return list(pool.map(one, files))

    def _reporter(self, run: Run, tool: Tool) -> Callable[[TraceFile, str], None]:
        is_first = not is_prepared()

        def report(file: TraceFile, part: str) -> None:
            self._progress.work(run.name, tool.name, file.host, part, preparing=is_first)

        return report

    def _outlines(self, run: Run) -> dict[str, Outline | TbprofError]:
        results = self._map(run.files, ["outline"], lambda _file, _part: None)
        return {
            file.host: found if isinstance(found, TbprofError) else found["outline"][0]
            for file, found in zip(run.files, results, strict=True)
        }

    def _keep(self, key: object, body: Body) -> None:
        with self._lock:
            self._bodies[key] = body
            while sum(len(one.content) for one in self._bodies.values()) > _BODIES_BYTES:
                if len(self._bodies) == 1:
                    break
                self._bodies.popitem(last=False)

    def _look_ahead(self, run: Run, files: Sequence[TraceFile]) -> None:
        """Prepares the other tools' pages of the same hosts, one after another, behind requests."""
        versions = _versions(files)
        if self._ahead is None or versions in self._foreseen:
            return
        self._foreseen.add(versions)
        self._ahead.submit(self._prepare_others, run, tuple(files))

    def _prepare_others(self, run: Run, files: tuple[TraceFile, ...]) -> None:
        hosts = tuple(file.host for file in files)
        for tool in TOOLS:
            for layout in ("columns", "rows"):
                request = DataRequest(run.name, tool.name, hosts, layout)  # type: ignore[arg-type]
                try:
                    _ = self.data(request).gzipped
                except TbprofError:  # a tool without data: the page will say why when it is opened
                    break
                except Exception:  # a defect that the page itself will show must not end this thread's work
                    _log.debug("preparing %s failed", tool.name, exc_info=True)
                    break


_DAMAGE_HINT = "some hosts could not be read"


def _find_tool(tag: str) -> Tool:
    name = tag.rstrip("^#")
    for tool in TOOLS:
        if name in (tool.name, *tool.aliases):
            return tool
    known = ", ".join(tool.name for tool in TOOLS)
    raise ToolNotFound(f"there is no tool {tag[:80]!r}", f"the tools are {known}")


def _choose(run: Run, hosts: Sequence[str]) -> tuple[TraceFile, ...]:
    """The files of the hosts, in the run's order; all where none or `ALL_HOSTS` is named."""
    if not run.files:
        raise NoData(
            f"run {run.name!r} holds no trace files",
            "the capture may have failed, or still be writing: look at its log",
        )
    if not hosts or ALL_HOSTS in hosts:
        return run.files
    known = {file.host for file in run.files}
    for host in hosts:
        if host not in known:
            first = ", ".join(file.host for file in run.files[:5])
            raise HostNotFound(
                f"host {host[:80]!r} is not in run {run.name!r}", f"its hosts are {first}"
            )
    return tuple(file for file in run.files if file.host in hosts)


def _planes(outlines: Mapping[str, Outline | TbprofError]) -> set[str]:
    return {
        name
        for outline in outlines.values()
        if isinstance(outline, Outline)
        for name in outline.planes
    }


def _absence(tool: Tool, planes: set[str]) -> str:
    """Why the tool has nothing to show, "" where it has."""
    if any(plane.startswith(prefix) for plane in planes for prefix in tool.planes):
        return ""
    return tool.absent


def _emptiness(run: Run, outlines: Mapping[str, Outline | TbprofError]) -> str:
    errors = [one for one in outlines.values() if isinstance(one, TbprofError)]
    if errors:
        return f"no trace of this run can be read: {errors[0].message}"
    return f"run {run.name!r} holds no trace files"


def _error(outline: Outline | TbprofError) -> dict[str, str] | None:
    if isinstance(outline, Outline):
        return None
    return {"code": outline.code, "message": outline.message, "hint": outline.hint}


def _warnings(
    files: Sequence[TraceFile], results: Sequence[dict[str, Found] | TbprofError]
) -> tuple[Notice, ...]:
    """What was lost, per host: hosts left out, damage, and the recorder's own complaints."""
    warnings: dict[Notice, None] = {}
    for file, found in zip(files, results, strict=True):
        if isinstance(found, TbprofError):
            notice = Notice(found.code, f"left out: {found.message}", file.host, found.hint)
            warnings[notice] = None
            continue
        outline = found["outline"][0]
        for code, texts in (("recorder_error", outline.errors), ("recorder_warning", outline.warnings)):
            for text in texts:
                warnings[Notice(code, text, file.host)] = None
        for _, notices in found.values():
            for one in notices:
                warnings[dataclasses.replace(one, host=file.host)] = None
    return tuple(warnings)


def _versions(files: Sequence[TraceFile]) -> tuple[str, ...]:
    return tuple(fingerprint(file) for file in files)


def _etag(content: bytes) -> str:
    return hashlib.blake2b(content, digest_size=12).hexdigest()
