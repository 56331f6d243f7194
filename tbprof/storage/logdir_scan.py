"""Finds the runs below a location: every `plugins/profile` directory's subdirectories."""

from __future__ import annotations

import itertools
import time
from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence

from tbprof.base.errors import TbprofError, Unreachable
from tbprof.base.records import dataclass, field
from tbprof.storage.filesystems import FileSystem, Listed, file_system, is_remote
from tbprof.storage.runs import (
    Ignored,
    Run,
    TraceFile,
    looks_like_profile,
    named_trace,
    reason,
    run_of,
    sendable_name,
    sorted_by_host,
)

PROFILE_DIRECTORY = ("plugins", "profile")
# A dozen directories that link to each other make millions of paths.
ALIASES = 4
# A remote run whose files are older than this is not listed again by each search.
SETTLED_S = 600.0
# They are large and do not contain profiles.
PRUNED = frozenset({".git", ".hg", ".svn", "__pycache__", "node_modules"})


@dataclass(frozen=True, slots=True)
class Budget:
    """Where a scan stops. 100,000 local directories take about two seconds to walk."""

    directories: int = 200_000
    seconds: float = 60.0


@dataclass(frozen=True, slots=True)
class _Directory:
    """A directory to be listed: its URL and its path below the location as components."""

    url: str
    parts: tuple[str, ...] = ()


