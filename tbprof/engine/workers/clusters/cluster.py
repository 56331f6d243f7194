"""A Dask cluster that computes parts: its workers read the files themselves. Imports Dask late."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from queue import Empty, SimpleQueue
from time import monotonic
from typing import TYPE_CHECKING

from tbprof.base.errors import TbprofError, Unreachable
from tbprof.base.records import NamedTuple
from tbprof.engine.workers.workers import BatchWorkers, HostParts, HostWork
from tbprof.storage.runs import TraceFile

if TYPE_CHECKING:
    from distributed import Client, Future

    from tbprof.engine.workers.clusters.batches import Software

# Few tasks for the scheduler, but small enough that all workers finish at about the same time.
_BATCHES_PER_THREAD = 4
_MOST_HOSTS, _MOST_BYTES = 32, 512 << 20

_CONNECT_S = 5
_ANSWER_S = 10
_LOOK_EVERY_S = 2.0
# An adaptive cluster has no workers at first.
_NO_WORKERS_S = 60.0


class ClusterFailed(TbprofError):
    """The cluster cannot be used: it does not answer, or has different software."""

    code = "cluster_failed"
    status = 503


class WorkersDied(TbprofError):
    """Several workers ended while they read the same file."""

    code = "workers_died"
    status = 502


class Cluster(BatchWorkers):
    """The workers of the Dask scheduler at `address`, connected when they are first needed.

    Hosts are sent in batches, and the parts of a batch are returned as one message. All methods
    raise ClusterFailed if the cluster cannot be used.
    """

    keeps_results = False
    hosts_at_once = 1  # `compute_hosts` sends all at once

    def __init__(self, address: str) -> None:
        if find_spec("distributed") is None:
            raise ClusterFailed(
                "a Dask cluster needs the package 'distributed', which is not installed",
                "install it with: pip install 'tbprof[dask]'",
            )
        self.address = address
        self._lock = threading.Lock()
        self._client: Client | None = None
        self._batches: dict[str, _Batch] = {}

    def compute_hosts(
        self, work: Sequence[HostWork], on_work: Callable[[TraceFile, str], None]
    ) -> Iterator[tuple[HostWork, HostParts]]:
        """The parts of several hosts as batches finish; closing the iterator cancels the rest."""
        client = self._connected()
        sent = _Sent(client, self.address, self._batches, on_work)
        try:
            for hosts in _divided(work, _threads(client, self.address)):
                sent.submit(hosts)
            yield from sent.results()
        except ClusterFailed:
            self._disconnect(client)
            raise
        except BaseException:
            sent.cancel()
            raise
        finally:
            sent.forget()

    def _connected(self) -> Client:
        with self._lock:
            if self._client is None:
                self._client = _connect(self.address)
                self._client.subscribe_topic(_topic(self._client), self._hear)
            return self._client

    def _disconnect(self, client: Client) -> None:
        """Drops the connection; the next request connects again."""
        with self._lock:
            if self._client is client:
                self._client = None
        with suppress(Exception):  # its scheduler is gone
            client.close(timeout=1)

    def _hear(self, event: tuple[float, tuple[str, int, str]]) -> None:
        """Passes a worker's progress on."""
        key, host, part = event[1]
        batch = self._batches.get(key)
        if batch is not None:
            batch.on_work(batch.hosts[host].file, part)


class _Batch(NamedTuple):
    """Hosts that were sent together, and the callback for parts that begin."""

    hosts: Sequence[HostWork]
    on_work: Callable[[TraceFile, str], None]


