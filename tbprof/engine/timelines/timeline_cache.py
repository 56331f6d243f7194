"""Timelines of files, each built once, and cached in memory and as mapped arrays on disk."""

from __future__ import annotations

import gc
import logging
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Any

import numpy as np

import tbprof
from tbprof.analysis.run.recording import recorder_notices
from tbprof.base.caches import LatestCache
from tbprof.base.digests import blake2b
from tbprof.base.errors import Notice
from tbprof.base.lazy import Later
from tbprof.base.records import as_dict, dataclass, replace
from tbprof.engine.hosts.space_pool import OpenSpace
from tbprof.engine.hosts.summary_cache import SummaryCache
from tbprof.engine.parts import PARTS
from tbprof.storage.arrays import keep_arrays, load_arrays
from tbprof.storage.files import fingerprint
from tbprof.storage.packing import DAMAGE, pack, unpack
from tbprof.storage.results import ResultStore
from tbprof.storage.runs import TraceFile
from tbprof.timeline.model.open_timeline import OpenTimeline
from tbprof.timeline.model.store import Levels, Timeline, freeze

_log = logging.getLogger(__name__)

# Changes whenever the stored form of a timeline does.
_FORMAT = 11
# Mapped ones take little memory until they are used; others the memory of all their columns.
_OPEN = 64
_UNMAPPED_BYTES = 1 << 30
# Answers and indexes of all timelines together; the largest are those of flows and searches.
_ANSWERS = 256
_ANSWER_BYTES = 1 << 28
# How many timelines are built at a time: each build uses all processors and takes memory.
_BUILDS_AT_ONCE = 2

Build = Callable[[TraceFile, SummaryCache, OpenSpace], Timeline]
# A process that finds a stored timeline does not build one.
BUILDERS: Mapping[str, Build] = {
    "events": Later("tbprof.engine.timelines.timeline_builders.build_events"),
    "derived": Later("tbprof.engine.timelines.timeline_builders.build_derived"),
}


@dataclass(frozen=True, slots=True)
class VersionedTimeline:
    """An open timeline, and a short text that changes whenever its content does.

    `bytes` is the memory that its columns take, 0 if they are mapped.
    """

    version: str
    open_timeline: OpenTimeline
    bytes: int


