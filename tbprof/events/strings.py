"""Every name of a space once; columns hold int32 ids into it."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import count, islice

import numpy as np
from numpy.typing import NDArray

NONE = -1


class Strings:
    """An append-only table of distinct texts, shared by the planes of a space and their threads."""

    def __init__(self) -> None:
        self._texts = [""]  # the last is for -1
        self._ids: defaultdict[str, int] = defaultdict(count().__next__)
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._texts) - 1

    def __getitem__(self, index: int) -> str:
        """The text of an id; "" for -1 (none)."""
        return self._texts[index]

    def take(self, ids: Iterable[int]) -> list[str]:
        """The texts of `ids`, in their order."""
        return list(map(self._texts.__getitem__, ids))

    def intern(self, texts: Sequence[str]) -> NDArray[np.int32]:
        """The ids [n] of `texts`, new texts appended."""
        with self._lock:
            ids = self._ids
            text_ids = np.fromiter(map(ids.__getitem__, texts), np.int32, len(texts))
            new = list(islice(reversed(ids), len(ids) - len(self)))
            self._texts[-1:] = [*reversed(new), ""]
            return text_ids