class _Sent:
    """The pending batches of one request; `batches` has those of all requests."""

    def __init__(
        self,
        client: Client,
        address: str,
        batches: dict[str, _Batch],
        on_work: Callable[[TraceFile, str], None],
    ) -> None:
        self._client = client
        self._address = address
        self._batches = batches
        self._on_work = on_work
        self._futures: dict[str, Future] = {}
        self._done: SimpleQueue[Future] = SimpleQueue()
        # Hosts of batches that ended workers, and the key of the host that is tried alone.
        self._suspects: list[HostWork] = []
        self._tried_alone = ""
        self._idle_since: float | None = None

    def submit(self, hosts: Sequence[HostWork]) -> str:
        """Sends a batch; returns its key."""
        from tbprof.engine.workers.clusters.batches import SOFTWARE, compute_batch, pack_work

        future = self._client.submit(
            compute_batch, SOFTWARE, _topic(self._client), pack_work(hosts), pure=False
        )
        self._futures[future.key] = future
        self._batches[future.key] = _Batch(hosts, self._on_work)
        future.add_done_callback(self._done.put)
        return str(future.key)

    def results(self) -> Iterator[tuple[HostWork, HostParts]]:
        """The result of each host, as batches finish."""
        while self._futures or self._suspects:
            if not self._futures:
                self._tried_alone = self.submit([self._suspects.pop()])
            try:
                future = self._done.get(timeout=_LOOK_EVERY_S)
            except Empty:
                self._look()
                continue
            del self._futures[future.key]
            yield from self._result(future, self._batches.pop(future.key).hosts)

    def _result(
        self, future: Future, hosts: Sequence[HostWork]
    ) -> list[tuple[HostWork, HostParts]]:
        """The results of the hosts of a batch; none if one of them ended workers.

        Dask blames all tasks that a worker had when it ended, so each host is tried alone later.
        """
        from distributed import KilledWorker

        from tbprof.engine.workers.clusters.batches import unpack_parts

        try:
            content = _outcome(future, self._address)
        except KilledWorker as err:
            if future.key != self._tried_alone:
                self._suspects += hosts
                return []
            times = err.allowed_failures + 1
            host = hosts[0].file.host
            error = WorkersDied(
                f"{times} workers of the cluster ended while they read the trace of host {host}",
                "they may lack memory: start workers with a larger --memory-limit; their logs say "
                "more",
            )
            return [(hosts[0], error)]
        return [
            (asked, _explained(asked, parts))
            for asked, parts in zip(hosts, unpack_parts(content), strict=True)
        ]

    def _look(self) -> None:
        """Raises ClusterFailed if the scheduler does not answer, or has no workers for long."""
        if _threads(self._client, self._address):
            self._idle_since = None
            return
        now = monotonic()
        self._idle_since = self._idle_since or now
        if now - self._idle_since >= _NO_WORKERS_S:
            raise ClusterFailed(
                f"the Dask scheduler at {self._address} has no workers",
                f"start some with: dask worker {self._address}",
            )

    def cancel(self) -> None:
        """Cancels the pending batches."""
        with suppress(Exception):  # the cluster is gone, and so are the batches
            self._client.cancel([*self._futures.values()], force=True)

    def forget(self) -> None:
        """Stops receiving progress of these batches."""
        for key in self._futures:
            self._batches.pop(key, None)


def _connect(address: str) -> Client:
    from logging import CRITICAL, getLogger

    from distributed import Client

    # Our errors report what Dask logs, and only once.
    getLogger("distributed.client").setLevel(CRITICAL)
    try:
        return Client(address, timeout=_CONNECT_S, set_as_default=False, name="tbprof")
    except Exception as err:  # OSError, or an address or TLS files that Dask does not like
        reason = str(err) or f"no answer within {_CONNECT_S} s"
        raise ClusterFailed(
            f"the Dask scheduler at {address} cannot be reached: {reason}",
            "check the address (tcp://HOST:PORT, tls:// with TLS), and that the scheduler runs",
        ) from err


def _topic(client: Client) -> str:
    return f"tbprof {client.id}"


def _threads(client: Client, address: str) -> int:
    """How many batches the workers compute simultaneously."""
    try:
        by_worker = client.sync(client.scheduler.ncores, callback_timeout=_ANSWER_S)
    except Exception as err:  # closed, timed out, or what a lost connection raises
        raise _gone(address) from err
    return sum(by_worker.values())


def _divided(work: Sequence[HostWork], threads: int) -> Iterator[list[HostWork]]:
    """Batches that keep all threads busy to the end."""
    most = max(1, min(_MOST_HOSTS, len(work) // (_BATCHES_PER_THREAD * max(threads, 1))))
    batch: list[HostWork] = []
    size = 0
    for asked in work:
        if batch and (len(batch) >= most or size + asked.file.bytes > _MOST_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(asked)
        size += asked.file.bytes
    if batch:
        yield batch


def _outcome(future: Future, address: str) -> bytes:
    """The result of a finished batch. Raises KilledWorker, ClusterFailed, and our own bugs."""
    from concurrent.futures import CancelledError

    try:
        outcome: bytes | Software = future.result()
    except (CancelledError, OSError, TimeoutError) as err:
        raise _gone(address) from err
    except Exception as err:
        if _lacks_tbprof(err):
            raise ClusterFailed(
                f"the scheduler or the workers at {address} lack tbprof: {err}", _same_hint()
            ) from err
        raise
    if isinstance(outcome, bytes):
        return outcome
    from tbprof.engine.workers.clusters.batches import SOFTWARE

    there, here = (
        f"tbprof {tbprof} with Python {python}" for tbprof, python in (outcome, SOFTWARE)
    )
    raise ClusterFailed(f"the workers of {address} have {there}, and this is {here}", _same_hint())


def _lacks_tbprof(err: Exception) -> bool:
    """Whether the task could not be imported on the cluster, which lacks tbprof."""
    return isinstance(err, ImportError) or "deserialization of the task graph" in str(err)


def _same_hint() -> str:
    return "install the same versions of Python and tbprof on all machines of the cluster"


def _gone(address: str) -> ClusterFailed:
    return ClusterFailed(
        f"the Dask scheduler at {address} does not answer any more",
        "check that it runs, and try again: what was computed so far is cached",
    )


def _explained(asked: HostWork, parts: HostParts) -> HostParts:
    """Turns the error of a file that only the workers cannot read into one of the cluster."""
    if not isinstance(parts, Unreachable) or not Path(asked.file.url).exists():
        return parts
    return Unreachable(
        f"a worker of the cluster cannot read a file: {parts.message}",
        "workers read the traces themselves: mount the logdir on all of them at the same path",
    )
