"""Timelines of files, each built once, and kept in memory and as mapped arrays in the cache."""

import gc
import hashlib
import logging
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import fields, replace
from typing import Any

import numpy as np

import tbprof
from tbprof.analysis.run.recording import recorder_notices
from tbprof.base.caches import LatestCache
from tbprof.base.errors import Notice
from tbprof.base.lazy import Later
from tbprof.base.records import dataclass
from tbprof.engine.parts import PARTS
from tbprof.engine.space_pool import OpenSpace
from tbprof.engine.summaries import SummaryCache
from tbprof.storage.arrays import keep_arrays, load_arrays
from tbprof.storage.files import fingerprint
from tbprof.storage.packing import DAMAGE, pack, unpack
from tbprof.storage.results import ResultStore
from tbprof.storage.runs import TraceFile
from tbprof.timeline.model.open_timeline import OpenTimeline
from tbprof.timeline.model.store import Levels, Timeline, freeze

_log = logging.getLogger(__name__)

# Changes whenever what is kept of a timeline does.
_FORMAT = 10
# Mapped ones take little memory until they are looked at; others what all their columns take.
_OPEN = 64
_UNMAPPED_BYTES = 1 << 30
# Answers and indexes of all timelines together; the largest of them are of flows and of searches.
_ANSWERS = 256
_ANSWER_BYTES = 1 << 28
# Each build is for all processors anyway, and takes memory of its own.
_BUILDS_AT_ONCE = 2

Build = Callable[[TraceFile, SummaryCache, OpenSpace], Timeline]
# A process that finds a timeline kept builds none.
BUILDERS: Mapping[str, Build] = {
    "events": Later("tbprof.engine.timelines.timeline_builders.build_events"),
    "derived": Later("tbprof.engine.timelines.timeline_builders.build_derived"),
}


@dataclass(frozen=True, slots=True)
class VersionedTimeline:
    """A timeline to ask, and a short text that changes whenever its content does.

    `bytes` is the memory that its columns take, 0 where they are mapped.
    """

    version: str
    opened: OpenTimeline
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
        """What identifies the timeline: it is another one as soon as the file or our code is."""
        facts = [fingerprint(file), part, str(_FORMAT), tbprof.__version__]
        if part != "events":
            facts.append(str(PARTS["steps"].version))
        return hashlib.blake2b("\0".join(facts).encode(), digest_size=12).hexdigest()

    def is_open(self, file: TraceFile, part: str) -> bool:
        """Whether the timeline can be had without any work."""
        with self._lock:
            known = self._open.get(self.version(file, part))
        return known is not None and known.done()

    def open(
        self, file: TraceFile, part: str, on_work: Callable[[], None] = lambda: None
    ) -> VersionedTimeline:
        """The part of a file's timeline; `on_work` is called before it is built.

        Threads that ask at the same time share one build. Raises what reading the file does.
        """
        version = self.version(file, part)
        with self._lock:
            known = self._open.get(version)
            if known is None:
                mine: Future[VersionedTimeline] = Future()
                self._open[version] = mine
            else:
                self._open.move_to_end(version)
        if known is not None:
            return known.result()
        try:
            timeline = self._mapped(version)
            if timeline is None:
                on_work()
                with self._builds:
                    timeline = self._build(file, part, version)
            mine.set_result(self._kept(file, version, timeline))
        except BaseException as error:
            with self._lock:  # the next who asks tries again
                self._open.pop(version, None)
            mine.set_exception(error)
            raise
        self._forget()
        return mine.result()

    @contextmanager
    def asking(
        self, file: TraceFile, part: str, on_work: Callable[[], None] = lambda: None
    ) -> Iterator[VersionedTimeline]:
        """As `open`; what questions derive from the file's planes is let go after the block."""
        with self._summaries.space(file):
            yield self.open(file, part, on_work)

    def settle(self) -> None:
        """Returns when all that was built has been written."""
        while True:
            with self._lock:
                writers, self._writers = self._writers, []
            if not writers:
                return
            for writer in writers:
                writer.join()

    def _build(self, file: TraceFile, part: str, version: str) -> Timeline:
        with _uncollected, self._summaries.space(file) as opened:
            found = freeze(self._builders[part](file, self._summaries, opened))
        space, _, warnings = opened
        notices: list[Notice] = [
            *recorder_notices(space), *found.notices, *warnings, *space.notices
        ]  # fmt: skip
        for plane in space.planes:
            notices.extend(plane.notices)
        timeline = replace(found, notices=tuple(dict.fromkeys(notices)))
        if self._results is not None:
            # Behind the answer: writing takes as long as building. A daemon, as a process that
            # ends does not wait for what it would only need later.
            writer = threading.Thread(
                target=self._write, args=(file, version, timeline), name="tbprof-keep", daemon=True
            )
            with self._lock:
                self._writers = [writer for writer in self._writers if writer.is_alive()]
                self._writers.append(writer)
            writer.start()
        return timeline

    def _write(self, file: TraceFile, version: str, timeline: Timeline) -> None:
        """Keeps a timeline, and uses the mapped one from then on: its memory can be taken back."""
        if self._results is None:
            return
        try:
            keep_arrays(self._results, _key(version), pack(timeline))
        except (MemoryError, ValueError):
            _log.warning("a timeline could not be kept", exc_info=True)
            return
        except RuntimeError:  # no thread starts any more: the process ends
            _log.info("a timeline was not kept", exc_info=True)
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
            with self._summaries.space(file) as opened:
                return opened

        own = _own_bytes(timeline) + _own_bytes(timeline.levels)
        opened = OpenTimeline(
            timeline, lambda: read()[0], lambda: read()[1], self._answers, version
        )
        return VersionedTimeline(version, opened, own)

    def _mapped(self, version: str) -> Timeline | None:
        if self._results is None:
            return None
        arrays = load_arrays(self._results, _key(version))
        if arrays is None:
            return None
        try:
            return unpack(Timeline, arrays)
        except DAMAGE:  # written by another version
            _log.info("a kept timeline cannot be used", exc_info=True)
            return None

    def _forget(self) -> None:
        """Lets the least recently used go; the last one stays, and so do those being built."""
        with self._lock:
            done = {
                version: known.result().bytes
                for version, known in self._open.items()
                if known.done() and not known.exception()
            }
            unmapped = sum(done.values())
            for version, taken in list(done.items())[:-1]:
                if len(done) <= _OPEN and (unmapped <= _UNMAPPED_BYTES or not taken):
                    continue
                del self._open[version], done[version]
                unmapped -= taken


class _Uncollected:
    """A block in which nobody looks for cyclic garbage; blocks of several threads may overlap.

    Of 100,000 lines a million small objects are made, which the collector would walk over again
    and again: a third of the time of building. They leave no garbage behind.
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
    """The memory of the arrays of a dataclass, 0 for what others hold."""
    values = [getattr(columns, field.name) for field in fields(columns)]
    arrays = [value for value in values if isinstance(value, np.ndarray)]
    return sum(array.nbytes for array in arrays if array.flags.owndata)


def _key(version: str) -> str:
    return f"timeline\0{version}"
