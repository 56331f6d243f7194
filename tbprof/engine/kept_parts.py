"""Parts in the result store: one file per host for the small ones, large and chosen ones apart."""

import threading
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tbprof.base.errors import Notice
from tbprof.base.records import dataclass
from tbprof.engine.parts import PartKey
from tbprof.storage.arrays import keep_arrays, load_arrays
from tbprof.storage.packing import DAMAGE, pack, unpack
from tbprof.storage.results import ResultStore

Found = tuple[Any, tuple[Notice, ...]]
Arrays = Mapping[str, NDArray[Any]]

# In place of the arrays of a part that has a file of its own.
_APART = "apart"
# The file of a host is written anew with each part that is new in it.
_LARGE = 1 << 20
# 100 MB take a tenth of a second.
_WRITTEN_BEHIND = 1 << 24


@dataclass(frozen=True, slots=True)
class _Lost:
    """What was lost of the file, as far as was known when a part was computed."""

    notices: tuple[Notice, ...]


class PartStore:
    """The parts that were computed before, by the fingerprint of their file."""

    def __init__(self, results: ResultStore) -> None:
        self._results = results
        self._writing = threading.Lock()

    def load(self, key: str) -> Arrays:
        """What is kept of a file in one place, for `find`."""
        return load_arrays(self._results, _key(key)) or {}

    def find(self, key: str, part: PartKey, together: Arrays) -> Found | None:
        """A part of a file of which `together` are the arrays; None where it is not kept."""
        arrays: Arrays | None = together
        if any(part.values) or _prefix(part) + _APART in together:
            arrays = load_arrays(self._results, _key(key, part))
        if not arrays:
            return None
        try:
            return _unpack(part, arrays)
        except DAMAGE:
            # Written by another version, or damaged in a way that the store does not notice.
            return None

    def keep(self, key: str, found: Mapping[PartKey, Found]) -> None:
        """Adds parts to those that are kept of a file.

        Very large ones are written behind the answer; a process does not end before they are.
        """
        together: dict[str, NDArray[Any]] = {}
        for part, one in found.items():
            arrays = _pack(part, one)
            size = sum(array.nbytes for array in arrays.values())
            if size < _LARGE and not any(part.values):
                together.update(arrays)
                continue
            if not any(part.values):
                together[_prefix(part) + _APART] = np.zeros(0, np.uint8)
            if size < _WRITTEN_BEHIND:
                keep_arrays(self._results, _key(key, part), arrays)
            else:
                writer = threading.Thread(
                    target=keep_arrays,
                    args=(self._results, _key(key, part), arrays),
                    name="keeps a part",
                )
                writer.start()
        if together:
            replaced = tuple(f"{part.name}\0" for part in found)
            with self._writing:
                before = self.load(key).items()
                others = {name: one for name, one in before if not name.startswith(replaced)}
                keep_arrays(self._results, _key(key), {**others, **together})


def _pack(part: PartKey, found: Found) -> dict[str, NDArray[Any]]:
    value, notices = found
    arrays = pack(value, _prefix(part))
    if notices:
        arrays.update(pack(_Lost(notices), _prefix(part) + "lost/"))
    return arrays


def _unpack(part: PartKey, arrays: Arrays) -> Found:
    prefix = _prefix(part)
    has_notices = prefix + "lost/meta" in arrays
    notices = unpack(_Lost, arrays, prefix + "lost/").notices if has_notices else ()
    return unpack(part.kind.type, arrays, prefix), notices


def _prefix(part: PartKey) -> str:
    return f"{part}/"


def _key(key: str, part: PartKey | None = None) -> str:
    return f"parts\0{key}" if part is None else f"part\0{key}\0{part}"
