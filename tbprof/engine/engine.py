"""Answers requests for a logdir: which runs, hosts and tools there are, and each tool's payload."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tbprof._pb import message
from tbprof.advice.summaries import Summaries
from tbprof.analysis.run.outline import Outline
from tbprof.base.caches import LatestCache
from tbprof.base.errors import NoData, Notice, TbprofError, ToolNotFound
from tbprof.base.lazy import Later, compile_patterns, load
from tbprof.base.records import replace
from tbprof.engine.empty_reasons import (
    EmptyReason,
    Outlines,
    empty_reason_by_outlines,
    empty_tool,
    find_empty_reason,
    find_warnings,
    no_data,
)
from tbprof.engine.encode import encode_payload, is_empty, tables_of, with_warnings
from tbprof.engine.hosts.kept_parts import PartResult
from tbprof.engine.hosts.part_memory import FILES_IN_MEMORY
from tbprof.engine.hosts.space_pool import read_space
from tbprof.engine.hosts.summary_cache import SummaryCache
from tbprof.engine.learned_reasons import LearnedReasons
from tbprof.engine.look_ahead import LookAhead
from tbprof.engine.parts import PARTS
from tbprof.engine.progress import LISTING, Progress
from tbprof.engine.requests import (
    ALL_HOSTS,
    Body,
    DataRequest,
    Stream,
    choose_files,
    find_tool,
)
from tbprof.engine.run_listing import session_of, session_without_run
from tbprof.engine.run_parts import RunParts
from tbprof.storage.files import fingerprints
from tbprof.storage.logdir import Logdir
from tbprof.storage.results import ResultStore
from tbprof.storage.runs import Run, TraceFile
from tbprof.tools import TOOLS
from tbprof.tools.model.datatable import Table
from tbprof.tools.model.tool import EventStream, Payload, Tool

if TYPE_CHECKING:
    from tbprof.analysis.graphs.program_source import ProgramList
    from tbprof.engine.timelines.timeline_cache import TimelineCache, VersionedTimeline
    from tbprof.engine.workers.workers import Workers
    from tbprof.timeline.model.store import Timeline

__all__ = ["ALL_HOSTS", "Body", "DataRequest", "Engine", "Stream"]

_MOST_BODIES, _BODIES_BYTES = 4096, 128 << 20
# One payload per tool, for its other layout and its CSV.
_MOST_PAYLOADS, _PAYLOADS_BYTES = len(TOOLS), 16 << 20
_TRACE_VIEWER = "trace_viewer"

# A payload, the outlines of the readable hosts, and the warnings.
_Built = tuple[Payload, dict[str, Outline], tuple[Notice, ...]]


class Engine:
    """The answers to all requests about one logdir. Safe to use from several threads.

    With `background`, the first payload of a run is followed by the parts of its other tools, so
    that a second page opens at once. `workers` compute the parts, else threads of this process.
    Parts of the latest `files` stay in memory.
    """

    def __init__(
        self,
        logdir: Logdir,
        results: ResultStore | None = None,
        *,
        background: bool = False,
        workers: Workers | None = None,
        files: int = FILES_IN_MEMORY,
    ) -> None:
        self._logdir = logdir
        self._cache = SummaryCache(results, workers, files=files)
        self._results = results
        self._timelines: TimelineCache | None = None
        self._bodies: LatestCache[Hashable, Body] = LatestCache(_MOST_BODIES, _BODIES_BYTES)
        # What bodies are encoded from; weighed by the size of the bodies.
        self._payloads: LatestCache[Hashable, _Built] = LatestCache(_MOST_PAYLOADS, _PAYLOADS_BYTES)
        self._nothing: LatestCache[Hashable, NoData] = LatestCache(_MOST_BODIES, 0)
        self._reasons = LearnedReasons()
        self._lock = threading.Lock()
        self._progress = Progress(self._cache.decoded_ratio)
        self._parts = RunParts(self._cache, self._progress)
        self._is_background = background
        self._look_ahead = LookAhead(self.data, self._compute_parts, self._progress.wait)

    def load_tools(self) -> None:
        """Imports modules and compiles patterns while there is no request."""
        from tbprof.engine.timelines.timeline_cache import BUILDERS
        from tbprof.engine.timelines.timeline_requests import QUESTIONS

        functions: list[Callable[..., object]] = [
            *(Later(f"{tool.module}.build") for tool in TOOLS),
            *(kind.compute for kind in PARTS.values()), *BUILDERS.values(), *QUESTIONS, read_space,
        ]  # fmt: skip
        for function in functions:
            self._progress.wait()
            load(function)
        self._progress.wait()
        message("xla.HloProto")  # which imports protobuf
        compile_patterns(self._progress.wait)
        self._cache.warm_up()

    # Listings.

    def runs(self) -> list[str]:
        """The names of the runs, descending."""
        return list(self._logdir.runs())

    def run(self, name: str) -> Run:
        """The run as it is now. Raises RunNotFound."""
        return self._logdir.run(name)

    def trace(self, run: str, host: str) -> TraceFile | None:
        """The file of one host as it is now, None if `run` must be called."""
        return self._logdir.trace(run, host)

    def run_tools(self, run: str) -> list[str]:
        """The names of the tools that have data for the run, in menu order."""
        chosen = self._logdir.run(run)
        empty_reasons = self.empty_reasons(chosen, self.outlines(chosen))
        return [tool.name for tool in TOOLS if tool.name not in empty_reasons]

    def empty_reasons(self, run: Run, outlines: Outlines) -> dict[str, EmptyReason]:
        """The reasons of tools that have nothing to show for the run.

        They come from the index, from requests that had no data, or from parts without steps.
        """
        learned = self._reasons.of(run.files)
        return {
            tool.name: reason
            for tool in TOOLS
            if (reason := find_empty_reason(tool, run, outlines) or learned.get(tool.name))
            is not None
        }

    def hosts(self, run: str, tag: str) -> list[str]:
        """The hosts that a tool can show; with several, `ALL_HOSTS` comes first."""
        find_tool(tag)
        names = [file.host for file in self._logdir.run(run).files]
        return [ALL_HOSTS, *names] if len(names) > 1 else names

    def session(self, run: str = "") -> dict[str, Any]:
        """One run for the shell: its hosts with their errors, and every tool with its reason.

        Without a run, only the tools.
        """
        if not run:
            return session_without_run()
        chosen = self._logdir.run(run)
        outlines = self.outlines(chosen)
        return session_of(chosen, outlines, self.empty_reasons(chosen, outlines))

    def programs(self, run: str) -> list[str]:
        """The compiled programs of a run, each once: "jit_f(7)". Raises RunNotFound."""
        lists: list[ProgramList] = self.part(run, "program_list")
        return sorted({title for listed in lists for title in listed.titles})

    def part(self, run: str, name: str) -> list[Any]:
        """A part of every host of a run that can be read. Raises RunNotFound."""
        by_host = self.parts(self._logdir.run(run), name)
        return [part[name].value for part in by_host.values() if not isinstance(part, TbprofError)]

    def outlines(self, run: Run) -> dict[str, Outline | TbprofError]:
        """By host the outline of its file, or why it cannot be read."""
        return {
            host: parts if isinstance(parts, TbprofError) else parts["outline"].value
            for host, parts in self.parts(run, "outline").items()
        }

    def parts(self, run: Run, *names: str) -> dict[str, dict[str, PartResult] | TbprofError]:
        """By host its parts, each with notices on the file, or why it cannot be read."""
        if not run.files:
            return {}
        results = self._parts.find(run, LISTING, run.files, names, {})
        by_host = dict(zip((file.host for file in run.files), results, strict=True))
        good = {
            host: result for host, result in by_host.items() if not isinstance(result, TbprofError)
        }
        if "outline" in names:
            self._reasons.learn_of_steps(run, run.files, good)
        return by_host

    def progress(self, run: str, tag: str) -> dict[str, object]:
        """What is being done for a request that has not been answered yet.

        Without a request for the tool, what is done to list the hosts of the run.
        """
        try:
            return self._progress.of(run, find_tool(tag).name)
        except ToolNotFound:  # asked beside a request that says so
            return self._progress.of(run, LISTING)

    # Payloads.

    def data(self, request: DataRequest) -> Body | Stream:
        """The encoded payload of a request; from memory if repeated, or streamed.

        Raises our errors: run, host or tool not found, no data for this tool, no readable host.
        """
        run = self._logdir.run(request.run)
        tool = find_tool(request.tag)
        files = choose_files(run, request.hosts)
        params = _params(tool, request)
        if tool.is_streamed:
            return self._stream(tool, run, files, request)
        of_payload = _key(tool, files, params)
        if nothing := self._nothing.get(of_payload):
            raise NoData(nothing.message, nothing.hint)

        def make() -> Body:
            built = self._payloads.get(of_payload) or self._payload(tool, run, files, params)
            payload, _, warnings = built
            body = encode_payload(tool, run, request, payload, warnings)
            self._payloads.put(of_payload, built, len(body.content))
            return body

        key = (of_payload, request.layout, request.format, request.table, request.first_row)
        body = self._bodies.get_or_compute(key, make, lambda body: len(body.content))
        if self._is_background:
            self._look_ahead.start(run, files)
        return body

    def _compute_parts(self, run: Run, files: Sequence[TraceFile]) -> None:
        """Computes the parts of hosts that our pages need first."""
        needed = [tool.parts_for(dict(tool.usual)) for tool in TOOLS if not tool.is_streamed]
        names = dict.fromkeys(name for parts in (("outline",), *needed) for name in parts)
        self._parts.find(run, LISTING, files, tuple(names), {})

    @property
    def timelines(self) -> TimelineCache:
        """The timelines of all files; only the trace viewer takes the time to import them."""
        from tbprof.engine.timelines.timeline_cache import BUILDERS, TimelineCache

        with self._lock:
            if self._timelines is None:
                self._timelines = TimelineCache(self._cache, self._results, BUILDERS)
            return self._timelines

    def timeline(self, run: str, file: TraceFile, part: str) -> VersionedTimeline:
        """A part of a host's timeline; while it is built, the progress of its run says so."""
        if self.timelines.is_open(file, part):
            return self.timelines.open(file, part)
        with self._progress.request(run, _TRACE_VIEWER, (file,)):
            task = "deriving steps and scopes" if part == "derived" else "indexing the events"
            return self.timelines.open(
                file, part, lambda: self._progress.say(run, _TRACE_VIEWER, file, task)
            )

    def tables(self, request: DataRequest) -> tuple[Table, ...]:
        """The tables of a request, not encoded."""
        run = self._logdir.run(request.run)
        tool = find_tool(request.tag)
        files = choose_files(run, request.hosts)
        params = _params(tool, request)
        built = self._payloads.get(_key(tool, files, params))
        payload, _, warnings = built or self._payload(tool, run, files, params)
        return with_warnings(tables_of(tool, payload), warnings)

    def _stream(
        self, tool: Tool, run: Run, files: Sequence[TraceFile], request: DataRequest
    ) -> Stream:
        from tbprof.engine.timelines.streams import event_stream

        payload, outlines, warnings = self._payload(tool, run, files, _params(tool, request))
        if not isinstance(payload, EventStream):
            raise TypeError(f"{tool.name} says that it is streamed, and is not")
        good = {file: outlines[file.host].epoch_ns for file in files if file.host in outlines}

        def derive(file: TraceFile) -> Timeline:
            return self.timelines.open(file, "derived").open_timeline.timeline

        stream = event_stream(
            tool, run, request, payload, good, warnings, self._cache.space, derive
        )
        if stream is None:
            reason = empty_tool(tool, outlines)
            self._reasons.learn(tool, run, files, reason)
            raise no_data(tool, reason, ())
        return stream

    def _payload(
        self, tool: Tool, run: Run, files: Sequence[TraceFile], params: Mapping[str, str]
    ) -> _Built:
        self._cache.expect(files)
        needed = tool.parts_for(params)  # which imports the tool
        results = self._parts.find(run, tool.name, files, ("outline", *needed), params)
        good = {
            file.host: host_parts
            for file, host_parts in zip(files, results, strict=True)
            if not isinstance(host_parts, TbprofError)
        }
        failures = [result for result in results if isinstance(result, TbprofError)]
        if not good:
            raise failures[0]
        outlines = {host: host_parts["outline"].value for host, host_parts in good.items()}
        if reason := empty_reason_by_outlines(tool, outlines):
            raise self._no_data(tool, files, params, reason, failures)
        if not params:
            self._reasons.learn_of_steps(run, files, good)
        parts = {
            name: [
                host_parts[name].value
                for host_parts in good.values()
                if host_parts[name].value is not None
            ]
            for name in needed
        }
        summaries = Summaries(tuple(good), parts, params)
        if tool.is_chosen:
            summaries = self._with_chosen(tool, run, files, summaries)
        payload = tool.build(summaries)
        # Streams report missing data themselves.
        if is_empty(payload):
            reason = empty_tool(tool, outlines)
            if not params:
                self._reasons.learn(tool, run, files, reason)
            raise self._no_data(tool, files, params, reason, failures)
        return payload, outlines, find_warnings(files, results)

    def _no_data(
        self,
        tool: Tool,
        files: Sequence[TraceFile],
        params: Mapping[str, str],
        reason: EmptyReason,
        failures: Sequence[TbprofError],
    ) -> NoData:
        """The error of a tool without data, which is remembered if all hosts could be read."""
        error = no_data(tool, reason, failures)
        if not failures:
            self._nothing.put(_key(tool, files, params), error)
        return error

    def _with_chosen(
        self, tool: Tool, run: Run, files: Sequence[TraceFile], summaries: Summaries
    ) -> Summaries:
        """Summaries with the parts that one host computes, none if no host has what is shown."""
        choice = tool.choose(summaries)
        parts: dict[str, list[object]] = {name: [] for name in tool.chosen_parts}
        if choice is not None:
            [file] = [file for file in files if file.host == choice.host]
            [result] = self._parts.find(run, tool.name, (file,), tool.chosen_parts, choice.params)
            if isinstance(result, TbprofError):
                raise result
            parts = {name: [result[name].value] for name in tool.chosen_parts}
        return replace(summaries, parts={**summaries.parts, **parts})


def _params(tool: Tool, request: DataRequest) -> dict[str, str]:
    """The parameters that the tool knows, in its order; others do not change what it shows."""
    return {name: request.params[name] for name in tool.params if name in request.params}


def _key(tool: Tool, files: Sequence[TraceFile], params: Mapping[str, str]) -> Hashable:
    """What determines a payload."""
    return tool.name, fingerprints(files), tuple(params.items())