@dataclass(slots=True)
class Scan:
    """One walk over the locations; iterating yields each run and each ignored path once.

    Real directories come first, breadth-first, with those that lead to profiles before their
    siblings; linked directories come last, so that they cannot use up the budget of the others. A
    directory that is reached by several names is listed under each, up to `ALIASES` of them, but
    not under a link that leads back to a directory on its own path.
    """

    locations: Sequence[str]
    budget: Budget = field(default_factory=Budget)
    known: Mapping[str, Run] = field(default_factory=dict)
    settled: dict[str, Run] = field(default_factory=dict)
    directories: int = 0
    files: int = 0
    event_files: int = 0  # of TensorBoard's other dashboards
    stopped: str | None = None
    unreachable: Unreachable | None = None
    _names: set[str] = field(default_factory=set)
    _followed: Counter[object] = field(default_factory=Counter)
    _deadline: float = 0.0

    def __iter__(self) -> Iterator[Run | Ignored]:
        self._deadline = time.monotonic() + self.budget.seconds
        pointed_at: dict[str, list[TraceFile]] = {}  # by the URL of their directory
        for location in self.locations:
            for entry in self._at(location):
                if isinstance(entry, TraceFile):
                    pointed_at.setdefault(entry.url[: -len(_basename(entry.url))], []).append(entry)
                else:
                    yield entry
        for url, traces in pointed_at.items():
            yield from self._run_of_files(url, traces)

    def _at(self, location: str) -> Iterator[Run | Ignored | TraceFile]:
        try:
            files, url = file_system(location)
            is_directory, stat = files.stat(url)
        except Unreachable as err:
            self.unreachable = err
            yield Ignored(sendable_name(location), err.message)
        except OSError as err:
            yield Ignored(sendable_name(location), reason(err))
        except ValueError as err:  # a NUL in the name
            yield Ignored(sendable_name(location), str(err))
        else:
            if is_directory:
                yield from self._below(files, url)
            else:
                yield named_trace(files, url, stat)

    def _run_of_files(self, url: str, traces: list[TraceFile]) -> Iterator[Run | Ignored]:
        by_host = {trace.host: trace for trace in reversed(traces)}
        yield Run(self._name(url), url, sorted_by_host(by_host), is_whole=False)
        for trace in traces:
            preferred = by_host[trace.host]
            if preferred.url != trace.url:
                yield Ignored(
                    sendable_name(trace.url),
                    f"the host is read from {sendable_name(preferred.url)}",
                )

    def _below(self, files: FileSystem, root: str) -> Iterator[Run | Ignored]:
        waiting = deque([_Directory(root)])
        linked: deque[_Directory] = deque()
        while waiting or linked:
            queue = waiting or linked
            batch = [queue.popleft() for _ in range(min(files.parallel, len(queue)))]
            batch = batch[: max(0, self.budget.directories - self.directories)]
            if not batch:
                self.stopped = f"after {self.budget.directories:,} directories"
            elif time.monotonic() > self._deadline:
                self.stopped = f"after {self.budget.seconds:g} seconds"
            if self.stopped:
                return
            unsettled = [place for place in batch if not self._is_settled(place)]
            for place in batch:
                if place not in unsettled:
                    run = self.settled[place.url]
                    yield from run.ignored
                    yield run
            listings = files.listings([place.url for place in unsettled])
            for place, listing in zip(unsettled, listings, strict=True):
                self.directories += 1
                if isinstance(listing, (OSError, TbprofError)):
                    if isinstance(listing, Unreachable) and not place.parts:
                        self.unreachable = listing
                    yield from self._unlisted(files, root, place, listing)
                    continue
                directories, profiles = self._split(listing)
                entries = list(self._runs_at(files, root, place, profiles))
                self._settle(place, entries, directories)
                yield from entries
                is_profile_directory = (*files.tail(root), *place.parts)[-2:] == PROFILE_DIRECTORY
                # Those that lead to profiles are walked first, the others breadth-first.
                ahead: list[_Directory] = []
                for entry in directories:
                    below = _Directory(
                        files.join(place.url, entry.name), (*place.parts, sendable_name(entry.name))
                    )
                    if entry.is_link:
                        if self._is_worth_following(files.link_target(root, below.url)):
                            linked.append(below)
                    elif is_profile_directory or entry.name in PROFILE_DIRECTORY:
                        ahead.append(below)
                    else:
                        waiting.append(below)
                waiting.extendleft(reversed(ahead))

    def _is_settled(self, place: _Directory) -> bool:
        """Whether the run at `place` is known; then its name is taken."""
        run = self.known.get(place.url)
        if run is None or run.name in self._names:
            return False
        self._names.add(run.name)
        self.settled[place.url] = run
        self.directories += 1
        self.files += len(run.files)
        return True

    def _settle(
        self, place: _Directory, entries: list[Run | Ignored], directories: list[Listed]
    ) -> None:
        """Remembers a remote run without recent files, which later searches do not list again."""
        for run in entries:
            if isinstance(run, Run) and place.parts and is_remote(run.url) and not directories:
                newest = max((file.modified_ns for file in run.files), default=0)
                if 0 < newest < time.time_ns() - SETTLED_S * 1e9:
                    self.settled[run.url] = run

    def _is_worth_following(self, target: object | None) -> bool:
        if target is None:
            return False
        self._followed[target] += 1
        return self._followed[target] <= ALIASES

    def _split(self, listing: Iterator[Listed]) -> tuple[list[Listed], list[Listed]]:
        """(the directories to walk, entries that look like profiles), each ordered by name."""
        directories: list[Listed] = []
        profiles: list[Listed] = []
        try:
            for position, entry in enumerate(listing):
                if position % 4096 == 4095 and time.monotonic() > self._deadline:
                    self.stopped = f"after {self.budget.seconds:g} seconds"
                    break
                if looks_like_profile(entry.name):
                    profiles.append(entry)
                if entry.is_directory:
                    if entry.name not in PRUNED:
                        directories.append(entry)
                else:
                    self.files += 1
                    self.event_files += "tfevents" in entry.name
        except OSError:
            pass  # it vanished while it was read; what was seen until then counts
        directories.sort(key=lambda entry: entry.name)
        return directories, profiles

    def _runs_at(
        self, files: FileSystem, root: str, place: _Directory, profiles: list[Listed]
    ) -> Iterator[Run | Ignored]:
        """The run at `place`, or its profiles as ignored if it is not a run directory."""
        name = self._run_name(files, root, place, profiles)
        if name is not None:
            run = run_of(files, name, place.url, profiles)
            self._names.add(name)
            yield from run.ignored
            yield run
            return
        for entry in profiles:
            if not entry.is_directory:
                yield Ignored(
                    sendable_name(files.join(place.url, entry.name)),
                    "is not in a run directory, <logdir>/plugins/profile/<run>/; to read it, "
                    "point tbprof at the folder that contains it",
                )

    def _run_name(
        self, files: FileSystem, root: str, place: _Directory, profiles: list[Listed]
    ) -> str | None:
        """The name of the run at `place`; None if it is not a run directory."""
        if not place.parts:
            has_traces = any(not entry.is_directory for entry in profiles)
            in_place = files.tail(root)[:-1][-2:] == PROFILE_DIRECTORY
            return self._name(root) if has_traces or in_place else None
        above = (*files.tail(root), *place.parts[:-1])[-2:]
        if above != PROFILE_DIRECTORY:
            return None
        name = "/".join((*place.parts[:-3], place.parts[-1]))
        return name if name not in self._names else self._name(place.url)

    def _unlisted(
        self, files: FileSystem, root: str, place: _Directory, err: OSError | TbprofError
    ) -> Iterator[Run | Ignored]:
        """A directory that cannot be listed: a run directory stays listed, without files."""
        if isinstance(err, FileNotFoundError) and place.parts:
            return  # it was there when its parent was listed, and has been removed since
        yield Ignored(sendable_name(place.url), reason(err))
        name = self._run_name(files, root, place, [])
        if name is not None:
            self._names.add(name)
            yield Run(name, place.url, ())

    def _name(self, url: str) -> str:
        """The shortest tail of `url` that no other run has."""
        parts = [sendable_name(part) for part in url.replace("\\", "/").split("/") if part] or [
            "run"
        ]
        tails = ("/".join(parts[-count:]) for count in range(1, len(parts) + 1))
        numbered = (f"{parts[-1]} ({count})" for count in itertools.count(2))
        name = next(tail for tail in itertools.chain(tails, numbered) if tail not in self._names)
        self._names.add(name)
        return name


def _basename(url: str) -> str:
    return url.replace("\\", "/").rpartition("/")[2]
