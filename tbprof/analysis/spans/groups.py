"""Equal rows of several columns, and sums over them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tbprof.kernels.analysis.row_groups import number_groups, sum_columns, sum_groups

_FEW_SLOTS = 1 << 12


def group_rows(
    columns: Sequence[NDArray[np.int64] | NDArray[np.int32]],
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """(code [n], first [groups]): the group of each row, and the first row of each group.

    Rows are in one group if they are equal in every column; groups are numbered as they appear.
    """
    rows = columns[0].size
    matrix = np.empty((len(columns), rows), np.int64)
    for index, column in enumerate(columns):
        matrix[index] = column
    code = np.empty(rows, np.int32)
    first = np.empty(rows, np.int64)
    # Usually there are few groups, and their slots fit into the processor's cache.
    size, groups = _FEW_SLOTS, -1
    while groups < 0:
        groups = number_groups(matrix, code, first, np.full(size, -1, np.int64))
        size *= 16
    return code, first[:groups].copy()


def reduce_groups(
    code: NDArray[np.int64] | NDArray[np.int32], value: NDArray[np.int64], groups: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """(count, total, least, most), each [groups], of int64 values by group; code -1 is ignored."""
    count, total, least, most = (np.zeros(groups, np.int64) for _ in range(4))
    sum_groups(code.astype(np.int32, copy=False), value, total, least, most, count)
    return count, total, least, most


def sums_of_groups(
    code: NDArray[np.int32], columns: NDArray[np.int64], groups: int
) -> NDArray[np.int64]:
    """[groups, columns] the sums of columns [columns, n] by group; code -1 is ignored."""
    total = np.zeros((groups, columns.shape[0]), np.int64)
    sum_columns(code, np.ascontiguousarray(columns), total)
    return total


def repeats(columns: Sequence[NDArray[np.int64] | NDArray[np.int32]]) -> NDArray[np.int64]:
    """[n] how many earlier rows are equal to each row in every column."""
    code, first = group_rows(columns)
    order = np.argsort(code, kind="stable")
    begin = np.searchsorted(code[order], np.arange(first.size))
    out = np.empty(code.size, np.int64)
    out[order] = np.arange(code.size) - begin[code[order]]
    return out
