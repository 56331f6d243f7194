"""Computes the parts of hosts, each once, and keeps them in memory and in the result store."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from tbprof.analysis.hlo import Programs
from tbprof.base.errors import Notice
from tbprof.engine.parts import PARTS, from_arrays, to_arrays
from tbprof.events.space import Space
from tbprof.storage.files import fingerprint, opened
from tbprof.storage.results import ResultStore
from tbprof.storage.runs import TraceFile
from tbprof.xplane.reader import read_space

_FILES_IN_MEMORY = 64
_OPEN_SPACES = 2

Found = tuple[Any, tuple[Notice, ...]]
_Opened = tuple[Space, Programs, tuple[Notice, ...]]


@dataclass(slots=True)
class _FileState:
    """What is known of one version of one file; a part's lock makes it be computed once."""

    parts: dict[str, Found] = field(default_factory=dict)
    locks: dict[str, threading.Lock] = field(
        default_factory=lambda: {name: threading.Lock() for name in PARTS}
    )


class SummaryCache:
    """Parts by (file, name): from memory, else from the store, else computed."""

    def __init__(self, results: ResultStore | None) -> None:
        self._results = results
        self._lock = threading.Lock()
        self._files: OrderedDict[str, _FileState] = OrderedDict()
        self._spaces: OrderedDict[str, _Opened] = OrderedDict()

    def parts(
        self,
        file: TraceFile,
        wanted: Sequence[str],
        on_work: Callable[[str], None] = lambda _name: None,
    ) -> dict[str, Found]:
        """The parts `wanted` of one file; `on_work` hears of each that has to be computed."""
        key = fingerprint(file)
        state = self._state(key)
        missing = [name for name in wanted if name not in state.parts]
        # Held here, as other hosts may push it out of the few that are kept open.
        opened_space = _Lazy(lambda: self._space(file, key))

        def find(name: str) -> None:
            with state.locks[name]:
                if name in state.parts:
                    return
                found = self._kept(key, name)
                if found is None:
                    on_work(name)
                    found = self._compute(opened_space.get(), key, name)
                state.parts[name] = found

        if len(missing) < 2:
            for name in missing:
                find(name)
        else:
            # Side by side: while one part waits in plain Python another decodes.
            with ThreadPoolExecutor(len(missing)) as pool:
                for _ in pool.map(find, missing):
                    pass
        return {name: state.parts[name] for name in wanted}

    def _state(self, key: str) -> _FileState:
        with self._lock:
            state = self._files.setdefault(key, _FileState())
            self._files.move_to_end(key)
            while len(self._files) > _FILES_IN_MEMORY:
                self._files.popitem(last=False)
            return state

    def _kept(self, key: str, name: str) -> Found | None:
        if self._results is None:
            return None
        arrays = self._results.get(_result_key(key, name))
        if arrays is None:
            return None
        try:
            return from_arrays(PARTS[name], arrays)
        except (IndexError, KeyError, TypeError, ValueError):
            # Written by another version, or damaged in a way that the store does not notice.
            return None

    def _compute(self, opened_space: _Opened, key: str, name: str) -> Found:
        space, programs, warnings = opened_space
        part = PARTS[name].compute(space, programs)
        damage = [*warnings, *space.notices]
        for plane in space.planes:
            damage.extend(plane.notices)
        notices = tuple(dict.fromkeys(damage))
        if self._results is not None:
            self._results.put(_result_key(key, name), to_arrays(part, notices))
        return part, notices

    def _space(self, file: TraceFile, key: str) -> _Opened:
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


class _Lazy:
    """A file that is opened when the first of several threads asks for it."""

    def __init__(self, open_file: Callable[[], _Opened]) -> None:
        self._open = open_file
        self._lock = threading.Lock()
        self._found: _Opened | None = None

    def get(self) -> _Opened:
        with self._lock:
            self._found = self._found or self._open()
            return self._found


def _result_key(key: str, name: str) -> str:
    return f"part\0{key}\0{name}\0{PARTS[name].version}"
