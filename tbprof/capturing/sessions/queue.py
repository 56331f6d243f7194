"""Captures that a server runs for its pages: one after another, with a limit."""

from __future__ import annotations

import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Callable

from tbprof.base.errors import TbprofError
from tbprof.base.records import dataclass, field
from tbprof.capturing.requests.request import CaptureRequest
from tbprof.capturing.sessions.session import (
    Capture,
    CaptureReport,
    NothingCaptured,
    nothing_captured,
)

MOST_WAITING = 8
_REMEMBERED = 32


class TooMany(TbprofError):
    """There are too many captures waiting."""

    code = "too_many_captures"
    status = 429


class CaptureNotFound(TbprofError):
    """No capture has this id."""

    code = "capture_not_found"
    status = 404


@dataclass(frozen=True, slots=True)
class Standing:
    """The status of a capture. `ahead` captures come before it; `error` says why it failed.

    `elapsed_s` counts from its start. `share` is the fraction, 0 to 1, of its planned time
    that has passed since all workers were connected.
    """

    id: str
    state: str  # "waiting", "running", "done", "failed", "cancelled"
    ahead: int
    elapsed_s: float
    duration_ms: int
    delay_ms: int
    share: float
    report: CaptureReport | None
    error: TbprofError | None


@dataclass(slots=True)
class _QueuedCapture:
    request: CaptureRequest
    capture: Capture | None = None
    state: str = "waiting"
    error: TbprofError | None = None
    is_cancelled: bool = False
    began: float = 0.0
    ended: float = 0.0
    done: threading.Event = field(default_factory=threading.Event)


class Captures:
    """The captures into one logdir. Safe to use from several threads."""

    def __init__(self, logdir: str, on_written: Callable[[str], None] = lambda _run: None) -> None:
        self._logdir = logdir
        self._on_written = on_written
        self._lock = threading.Lock()
        self._entries: OrderedDict[str, _QueuedCapture] = OrderedDict()
        self._thread: threading.Thread | None = None

    def start(self, request: CaptureRequest) -> str:
        """The id of a new capture, which begins when those before it have ended."""
        with self._lock:
            waiting = sum(entry.state == "waiting" for entry in self._entries.values())
            if waiting >= MOST_WAITING:
                raise TooMany(
                    f"{waiting} captures are waiting already", "wait for them, or cancel some"
                )
            id_ = secrets.token_urlsafe(9)
            self._entries[id_] = _QueuedCapture(request)
            ended = [ended_id for ended_id, entry in self._entries.items() if entry.done.is_set()]
            for ended_id in ended[: max(0, len(self._entries) - _REMEMBERED)]:
                del self._entries[ended_id]
            if self._thread is None:
                self._thread = threading.Thread(
                    target=self._work, name="tbprof-captures", daemon=True
                )
                self._thread.start()
            return id_

    def standing(self, id_: str) -> Standing:
        """The status of a capture. Raises CaptureNotFound."""
        with self._lock:
            entry = self._entry(id_)
            before = list(self._entries)[: list(self._entries).index(id_)]
            ahead = sum(not self._entries[earlier_id].done.is_set() for earlier_id in before)
            until = entry.ended or time.monotonic()
            return Standing(
                id_,
                entry.state,
                0 if entry.done.is_set() else ahead,
                until - entry.began if entry.began else 0.0,
                entry.request.options.duration_ms,
                entry.request.options.delay_ms,
                entry.capture.share() if entry.capture is not None else 0.0,
                entry.capture.report() if entry.capture is not None else None,
                entry.error,
            )

    def unfinished(self) -> list[str]:
        """The ids of captures that are pending or running, oldest first."""
        with self._lock:
            return [id_ for id_, entry in self._entries.items() if not entry.done.is_set()]

    def cancel(self, id_: str) -> None:
        """Stops a capture; traces that it has written stay. Raises CaptureNotFound."""
        with self._lock:
            entry = self._entry(id_)
            entry.is_cancelled = True
            if entry.state == "waiting":
                entry.state = "cancelled"
                entry.done.set()
            if entry.capture is not None:
                entry.capture.cancel()

    def wait(self, id_: str, seconds: float) -> None:
        """Returns when a capture has ended, or the timeout has passed. Raises CaptureNotFound."""
        with self._lock:
            entry = self._entry(id_)
        entry.done.wait(seconds)

    def _entry(self, id_: str) -> _QueuedCapture:
        entry = self._entries.get(id_)
        if entry is None:
            raise CaptureNotFound(
                "the server does not know it", "it ended long ago, or the server was restarted"
            )
        return entry

    def _work(self) -> None:
        while True:
            with self._lock:
                entry = next(
                    (queued for queued in self._entries.values() if queued.state == "waiting"), None
                )
                if entry is None:
                    self._thread = None
                    return
                entry.state, entry.began = "running", time.monotonic()
            state = self._record(entry)
            with self._lock:
                entry.state, entry.ended = state, time.monotonic()
            entry.done.set()

    def _record(self, entry: _QueuedCapture) -> str:
        """The state in which the capture of an entry ends."""
        try:
            capture = Capture(entry.request, self._logdir)
            with self._lock:
                entry.capture = capture
                if entry.is_cancelled:
                    capture.cancel()
            report = capture.run()
        except TbprofError as error:
            entry.error = error
            return "failed"
        except Exception as error:  # noqa: BLE001 - the next capture must have its turn
            entry.error = NothingCaptured(f"the capture failed: {type(error).__name__}: {error}")
            return "failed"
        if report.written:
            self._on_written(report.run)
            return "done"
        if entry.is_cancelled:
            return "cancelled"
        entry.error = nothing_captured(report)
        return "failed"
