"""A cluster with a fallback: other workers while it cannot be used."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from time import monotonic

from tbprof.base.lazy import get_logger
from tbprof.engine.workers.clusters.cluster import Cluster, ClusterFailed
from tbprof.engine.workers.workers import BatchWorkers, HostParts, HostWork, Workers
from tbprof.storage.runs import TraceFile

_log = get_logger(__name__)

# How long the stand-in is used before the cluster is tried again.
_TRY_AGAIN_S = 60.0


class WithStandIn(BatchWorkers):
    """The workers of `cluster`; while it cannot be used, those of `stand_in`, which is logged."""

    keeps_results = False
    hosts_at_once = 1

    def __init__(
        self, cluster: Cluster, stand_in: Workers, clock: Callable[[], float] = monotonic
    ) -> None:
        self._cluster = cluster
        self._stand_in = stand_in
        self._clock = clock
        self._again_at = clock()

    def compute_hosts(
        self, work: Sequence[HostWork], on_work: Callable[[TraceFile, str], None]
    ) -> Iterator[tuple[HostWork, HostParts]]:
        """The parts of several hosts; the stand-in computes those that the cluster did not."""
        left = dict.fromkeys(work)
        try:
            if self._clock() >= self._again_at:
                for done, parts in self._cluster.compute_hosts(work, on_work):
                    del left[done]
                    yield done, parts
        except ClusterFailed as error:
            self._again_at = self._clock() + _TRY_AGAIN_S
            _log.warning("%s; this machine reads traces for the next minute", error.message)
        if left:
            yield from self._stand_in.compute_hosts([*left], on_work)

    def decoded_ratio(self, file: TraceFile) -> float:
        """That of the stand-in."""
        return self._stand_in.decoded_ratio(file)
