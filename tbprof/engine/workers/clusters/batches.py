"""The tasks of Dask workers: the parts of a batch of hosts, from files that they read."""

from __future__ import annotations

import pickle
import platform
from collections.abc import Sequence
from time import monotonic
from typing import cast

import tbprof
from tbprof.engine.workers.threads import Threads
from tbprof.engine.workers.workers import HostParts, HostWork
from tbprof.storage.results import ResultStore
from tbprof.storage.runs import TraceFile

# What must be the same where work is packed and where it is done.
Software = tuple[str, str]
SOFTWARE: Software = (tbprof.__version__, ".".join(platform.python_version_tuple()[:2]))

_NOTES_EVERY_S = 1.0


class NotWanted(Exception):
    """The batch was cancelled."""


def pack_work(work: Sequence[HostWork]) -> bytes:
    """A batch as one block of bytes, which is unpacked only by the same software."""
    return pickle.dumps([*work])


def unpack_parts(content: bytes) -> list[HostParts]:
    """The result of `compute_batch` for each host of its batch."""
    return cast("list[HostParts]", pickle.loads(content))  # noqa: S301 - of the user's cluster


def compute_batch(software: Software, topic: str, content: bytes) -> bytes | Software:
    """The parts of the hosts of a batch, in its order, as one block of bytes.

    Progress is published under `topic`. Returns the local software if it differs from the client's.
    Raises NotWanted.
    """
    if software != SOFTWARE:
        return SOFTWARE
    work: list[HostWork] = pickle.loads(content)  # noqa: S301 - from whom the scheduler lets in
    task = _Task(topic, work)
    parts = dict(Threads(ResultStore(), hosts_at_once=1).compute_hosts(work, task.note))
    return pickle.dumps([parts[asked] for asked in work])


class _Task:
    """The Dask task that this thread runs."""

    def __init__(self, topic: str, work: Sequence[HostWork]) -> None:
        from distributed import get_worker

        self._worker = get_worker()
        self._key = self._worker.get_current_task()
        self._topic = topic
        self._index = {asked.file: index for index, asked in enumerate(work)}
        self._noted = 0.0

    def note(self, file: TraceFile, part: str) -> None:
        """Publishes that a part of a host begins, at most once a second.

        Raises NotWanted if the task was cancelled: Dask lets it continue, and only changes its
        state.
        """
        state = self._worker.state.tasks.get(self._key)
        if state is None or state.state not in ("executing", "long-running"):
            raise NotWanted
        if monotonic() - self._noted >= _NOTES_EVERY_S:
            self._noted = monotonic()
            self._worker.log_event(self._topic, [self._key, self._index[file], part])
