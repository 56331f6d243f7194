"""Dask clusters of this machine. Imports Dask late: one of the processes of the tests needs it."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from distributed import LocalCluster

_PATIENT = {
    # A worker that was killed refuses connections until then, and may hold results.
    "distributed.comm.timeouts.connect": "60 s",
    "distributed.comm.timeouts.tcp": "1 hour",
    "distributed.deploy.lost-worker-timeout": "1 hour",
    "distributed.scheduler.worker-ttl": None,
}


@contextmanager
def local_cluster(preload: str) -> "Iterator[LocalCluster]":
    """A scheduler, and two workers of one thread, which run the file `preload` first.

    Nothing is given up because the machine is busy: neither a worker that is silent, nor one that
    ended and comes back.
    """
    from dask import config
    from distributed import LocalCluster

    with (
        config.set(_PATIENT),
        LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0", preload=[preload]
        ) as cluster,
    ):
        yield cluster


@contextmanager
def own_scheduler() -> Iterator[str]:
    """The address of a scheduler of this process, without workers."""
    from distributed import LocalCluster

    where = {"host": "127.0.0.1", "dashboard_address": "127.0.0.1:0"}
    with LocalCluster(n_workers=0, protocol="tcp://", **where) as cluster:
        yield cluster.scheduler_address


def kill_a_worker(cluster: "LocalCluster") -> None:
    """As the kernel does when memory runs out. Its nanny starts another one."""
    os.kill(next(iter(cluster.workers.values())).pid, signal.SIGKILL)


class Scheduler:
    """A scheduler in a process of its own, without workers."""

    def __init__(self, folder: Path) -> None:
        listening = folder / "scheduler.json"
        command = [sys.executable, "-m", "distributed.cli.dask_scheduler"]
        self._process = subprocess.Popen(
            [
                *command,
                "--host=127.0.0.1",
                "--port=0",
                "--dashboard-address=127.0.0.1:0",
                f"--scheduler-file={listening}",
            ],
            stderr=subprocess.DEVNULL,
        )
        while not listening.exists() or not listening.read_text():
            assert self._process.poll() is None
            time.sleep(0.05)
        self.address = json.loads(listening.read_text())["address"]

    def kill(self) -> None:
        """It ends without a word."""
        self._process.kill()
        self._process.wait()
