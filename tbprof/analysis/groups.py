"""Equal rows of several columns, and sums over them."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tbprof.base.jit import kernel


@kernel
def _group(columns, code, first, slots):  # type: ignore[no-untyped-def]
    groups = 0
    mask = slots.size - 1
    for row in range(code.size):
        mixed = np.int64(0)
        for column in range(columns.shape[0]):
            value = columns[column, row]
            mixed = ((mixed * 31) ^ (value & 0xFFFFFFFF) ^ ((value >> 32) & 0xFFFF)) & 0xFFFFFFFFFF
        slot = ((mixed * 40503) ^ (mixed >> 15)) & mask
        while True:
            group = slots[slot]
            if group < 0:
                slots[slot] = groups
                first[groups] = row
                code[row] = groups
                groups += 1
                break
            is_same = True
            other = first[group]
            for column in range(columns.shape[0]):
                if columns[column, other] != columns[column, row]:
                    is_same = False
                    break
            if is_same:
                code[row] = group
                break
            slot = (slot + 1) & mask
    return groups


@kernel
def _reduce(code, value, total, least, most, count):  # type: ignore[no-untyped-def]
    for row in range(code.size):
        group = code[row]
        if group < 0:
            continue
        total[group] += value[row]
        count[group] += 1
        if count[group] == 1 or value[row] < least[group]:
            least[group] = value[row]
        if count[group] == 1 or value[row] > most[group]:
            most[group] = value[row]


def group_rows(
    columns: Sequence[NDArray[np.int64] | NDArray[np.int32]],
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """(code [n], first [groups]): the group of each row, and one row of each group.

    Rows are in one group when they agree in every column; groups are numbered as they appear.
    """
    matrix = np.stack([np.asarray(column, np.int64) for column in columns])
    rows = matrix.shape[1]
    size = 8
    while size < 2 * rows + 2:
        size *= 2
    code = np.empty(rows, np.int32)
    first = np.empty(rows, np.int64)
    groups = _group(matrix, code, first, np.full(size, -1, np.int64))
    return code, first[:groups].copy()


def reduce_groups(
    code: NDArray[np.int64] | NDArray[np.int32], value: NDArray[np.int64], groups: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """(count, total, least, most), each [groups], of int64 values by group; code -1 is left out."""
    count, total, least, most = (np.zeros(groups, np.int64) for _ in range(4))
    _reduce(code.astype(np.int32, copy=False), value, total, least, most, count)
    return count, total, least, most


def repeats(columns: Sequence[NDArray[np.int64] | NDArray[np.int32]]) -> NDArray[np.int64]:
    """[n] how many of the rows before each agree with it in every column."""
    code, first = group_rows(columns)
    order = np.argsort(code, kind="stable")
    begin = np.searchsorted(code[order], np.arange(first.size))
    out = np.empty(code.size, np.int64)
    out[order] = np.arange(code.size) - begin[code[order]]
    return out
