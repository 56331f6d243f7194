"""Why worker processes ended, and which files are not tried again for a while."""

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
    until: float


class Endings:
    """Files by fingerprint, with the last error of each.

    A file is tried again after the duration of the last attempt; the pause doubles each time.
    """

    def __init__(self) -> None:
        self._endings: LatestCache[str, _Ending] = LatestCache(_MOST_FILES, 0)

    def check(self, key: str) -> None:
        """Raises the last error of a file during its pause."""
        ending = self._endings.get(key)
        if ending is not None and monotonic() < ending.until:
            raise WorkerEnded(ending.error.message, ending.error.hint)

    def note(self, key: str, error: WorkerEnded, seconds: float) -> None:
        """Records that a worker ended with this error after `seconds` on a file."""
        before = self._endings.get(key)
        pause = max(_LEAST_PAUSE_S, seconds, 2 * before.pause_s if before else 0.0)
        pause = min(pause, _LONGEST_PAUSE_S)
        self._endings.put(key, _Ending(error, pause, monotonic() + pause))
