"""Computes the parts behind pages in advance, and stores them in the cache."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain

from tbprof.base.errors import TbprofError
from tbprof.base.process.user_dirs import CACHE_SIZE
from tbprof.engine.hosts.summary_cache import SummaryCache
from tbprof.engine.parts import part_keys
from tbprof.engine.workers.workers import Workers
from tbprof.storage.results import ResultStore
from tbprof.storage.runs import Run, TraceFile
from tbprof.tools.model.tool import Tool

# Parts go to the cache only: this process does not use them.
_FILES = 8
_TIMELINES = ("events", "derived")


class LacksSpace(TbprofError):
    """The cache is too small for what was computed."""

    code = "lacks_space"
    status = 507


class Precomputation:
    """The parts that `tools` need, without choices, of hosts of any run."""

    def __init__(
        self, results: ResultStore, tools: Sequence[Tool], workers: Workers | None = None
    ) -> None:
        names = chain(("outline",), *(tool.parts for tool in tools))
        self._parts = part_keys(dict.fromkeys(names), {})
        self._results = results
        self._cache = SummaryCache(results, workers, files=_FILES)

    def is_kept(self, file: TraceFile) -> bool:
        """Whether all parts of a host are in the cache."""
        return self._cache.has_stored(file, self._parts)

    def lacks_space(self, run: Run, kept: int) -> LacksSpace:
        """The error if the cache keeps only `kept` of the hosts that can be read."""
        return LacksSpace(
            f"the cache {self._results.directory} keeps only {kept:,} of {len(run.files):,} hosts "
            f"of run {run.name!r}",
            f"it takes at most {self._results.max_bytes / 1e9:,.1f} GB: set {CACHE_SIZE} to more, "
            "or check that you can write there",
        )

    def keep(
        self,
        files: Sequence[TraceFile],
        on_work: Callable[[TraceFile, str], None] = lambda _file, _part: None,
    ) -> Iterator[tuple[TraceFile, TbprofError | None]]:
        """Each host when its parts are kept, with the error of one that cannot be read.

        When it is closed, hosts that have not begun are skipped. Raises ClusterFailed.
        """
        for file, parts in self._cache.parts_of_hosts(files, self._parts, on_work):
            yield file, parts if isinstance(parts, TbprofError) else None

    def keep_timelines(
        self, files: Sequence[TraceFile]
    ) -> Iterator[tuple[TraceFile, TbprofError | None]]:
        """Each host when the timelines of its trace viewer are kept; this machine builds them."""
        from tbprof.engine.timelines.timeline_cache import BUILDERS, TimelineCache

        timelines = TimelineCache(self._cache, self._results, BUILDERS)
        for file in files:
            try:
                for part in _TIMELINES:
                    timelines.open(file, part)
                    timelines.settle()
            except TbprofError as error:
                yield file, error
            else:
                yield file, None
