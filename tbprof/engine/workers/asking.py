"""The protocol between a server and its worker processes.

Both send pickles. The server first sends `Kept`, then one `Job` at a time, or None for a rehearsal,
and receives an `Answer` for each, after any number of `Began` and `DecodedShare`.
"""

from __future__ import annotations

import pickle
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from tbprof.base.process.pulse import Pulse
from tbprof.base.records import NamedTuple
from tbprof.engine.hosts.kept_parts import PartResult
from tbprof.engine.parts import PartKey
from tbprof.engine.workers.starting import WorkerProcess
from tbprof.storage.runs import TraceFile

# How precisely time limits are kept.
_PULSE_S = 0.05
_NO_BUNDLES: Mapping[PartKey, bytes] = {}


class Kept(NamedTuple):
    """Where results are stored, their maximum size, and whether answers are sent before."""

    directory: Path
    most_bytes: int
    is_after_answers: bool


class Job(NamedTuple):
    """Parts of a file to be computed in `most_bytes` of memory."""

    file: TraceFile
    parts: Sequence[PartKey]
    most_bytes: int


class Began(NamedTuple):
    """The parts that have begun since the previous message."""

    parts: Sequence[str]


class DecodedShare(NamedTuple):
    """The share of the file's events that has been decoded, 0 to 1."""

    ratio: float


class Answer(NamedTuple):
    """The parts, or what was raised, and where.

    Small parts that are already kept are `bundles`, which take a fifth of the time of pickles.
    Neither if `is_too_large`: then the parts take too much memory, and the worker ends.
    """

    results: Mapping[PartKey, PartResult] | None
    error: Exception | None = None
    traceback: str = ""
    bundles: Mapping[PartKey, bytes] = _NO_BUNDLES

    @property
    def is_too_large(self) -> bool:
        """Whether the parts take more memory than the job may."""
        return self.results is None and self.error is None

    def outcome(self) -> Mapping[PartKey, PartResult]:
        """The parts without bundles. Raises what the worker raised."""
        if self.results is not None:
            return self.results
        raise self.error or MemoryError from _InWorker(self.traceback)


class Gone(Exception):
    """The worker ended before it answered: after it `has_begun`, or killed as it `is_late`."""

    def __init__(self, status: int, *, has_begun: bool, is_late: bool) -> None:
        super().__init__(f"the worker has ended, status {status}")
        self.status = status
        self.has_begun = has_begun
        self.is_late = is_late


class _InWorker(Exception):
    """The traceback of a worker, as the cause of the error that is raised here."""


def send(worker: WorkerProcess, message: Kept | Job | None) -> None:
    """Sends a message to a worker. Raises OSError if it has ended."""
    pickle.dump(message, worker.writer, pickle.HIGHEST_PROTOCOL)
    worker.writer.flush()


def ask(
    worker: WorkerProcess,
    job: Job | None,
    most_s: float,
    hear: Callable[[Began | DecodedShare], None],
) -> Answer:
    """The answer of a worker, which is killed after `most_s`.

    `hear` receives its earlier messages. Raises Gone. After any error, and if parts are too large,
    the worker is ended.
    """
    has_begun = False
    _waiting[worker.id] = worker, time.monotonic() + most_s
    _pulse.go_on()
    try:
        send(worker, job)
        while not isinstance(message := pickle.load(worker.reader), Answer):  # noqa: S301 - ours
            has_begun = True
            hear(message)
    except (OSError, EOFError, pickle.UnpicklingError) as error:
        raise Gone(worker.end(), has_begun=has_begun, is_late=worker.id not in _waiting) from error
    except BaseException:  # its late messages would be taken for the next answer
        worker.end()
        raise
    finally:
        _waiting.pop(worker.id, None)
    if message.is_too_large:
        worker.end()
    return message


def _kill_late() -> bool:
    """Kills workers that are late; returns whether others are waited for."""
    for worker, until_s in [*_waiting.values()]:
        if time.monotonic() >= until_s and _waiting.pop(worker.id, None) is not None:
            worker.kill()
    return bool(_waiting)


# The workers that are waited for, by process, and until when.
_waiting: dict[int, tuple[WorkerProcess, float]] = {}
_pulse = Pulse(_kill_late, _PULSE_S)
