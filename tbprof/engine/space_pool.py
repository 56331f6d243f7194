"""The files that are open: each once for all that is computed of it at the same time."""

import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from tbprof.base.caches import LatestCache, OnceCache
from tbprof.base.errors import Notice
from tbprof.base.lazy import Later
from tbprof.storage.files import fingerprint, local_trace
from tbprof.storage.results import ResultStore
from tbprof.storage.runs import TraceFile

if TYPE_CHECKING:
    from tbprof.analysis.hlo.hlo import Programs
    from tbprof.events.space import Space

# A process that shows what is kept opens no file.
read_space = Later("tbprof.xplane.reader.read_space")
_find_programs = Later("tbprof.analysis.hlo.hlo.Programs")
_OPEN_SPACES = 2


class OpenSpace(NamedTuple):
    """The space of a file, its programs, and what opening it warned of."""

    space: "Space"
    programs: "Programs"
    warnings: tuple[Notice, ...]


class SpacePool:
    """The spaces that were opened last, and those in use.

    What analyses share of a plane (`Plane.cache`) is let go with the last user of its file.
    """

    def __init__(self, results: ResultStore | None) -> None:
        self._results = results
        self._lock = threading.Lock()
        self._latest: LatestCache[str, OpenSpace] = LatestCache(_OPEN_SPACES, 0)
        self._users: Counter[str] = Counter()

    @contextmanager
    def using(self, file: TraceFile) -> Iterator[Callable[[], OpenSpace]]:
        """A function that gives the open space, for a block of which every call gives the same."""
        key = fingerprint(file)
        with self._lock:
            self._users[key] += 1
        # Held here, as other files may push it out of the few that are kept open.
        held = OnceCache()
        try:
            yield lambda: held.get_or_compute("space", lambda: self._open(file, key))
        finally:
            with self._lock:
                self._users[key] -= 1
                is_last = not self._users[key]
                if is_last:
                    del self._users[key]
            latest = self._latest.get(key) if is_last else None
            if latest is not None:
                for plane in latest.space.planes:
                    plane.cache.clear()

    def _open(self, file: TraceFile, key: str) -> OpenSpace:
        def read() -> OpenSpace:
            with local_trace(file, self._results) as local:
                space = read_space(local)
                return OpenSpace(space, _find_programs(space), local.warnings)

        return self._latest.get_or_compute(key, read)
