"""Records one worker: connects, waits for the common start, receives, writes."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from enum import Enum

from tbprof.base.errors import TbprofError
from tbprof.base.lazy import regex
from tbprof.base.records import dataclass, field
from tbprof.capturing.probing.probe import why_unreachable
from tbprof.capturing.probing.reasons import Reason, reason_of_error
from tbprof.capturing.protocol.calls import CallFailed, call
from tbprof.capturing.protocol.profiler_messages import (
    PROFILE,
    AnswerReader,
    Garbled,
    profile_request,
    read_recorder_errors,
)
from tbprof.capturing.requests.options import CaptureOptions
from tbprof.capturing.requests.targets import Target
from tbprof.storage.new_run import NewFile, NewRun

_BACKOFF_S = 0.5  # before the second attempt, then twice as long each time
_LONGEST_BACKOFF_S = 8.0
_PATIENCE_S = 5.0  # how long connected workers wait for the others
_OWN_FILE_S = 3.0  # how long a file that the worker writes itself may take to appear
_SUFFIX = ".xplane.pb"
# Files that services leave which send no trace. Source: the profile plugin's client.
_NO_FILE = "tf_stats_helper_result"
_OTHER_FILE = regex(r"[A-Za-z0-9_][A-Za-z0-9_.]{0,99}")
# Of a server's message, in characters.
_LONGEST_DETAILS = 2000


class WorkerState(str, Enum):
    """The phase of a worker."""

    WAITING = "waiting"
    CONNECTING = "connecting"
    STARTING = "waiting for the start"
    RECORDING = "recording"
    RECEIVING = "receiving"
    WRITING = "writing"
    RETRYING = "waiting to try again"
    WRITTEN = "written"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def is_final(self) -> bool:
        """Whether the phase is final."""
        return self in (WorkerState.WRITTEN, WorkerState.FAILED, WorkerState.CANCELLED)


@dataclass(slots=True)
class Worker:
    """The progress of recording a worker; changes until `phase` is final.

    `host` is the name of the trace. `details` is the server's message, `recorder_errors` are the
    recorder's errors (in the trace itself). `late_s` is how much later than the common start the
    successful attempt began.
    """

    target: Target
    host: str
    phase: WorkerState = WorkerState.WAITING
    attempts: int = 0
    reason: Reason | None = None
    details: str = ""
    recorder_errors: list[str] = field(default_factory=list)
    bytes: int = 0
    url: str = ""
    late_s: float = 0.0


@dataclass(frozen=True, slots=True)
class CaptureJob:
    """The shared state of a capture's workers."""

    options: CaptureOptions
    run: NewRun
    cancelled: threading.Event
    start: Start


class Start:
    """Lets all workers begin together: each waits here until all have connected or given up.

    The wait is bounded: `_PATIENCE_S` after the last worker has connected, the connected workers
    begin, and later ones begin at once.
    """

    def __init__(self, workers: int, delay_s: float) -> None:
        self._left = workers
        self._delay_s = delay_s
        self._workers = workers
        self._all_there = threading.Condition()
        self._start_ns = 0
        self._last_came = time.monotonic()

    def arrive(self) -> None:
        """One worker is connected, or will not be."""
        with self._all_there:
            self._left -= 1
            self._last_came = time.monotonic()
            if self._left == 0:
                self._begin()

    def wait(self, cancelled: threading.Event) -> int:
        """When to begin, in ns since the epoch; 0 if the capture was cancelled."""
        with self._all_there:
            while not self._start_ns and not cancelled.is_set():
                if time.monotonic() - self._last_came > _PATIENCE_S:
                    self._begin()
                    break
                self._all_there.wait(0.1)
            return self._start_ns

    @property
    def began_ns(self) -> int:
        """When the delay before the recording began, in ns since the epoch; 0 before that."""
        return max(0, self._start_ns - int(self._delay_s * 1e9))

    def _begin(self) -> None:
        if not self._start_ns:
            # Time for sending the requests.
            lead_s = 0.0 if self._workers == 1 else 0.05 + 0.003 * self._workers
            self._start_ns = time.time_ns() + int(max(self._delay_s, lead_s) * 1e9)
            self._all_there.notify_all()


class Stopped(Exception):
    """The end of an attempt."""

    def __init__(self, reason: Reason, details: str = "") -> None:
        super().__init__(reason.text)
        self.reason = reason
        self.details = details[:_LONGEST_DETAILS]


def record(worker: Worker, job: CaptureJob) -> None:
    """Records a worker, and sets its result in `worker`. Never raises."""
    has_arrived = False

    def arrive() -> None:
        nonlocal has_arrived
        if not has_arrived:
            has_arrived = True
            job.start.arrive()

    try:
        attempts(
            [worker], job.options.retries, job.cancelled, lambda: _attempt(worker, job, arrive)
        )
    except TbprofError as error:  # the storage
        end(worker, Reason.NOT_WRITTEN, error.message)
    except Stopped as stop:
        end(worker, stop.reason, stop.details)
    except Exception as error:  # noqa: BLE001 - one worker must not affect the others
        end(worker, Reason.FAILED, f"{type(error).__name__}: {error}")
    finally:
        arrive()


