# cython: wraparound=False
"""Equal texts among byte ranges."""

import cython
from cython.cimports.tbprof.kernels.codes import (
    HEADER,
    PRIME,
)
from cython.cimports.tbprof.kernels.types import Bytes, Ints, OutBytes, OutInts, i64
from cython.cimports.tbprof.kernels.xplane.passes import Pass, Window
from cython.cimports.tbprof.kernels.xplane.wire import read_length


@cython.final
@cython.cclass
class KnownTexts:
    """Distinct texts: number i is `content[ends[i]:ends[i + 1]]`; `slots` is a hash table of them.

    The hash is a polynomial in `multiplier`.
    """

    multiplier: i64
    content: OutBytes
    ends: OutInts
    slots: OutInts

    def __init__(self, multiplier: i64, content: OutBytes, ends: OutInts, slots: OutInts) -> None:
        self.multiplier = multiplier
        self.content = content
        self.ends = ends
        self.slots = slots


@cython.ccall
@cython.exceptval(check=False)
@cython.locals(
    base=i64,
    buf=Bytes,
    byte=i64,
    content=OutBytes,
    end=i64,
    ends=OutInts,
    first=i64,
    is_same=i64,
    known=i64,
    last=i64,
    mask=i64,
    mixed=i64,
    multiplier=i64,
    pos=i64,
    row=i64,
    slot=i64,
    slots=OutInts,
    step=i64,
    text=i64,
    three=i64,
    used=i64,
    whole=i64,
)
def group_texts(
    window: Window, progress: Pass, at: Ints, found: KnownTexts, texts: i64, code: OutInts
) -> i64:
    """Fills `code` with the number of each text; returns how many texts are known, `texts` so far.

    Texts from row `progress.at` on, up to the first that the window does not hold, or the content
    that is known has no room for.
    """
    buf = window.content
    content, ends, slots = found.content, found.ends, found.slots
    with cython.nogil:
        base = window.base
        multiplier = found.multiplier
        mask = slots.shape[0] - 1
        end = progress.end - base
        for row in range(progress.at, at.shape[0]):
            progress.at = row
            pos = at[row] - base
            if pos > buf.shape[0] - HEADER and end > buf.shape[0]:
                progress.reach = base + pos + HEADER
                return texts
            first, last = read_length(buf, pos, end)
            if last > buf.shape[0]:
                progress.reach = base + last
                return texts
            if first < 0:
                first = 0
                last = 0
            # A polynomial modulo a Mersenne prime, of three bytes at a time: each round waits for
            # the one before.
            mixed = cython.cast(i64, (last - first) & PRIME)
            whole = last - (last - first) % 3
            for byte in range(first, whole, 3):
                three = cython.cast(i64, buf[byte]) | cython.cast(i64, buf[byte + 1]) << 8
                mixed = mixed * multiplier + (three | cython.cast(i64, buf[byte + 2]) << 16)
                mixed = (mixed & PRIME) + (mixed >> 31)
            for byte in range(whole, last):
                mixed = mixed * multiplier + cython.cast(i64, buf[byte])
                mixed = (mixed & PRIME) + (mixed >> 31)
            slot = (mixed ^ (mixed >> 16)) & mask
            while True:
                text = slots[slot]
                if text < 0:
                    used = ends[texts]
                    if content.shape[0] - used < last - first:
                        return texts
                    for step in range(last - first):
                        content[used + step] = buf[first + step]
                    slots[slot] = texts
                    code[row] = texts
                    texts += 1
                    ends[texts] = used + last - first
                    break
                known = ends[text]
                is_same = ends[text + 1] - known == last - first
                if is_same:
                    for step in range(last - first):
                        if content[known + step] != buf[first + step]:
                            is_same = False
                            break
                if is_same:
                    code[row] = text
                    break
                slot = (slot + 1) & mask
        progress.at = at.shape[0]
        return texts
