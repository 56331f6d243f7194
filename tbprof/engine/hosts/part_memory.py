"""The parts of recently used files, in memory."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable, Mapping

from tbprof.base.records import dataclass, field
from tbprof.engine.hosts.kept_parts import PartResult
from tbprof.engine.parts import PartKey, bytes_of

# Many files, so that a second page of many hosts finds what the first one read; the limit is bytes.
FILES_IN_MEMORY = 1024
# Parts with a row per event are large: 100 MB for a million memory events.
_MOST_BYTES = 1 << 29
_MOST_CHOICES = 16


@dataclass(slots=True)
class _FileParts:
    """The parts of one version of one file; a part's lock ensures that it is computed once.

    `sizes` and their sum `bytes` estimate the memory of the parts.
    """

    results: dict[PartKey, PartResult] = field(default_factory=dict)
    sizes: dict[PartKey, int] = field(default_factory=dict)
    locks: dict[PartKey, threading.Lock] = field(default_factory=dict)
    bytes: int = 0


class PartMemory:
    """Parts by file and key. Beyond `files`, the least recently used are dropped.

    The file that was used last stays, however large its parts are: the user is looking at it.
    """

    def __init__(self, files: int = FILES_IN_MEMORY) -> None:
        self._most_files = files
        self._lock = threading.Lock()
        self._files: OrderedDict[str, _FileParts] = OrderedDict()
        self._bytes = 0

    def locks(self, key: str, parts: Iterable[PartKey]) -> list[threading.Lock]:
        """The locks to hold while parts of a file are looked up and computed, in this order."""
        with self._lock:
            locks = self._file(key).locks
            return [locks.setdefault(part, threading.Lock()) for part in parts]

    def get(self, key: str, parts: Iterable[PartKey]) -> dict[PartKey, PartResult]:
        """Those parts of the file with this fingerprint that are in memory."""
        with self._lock:
            results = self._file(key).results
            return {part: results[part] for part in parts if part in results}

    def put(self, key: str, results: Mapping[PartKey, PartResult]) -> None:
        """Stores parts of a file."""
        sizes = {part: bytes_of(result.value) for part, result in results.items()}
        with self._lock:
            file = self._file(key)
            for part, result in results.items():
                self._remove(file, part)
                file.results[part], file.sizes[part] = result, sizes[part]
                file.bytes += sizes[part]
                self._bytes += sizes[part]
            # Parts for parameters of requests accumulate; those without parameters stay.
            if any(any(part.values) for part in results):
                chosen = [part for part in file.results if any(part.values) and part not in results]
                for part in chosen[:-_MOST_CHOICES]:
                    self._remove(file, part)
            while self._bytes > _MOST_BYTES and len(self._files) > 1:
                self._remove_oldest()

    def _file(self, key: str) -> _FileParts:
        file = self._files.get(key)
        if file is None:
            file = self._files[key] = _FileParts()
        self._files.move_to_end(key)
        while len(self._files) > self._most_files:
            self._remove_oldest()
        return file

    def _remove(self, file: _FileParts, part: PartKey) -> None:
        if file.results.pop(part, None) is not None:
            size = file.sizes.pop(part)
            file.bytes -= size
            self._bytes -= size

    def _remove_oldest(self) -> None:
        self._bytes -= self._files.popitem(last=False)[1].bytes
