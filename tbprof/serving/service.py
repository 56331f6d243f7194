"""The logdir and the engine behind the routes, loaded when first needed.

TensorBoard imports every plugin when it starts, whether its tab is opened or not; so the engine
and its dependencies (NumPy, protobuf) are loaded with the first request for data.
"""

from __future__ import annotations

import logging
import os
import secrets
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeVar

from tbprof.base.errors import LoadFailed, NotCompiled, TbprofError
from tbprof.serving.host_names import HostNames

if TYPE_CHECKING:
    from collections.abc import Callable

    from tbprof.capturing.sessions.queue import Captures
    from tbprof.engine.engine import Engine
    from tbprof.engine.workers.workers import Workers
    from tbprof.storage.logdir import Logdir

logger = logging.getLogger(__name__)

# If set to anything, captures are off in every server: `--no-capture` for TensorBoard users.
NO_CAPTURE = "TBPROF_NO_CAPTURE"
# Additional host names of a server, separated by commas: for proxies.
ALLOW_HOST = "TBPROF_ALLOW_HOST"
# How many processes read traces; 0 reads them in threads of the server, without limits.
PROCESSES = "TBPROF_PROCESSES"
# In threads that stand in for a cluster.
_HOSTS_AT_ONCE = 2
_TRACE_FILE = ".xplane.pb"

_Loaded = TypeVar("_Loaded")


class Service:
    """One logdir served under one plugin name."""

    def __init__(
        self,
        location: str | Sequence[str],
        plugin_name: str = "profile",
        *,
        can_capture: bool = True,
        names: HostNames | None = None,
        processes: int | None = None,
    ) -> None:
        self.plugin_name = plugin_name
        self.names = names or HostNames()
        # Only our own pages can read it; requests that capture must send it.
        self.token = secrets.token_urlsafe(24)
        self._processes = processes
        self._can_capture = can_capture and not os.environ.get(NO_CAPTURE)
        self._captures: Captures | None = None
        self._location = location
        # Two locks, so that runs can be listed while the engine is still loading.
        self._logdir_lock = threading.Lock()
        self._engine_lock = threading.Lock()
        self._logdir: Logdir | None = None
        self._engine: Engine | None = None
        self._failure: LoadFailed | None = None
        self._is_warming = False

    @property
    def failure(self) -> LoadFailed | None:
        """Why tbprof could not be loaded, None if it was or was not tried."""
        return self._failure

    @property
    def loaded(self) -> Engine | None:
        """The engine if it is loaded. Does not wait."""
        return self._engine

    def logdir(self) -> Logdir:
        """The logdir. Raises LoadFailed."""
        with self._logdir_lock:
            if self._logdir is None:
                self._logdir = self._load(lambda: _make_logdir(self._location))
            return self._logdir

    def engine(self) -> Engine:
        """The engine; the first call takes about a second. Raises LoadFailed."""
        if self._engine is not None:
            return self._engine
        logdir = self.logdir()
        with self._engine_lock:
            if self._engine is None:
                self._engine = self._load(lambda: _make_engine(logdir, self._processes))
            return self._engine

    def captures_off(self, host: str) -> str:
        """Why captures are off for a request with this `Host` header, "" if they are on.

        TensorBoard shows its data under any host name; captures require a known one.
        """
        if not self._can_capture:
            return "the server was started without it"
        if not self.names.include(host):
            return (
                f"the server does not know the host name {host[:200]!r}: open it by its address, "
                "or start TensorBoard with --tbprof_allow_host and that name"
            )
        places = [self._location] if isinstance(self._location, str) else list(self._location)
        places = [place for place in places if place]
        if not places:
            return "the server has no single logdir (--logdir_spec), so there is no place for runs"
        if places[0].endswith(_TRACE_FILE):
            return "the server shows single files: start it on a logdir"
        return ""

    def capture_logdir(self) -> str:
        """The logdir for captured runs: the first of the served places."""
        return self._location if isinstance(self._location, str) else next(iter(self._location), "")

    def captures(self) -> Captures:
        """The captures into the logdir. Raises LoadFailed."""
        with self._logdir_lock:
            if self._captures is None:
                self._captures = self._load(self._make_captures)
            return self._captures

    def _make_captures(self) -> Captures:
        from tbprof.capturing.sessions.queue import Captures

        return Captures(self.capture_logdir(), lambda _run: self.logdir().search_again())

    def warm_up(self) -> None:
        """Loads the engine in the background, once."""
        with self._logdir_lock:
            if self._is_warming or self._failure is not None:
                return
            self._is_warming = True
        threading.Thread(target=self._warm_up, name="tbprof-warm-up", daemon=True).start()

    def _warm_up(self) -> None:
        try:
            self._load(self.engine().load_tools)
        except TbprofError as err:
            logger.debug("warm-up ended: %s", err.message)  # the request that needs it says so

    def _load(self, make: Callable[[], _Loaded]) -> _Loaded:
        """The result of `make`; the first failure persists until the server restarts."""
        if self._failure is not None:
            raise self._failure
        try:
            return make()
        except NotCompiled as err:
            logger.error("%s (%s)", err.message, err.hint)  # noqa: TRY400 - the sentence is enough
            self._failure = LoadFailed(err.message, f"{err.hint}; then start the server again")
            raise self._failure from err
        except Exception as err:
            # Any error that a broken dependency raises on import: ImportError,
            # OSError for shared libraries, AttributeError or RuntimeError for mismatched versions.
            logger.exception("tbprof could not be loaded")
            self._failure = LoadFailed(
                f"tbprof could not be loaded: {_first_line(err)}",
                "check the installed packages with 'pip check', install tbprof again with "
                "'pip install --force-reinstall tbprof', and start the server again",
            )
            raise self._failure from err


def _make_logdir(location: str | Sequence[str]) -> Logdir:
    from tbprof.storage.logdir import Logdir

    return Logdir(location)


def _make_engine(logdir: Logdir, processes: int | None) -> Engine:
    """`processes` is how many processes read traces; None uses the environment, 0 uses none.

    With a scheduler in the environment, they are used while the cluster cannot be.
    """
    from tbprof.engine.engine import Engine
    from tbprof.engine.workers.clusters.scheduler import SCHEDULER, serving_workers
    from tbprof.engine.workers.limits import chosen_limits
    from tbprof.engine.workers.processes import WorkerProcesses, usual_processes
    from tbprof.engine.workers.threads import Threads
    from tbprof.storage.results import ResultStore

    results, chosen = ResultStore(), os.environ.get(PROCESSES, "")
    if processes is None:
        processes = int(chosen) if chosen.isdecimal() else usual_processes()
    workers: Workers | None = None
    if processes > 0:
        workers = WorkerProcesses(results, processes, chosen_limits(), keeps_later=True)
    if scheduler := os.environ.get(SCHEDULER, ""):
        workers = serving_workers(scheduler, workers or Threads(results, _HOSTS_AT_ONCE))
    return Engine(logdir, results, background=True, workers=workers)


def _first_line(err: Exception) -> str:
    lines = str(err).strip().splitlines() or [""]
    return f"{type(err).__name__}: {lines[0]}"
