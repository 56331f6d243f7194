"""Why worker processes ended, and which files are not tried again for a while."""

from __future__ import annotations

import signal
from time import monotonic

from tbprof.base.caches import LatestCache
from tbprof.base.errors import TbprofError
from tbprof.base.records import NamedTuple
from tbprof.engine.workers.limits import MEMORY_GIB, SECONDS

_MOST_FILES = 256
# The minimum pause: a reload tries again, but not each request of one page.
_LEAST_PAUSE_S, _LONGEST_PAUSE_S = 5.0, 3600.0


class WorkerEnded(TbprofError):
    """The process that computed parts of a file ended before it answered."""

    code = "worker_ended"


def took_too_much(host: str, most_bytes: int) -> WorkerEnded:
    """The process allocated more than `most_bytes`."""
    return WorkerEnded(
        f"the process that read host {host!r} was ended: it took more than "
        f"{most_bytes / (1 << 30):.3g} GiB of memory",
        f"record a shorter time, or set {MEMORY_GIB} to what a trace may take",
    )


def took_too_long(host: str, seconds: float) -> WorkerEnded:
    """The process did not answer in time."""
    return WorkerEnded(
        f"the process that read host {host!r} was ended: it took longer than {seconds:,.3g} s",
        f"record a shorter time, or set {SECONDS} to how long a trace may take",
    )


def ended_by_itself(host: str, status: int) -> WorkerEnded:
    """The process ended with this status, negative for a signal."""
    if status == -getattr(signal, "SIGKILL", 0):
        return WorkerEnded(
            f"the process that read host {host!r} was killed",
            "the system does so when its memory is used up: free some, then reload the page",
        )
    try:
        how = signal.Signals(-status).name
    except ValueError:
        how = f"status {status}"
    return WorkerEnded(
        f"the process that read host {host!r} crashed ({how})",
        "the trace may be damaged: copy or record it again; if that does not help, report it",
    )


class _Ending(NamedTuple):
    error: WorkerEnded
    pause_s: float
    until_s: float


class Endings:
    """Files by fingerprint, with the last error of each.

    A file is tried again after the duration of the last attempt; the pause doubles each time.
    """

    def __init__(self) -> None:
        self._endings: LatestCache[str, _Ending] = LatestCache(_MOST_FILES, 0)

    def check(self, key: str) -> float:
        """Returns when the attempt begins. Raises the last error of a file during its pause."""
        ending = self._endings.get(key)
        now_s = monotonic()
        if ending is not None and now_s < ending.until_s:
            raise WorkerEnded(ending.error.message, ending.error.hint)
        return now_s

    def note(self, key: str, error: WorkerEnded, begun_s: float) -> None:
        """Records that a worker ended with this error in the attempt that began at this time."""
        before, now_s = self._endings.get(key), monotonic()
        pause_s = max(_LEAST_PAUSE_S, now_s - begun_s, 2 * before.pause_s if before else 0.0)
        pause_s = min(pause_s, _LONGEST_PAUSE_S)
        self._endings.put(key, _Ending(error, pause_s, now_s + pause_s))
