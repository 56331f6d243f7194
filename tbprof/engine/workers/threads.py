"""Threads of this process as workers: on cluster workers, and in place of a cluster."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from tbprof.engine.hosts.kept_parts import PartResult
from tbprof.engine.hosts.summary_cache import SummaryCache
from tbprof.engine.parts import PartKey
from tbprof.engine.workers.workers import Workers
from tbprof.storage.results import ResultStore
from tbprof.storage.runs import TraceFile


class Threads(Workers):
    """Computes parts here; keeps only `copies` of remote and compressed files."""

    keeps_results = False

    def __init__(self, copies: ResultStore | None, hosts_at_once: int) -> None:
        self._copies = copies
        self.hosts_at_once = hosts_at_once

    def compute(
        self, file: TraceFile, requested: Sequence[PartKey], on_work: Callable[[str], None]
    ) -> Mapping[PartKey, PartResult]:
        """The requested parts of one host; nothing stays in memory."""
        cache = SummaryCache(None, copies=self._copies)
        parts = cache.parts(file, requested, on_work, side_by_side=self.hosts_at_once > 1)
        return {part: parts[part.name] for part in requested}