class TimelineCache:
    """The timelines of files by part: from memory, else mapped from the cache, else built."""

    def __init__(
        self, summaries: SummaryCache, results: ResultStore | None, builders: Mapping[str, Build]
    ) -> None:
        self._summaries = summaries
        self._results = results
        self._builders = builders
        self._lock = threading.Lock()
        self._open: OrderedDict[str, Future[VersionedTimeline]] = OrderedDict()
        self._writers: list[threading.Thread] = []
        self._answers: LatestCache[Hashable, Any] = LatestCache(_ANSWERS, _ANSWER_BYTES)
        self._builds = threading.BoundedSemaphore(_BUILDS_AT_ONCE)

    def version(self, file: TraceFile, part: str) -> str:
        """The version of the timeline: it changes with the file and with our code."""
        facts = [fingerprint(file), part, str(_FORMAT), tbprof.__version__]
        if part != "events":
            facts.append(str(PARTS["steps"].version))
        return blake2b("\0".join(facts).encode(), digest_size=12).hexdigest()

    def is_open(self, file: TraceFile, part: str) -> bool:
        """Whether the timeline is available without any work."""
        with self._lock:
            entry = self._open.get(self.version(file, part))
        return entry is not None and entry.done()

    def open(
        self, file: TraceFile, part: str, on_work: Callable[[], None] = lambda: None
    ) -> VersionedTimeline:
        """The part of a file's timeline; `on_work` is called before it is built.

        Threads that call it at the same time share one build. Raises what reading the file raises.
        """
        version = self.version(file, part)
        with self._lock:
            entry = self._open.get(version)
            if entry is None:
                future: Future[VersionedTimeline] = Future()
                self._open[version] = future
            else:
                self._open.move_to_end(version)
        if entry is not None:
            return entry.result()
        try:
            timeline = self._mapped(version)
            if timeline is None:
                on_work()
                with self._builds:
                    timeline = self._build(file, part, version)
            future.set_result(self._kept(file, version, timeline))
        except BaseException as error:
            with self._lock:  # the next caller tries again
                self._open.pop(version, None)
            future.set_exception(error)
            raise
        self._forget()
        return future.result()

    @contextmanager
    def asking(self, file: TraceFile, part: str) -> Iterator[VersionedTimeline]:
        """As `open`; results about the file's planes are dropped after the block."""
        with self._summaries.space(file):
            yield self.open(file, part)

    def settle(self) -> None:
        """Returns when everything that was built has been written."""
        while True:
            with self._lock:
                writers, self._writers = self._writers, []
            if not writers:
                return
            for writer in writers:
                writer.join()

    def _build(self, file: TraceFile, part: str, version: str) -> Timeline:
        with _uncollected, self._summaries.space(file) as open_space:
            built = freeze(self._builders[part](file, self._summaries, open_space))
        space, _, warnings = open_space
        notices: list[Notice] = [
            *recorder_notices(space), *built.notices, *warnings, *space.notices
        ]  # fmt: skip
        for plane in space.planes:
            notices.extend(plane.notices)
        timeline = replace(built, notices=tuple(dict.fromkeys(notices)))
        if self._results is not None:
            # In the background, since writing takes as long as building. A daemon: a process that
            # ends does not wait for files that only save time later.
            writer = threading.Thread(
                target=self._write, args=(file, version, timeline), name="tbprof-keep", daemon=True
            )
            with self._lock:
                self._writers = [writer for writer in self._writers if writer.is_alive()]
                self._writers.append(writer)
            writer.start()
        return timeline

    def _write(self, file: TraceFile, version: str, timeline: Timeline) -> None:
        """Stores a timeline, and then uses the mapped one: the system can reclaim its memory."""
        if self._results is None:
            return
        try:
            keep_arrays(self._results, _key(version), pack(timeline))
        except (MemoryError, ValueError):
            _log.warning("a timeline could not be stored", exc_info=True)
            return
        except RuntimeError:  # no more threads can start: the process ends
            _log.info("a timeline was not stored", exc_info=True)
            return
        mapped = self._mapped(version)
        if mapped is None:
            return
        swapped: Future[VersionedTimeline] = Future()
        swapped.set_result(self._kept(file, version, mapped))
        with self._lock:
            if version in self._open:
                self._open[version] = swapped

    def _kept(self, file: TraceFile, version: str, timeline: Timeline) -> VersionedTimeline:
        def read() -> OpenSpace:
            with self._summaries.space(file) as open_space:
                return open_space

        own_bytes = _own_bytes(timeline) + _own_bytes(timeline.levels)
        open_timeline = OpenTimeline(
            timeline, lambda: read()[0], lambda: read()[1], self._answers, version
        )
        return VersionedTimeline(version, open_timeline, own_bytes)

    def _mapped(self, version: str) -> Timeline | None:
        if self._results is None:
            return None
        arrays = load_arrays(self._results, _key(version))
        if arrays is None:
            return None
        try:
            return unpack(Timeline, arrays)
        except DAMAGE:  # written by another version
            _log.info("a stored timeline cannot be used", exc_info=True)
            return None

    def _forget(self) -> None:
        """Drops the least recently used; the last one and those being built stay."""
        with self._lock:
            done = {
                version: entry.result().bytes
                for version, entry in self._open.items()
                if entry.done() and not entry.exception()
            }
            unmapped = sum(done.values())
            for version, size in list(done.items())[:-1]:
                if len(done) <= _OPEN and (unmapped <= _UNMAPPED_BYTES or not size):
                    continue
                del self._open[version], done[version]
                unmapped -= size


class _Uncollected:
    """A block without garbage collection; blocks of several threads may overlap.

    100,000 lines make a million small objects, which the collector would traverse again and again:
    a third of the time of building. They leave no garbage behind.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inside = 0
        self._was_on = False

    def __enter__(self) -> None:
        with self._lock:
            self._inside += 1
            if self._inside == 1:
                self._was_on = gc.isenabled()
                gc.disable()

    def __exit__(self, *_error: object) -> None:
        with self._lock:
            self._inside -= 1
            if not self._inside and self._was_on:
                gc.enable()


_uncollected = _Uncollected()


def _own_bytes(columns: Timeline | Levels) -> int:
    """The memory of the arrays of a dataclass, 0 for arrays that are views."""
    values = as_dict(columns).values()
    arrays = [value for value in values if isinstance(value, np.ndarray)]
    return sum(array.nbytes for array in arrays if array.flags.owndata)


def _key(version: str) -> str:
    return f"timeline\0{version}"
