"""Equal texts among byte ranges, grouped without a Python string per event."""

import os
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from tbprof.events.strings import Strings
from tbprof.kernels.xplane.equal_texts import KnownTexts, group_texts
from tbprof.xplane.buffer import Buffer

_PER_PASS = 1 << 16
# Up to this many distinct texts are recognised by their bytes.
_KNOWN_BYTES = 8 << 20


def intern_texts(buffer: Buffer, offsets: NDArray[np.int64], strings: Strings) -> NDArray[np.int32]:
    """Ids [n] in `strings` of the texts whose length varints are at `offsets` [n].

    One string is made for equal texts, and no array of all texts is needed. The hash is random for
    each call, so that no file can contain texts that collide on purpose.
    """
    multiplier = 2**29 | int.from_bytes(os.urandom(4), "little") >> 3
    out = np.full(offsets.size, -1, np.int32)
    for begin in range(0, offsets.size, _PER_PASS):
        part = slice(begin, begin + _PER_PASS)
        _intern_part(buffer, offsets[part], strings, multiplier, out[part])
    return out


class _Known:
    """The distinct texts that a pass has seen: text i is `content[ends[i]:ends[i + 1]]`.

    `slots` is a hash table of them, `ids` are their ids in the space's strings.
    """

    def __init__(self, rows: int) -> None:
        self.slots = np.full(1 << (2 * rows + 2).bit_length(), -1, np.int64)
        self.ends = np.zeros(rows + 1, np.int64)
        self.content = np.empty(0, np.uint8)
        self.ids = np.empty(0, np.int32)

    def make_room(self, more: int) -> None:
        """Makes room for `more` bytes; forgets known texts if there are many."""
        used = int(self.ends[self.ids.size])
        if used > _KNOWN_BYTES:
            self.slots[:] = -1
            self.ids = self.ids[:0]
            used = 0
        if used + more > self.content.size:
            content = np.empty(2 * (used + more), np.uint8)
            content[:used] = self.content[:used]
            self.content = content

    def name(self, texts: int, strings: Strings) -> None:
        """Assigns ids to those of the `texts` that have none."""
        if texts == self.ids.size:
            return
        cuts = self.ends[self.ids.size : texts + 1].tolist()
        content = self.content[cuts[0] : cuts[-1]].tobytes()
        new = [
            content[begin - cuts[0] : end - cuts[0]].decode("utf-8", "replace")
            for begin, end in pairwise(cuts)
        ]
        self.ids = np.append(self.ids, strings.intern(new))


def _intern_part(
    buffer: Buffer,
    offsets: NDArray[np.int64],
    strings: Strings,
    multiplier: int,
    out: NDArray[np.int32],
) -> None:
    rows = in_file_order(offsets)
    begins = offsets[rows]
    code = np.empty(begins.size, np.int64)
    progress = buffer.messages()
    known = _Known(begins.size)
    for window in buffer.around(progress, begins):
        first = progress.at
        known.make_room(window.size)
        texts = KnownTexts(multiplier, known.content, known.ends, known.slots)
        text_count = group_texts(window, progress, begins, texts, known.ids.size, code)
        known.name(text_count, strings)
        part = slice(first, progress.at)
        out[rows[part]] = known.ids[code[part]]


def in_file_order(offsets: NDArray[np.int64]) -> NDArray[np.int64]:
    """The rows of `offsets` in ascending order, without those below 0."""
    rows = np.flatnonzero(offsets >= 0)
    present = offsets[rows]
    if (present[1:] < present[:-1]).any():
        return rows[np.argsort(present, kind="stable")]
    return rows
