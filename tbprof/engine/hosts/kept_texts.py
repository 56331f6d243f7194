"""Long texts of kept parts, each in one file for all hosts: those of one job have the same names.

Stored parts contain digests in place of long texts.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tbprof.base.caches import LatestCache
from tbprof.base.digests import blake2b
from tbprof.storage.arrays import SUFFIX, has_arrays, keep_arrays, load_arrays
from tbprof.storage.packing import DIGEST, TEXT
from tbprof.storage.results import ResultStore

Arrays = Mapping[str, NDArray[Any]]

# The names of 300 kernels. A separate file takes as long as copying 100 kB.
LONG_TEXT = 1 << 16
_MOST, _MOST_BYTES = 64, 32 << 20
_NAME = "text"


class KeptTexts:
    """Texts by their digest, the latest also in memory."""

    def __init__(self, results: ResultStore) -> None:
        self._results = results
        self._latest: LatestCache[bytes, NDArray[Any]] = LatestCache(_MOST, _MOST_BYTES)
        self._digests: LatestCache[int, tuple[NDArray[Any], bytes]] = LatestCache(
            _MOST, _MOST_BYTES
        )

    def take_out(self, arrays: Arrays) -> dict[str, NDArray[Any]]:
        """The arrays of a packed part with digests in place of long texts, which are stored."""
        out: dict[str, NDArray[Any]] = {}
        for name, array in arrays.items():
            if not name.endswith(TEXT) or array.nbytes < LONG_TEXT:
                out[name] = array
                continue
            digest = self._digest(array)
            if has_arrays(self._results, _key(digest)):
                self._touch(digest)
            else:
                keep_arrays(self._results, _key(digest), {_NAME: array})
            out[name + DIGEST] = np.frombuffer(digest, np.uint8)
        return out

    def _digest(self, text: NDArray[Any]) -> bytes:
        """Of an array that is the same for hosts with the same texts (`packing`)."""
        known = self._digests.get(id(text))
        if known is None or known[0] is not text:
            known = text, blake2b(text.data, digest_size=16).digest()
            self._digests.put(id(text), known, text.nbytes)
        return known[1]

    def put_back(self, arrays: Arrays) -> Arrays:
        """The arrays with the texts that `take_out` stored. Raises KeyError if one is missing."""
        texts: dict[str, NDArray[Any]] = {}
        for name in _digests(arrays):
            text = self._find(arrays[name].tobytes())
            if text is None:
                raise KeyError(name)
            texts[name.removesuffix(DIGEST)] = text
        return {**arrays, **texts} if texts else arrays

    def has(self, arrays: Arrays) -> bool:
        """Whether all texts of these arrays are stored."""
        return all(
            has_arrays(self._results, _key(arrays[name].tobytes())) for name in _digests(arrays)
        )

    def _find(self, digest: bytes) -> NDArray[Any] | None:
        text = self._latest.get(digest)
        if text is not None:
            self._touch(digest)
            return text
        arrays = load_arrays(self._results, _key(digest))
        if arrays is None or _NAME not in arrays:
            return None
        text = arrays[_NAME]
        self._latest.put(digest, text, text.nbytes)
        return text

    def _touch(self, digest: bytes) -> None:
        """Marks the text as used, like the parts that contain it."""
        self._results.touch(self._results.path(_key(digest), SUFFIX))


def _digests(arrays: Arrays) -> list[str]:
    return [name for name in arrays if name.endswith(DIGEST)]


def _key(digest: bytes) -> str:
    return f"text\0{digest.hex()}"
