# cython: wraparound=False
"""Equal texts among byte ranges."""

import cython
from cython.cimports.tbprof.kernels.codes import PRIME, TEXT
from cython.cimports.tbprof.kernels.types import (
    Bytes,
    Int32s,
    Ints,
    OutBytes,
    OutInt32s,
    OutInts,
    i64,
)
from cython.cimports.tbprof.kernels.xplane.passes import Pass, Window
from cython.cimports.tbprof.kernels.xplane.wire import read_whole_body, same_bytes, text_mark


@cython.final
@cython.cclass
class KnownTexts:
    """Distinct texts; number `first + i` is `content[ends[i]:ends[i + 1]]`, of `texts` in total.

    `slots` is a hash table of them, at most half full by the size of `ends`; the hash is a
    polynomial in `multiplier`. `latest` are the texts that were seen last, each at the position of
    a hash of its bytes: most texts are found there. If a text does not fit, `needed` is more than
    its size in bytes. Kernels set the `source` of texts: as an argument, it would be copied for
    each.
    """

    def __init__(
        self, multiplier: i64, first: i64, content: OutBytes, ends: OutInts, slots: OutInt32s,
        latest: OutInt32s,
    ) -> None:  # fmt: skip
        self.multiplier = multiplier
        self.first = first
        self.content = content
        self.ends = ends
        self.slots = slots
        self.latest = latest
        self.source = content
        self.texts = 0
        self.needed = 0

    def leave(self) -> None:
        """Drops the source, which would otherwise stay in memory as long as the texts."""
        self.source = self.content


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
@cython.locals(start=i64)
def _is_text(text: i64, first: i64, size: i64, known: KnownTexts) -> cython.bint:
    """Whether the `size` bytes from `first` on are a known text."""
    start = known.ends[text]
    if known.ends[text + 1] - start != size:
        return False
    return same_bytes(known.source, first, known.content, start, size)


@cython.locals(
    byte=i64, mask=i64, mixed=i64, place=i64, size=i64, slot=i64, start=i64, text=i64, three=i64,
    whole=i64,
)  # fmt: skip
def number_text(first, last, known):
    """The number of the text in [first, last), which is added if new; -1 if there is no room."""
    size = last - first
    place = text_mark(known.source, first, last) & known.latest.shape[0] - 1
    text = known.latest[place]
    if text >= 0 and _is_text(text, first, size, known):
        return known.first + text
    # A polynomial modulo a Mersenne prime, of three bytes at a time: each round waits for the one
    # before.
    mixed = size & PRIME
    whole = last - size % 3
    for byte in range(first, whole, 3):
        three = cython.cast(i64, known.source[byte]) | cython.cast(i64, known.source[byte + 1]) << 8
        mixed = mixed * known.multiplier + (three | cython.cast(i64, known.source[byte + 2]) << 16)
        mixed = (mixed & PRIME) + (mixed >> 31)
    for byte in range(whole, last):
        mixed = mixed * known.multiplier + cython.cast(i64, known.source[byte])
        mixed = (mixed & PRIME) + (mixed >> 31)
    mask = known.slots.shape[0] - 1
    slot = (mixed ^ (mixed >> 16)) & mask
    while known.slots[slot] >= 0:
        text = known.slots[slot]
        if _is_text(text, first, size, known):
            known.latest[place] = text
            return known.first + text
        slot = (slot + 1) & mask
    text = known.texts
    start = known.ends[text]
    if text + 1 >= known.ends.shape[0] or known.content.shape[0] - start < size:
        known.needed = size + 1
        return -1
    for byte in range(size):
        known.content[start + byte] = known.source[first + byte]
    known.ends[text + 1] = start + size
    known.slots[slot] = text
    known.latest[place] = text
    known.texts = text + 1
    return known.first + text


@cython.ccall
@cython.exceptval(check=False)
@cython.locals(
    base=i64, buf=Bytes, end=i64, first=i64, last=i64, number=i64, reach=i64, row=i64
)  # fmt: skip
def number_texts(
    window: Window, progress: Pass, at: Ints, known: KnownTexts, code: OutInts
) -> cython.void:
    """Fills in the number of each text.

    Starts at row `progress.at` and stops at the first text that is not in the window, or that does
    not fit.
    """
    buf = window.content
    known.source = buf
    with cython.nogil:
        base = window.base
        end = progress.end - base
        for row in range(progress.at, at.shape[0]):
            progress.at = row
            first, last, reach = read_whole_body(buf, at[row] - base, end)
            if reach >= 0:
                progress.reach = base + reach
                return
            if first < 0:
                first = 0
                last = 0
            number = number_text(first, last, known)
            if number < 0:
                return
            code[row] = number
        progress.at = at.shape[0]


@cython.ccall
@cython.exceptval(check=False)
@cython.locals(row=i64)
def number_ranges(buf: Bytes, ends: Ints, known: KnownTexts, code: OutInt32s) -> cython.void:
    """Fills code [n] with the number of each text buf[ends[i]:ends[i + 1]]; all must fit."""
    known.source = buf
    with cython.nogil:
        for row in range(code.shape[0]):
            code[row] = cython.cast(cython.int, number_text(ends[row], ends[row + 1], known))


@cython.ccall
@cython.exceptval(check=False)
@cython.locals(row=i64)
def set_text_ids(kind: Bytes, ids: Int32s, bits: OutInts) -> cython.void:
    """Replaces the number of each text by `~id`, which is negative, unlike an offset."""
    with cython.nogil:
        for row in range(bits.shape[0]):
            if kind[row] == TEXT:
                bits[row] = -1 - cython.cast(i64, ids[bits[row]])
