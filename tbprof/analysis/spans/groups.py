"""Equal rows of several columns, and sums over them."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tbprof.kernels.groups import number_groups, sum_groups

_FEW_SLOTS = 1 << 12


def group_rows(
    columns: Sequence[NDArray[np.int64] | NDArray[np.int32]],
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """(code [n], first [groups]): the group of each row, and one row of each group.

    Rows are in one group when they agree in every column; groups are numbered as they appear.
    """
    matrix = np.stack([np.asarray(column, np.int64) for column in columns])
    rows = matrix.shape[1]
    code = np.empty(rows, np.int32)
    first = np.empty(rows, np.int64)
    # Groups are few as a rule: their slots stay in a processor's cache.
    size, groups = _FEW_SLOTS, -1
    while groups < 0:
        groups = number_groups(matrix, code, first, np.full(size, -1, np.int64))
        size *= 16
    return code, first[:groups].copy()


def reduce_groups(
    code: NDArray[np.int64] | NDArray[np.int32], value: NDArray[np.int64], groups: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """(count, total, least, most), each [groups], of int64 values by group; code -1 is left out."""
    count, total, least, most = (np.zeros(groups, np.int64) for _ in range(4))
    sum_groups(code.astype(np.int32, copy=False), value, total, least, most, count)
    return count, total, least, most


def repeats(columns: Sequence[NDArray[np.int64] | NDArray[np.int32]]) -> NDArray[np.int64]:
    """[n] how many of the rows before each agree with it in every column."""
    code, first = group_rows(columns)
    order = np.argsort(code, kind="stable")
    begin = np.searchsorted(code[order], np.arange(first.size))
    out = np.empty(code.size, np.int64)
    out[order] = np.arange(code.size) - begin[code[order]]
    return out
