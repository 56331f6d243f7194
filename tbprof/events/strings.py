"""Every name of a space once; columns hold int32 ids into it."""

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
        self._texts: list[str] = []
        self._ids: defaultdict[str, int] = defaultdict(count().__next__)
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._texts)

    def __getitem__(self, index: int) -> str:
        """The text of an id; "" for -1 (none)."""
        return self._texts[index] if index >= 0 else ""

    def take(self, ids: Iterable[int]) -> list[str]:
        """The texts of `ids`, in their order."""
        texts = self._texts
        return [texts[index] if index >= 0 else "" for index in ids]

    def intern(self, texts: Sequence[str]) -> NDArray[np.int32]:
        """The ids [n] of `texts`, new texts appended."""
        with self._lock:
            ids = self._ids
            text_ids = np.fromiter(map(ids.__getitem__, texts), np.int32, len(texts))
            new = list(islice(reversed(ids), len(ids) - len(self._texts)))
            self._texts += reversed(new)
            return text_ids
