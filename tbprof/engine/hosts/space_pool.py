"""Open files: each is opened once for everything that is computed from it at the same time."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from tbprof.base.caches import LatestCache, OnceCache
from tbprof.base.errors import Notice
from tbprof.base.lazy import Later
from tbprof.base.records import NamedTuple
from tbprof.storage.files import fingerprint, local_trace
from tbprof.storage.results import ResultStore
from tbprof.storage.runs import TraceFile, called

if TYPE_CHECKING:
    from tbprof.analysis.hlo.hlo import Programs
    from tbprof.events.space import Space

# A process that only shows cached parts opens no file.
read_space = Later("tbprof.xplane.reader.read_space")
_find_programs = Later("tbprof.analysis.hlo.hlo.Programs")
_OPEN_SPACES = 2


class OpenSpace(NamedTuple):
    """The space of a file, its programs, and the warnings of opening it."""

    space: Space
    programs: Programs
    warnings: tuple[Notice, ...]


class SpacePool:
    """The most recently opened spaces, and those in use.

    Results that analyses share (`Plane.cache`) are dropped with the last user of the file.
    """

    def __init__(self, results: ResultStore | None) -> None:
        self._results = results
        self._lock = threading.Lock()
        self._latest: LatestCache[str, OpenSpace] = LatestCache(_OPEN_SPACES, 0)
        self._users: Counter[str] = Counter()

    @contextmanager
    def using(self, file: TraceFile) -> Iterator[Callable[[], OpenSpace]]:
        """A function that returns the open space, the same for every call inside the block."""
        key = fingerprint(file)
        with self._lock:
            self._users[key] += 1
        # Held here, since other files may evict it from the pool.
        opened_once = OnceCache()
        try:
            yield lambda: opened_once.get_or_compute("space", lambda: self._open(file, key))
        finally:
            with self._lock:
                self._users[key] -= 1
                is_last = not self._users[key]
                if is_last:
                    del self._users[key]
            opened: OpenSpace | None = opened_once.get("space") or self._latest.get(key)
            if is_last and opened is not None:
                for plane in opened.space.planes:
                    plane.cache.clear()

    def decoded_ratio(self, file: TraceFile) -> float:
        """How much of the file's events has been decoded, 0 to 1; 0 if it is not open."""
        opened = self._latest.get(fingerprint(file))
        return 0.0 if opened is None else opened.space.decoded_ratio()

    def _open(self, file: TraceFile, key: str) -> OpenSpace:
        def read() -> OpenSpace:
            with local_trace(file, self._results) as local:
                space = read_space(local, called(file))
                return OpenSpace(space, _find_programs(space), local.warnings)

        return self._latest.get_or_compute(key, read)
