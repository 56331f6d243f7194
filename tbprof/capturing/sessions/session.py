"""One capture: all its workers, from a common start, into one run."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from datetime import datetime

from tbprof.base.errors import TbprofError
from tbprof.base.recorder_errors import fix_for
from tbprof.base.records import dataclass
from tbprof.base.texts import few
from tbprof.capturing.requests.request import CaptureRequest
from tbprof.capturing.requests.targets import host_names
from tbprof.capturing.requests.tpu_names import find_tpus
from tbprof.capturing.sessions.capture_worker import CaptureJob, Start, Worker, WorkerState, record
from tbprof.capturing.sessions.tpu_session import record_session
from tbprof.storage.new_run import NewRun

_WATCH_S = 0.1


class NothingCaptured(TbprofError):
    """No worker could be recorded; the message says why for each."""

    code = "nothing_captured"
    status = 502


@dataclass(frozen=True, slots=True)
class WorkerReport:
    """The result of a worker. `phase` is that of `Worker`; `reason` is a code, "" for success."""

    address: str
    host: str
    phase: str
    attempts: int
    reason: str
    message: str
    fix: str
    details: str
    recorder_errors: tuple[str, ...]
    bytes: int
    path: str
    late_s: float

    @property
    def is_written(self) -> bool:
        """Whether the worker's trace is in the run."""
        return self.phase == WorkerState.WRITTEN.value


@dataclass(frozen=True, slots=True)
class CaptureReport:
    """The status or result of a capture: its run, its path, and each worker."""

    run: str
    path: str
    is_done: bool
    workers: tuple[WorkerReport, ...]

    @property
    def written(self) -> int:
        """The number of written traces."""
        return sum(worker.is_written for worker in self.workers)


class Capture:
    """A capture, which runs in its own threads once `run` or `start` is called.

    Raises NotWritten or Unreachable if the logdir cannot be reached.
    """

    def __init__(self, request: CaptureRequest, logdir: str) -> None:
        self.options = request.options
        self._is_session = bool(request.workers)
        self._run = NewRun(logdir, self.options.run_name(datetime.now().astimezone()))
        targets = find_tpus(request.asked)
        self._workers = [
            Worker(target, host) for target, host in zip(targets, host_names(targets), strict=True)
        ]
        self._start = Start(len(self._workers), self.options.delay_ms / 1000)
        self._session_began_ns = 0
        self._cancelled = threading.Event()
        self._done = threading.Event()

    def run(self, on_change: Callable[[CaptureReport], None] | None = None) -> CaptureReport:
        """Records all workers; returns when the last has ended. Calls `on_change` for changes."""
        try:
            # One thread per worker: each waits for its own server nearly all of the time.
            with ThreadPoolExecutor(max(1, len(self._workers)), "tbprof-capture") as pool:
                futures = self._submit(pool)
                try:
                    self._watch(futures, on_change)
                except BaseException:  # Ctrl-C: release the servers first
                    self.cancel()
                    raise
        finally:
            self._done.set()
        report = self.report()
        if on_change is not None:
            on_change(report)
        return report

    def cancel(self) -> None:
        """Stops the servers that are still recording; traces that are written stay."""
        self._cancelled.set()

    @property
    def is_cancelled(self) -> bool:
        """Whether a stop was requested."""
        return self._cancelled.is_set()

    def share(self) -> float:
        """The fraction of the planned recording time that has passed, 0 to 1."""
        began_ns = self._session_began_ns or self._start.began_ns
        whole_ns = (self.options.delay_ms + self.options.duration_ms) * 1_000_000
        return min(1.0, max(0.0, (time.time_ns() - began_ns) / whole_ns)) if began_ns else 0.0

    def report(self) -> CaptureReport:
        """The current status."""
        return CaptureReport(
            self._run.name, self._run.url, self._done.is_set(), tuple(map(_report, self._workers))
        )

    def _submit(self, pool: ThreadPoolExecutor) -> list[Future[None]]:
        if self._is_session:
            self._session_began_ns = time.time_ns()
            arguments = (self._workers, self.options, self._run, self._cancelled)
            return [pool.submit(record_session, *arguments)]
        job = CaptureJob(self.options, self._run, self._cancelled, self._start)
        return [pool.submit(record, worker, job) for worker in self._workers]

    def _watch(
        self,
        futures: Sequence[Future[None]],
        on_change: Callable[[CaptureReport], None] | None,
    ) -> None:
        seen: CaptureReport | None = None
        left: Iterable[Future[None]] = futures
        while left:
            left = wait(left, _WATCH_S).not_done
            report = self.report()
            if on_change is not None and report != seen:
                on_change(report)
                seen = report


def _report(worker: Worker) -> WorkerReport:
    reason = worker.reason
    return WorkerReport(
        address=worker.target.address,
        host=worker.host,
        phase=worker.phase.value,
        attempts=worker.attempts,
        reason=reason.code if reason else "",
        message=reason.text if reason else "",
        fix=reason.fix if reason else "",
        details=worker.details,
        recorder_errors=tuple(map(_with_fix, worker.recorder_errors)),
        bytes=worker.bytes,
        path=worker.url,
        late_s=worker.late_s,
    )


def _with_fix(error: str) -> str:
    fix = fix_for(error)
    return f"{error} ({fix})" if fix else error


def nothing_captured(report: CaptureReport) -> NothingCaptured:
    """The error of a capture without any trace."""
    first = report.workers[0]
    texts = dict.fromkeys(
        f"{worker.address}: {worker.message}"
        + (f" ({worker.details[:200]})" if worker.details else "")
        for worker in report.workers
    )
    return NothingCaptured(few(list(texts), 3, "; "), first.fix)
