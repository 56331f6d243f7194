"""Parts in the result store: one file per host for small parts, separate files for others.

The file of a host holds the bytes of each part, so that only requested parts are unpacked.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tbprof.base.caches import LatestCache
from tbprof.base.errors import Notice
from tbprof.base.records import NamedTuple, dataclass
from tbprof.engine.hosts.kept_texts import LONG_TEXT, KeptTexts
from tbprof.engine.parts import PartKey
from tbprof.storage.arrays import has_arrays, keep_arrays, load_arrays
from tbprof.storage.bundles import bundle, unbundle
from tbprof.storage.packing import DAMAGE, TEXT, is_packed, pack, unpack
from tbprof.storage.results import ResultStore

Arrays = Mapping[str, NDArray[Any]]

# Stands for the content of a part that has its own file.
_APART: NDArray[Any] = np.zeros(0, np.uint8)
# Prefix of the arrays that hold notices.
_LOST = "lost/"
# The array of a host's file.
_TOGETHER = "parts"
# Larger parts have separate files, since the file of a host is rewritten with each new part.
_LARGE = 1 << 20
# Small parts of hosts of one job are often equal, for example empty. Larger ones contain times,
# which differ.
_SMALL = 1 << 13
_MOST_SHARED, _SHARED_BYTES = 1024, 4 << 20
# Writing 100 MB takes a tenth of a second.
_WRITTEN_BEHIND = 1 << 24


class PartResult(NamedTuple):
    """A part of a file, and the notices on the file that were known when it was computed."""

    value: Any
    notices: tuple[Notice, ...]


@dataclass(frozen=True, slots=True)
class _Lost:
    """The notices of a part, as they are stored."""

    notices: tuple[Notice, ...]


class PartStore:
    """Parts on disk, by the fingerprint of their file."""

    def __init__(self, results: ResultStore) -> None:
        self._results = results
        self._texts = KeptTexts(results)
        self._shared: LatestCache[tuple[str, bytes], PartResult] = LatestCache(
            _MOST_SHARED, _SHARED_BYTES
        )
        self._writing = threading.Lock()
        self._writers: list[threading.Thread] = []

    def load(self, key: str) -> Arrays:
        """The small parts that are stored for a file, for `find`."""
        file = load_arrays(self._results, _key(key))
        try:
            return {} if file is None else unbundle(file[_TOGETHER])
        except DAMAGE:
            return {}

    def find(self, key: str, part: PartKey, together: Arrays) -> PartResult | None:
        """A stored part of a file with the arrays `together`; None if it is not stored.

        Equal small parts share memory.
        """
        if not together and not any(part.values):
            return None  # nothing is kept of most files that are read
        version = str(part)
        content = _APART if any(part.values) else together.get(version)
        if content is None:
            return None
        try:
            if not content.size:
                apart = load_arrays(self._results, _key(key, part))
                return None if apart is None else self._made(part, apart)
            if content.size > _SMALL:
                return self._made(part, unbundle(content))
            return self.opened(part, content.tobytes())  # does not keep the host's file in memory
        except DAMAGE:
            # Written by another version, or damaged in a way that the store does not notice.
            return None

    def opened(self, part: PartKey, content: bytes) -> PartResult:
        """The part in a bundle. Raises one of `DAMAGE`."""
        if len(content) > _SMALL:
            return self._made(part, unbundle(np.frombuffer(content, np.uint8)))
        version = str(part)
        return self._shared.get((version, content)) or self._share(part, version, content)

    def _made(self, part: PartKey, arrays: Arrays) -> PartResult:
        """The part in these arrays, which are not copied."""
        return _unpack(part, _own(self._texts.put_back(arrays)))

    def _share(self, part: PartKey, version: str, content: bytes) -> PartResult:
        """A small part, which is a view of its own bytes."""
        arrays = self._texts.put_back(unbundle(np.frombuffer(content, np.uint8)))
        result = _unpack(part, arrays)
        self._shared.put((version, content), result, len(content))
        return result

    def has(self, key: str, parts: Sequence[PartKey]) -> bool:
        """Whether all these parts, without parameters, are stored for a file."""
        together = self.load(key)
        contents = [together.get(str(part)) for part in parts]
        return all(
            content is not None
            and (
                self._texts.has(unbundle(content))
                if content.size
                else has_arrays(self._results, _key(key, part))
            )
            for part, content in zip(parts, contents, strict=True)
        )

    def settle(self) -> None:
        """Returns when everything is written."""
        while self._writers:
            self._writers.pop().join()

    def keep(self, key: str, results: Mapping[PartKey, PartResult]) -> dict[PartKey, bytes]:
        """Adds parts to those that are stored for a file.

        Very large parts are written in the background, before the process ends. Returns the bundles
        of the small ones, without those that refer to long texts.
        """
        together: dict[str, NDArray[Any]] = {}
        bundles: dict[PartKey, bytes] = {}
        arrays: Arrays
        for part, result in results.items():
            arrays = packed = _pack(result)
            is_chosen = any(part.values)
            size = _bytes(arrays)
            if not is_chosen and size >= LONG_TEXT and _bytes(_numbers(arrays)) < _LARGE:
                arrays = self._texts.take_out(arrays)
                size = _bytes(arrays)
            if size < _LARGE and not is_chosen:
                content = together[str(part)] = bundle(arrays)
                if arrays is packed:
                    bundles[part] = content.tobytes()
                continue
            if not is_chosen:
                together[str(part)] = _APART
            if size < _WRITTEN_BEHIND:
                keep_arrays(self._results, _key(key, part), arrays)
            else:
                writer = threading.Thread(
                    target=keep_arrays,
                    args=(self._results, _key(key, part), arrays),
                    name="keeps a part",
                )
                writer.start()
                self._writers.append(writer)
        if together:
            replaced = tuple(f"{part.name}\0" for part in results)
            with self._writing:
                before = self.load(key).items()
                others = {name: array for name, array in before if not name.startswith(replaced)}
                content = bundle({**others, **together})
                keep_arrays(self._results, _key(key), {_TOGETHER: content})
        return bundles


def _own(arrays: Arrays) -> Arrays:
    """Copies, so that a part does not keep the whole file of its host in memory.

    Large arrays, which are mapped, and texts, which become Python strings, are not copied.
    """
    numbers = _numbers(arrays)
    if _bytes(numbers) > _LARGE:
        return arrays
    return {**arrays, **{name: array.copy() for name, array in numbers.items()}}


def _numbers(arrays: Arrays) -> Arrays:
    """The arrays that are not texts."""
    return {name: array for name, array in arrays.items() if not name.endswith(TEXT)}


def _bytes(arrays: Arrays) -> int:
    return sum(array.nbytes for array in arrays.values())


def _pack(result: PartResult) -> dict[str, NDArray[Any]]:
    value, notices = result
    arrays = pack(value)
    if notices:
        arrays.update(pack(_Lost(notices), _LOST))
    return arrays


def _unpack(part: PartKey, arrays: Arrays) -> PartResult:
    notices = unpack(_Lost, arrays, _LOST).notices if is_packed(arrays, _LOST) else ()
    return PartResult(unpack(part.kind.type, arrays), notices)


def _key(key: str, part: PartKey | None = None) -> str:
    return f"host\0{key}" if part is None else f"part\0{key}\0{part}"
