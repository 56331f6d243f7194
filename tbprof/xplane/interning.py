"""Equal texts among byte ranges, grouped without a Python string per event."""

from __future__ import annotations

import os
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from tbprof.events.strings import Strings
from tbprof.kernels.xplane.equal_texts import KnownTexts, number_texts
from tbprof.kernels.xplane.passes import is_ascending
from tbprof.xplane.buffer import Buffer

# Usually few texts are distinct, whose tables stay in the processor's cache.
_FEW_TEXTS = 1 << 10
_FEW_BYTES = 1 << 15
# The number of recently seen texts that are looked up by their bytes: a power of 2 up to 2^16.
_LATEST = 1 << 11
# Up to this many, or about so many bytes, are recognised by their bytes.
_MOST_TEXTS = 1 << 17
_MOST_BYTES = 8 << 20


def intern_texts(buffer: Buffer, offsets: NDArray[np.int64], strings: Strings) -> NDArray[np.int32]:
    """Ids [n] in `strings` of the texts whose length varints are at `offsets` [n].

    One string is made for equal texts, and no array of all texts is needed.
    """
    out = np.full(offsets.size, -1, np.int32)
    begins, rows = in_file_order(offsets)
    number = np.empty(begins.size, np.int64)
    progress = buffer.messages()
    numbered = InternedTexts(strings)
    for window in buffer.around(progress, begins):
        number_texts(window, progress, begins, numbered.known, number)
        numbered.leave_window()
    out[rows] = numbered.ids()[number]
    return out


class InternedTexts:
    """The distinct texts that a pass has seen, by number, and their ids in a space's strings.

    The hash is random for each pass, so that no file can contain texts that collide on purpose.
    """

    def __init__(self, strings: Strings) -> None:
        self._strings = strings
        self._multiplier = 2**29 | int.from_bytes(os.urandom(4), "little") >> 3
        self._ids = np.empty(0, np.int32)
        self._make_tables(_FEW_TEXTS, _FEW_BYTES)

    def leave_window(self) -> None:
        """After each window. Larger, empty tables if a text did not fit.

        Texts that were already known are then numbered again when they are seen.
        """
        self.known.leave()
        if self.known.needed:
            self.ids()
            more = 2 * self._content.size + self.known.needed
            content = max(min(more, _MOST_BYTES), self.known.needed)
            self._make_tables(min(8 * self._ends.size, _MOST_TEXTS), content)

    def ids(self) -> NDArray[np.int32]:
        """[numbers] the ids of the texts."""
        first_new = self._ids.size - self.known.first
        cuts = self._ends[first_new : self.known.texts + 1].tolist()
        if len(cuts) > 1:
            content = self._content[cuts[0] : cuts[-1]].tobytes()
            new = [
                content[begin - cuts[0] : end - cuts[0]].decode("utf-8", "replace")
                for begin, end in pairwise(cuts)
            ]
            self._ids = np.append(self._ids, self._strings.intern(new))
        return self._ids

    def _make_tables(self, texts: int, content: int) -> None:
        self._content = np.empty(content, np.uint8)
        self._ends = np.zeros(texts, np.int64)
        slots = np.full(2 * texts, -1, np.int32)
        latest = np.full(_LATEST, -1, np.int32)
        self.known = KnownTexts(
            self._multiplier, self._ids.size, self._content, self._ends, slots, latest
        )


def in_file_order(offsets: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(the offsets in ascending order, the row of each), without those below 0."""
    if is_ascending(offsets):
        return offsets, np.arange(offsets.size)
    rows = np.flatnonzero(offsets >= 0)
    rows = rows[np.argsort(offsets[rows], kind="stable")]
    return offsets[rows], rows
