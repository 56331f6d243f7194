"""A logdir in its current state: its runs, what was searched and what was ignored.

Searching happens in the background, since a logdir may be a bucket or contain a hundred thousand
directories. It is repeated when the runs are requested and the last search is old, since captures
arrive while TensorBoard runs. Nothing is ever written into a logdir.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence

from tbprof.base.errors import RunNotFound, TbprofError, Unreachable
from tbprof.base.lazy import get_logger
from tbprof.base.records import dataclass, replace
from tbprof.storage.filesystems import FileSystem, file_system, is_remote
from tbprof.storage.logdir_scan import Budget, Scan
from tbprof.storage.runs import Ignored, Run, TraceFile, list_run, reason, sendable_name

__all__ = ["Ignored", "Logdir", "Run", "ScanReport", "TraceFile"]

logger = get_logger(__name__)

IGNORED_LIMIT = 1000  # entries that are kept for the report
RESCAN_S = 1.0  # the minimum time between two scans
DUTY = 10  # a scan that took n seconds is not repeated before 10 n seconds have passed
RESCAN_WAIT_S = 1.0  # how long to wait for a scan that is known to be short
REMOTE_AGE_S = 5.0  # how old the listing of a remote run may be


@dataclass(frozen=True, slots=True)
class ScanReport:
    """What the last search saw; while `scanning`, what the running one has seen so far."""

    logdir: str
    scanning: bool
    directories: int
    files: int
    seconds: float
    stopped: str | None
    ignored: tuple[Ignored, ...]


class Logdir:
    """The runs of one logdir, run directory, or set of trace files, on any fsspec storage.

    Safe to use from several threads. `wait_s` bounds how long `runs` waits for the first search.
    No location at all (TensorBoard's `--logdir_spec`) is a logdir without runs.
    """

    def __init__(
        self,
        location: str | Sequence[str],
        *,
        wait_s: float = 2.0,
        budget: Budget | None = None,
    ) -> None:
        locations = [location] if isinstance(location, str) else list(location)
        self.locations = tuple(place for place in locations if place)
        self._wait_s = wait_s
        self._budget = budget or Budget()
        self._changed = threading.Condition()
        self._runs: dict[str, Run] = {}
        self._listed_at: dict[str, float] = {}
        self._ignored: list[Ignored] = []
        self._unreachable: Unreachable | None = None
        self._scan = Scan(())  # the last one that was started
        self._scanning = False
        self._is_stale = True  # there is something that no search has seen, or no search yet
        self._searches = 0  # completed
        self._event_files = 0  # seen by the last one
        self._started_at = 0.0
        self._finished_at = 0.0
        self._last_s = 0.0

    def runs(self) -> Mapping[str, Run]:
        """The known runs, descending by name: newest first if the names are times.

        Raises Unreachable if the storage cannot be reached and no run is known.
        """
        self._refresh()
        with self._changed:
            if self._unreachable is not None and not self._runs:
                raise self._unreachable
            return {name: self._runs[name] for name in sorted(self._runs, reverse=True)}

    def run(self, name: str) -> Run:
        """The run as it is now: its directory is listed again if the last listing is old.

        The name is looked up among the discovered runs and never becomes part of a path.
        """
        with self._changed:
            run = self._runs.get(name)
        if run is None:
            run = self.runs().get(name)
        if run is None:
            names = list(self.runs())
            names_text = (
                f"there are {len(names):,}, such as {names[0]!r}" if names else "there are none"
            )
            raise RunNotFound(f"no run is named {name!r}; {names_text}", "see the list of runs")
        return self._relisted(run)

    def trace(self, run: str, host: str) -> TraceFile | None:
        """The file of one host as it is now, None if `run` must be called.

        Only checks that file, which takes a hundredth of the time for runs of many hosts.
        """
        with self._changed:
            known_run = self._runs.get(run)
        if known_run is None or is_remote(known_run.url):
            return None
        file = next((file for file in known_run.files if file.host == host), None)
        try:
            return file and _restat(file_system(known_run.url)[0], file)
        except (OSError, TbprofError):
            return None

    def search_again(self) -> None:
        """Makes the next listing search again, however recent the last search is."""
        with self._changed:
            self._is_stale = True
        self._start()

    def is_active(self) -> bool:
        """Whether a run is known. Never waits: the first call only starts the search."""
        if not self._runs:
            self._start()
        return bool(self._runs)

    def is_bare(self) -> bool:
        """Whether a finished search saw neither a run nor an event file of other dashboards."""
        with self._changed:
            is_finished = self._searches > 0 or not self.locations
            return is_finished and not self._runs and not self._event_files

    def report(self) -> ScanReport:
        """What was searched and ignored. Does not wait."""
        self._start()
        with self._changed:
            scan = self._scan
            until = time.monotonic() if self._scanning else self._finished_at
            return ScanReport(
                logdir=", ".join(sendable_name(location) for location in self.locations),
                scanning=self._scanning,
                directories=scan.directories,
                files=scan.files,
                seconds=max(0.0, until - self._started_at),
                stopped=scan.stopped,
                ignored=tuple(self._ignored),
            )

    def _refresh(self) -> None:
        """Starts a search if one is due, and waits for it if it is the first, or short."""
        self._start()
        with self._changed:
            wait_s = self._wait_s if self._searches == 0 else RESCAN_WAIT_S
            if self._searches == 0 or self._last_s < RESCAN_WAIT_S / 2:
                self._changed.wait_for(lambda: not self._scanning, wait_s)

    def _start(self) -> None:
        with self._changed:
            age_s = time.monotonic() - self._finished_at
            is_due = self._is_stale or age_s > max(RESCAN_S, DUTY * self._last_s)
            if self._scanning or not is_due or not self.locations:
                return
            self._scanning = True
            self._is_stale = False
            self._started_at = time.monotonic()
            self._scan = scan = Scan(self.locations, self._budget, self._scan.settled)
        threading.Thread(target=self._search, args=(scan,), name="tbprof-scan", daemon=True).start()

    def _search(self, scan: Scan) -> None:
        """The body of the background thread: new runs are published as they are found."""
        runs: dict[str, Run] = {}
        ignored: list[Ignored] = []
        left_out = 0
        try:
            for entry in scan:
                if isinstance(entry, Run):
                    is_listed = entry.url not in scan.known
                    with self._changed:
                        published = self._runs.setdefault(entry.name, entry)
                        if is_listed:
                            self._listed_at[entry.name] = time.monotonic()
                    runs[entry.name] = entry if is_listed else published
                elif len(ignored) < IGNORED_LIMIT:
                    ignored.append(entry)
                else:
                    left_out += 1
        finally:
            if left_out:
                ignored.append(Ignored("…", f"{left_out:,} more are not listed here"))
            with self._changed:
                # A search that stopped early knows nothing about the runs that it did not reach.
                self._runs = {**self._runs, **runs} if scan.stopped else runs
                self._ignored = ignored
                self._unreachable = scan.unreachable
                self._event_files = scan.event_files
                self._finished_at = time.monotonic()
                self._last_s = self._finished_at - self._started_at
                self._searches += 1
                self._scanning = False
                self._changed.notify_all()
        if scan.stopped:
            logger.warning(
                "The search for profiles in %s stopped %s; runs may be missing",
                ", ".join(self.locations),
                scan.stopped,
            )

    def _relisted(self, run: Run) -> Run:
        age_s = time.monotonic() - self._listed_at.get(run.name, 0.0)
        if is_remote(run.url) and age_s < REMOTE_AGE_S:
            return run
        try:
            files, _ = file_system(run.url)
            if run.is_whole:
                fresh = list_run(files, run.name, run.url)
            else:  # files that the user pointed at
                fresh = replace(run, files=tuple(_restat(files, file) for file in run.files))
        except (OSError, TbprofError) as err:
            # The run stays known until the next search; opening its files says what is wrong.
            logger.debug("%s cannot be listed again: %s", run.url, reason(err))
            return run
        with self._changed:
            if run.name in self._runs:
                self._runs[run.name] = fresh
                self._listed_at[run.name] = time.monotonic()
        return fresh


def _restat(files: FileSystem, trace: TraceFile) -> TraceFile:
    """The file with its size and times as they are now. Raises OSError or TbprofError."""
    is_directory, stat = files.stat(trace.url)
    if is_directory:
        raise IsADirectoryError(trace.url)
    return replace(trace, bytes=stat.bytes, modified_ns=stat.modified_ns, version=stat.version)
