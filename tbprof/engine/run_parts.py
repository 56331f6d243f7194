"""The parts of a run's hosts, and the progress of the requests that wait for them."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from contextlib import closing
from typing import Any

from tbprof.base.caches import LatestCache
from tbprof.base.process.waiting import check_awaited
from tbprof.engine.hosts.host_groups import HostGroups
from tbprof.engine.hosts.summary_cache import FoundParts, SummaryCache
from tbprof.engine.parts import part_keys
from tbprof.engine.progress import Progress
from tbprof.storage.runs import Run, TraceFile

# Parts of groups of hosts.
_MOST_MERGED, _MERGED_BYTES = 256, 64 << 20


class RunParts:
    """The parts of hosts; with many hosts, parts are merged while others are computed."""

    def __init__(self, cache: SummaryCache, progress: Progress) -> None:
        self._cache = cache
        self._progress = progress
        self._merged: LatestCache[Hashable, Any] = LatestCache(_MOST_MERGED, _MERGED_BYTES)

    def find(
        self,
        run: Run,
        tool: str,
        files: Sequence[TraceFile],
        names: Sequence[str],
        params: Mapping[str, str],
    ) -> list[FoundParts]:
        """The parts of every file, or the error of its host: a bad host does not hide others.

        Meanwhile, the progress of `tool` is updated. If the client disconnects, hosts that have not
        begun are skipped. Raises Abandoned.
        """
        wanted = part_keys(names, params)
        on_work = self._reporter(run, tool)
        with self._progress.request(run.name, tool, files, len(wanted)):
            groups = HostGroups(files, wanted, self._merged)
            with closing(self._cache.parts_of_hosts(files, wanted, on_work)) as hosts:
                for file, parts in hosts:
                    groups.add(file, parts)
                    if len(groups) < len(files):
                        check_awaited()
            return groups.all()

    def _reporter(self, run: Run, tool: str) -> Callable[[TraceFile, str], None]:
        """A function that records each part when it begins, and "" when its host is done."""

        def report(file: TraceFile, part: str) -> None:
            if part:
                self._progress.work(run.name, tool, file, part)
            else:
                self._progress.host_done(run.name, tool)

        return report
