"""Values of arrays: distinct and common values, and the median.

NumPy's functions for it import masked arrays, which takes a tenth of the time that reading a small
trace takes.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import reduce
from operator import add
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tbprof.base.records import field_names, is_record

_T = TypeVar("_T", bound=np.generic)
_Table = TypeVar("_Table")

_MOST_COUNT = 2**63 - 1
# Up to this many values are compared one by one.
_FEW = 8
# A table may have this many entries for each value.
_ENTRIES = 6


def sum_of(values: Iterable[float]) -> float:
    """The sum, the same on each Python: from 3.12 on `sum` compensates for rounding."""
    return reduce(add, values, 0.0)


def mean_known(values: Iterable[float]) -> float:
    """The mean of the known values, NaN without any."""
    known_values = [value for value in values if math.isfinite(value)]
    return sum_of(known_values) / len(known_values) if known_values else math.nan


def as_counts(values: Sequence[int]) -> NDArray[np.int64]:
    """[n] counts of any size, limited to what a column holds, as they may be damaged."""
    try:
        return np.array(values, np.int64)
    except OverflowError:
        return np.array([max(-_MOST_COUNT, min(_MOST_COUNT, value)) for value in values], np.int64)


def known(values: NDArray[np.int64]) -> NDArray[np.float64]:
    """[n] values that are -1 if unknown, with NaN for these."""
    return np.where(values < 0, np.nan, values.astype(np.float64))


def joined(parts: Iterable[NDArray[np.int32] | NDArray[np.int64]]) -> NDArray[np.int64]:
    """[n] integers, one array after another; empty without any."""
    return np.concatenate([np.empty(0, np.int64), *parts], dtype=np.int64)


def join_columns(
    tables: Iterable[Sequence[NDArray[np.int64]]], columns: int
) -> list[NDArray[np.int64]]:
    """The columns of integers of all tables, one table after another; empty without any."""
    nothing = (np.empty(0, np.int64),) * columns
    return [np.concatenate(column) for column in zip(nothing, *tables, strict=True)]


def take_rows(table: _Table, rows: Any) -> _Table:
    """Those rows of each column of a dataclass or named tuple of columns."""
    return type(table)(*(getattr(table, name)[rows] for name in field_names(table)))


def join_tables(tables: Sequence[_Table]) -> _Table:
    """The rows of dataclasses or named tuples of columns, one after another; at least one.

    Columns are arrays, lists or such tables.
    """
    columns = ([getattr(table, name) for table in tables] for name in field_names(tables[0]))
    return type(tables[0])(*map(_in_one, columns))


def _in_one(columns: Sequence[Any]) -> Any:
    if isinstance(columns[0], list):
        return [value for column in columns for value in column]
    if is_record(type(columns[0])):
        return join_tables(columns)
    return np.concatenate(columns)


def ratio(part: NDArray[np.float64], whole: NDArray[np.float64] | float) -> NDArray[np.float64]:
    """[n] part / whole, NaN if the whole is 0: nothing was measured."""
    part = np.asarray(part, np.float64)
    whole = np.broadcast_to(np.asarray(whole, np.float64), part.shape)
    out = np.full(part.shape, np.nan)
    np.divide(part, whole, out=out, where=whole != 0)
    return out


def unique(values: NDArray[_T]) -> NDArray[_T]:
    """[u] the different values of an array of any shape; NaNs differ from each other."""
    ordered = np.sort(values, axis=None)
    is_first = np.ones(ordered.size, bool)
    np.not_equal(ordered[1:], ordered[:-1], out=is_first[1:])
    return ordered[is_first]


def union(values: NDArray[_T], others: NDArray[_T]) -> NDArray[_T]:
    """[u] the values in either array."""
    return unique(np.concatenate([values, others]))


def difference(values: NDArray[_T], others: NDArray[_T]) -> NDArray[_T]:
    """[u] the values of `values` that are not in `others`."""
    distinct = unique(values)
    return distinct[~is_in(distinct, others)]


def common(values: NDArray[_T], others: NDArray[_T]) -> NDArray[_T]:
    """[u] the values in both arrays."""
    distinct = unique(values)
    return distinct[is_in(distinct, others)]


def is_in(values: NDArray[Any], others: ArrayLike) -> NDArray[np.bool_]:
    """Whether each value is one of `others`, in the shape of `values`."""
    wanted = np.asarray(others)
    if wanted.size <= _FEW:
        is_found = np.zeros(values.shape, bool)
        for value in wanted.ravel().tolist():  # plain values do not convert the array
            is_found |= values == value
        return is_found
    ordered = unique(wanted)
    if _fit_a_table(values, ordered):
        return np.isin(values, ordered, kind="table")
    position = np.searchsorted(ordered, values)
    position[position == ordered.size] = 0
    return np.asarray(ordered[position] == values, bool)


def median(values: ArrayLike, axis: int | None = None) -> Any:
    """The median along an axis, or of all values (at least one); NaN if any value is NaN."""
    data = np.asarray(values)
    if axis is None:
        data, axis = data.ravel(), 0
    size = data.shape[axis]
    places = [(size - 1) // 2, size // 2]
    if data.ndim == 1 and data.dtype.kind in "iu":  # mostly a few durations
        ordered = np.partition(data, places)
        return np.float64((float(ordered[places[0]]) + float(ordered[places[1]])) / 2)
    ordered = np.partition(data, [*places, size - 1], axis)
    middle = ordered.take(places, axis).mean(axis)
    last = ordered.take(-1, axis)
    return np.where(np.isnan(last), last, middle)[()]


def _fit_a_table(values: NDArray[Any], ordered: NDArray[Any]) -> bool:
    kind = ordered.dtype
    if kind != values.dtype or kind.kind not in "iu" or kind.itemsize < 4:
        return False
    span = int(ordered[-1]) - int(ordered[0])
    return span <= _ENTRIES * (values.size + ordered.size)
