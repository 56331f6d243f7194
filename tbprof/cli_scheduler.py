"""The option `--scheduler` of commands that can use a Dask cluster."""

from __future__ import annotations

import os
from argparse import ArgumentParser

from tbprof.engine.workers.clusters.scheduler import SCHEDULER


def declare_scheduler(parser: ArgumentParser) -> None:
    """Adds the option."""
    parser.add_argument(
        "--scheduler",
        default=os.environ.get(SCHEDULER, ""),
        metavar="ADDRESS",
        help="Dask scheduler whose workers read the traces, such as tcp://HOST:8786; or set "
        f"{SCHEDULER}",
    )
