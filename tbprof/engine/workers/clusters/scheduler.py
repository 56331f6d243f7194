"""The Dask cluster that the user chose, if any. Imports Dask only then."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tbprof.base.lazy import get_logger

if TYPE_CHECKING:
    from tbprof.engine.workers.clusters.cluster import Cluster
    from tbprof.engine.workers.workers import Workers
    from tbprof.storage.results import ResultStore

_log = get_logger(__name__)

SCHEDULER = "TBPROF_SCHEDULER"


def cluster_at(address: str) -> Cluster | None:
    """The cluster of the scheduler at this address, None without one. Raises ClusterFailed."""
    if not address:
        return None
    from tbprof.engine.workers.clusters.cluster import Cluster

    return Cluster(address)


def command_workers(address: str, results: ResultStore) -> Workers:
    """The cluster, or without one, processes of this machine for many hosts.

    Raises ClusterFailed.
    """
    from tbprof.engine.workers.many_hosts import ManyHosts

    return cluster_at(address) or ManyHosts(results)


def serving_workers(address: str, here: Workers) -> Workers:
    """The cluster, or the workers `here` without one and while it cannot be used."""
    from tbprof.engine.workers.clusters.cluster import ClusterFailed
    from tbprof.engine.workers.clusters.stand_in import WithStandIn

    try:
        cluster = cluster_at(address)
    except ClusterFailed as error:
        _log.warning("%s (%s); this machine reads the traces", error.message, error.hint)
        return here
    return here if cluster is None else WithStandIn(cluster, here)
