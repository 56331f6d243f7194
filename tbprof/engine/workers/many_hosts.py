"""Worker processes for commands, started only if there is much to compute."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from functools import partial

from tbprof.engine.hosts.kept_parts import PartResult
from tbprof.engine.hosts.summary_cache import SummaryCache
from tbprof.engine.parts import PartKey
from tbprof.engine.workers.workers import HostParts, HostWork, Workers
from tbprof.storage.results import ResultStore
from tbprof.storage.runs import TraceFile

# Starting processes takes as long as computing this many hosts with small files.
_MANY = 48
_THREADS = 2


class ManyHosts(Workers):
    """Processes for many hosts, which end when these are computed; threads for a few.

    Threads of one process share its interpreter, and traces of many hosts are mostly small.
    """

    keeps_results = True
    least_hosts = _MANY

    def __init__(self, results: ResultStore) -> None:
        self._results = results
        self._threads = SummaryCache(results, files=_THREADS)

    @property
    def hosts_at_once(self) -> int:
        """How many threads there are."""
        return _THREADS

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
        if len(work) < _MANY or (os.cpu_count() or 1) < 2:
            yield from super().compute_hosts(work, on_work)
            return
        from tbprof.engine.workers.limits import chosen_limits
        from tbprof.engine.workers.processes import WorkerProcesses, usual_processes
        from tbprof.engine.workers.starting import make_starter

        make = partial(make_starter, is_for_command=True)
        with closing(
            WorkerProcesses(self._results, usual_processes(), chosen_limits(), make)
        ) as processes:
            yield from processes.compute_hosts(work, on_work)

    def decoded_ratio(self, file: TraceFile) -> float:
        """How much of the events of a file has been decoded, if a thread is reading it."""
        return self._threads.decoded_ratio(file)
