"""The main loop of a worker process: computes parts of files for a server, one job at a time."""

from __future__ import annotations

import os
import pickle
import sys
import threading
import time
import traceback
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import IO, Any, TypeVar

from tbprof.base.lazy import Later
from tbprof.base.process.heap import fill_heap, share_heap
from tbprof.base.process.parallel import thread_pool
from tbprof.base.process.pulse import Pulse
from tbprof.engine.hosts.kept_parts import PartResult, PartStore
from tbprof.engine.hosts.summary_cache import SummaryCache
from tbprof.engine.parts import PartKey
from tbprof.engine.workers.asking import Answer, Began, DecodedShare, Job, Kept
from tbprof.engine.workers.limits import held_to
from tbprof.storage.results import ResultStore
from tbprof.storage.runs import TraceFile

# How many files are kept open.
OPEN_FILES = 2
# How often it reports progress, and notices that the server has ended.
_PULSE_S = 0.25
# Idle time after which open files are closed.
_IDLE_S = 30.0
# Parts of larger files are computed side by side.
_SMALL = 4 << 20
# Free memory that the process keeps for the next trace.
_KEPT_BYTES = 32 << 20
# What a trace of a few MB takes: this is 4 % faster if it is there before.
_FIRST_BYTES = 12 << 20
# Files from this size on take seconds: they are read at a lower priority than the server (nice(1)).
LARGE = 64 << 20
_NICENESS = 5

_T = TypeVar("_T")

_rehearse = Later("tbprof.engine.workers.rehearsal.rehearse")


def _receive(reader: IO[bytes]) -> Any:
    return pickle.load(reader)  # noqa: S301 - of the server


def work(reader: IO[bytes], writer: IO[bytes]) -> None:
    """Answers jobs until the server closes the connection, or until a job takes too much memory."""
    share_heap(_KEPT_BYTES)
    # The connection is reset if the server ends before it has read everything.
    with suppress(EOFError, ConnectionResetError):
        kept: Kept | None = _receive(reader)
        worker = _JobRunner(writer, kept)
        pulse = Pulse(worker.beat, _PULSE_S)
        while True:
            job: Job | None = _receive(reader)
            if job is None:
                worker.rehearse()
            elif not worker.answer(job, pulse):
                return


class _JobRunner:
    """The cache of a worker, and how it answers."""

    def __init__(self, writer: IO[bytes], kept: Kept | None) -> None:
        self._writer = writer
        self._results = None if kept is None else ResultStore(kept.directory, kept.most_bytes)
        self._store = None if self._results is None else PartStore(self._results)
        self._keeps_later = kept is not None and kept.is_after_answers
        self._not_kept: list[Callable[[], object]] = []
        self._bundles: dict[PartKey, bytes] = {}
        self._lock = threading.RLock()
        self._begun: list[str] = []
        self._reading: TraceFile | None = None
        self._idle_since_s = 0.0
        self._forget()

    def answer(self, job: Job, pulse: Pulse) -> bool:
        """Answers a job; returns whether the worker can continue."""
        with self._lock:
            self._reading = job.file
        pulse.go_on()
        answer = self._answer(job)
        with self._lock:
            self._reading, self._idle_since_s = None, time.monotonic()
            self._say_begun()
            self._send(answer)
        while self._not_kept:
            self._not_kept.pop(0)()
        return not answer.is_too_large

    def rehearse(self) -> None:
        """Analyzes a small trace, which also copies memory that is shared with other workers."""
        _rehearse(lambda: None)
        fill_heap(_FIRST_BYTES)
        self._send(Answer({}))

    def beat(self) -> bool:
        """Reports progress; returns whether the worker has been at work lately."""
        with self._lock:
            if self._reading is not None:
                self._say_begun()
                self._send(DecodedShare(self._cache.decoded_ratio(self._reading)))
            elif time.monotonic() - self._idle_since_s >= _IDLE_S:
                self._forget()
                return False
        return True

    def _forget(self) -> None:
        """Closes files and drops parts, which are on disk."""
        keep = None if self._store is None else partial(self._keep, self._store)
        self._cache = SummaryCache(self._results, files=OPEN_FILES, keep=keep)

    def _keep(self, store: PartStore, key: str, computed: Mapping[PartKey, PartResult]) -> None:
        """Keeps parts, or prepares to keep them after the answer."""
        if self._keeps_later:
            self._not_kept.append(partial(store.keep, key, computed))
        else:
            self._bundles = store.keep(key, computed)

    def _answer(self, job: Job) -> Answer:
        file, parts, most_bytes = job
        is_first = True
        self._bundles = {}

        def begin(name: str) -> None:
            """The first part is reported at once: then the file is what ends the worker."""
            nonlocal is_first
            with self._lock:
                self._begun.append(name)
            if is_first:
                is_first = False
                self._say_begun()

        def find() -> Mapping[str, PartResult]:
            return self._cache.parts(
                file,
                parts,
                begin,
                side_by_side=file.bytes >= _SMALL,
            )

        try:
            with held_to(most_bytes):
                computed = _gently(find) if file.bytes >= LARGE else find()
            bundles = {part: self._bundles[part] for part in parts if part in self._bundles}
            others = {part: computed[part.name] for part in parts if part not in bundles}
            return Answer(others, bundles=bundles)
        except MemoryError:
            return Answer(None)
        except Exception as error:  # noqa: BLE001 - whatever it is, the server's caller sees it
            if "can't start new thread" in str(error):  # there is no memory for its stack
                return Answer(None)
            return Answer(None, _sendable(error), traceback.format_exc())

    def _say_begun(self) -> None:
        """Reports begun parts together: a message for each takes 3 % of the time of small files."""
        with self._lock:
            begun, self._begun = self._begun, []
        if begun:
            self._send(Began(begun))

    def _send(self, message: Began | DecodedShare | Answer) -> None:
        try:
            with self._lock:
                pickle.dump(message, self._writer, pickle.HIGHEST_PROTOCOL)
                self._writer.flush()
        except OSError:  # the server has ended
            os._exit(1)


def _gently(function: Callable[[], _T]) -> _T:
    """The result of a function, run in a thread of lower priority, which its threads inherit.

    Only Linux has priorities per thread, and a process could not raise its own again.
    """
    with thread_pool(1) as thread:
        if sys.platform == "linux":
            thread.submit(os.nice, _NICENESS).result()
        return thread.submit(function).result()


def _sendable(error: Exception) -> Exception:
    try:
        pickle.loads(pickle.dumps(error))  # noqa: S301 - our own
    except Exception:  # noqa: BLE001 - libraries raise errors that cannot be made again
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error


def main() -> None:
    """Runs a worker process with jobs from standard input and answers to standard output."""
    writer = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    work(sys.stdin.buffer, writer)
