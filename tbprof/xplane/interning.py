"""Equal texts among byte ranges, grouped without making a Python string per event."""

import os

import numpy as np
from numpy.typing import NDArray

from tbprof.base.jit import kernel
from tbprof.xplane.wire import read_length

_PRIME = 2**31 - 1


@kernel
def _group(buf, at, multiplier, ranges, code, slots):  # type: ignore[no-untyped-def]
    """Fills `code` [n] and the first rows of `ranges`; returns how many texts are distinct."""
    groups = 0
    mask = slots.size - 1
    for row in range(at.size):
        begin, end = read_length(buf, at[row], buf.size)
        if begin < 0:
            begin = np.int64(0)
            end = np.int64(0)
        # A polynomial of the bytes modulo a Mersenne prime.
        mixed = np.int64((end - begin) & _PRIME)
        for pos in range(begin, end):
            mixed = mixed * multiplier + np.int64(buf[pos])
            mixed = (mixed & _PRIME) + (mixed >> 31)
        slot = (mixed ^ (mixed >> 16)) & mask
        while True:
            group = slots[slot]
            if group < 0:
                slots[slot] = groups
                ranges[groups, 0] = begin
                ranges[groups, 1] = end
                code[row] = groups
                groups += 1
                break
            first = ranges[group, 0]
            is_same = ranges[group, 1] - first == end - begin
            if is_same:
                for step in range(end - begin):
                    if buf[first + step] != buf[begin + step]:
                        is_same = False
                        break
            if is_same:
                code[row] = group
                break
            slot = (slot + 1) & mask
    return groups


def group_texts(
    buf: NDArray[np.uint8], at: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(ranges [groups, 2], code [n]): the distinct texts and the group of each of n texts.

    `at` [n] are the offsets of the texts' length varints. The hash is drawn anew for each call, so
    that no file can be made of texts that collide.
    """
    size = 8
    while size < 2 * at.size + 2:
        size *= 2
    ranges = np.empty((at.size, 2), np.int64)
    code = np.empty(at.size, np.int64)
    multiplier = 2**29 | int.from_bytes(os.urandom(4), "little") >> 3
    groups = _group(buf, at, multiplier, ranges, code, np.full(size, -1, np.int64))
    return ranges[:groups], code
