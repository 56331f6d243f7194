"""Computes the parts of hosts, each once, and keeps them in memory and in the result store."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Generic, TypeVar

from tbprof.analysis.hlo.hlo import Programs
from tbprof.base.errors import Notice
from tbprof.base.records import dataclass, field
from tbprof.engine.kept_parts import Arrays, Found, PartStore
from tbprof.engine.parts import PartKey, bytes_of
from tbprof.events.space import Space
from tbprof.storage.files import fingerprint, opened
from tbprof.storage.results import ResultStore
from tbprof.storage.runs import TraceFile
from tbprof.xplane.reader import read_space

_FILES_IN_MEMORY = 64
# Parts with a row per event are large: 100 MB for a million memory events.
_BYTES_IN_MEMORY = 1 << 30
_OPEN_SPACES = 2
_CHOICES_IN_MEMORY = 16
# Passes over bytes are for all processors anyway; each part more at once takes its own memory.
_PARTS_AT_ONCE = 2

_T = TypeVar("_T")

Opened = tuple[Space, Programs, tuple[Notice, ...]]


@dataclass(slots=True)
class _FileState:
    """What is known of one version of one file; a part's lock makes it be computed once.

    `sizes` and their sum `bytes` are about how much memory the parts take.
    """

    parts: dict[PartKey, Found] = field(default_factory=dict)
    sizes: dict[PartKey, int] = field(default_factory=dict)
    locks: dict[PartKey, threading.Lock] = field(default_factory=dict)
    users: int = 0
    bytes: int = 0


class SummaryCache:
    """Parts by (file, name): from memory, else from the store, else computed."""

    def __init__(self, results: ResultStore | None) -> None:
        self._results = results
        self._store = None if results is None else PartStore(results)
        self._lock = threading.Lock()
        self._files: OrderedDict[str, _FileState] = OrderedDict()
        self._bytes = 0  # of all parts of `_files`
        self._spaces: OrderedDict[str, Opened] = OrderedDict()

    def parts(
        self,
        file: TraceFile,
        wanted: Sequence[PartKey],
        on_work: Callable[[str], None] = lambda _name: None,
        *,
        side_by_side: bool = True,
    ) -> dict[str, Found]:
        """The parts `wanted` of one file, by name; `on_work` hears of each that is computed.

        `side_by_side` pays for large files: while one part runs plain Python, another decodes.
        Parts of small files only take the interpreter from each other.
        """
        key = fingerprint(file)
        state = self._state(key)
        found = {part: state.parts[part] for part in wanted if part in state.parts}
        missing = [part for part in wanted if part not in found]
        computed: dict[PartKey, Found] = {}
        store = self._store
        kept = _Lazy[Arrays](lambda: store.load(key) if store is not None else {})
        # Held here, as other hosts may push it out of the few that are kept open.
        opened_space = _Lazy(lambda: self._space(file, key))

        def find(part: PartKey) -> Found:
            with self._lock_of(state, part):
                if part in state.parts:
                    return state.parts[part]
                one = None if store is None else store.find(key, part, kept.get())
                if one is None:
                    below = [find(one)[0] for one in part.below]
                    on_work(part.name)
                    one = computed[part] = _compute(opened_space.get(), part, below)
                self._remember(key, state, part, one)
                return one

        try:
            with self._using(state, key):
                if len(missing) < 2 or not side_by_side:
                    found.update((part, find(part)) for part in missing)
                else:
                    with ThreadPoolExecutor(_PARTS_AT_ONCE) as pool:
                        found.update(zip(missing, pool.map(find, missing), strict=True))
        finally:
            if computed and store is not None:
                store.keep(key, computed)
        return {part.name: found[part] for part in wanted}

    @contextmanager
    def space(self, file: TraceFile) -> Iterator[Opened]:
        """The space of a file, its programs, and what opening it warned of.

        What is derived from its planes inside the block is shared with parts of the file, and let
        go with the last of them.
        """
        key = fingerprint(file)
        with self._using(self._state(key), key):
            yield self._space(file, key)

    @contextmanager
    def _using(self, state: _FileState, key: str) -> Iterator[None]:
        """Lets what parts share of a file go when no part of it is being computed any more."""
        with self._lock:
            state.users += 1
        try:
            yield
        finally:
            with self._lock:
                state.users -= 1
                known = None if state.users else self._spaces.get(key)
            if known is not None:
                for plane in known[0].planes:
                    plane.memo.clear()

    def _lock_of(self, state: _FileState, part: PartKey) -> threading.Lock:
        with self._lock:
            return state.locks.setdefault(part, threading.Lock())

    def _remember(self, key: str, state: _FileState, part: PartKey, found: Found) -> None:
        size = bytes_of(found[0])
        with self._lock:
            state.sizes[part] = size
            state.parts[part] = found
            self._grow(key, state, size)
            # What users chose piles up; what was computed without a choice stays.
            chosen = [other for other in state.parts if any(other.values) and other != part]
            for other in chosen[:-_CHOICES_IN_MEMORY]:
                del state.parts[other]
                self._grow(key, state, -state.sizes.pop(other))
            # The file that was asked for last stays, however large: it is being looked at.
            while self._bytes > _BYTES_IN_MEMORY and len(self._files) > 1:
                self._forget_oldest()

    def _grow(self, key: str, state: _FileState, size: int) -> None:
        state.bytes += size
        if self._files.get(key) is state:
            self._bytes += size

    def _forget_oldest(self) -> None:
        self._bytes -= self._files.popitem(last=False)[1].bytes

    def _state(self, key: str) -> _FileState:
        with self._lock:
            state = self._files.setdefault(key, _FileState())
            self._files.move_to_end(key)
            while len(self._files) > _FILES_IN_MEMORY:
                self._forget_oldest()
            return state

    def _space(self, file: TraceFile, key: str) -> Opened:
        with self._lock:
            known = self._spaces.get(key)
            if known is not None:
                self._spaces.move_to_end(key)
                return known
        with opened(file, self._results) as local:
            space = read_space(local)
            found = (space, Programs(space), local.warnings)
        with self._lock:
            self._spaces[key] = found
            while len(self._spaces) > _OPEN_SPACES:
                self._spaces.popitem(last=False)
        return found


class _Lazy(Generic[_T]):
    """What is opened when the first of several threads asks for it."""

    def __init__(self, open_it: Callable[[], _T]) -> None:
        self._open = open_it
        self._lock = threading.Lock()
        self._found: tuple[_T, ...] = ()

    def get(self) -> _T:
        with self._lock:
            self._found = self._found or (self._open(),)
            return self._found[0]


def _compute(opened_space: Opened, part: PartKey, below: Sequence[object]) -> Found:
    space, programs, warnings = opened_space
    found = part.kind.compute(space, programs, *below, *part.values)
    damage = [*warnings, *space.notices]
    for plane in space.planes:
        damage.extend(plane.notices)
    return found, tuple(dict.fromkeys(damage))
