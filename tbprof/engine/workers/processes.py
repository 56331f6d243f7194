"""A pool of worker processes that compute the parts of files.

A worker computes parts of one file at a time and keeps the latest open, so further parts of a file
go to the same worker. `concurrent.futures` loses all work when one worker dies, and neither it nor
`pebble` can send a file to the worker that has it open, or report progress.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress

from tbprof.base.lazy import get_logger
from tbprof.base.records import dataclass
from tbprof.engine.hosts.kept_parts import PartResult, PartStore
from tbprof.engine.hosts.summary_cache import SummaryCache
from tbprof.engine.parts import PartKey
from tbprof.engine.workers.asking import Answer, Began, DecodedShare, Gone, Job, Kept, ask, send
from tbprof.engine.workers.endings import (
    Endings,
    WorkerEnded,
    ended_by_itself,
    took_too_long,
    took_too_much,
)
from tbprof.engine.workers.limits import Limits
from tbprof.engine.workers.starting import NoWorkers, Starter, WorkerProcess, make_starter
from tbprof.engine.workers.worker import LARGE, OPEN_FILES
from tbprof.engine.workers.workers import Workers
from tbprof.storage.files import fingerprint
from tbprof.storage.results import ResultStore
from tbprof.storage.runs import TraceFile

_log = get_logger(__name__)

_MOST_PROCESSES = 4

_BY_SIZE = Limits()
# For a small trace that takes a tenth of a second.
_REHEARSAL_S = 60.0
# Stands for a file.
_WARM_UP = "warm-up"
_IN_THREADS = "No processes can be started, so traces are read in threads, without limits"


@dataclass(slots=True)
class _Slot:
    """A slot for a worker, `reading` the file with this fingerprint, "" when it is idle.

    `latest` are the files that the worker has open, and `ratio` is how much of the one that it is
    reading has been decoded.
    """

    worker: WorkerProcess | None = None
    reading: str = ""
    is_large: bool = False
    latest: tuple[str, ...] = ()
    ratio: float = 0.0

    def vacate(self) -> None:
        """Clears the slot after its worker has ended."""
        self.worker, self.latest = None, ()


def usual_processes() -> int:
    """As many as there are processors, at most 4."""
    return min(os.cpu_count() or 1, _MOST_PROCESSES)


class WorkerProcesses(Workers):
    """Workers in as many `processes`; one more reads small files while they read large ones.

    With `keeps_later`, they answer before they store results, which are lost if they are ended
    meanwhile.
    """

    keeps_results = True

    def __init__(
        self,
        results: ResultStore | None,
        processes: int,
        limits: Limits = _BY_SIZE,
        make: Callable[[], Starter] = make_starter,
        *,
        keeps_later: bool = False,
    ) -> None:
        self._kept = (
            None
            if results is None
            else Kept(results.directory, results.max_bytes, is_after_answers=keeps_later)
        )
        self._store = None if results is None else PartStore(results)
        self._limits = limits
        self._endings = Endings()
        self._changed = threading.Condition()
        self.hosts_at_once = processes  # each may read a large file
        self._slots = [_Slot() for _ in range(processes + 1)]
        self._make = make
        self._starter: Starter | None = None
        # Used if no process can be started.
        self._threads = SummaryCache(results, files=OPEN_FILES)
        self._has_failed = False
        self._starting = threading.Lock()
        with suppress(NoWorkers):  # logged when a worker is needed
            self._starter = make()

    def warm_up(self) -> None:
        """Starts a worker before the first request needs it.

        A request that arrives before everything is imported starts a worker at once.
        """
        if self._starter is not None:
            self._starter.get_ready()
        with suppress(NoWorkers, Gone), self._slot_for(_WARM_UP, is_large=False) as slot:
            if slot.worker is None:
                self._ask(slot, None, _REHEARSAL_S, lambda _: None)

    def compute(
        self, file: TraceFile, requested: Sequence[PartKey], on_work: Callable[[str], None]
    ) -> Mapping[PartKey, PartResult]:
        """The requested parts, as `Workers` says.

        Raises WorkerEnded if the worker ended, or was killed for taking too much memory or time.
        Then the file is not tried again for a while.
        """
        key = fingerprint(file)
        with self._slot_for(key, is_large=file.bytes >= LARGE) as slot:
            begun_s = self._endings.check(key)
            try:
                job = Job(file, requested, self._limits.bytes_of(file))
                return self._computed(slot, job, on_work)
            except NoWorkers:
                parts = self._threads.parts(file, requested, on_work)
                return {part: parts[part.name] for part in requested}
            except WorkerEnded as error:
                self._endings.note(key, error, begun_s)
                _log.warning("%s", error.message)
                raise

    def decoded_ratio(self, file: TraceFile) -> float:
        """How much of the events of a file has been decoded; 0 if no worker is reading it."""
        key = fingerprint(file)
        return next((slot.ratio for slot in self._slots if slot.reading == key), 0.0)

    def close(self) -> None:
        """Ends all workers."""
        for slot in self._slots:
            if slot.worker is not None:
                slot.worker.end()
        with self._starting:
            if self._starter is not None:
                self._starter.close()
            self._starter = None

    @contextmanager
    def _slot_for(self, key: str, *, is_large: bool) -> Iterator[_Slot]:
        with self._changed:
            while (slot := self._choose(key, is_large=is_large)) is None:
                self._changed.wait()
            slot.reading, slot.is_large, slot.ratio = key, is_large, 0.0
        try:
            yield slot
        finally:
            with self._changed:
                slot.reading, slot.is_large = "", False
                self._changed.notify_all()

    def _choose(self, key: str, *, is_large: bool) -> _Slot | None:
        """An idle slot, if possible of the worker that has the file open, or None.

        A file that a worker is reading is waited for: decoding it twice would not be faster.
        """
        if any(slot.reading == key for slot in self._slots):
            return None
        if is_large and sum(slot.is_large for slot in self._slots) == self.hosts_at_once:
            return None
        idle = [slot for slot in self._slots if not slot.reading]
        return next((slot for slot in idle if key in slot.latest), next(iter(idle), None))

    def _computed(
        self, slot: _Slot, job: Job, on_work: Callable[[str], None]
    ) -> Mapping[PartKey, PartResult]:
        """The parts from the worker of a slot, from a new one if that ended while it was idle."""
        is_new = slot.worker is None
        most_s = self._limits.seconds_of(job.file)
        try:
            return self._asked(slot, job, most_s, on_work)
        except Gone as gone:
            if gone.is_late:
                raise took_too_long(job.file.host, most_s) from gone
            if gone.has_begun or is_new:
                raise ended_by_itself(job.file.host, gone.status) from gone
        return self._computed(slot, job, on_work)

    def _asked(
        self, slot: _Slot, job: Job, most_s: float, on_work: Callable[[str], None]
    ) -> Mapping[PartKey, PartResult]:
        def hear(message: Began | DecodedShare) -> None:
            if isinstance(message, DecodedShare):
                slot.ratio = message.ratio
            else:
                for part in message.parts:
                    on_work(part)

        answer = self._ask(slot, job, most_s, hear)
        if answer.is_too_large:
            slot.vacate()
            raise took_too_much(job.file.host, job.most_bytes)
        slot.latest = (slot.reading, *slot.latest)[:OPEN_FILES]
        results = dict(answer.outcome())
        if self._store is not None:
            for part, content in answer.bundles.items():
                results[part] = self._store.opened(part, content)
        return results

    def _ask(
        self,
        slot: _Slot,
        job: Job | None,
        most_s: float,
        hear: Callable[[Began | DecodedShare], None],
    ) -> Answer:
        """The answer of the worker of a slot; a worker is started if there is none."""
        worker = slot.worker = slot.worker or self._start()
        try:
            return ask(worker, job, most_s, hear)
        except BaseException:
            slot.vacate()
            raise

    def _start(self) -> WorkerProcess:
        """A new worker; a starter that has ended is replaced. Raises NoWorkers."""
        with self._starting:
            for _attempt in range(2):
                try:
                    self._starter = self._starter or self._make()
                    worker = self._starter.start()
                    send(worker, self._kept)
                except (NoWorkers, OSError) as error:
                    failure: Exception = error
                    if self._starter is not None:
                        self._starter.close()
                    self._starter = None
                else:
                    return worker
            if not self._has_failed:
                _log.warning("%s: %s", _IN_THREADS, failure)
            self._has_failed = True
            raise NoWorkers(str(failure))
