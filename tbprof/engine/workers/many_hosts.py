"""Worker processes for commands, started only if there is much to compute."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from typing import TYPE_CHECKING

from tbprof.engine.hosts.kept_parts import PartResult, PartStore
from tbprof.engine.hosts.summary_cache import SummaryCache
from tbprof.engine.parts import PartKey
from tbprof.engine.workers.workers import HostParts, HostWork, Workers
from tbprof.storage.files import fingerprint
from tbprof.storage.results import ResultStore
from tbprof.storage.runs import TraceFile

if TYPE_CHECKING:
    from tbprof.engine.workers.starting import Starter

# Starting processes takes as long as computing this many hosts with small files.
_MANY = 48
_THREADS = 2


class ManyHosts(Workers):
    """Processes for many hosts, which end when these are computed; threads for a few.

    Threads of one process share its interpreter, and traces of many hosts are mostly small.
    """

    keeps_results = True
    least_hosts = _MANY
    hosts_at_once = _THREADS

    def __init__(self, results: ResultStore) -> None:
        self._results = results
        self._threads = SummaryCache(results, files=_THREADS)
        self._starter: Starter | None = None

    def compute(
        self, file: TraceFile, requested: Sequence[PartKey], on_work: Callable[[str], None]
    ) -> Mapping[PartKey, PartResult]:
        """The requested parts, computed in this thread."""
        parts = self._threads.parts(file, requested, on_work)
        return {part: parts[part.name] for part in requested}

    def compute_hosts(
        self, work: Sequence[HostWork], on_work: Callable[[TraceFile, str], None]
    ) -> Iterator[tuple[HostWork, HostParts]]:
        """The parts of several hosts, as `Workers` says."""
        if len(work) < _MANY or not _has_processors():
            yield from super().compute_hosts(work, on_work)
            return
        from tbprof.engine.workers.limits import chosen_limits
        from tbprof.engine.workers.processes import WorkerProcesses, usual_processes

        with closing(
            WorkerProcesses(self._results, usual_processes(), chosen_limits(), self._take_starter)
        ) as processes:
            yield from processes.compute_hosts(work, on_work)

    def expect(self, files: Sequence[TraceFile], /) -> None:
        """Starts the process that starts workers, unless the parts of the first file are kept.

        It imports what workers need while this process imports the tool.
        """
        if self._starter is None and _has_processors():
            if PartStore(self._results).load(fingerprint(files[0])):
                return
            from tbprof.engine.workers.starting import NoWorkers

            with suppress(NoWorkers):  # tried again when workers are needed
                self._starter = self._take_starter()

    def _take_starter(self) -> Starter:
        from tbprof.engine.workers.starting import make_starter

        starter, self._starter = self._starter, None
        return starter or make_starter(is_for_command=True)

    def decoded_ratio(self, file: TraceFile) -> float:
        """How much of the events of a file has been decoded, if a thread is reading it."""
        return self._threads.decoded_ratio(file)


def _has_processors() -> bool:
    """Whether processes would work at the same time."""
    return (os.cpu_count() or 1) > 1