def attempts(
    workers: Sequence[Worker], retries: int, cancelled: threading.Event, attempt: Callable[[], None]
) -> None:
    """Calls `attempt` until it succeeds, with growing pauses. Raises the last Stopped.

    Only temporary failures are retried, at most `retries` times.
    """
    backoff_s = _BACKOFF_S
    for left in range(retries, -1, -1):
        for worker in workers:
            worker.attempts += 1
        try:
            attempt()
        except Stopped as stop:
            if not stop.reason.is_passing or not left:
                raise
            for worker in workers:
                worker.reason, worker.details = stop.reason, stop.details
                worker.phase = WorkerState.RETRYING
            if cancelled.wait(backoff_s):
                raise Stopped(Reason.CANCELLED) from None
            backoff_s = min(2 * backoff_s, _LONGEST_BACKOFF_S)
        else:
            return


def _attempt(worker: Worker, job: CaptureJob, arrive: Callable[[], None]) -> None:
    worker.phase = WorkerState.CONNECTING
    reason = why_unreachable(worker.target, job.cancelled)
    if reason is not None:
        raise Stopped(reason)
    worker.phase = WorkerState.STARTING
    arrive()
    start_ns = job.start.wait(job.cancelled)
    if job.cancelled.is_set():
        raise Stopped(Reason.CANCELLED)
    worker.bytes = 0
    trace = _TraceOutput(worker, job)
    try:
        answer = _profile(worker, job, start_ns, trace)
        _finish(worker, job, answer, trace)
    except BaseException:
        trace.discard()
        raise


class _TraceOutput:
    """The worker's file, created when the first piece of its trace arrives."""

    def __init__(self, worker: Worker, job: CaptureJob) -> None:
        self._worker = worker
        self._job = job
        self.file: NewFile | None = None

    def receive(self, data: bytes) -> None:
        if self.file is None:
            self.file = self._job.run.open(f"{self._worker.host}{_SUFFIX}")
        self._worker.phase = WorkerState.RECEIVING
        self.file.write(data)
        self._worker.bytes = self.file.size

    def discard(self) -> None:
        if self.file is not None:
            self.file.discard()


def _profile(worker: Worker, job: CaptureJob, start_ns: int, trace: _TraceOutput) -> AnswerReader:
    """The complete response to the recording request."""
    options = job.options
    now_ns = time.time_ns()
    worker.late_s = max(0.0, (now_ns - start_ns) / 1e9)
    request = profile_request(options, job.run.root, job.run.name, worker.target.address, start_ns)
    reader = AnswerReader(trace.receive)
    over = threading.Event()
    threading.Thread(
        target=_set_phases, args=(worker, job, max(start_ns, now_ns), over), daemon=True
    ).start()
    try:
        call(worker.target, PROFILE, request, options.deadline_s, job.cancelled, reader.feed)
    except CallFailed as error:
        raise Stopped(reason_of_error(error.code, error.details), error.details) from error
    except Garbled as error:
        raise Stopped(Reason.GARBLED, str(error)) from error
    finally:
        over.set()
    return reader


def _set_phases(worker: Worker, job: CaptureJob, start_ns: int, over: threading.Event) -> None:
    """Sets the phases of a worker by the clock, since servers send nothing until they are done."""
    end_ns = start_ns + job.options.duration_ms * 1_000_000
    for before, phase, until_ns in (
        (WorkerState.STARTING, WorkerState.RECORDING, start_ns),
        (WorkerState.RECORDING, WorkerState.RECEIVING, end_ns),
    ):
        if over.wait(max(0.0, (until_ns - time.time_ns()) / 1e9)):
            return
        if worker.phase is before:
            worker.phase = phase


def _finish(worker: Worker, job: CaptureJob, reader: AnswerReader, trace: _TraceOutput) -> None:
    """Gives the trace its name, and keeps whatever else an older server has sent."""
    worker.phase = WorkerState.WRITING
    try:
        answer = reader.answer()
    except Garbled as error:
        raise Stopped(Reason.GARBLED, str(error)) from error
    if answer.is_empty or (reader.has_trace and trace.file is None):
        raise Stopped(Reason.EMPTY)
    for name, content in answer.files.items():
        if name == _SUFFIX.removeprefix("."):
            if trace.file is None:
                trace.receive(bytes(content))
        elif not name.endswith(_NO_FILE) and _OTHER_FILE.fullmatch(name):
            job.run.write(f"{worker.host}.{name}", content)
    file = trace.file
    if file is not None:
        try:
            with file.content() as content:
                worker.recorder_errors = read_recorder_errors(content)
        except Garbled as error:
            raise Stopped(Reason.GARBLED, str(error)) from error
        worker.url = file.commit()
        worker.bytes = file.size
    elif not answer.files:
        worker.url = _own_file(worker, job)
    worker.phase, worker.reason, worker.details = WorkerState.WRITTEN, None, ""


def _own_file(worker: Worker, job: CaptureJob) -> str:
    """The URL of the file that an older server has written to a shared storage itself."""
    until = time.monotonic() + _OWN_FILE_S
    while True:
        url = job.run.find(f"{worker.host}{_SUFFIX}")
        if url is not None:
            return url
        if time.monotonic() > until or job.cancelled.wait(0.2):
            raise Stopped(Reason.MISSING_FILE)


def end(worker: Worker, reason: Reason, details: str) -> None:
    """Notes why a worker has not been recorded."""
    worker.reason, worker.details = reason, details[:_LONGEST_DETAILS]
    worker.phase = WorkerState.CANCELLED if reason is Reason.CANCELLED else WorkerState.FAILED
