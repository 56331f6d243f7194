"""What a worker process does: computes parts of files for a server, one request at a time."""

import os
import pickle
import sys
import threading
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import IO, Any, TypeVar

from tbprof.base.lazy import Later
from tbprof.base.process.heap import share_heap
from tbprof.base.process.parallel import thread_pool
from tbprof.engine.hosts.kept_parts import PartResult
from tbprof.engine.hosts.summary_cache import SummaryCache
from tbprof.engine.workers.asking import Answer, Began, Decoded, Job, Kept
from tbprof.engine.workers.limits import held_to
from tbprof.storage.results import ResultStore
from tbprof.storage.runs import TraceFile

# How many files are kept open.
OPEN_FILES = 2
# How often it says how much is decoded, and notices that the server is gone.
_PULSE_S = 0.25
# Open files are closed after.
_IDLE_S = 30.0
# Parts of larger files are computed side by side.
_SMALL = 4 << 20
# Of memory that is free, for the next trace.
_KEPT_BYTES = 32 << 20
# A file that takes seconds. The server, which answers from memory meanwhile, comes first (nice(1)).
LARGE = 64 << 20
_NICENESS = 5

_T = TypeVar("_T")

_rehearse = Later("tbprof.engine.workers.rehearsal.rehearse")


def _receive(reader: IO[bytes]) -> Any:
    return pickle.load(reader)  # noqa: S301 - of the server


def work(reader: IO[bytes], writer: IO[bytes]) -> None:
    """Answers jobs until the server closes the connection, or until one took too much memory."""
    share_heap(_KEPT_BYTES)
    # The connection is reset if the server ends before it has read everything.
    with suppress(EOFError, ConnectionResetError):
        kept: Kept | None = _receive(reader)
        worker = _Worker(writer, None if kept is None else ResultStore(*kept))
        idle = threading.Timer(0, worker.forget)
        while True:
            job: Job | None = _receive(reader)
            idle.cancel()
            if job is None:
                worker.rehearse()
            elif not worker.answer(job):
                return
            idle = threading.Timer(_IDLE_S, worker.forget)
            idle.daemon = True
            idle.start()


class _Worker:
    """The cache of a worker, and how it answers."""

    def __init__(self, writer: IO[bytes], results: ResultStore | None) -> None:
        self._writer = writer
        self._results = results
        self._lock = threading.Lock()
        self._begun: list[str] = []
        self._cache = SummaryCache(results, files=OPEN_FILES)

    def answer(self, job: Job) -> bool:
        """Whether it can go on."""
        with self._pulse(job.file):
            answer = self._answer(job)
        self._send(answer)
        return not answer.is_too_large

    def rehearse(self) -> None:
        """Analyzes a small trace; memory that is shared with other workers is copied meanwhile."""
        _rehearse(lambda: None)
        self._send(Answer({}))

    def forget(self) -> None:
        """Closes files and drops parts, which are on disk."""
        self._cache = SummaryCache(self._results, files=OPEN_FILES)

    def _answer(self, job: Job) -> Answer:
        file, parts, most_bytes = job
        is_first = True

        def begin(name: str) -> None:
            """The first part is said at once: from then on it is the file that ends a worker."""
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
                found = _gently(find) if file.bytes >= LARGE else find()
            return Answer({part: found[part.name] for part in parts})
        except MemoryError:
            return Answer(None)
        except Exception as error:  # noqa: BLE001 - whatever it is, the server's caller sees it
            if "can't start new thread" in str(error):  # for whose stack there is no memory
                return Answer(None)
            return Answer(None, _sendable(error), traceback.format_exc())

    @contextmanager
    def _pulse(self, file: TraceFile) -> Iterator[None]:
        done = threading.Event()

        def beat() -> None:
            while not done.wait(_PULSE_S):
                self._say_begun()
                self._send(Decoded(self._cache.decoded_ratio(file)))

        thread = threading.Thread(target=beat, daemon=True)
        thread.start()
        try:
            yield
        finally:
            done.set()
            thread.join()
            self._say_begun()

    def _say_begun(self) -> None:
        """What was begun; a message for each part would take 3 % of the time of small files."""
        with self._lock:
            begun, self._begun = self._begun, []
        if begun:
            self._send(Began(begun))

    def _send(self, message: Began | Decoded | Answer) -> None:
        try:
            with self._lock:
                pickle.dump(message, self._writer, pickle.HIGHEST_PROTOCOL)
                self._writer.flush()
        except OSError:  # nobody will ever hear it
            os._exit(1)


def _gently(function: Callable[[], _T]) -> _T:
    """What a function returns, from a thread that gives way, as do those that it starts.

    Only threads of Linux have priorities of their own, and a process could not take its own back.
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
    """A process of its own: requests come from standard input, answers go to standard output."""
    writer = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    work(sys.stdin.buffer, writer)
