"""The option `--scheduler` of commands that a Dask cluster can work for."""

import os
from argparse import ArgumentParser
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tbprof.engine.workers.cluster import Cluster

SCHEDULER = "TBPROF_SCHEDULER"


def declare_scheduler(parser: ArgumentParser) -> None:
    """Adds the option."""
    parser.add_argument(
        "--scheduler",
        default=os.environ.get(SCHEDULER, ""),
        metavar="ADDRESS",
        help="Dask scheduler whose workers read the traces, such as tcp://HOST:8786; or set "
        f"{SCHEDULER}",
    )


def cluster_at(address: str) -> "Cluster | None":
    """The cluster of the scheduler at this address, None without one. Raises ClusterFailed."""
    if not address:
        return None
    from tbprof.engine.workers.cluster import Cluster

    return Cluster(address)
