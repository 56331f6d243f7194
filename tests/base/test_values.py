"""Values of arrays, as NumPy has them."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from numpy.typing import NDArray

from tbprof.base.values import as_counts, common, difference, is_in, median, sum_of, union, unique

SIZES = arrays.array_shapes(min_dims=1, max_dims=1, min_side=0, max_side=60)
NUMBERS = arrays.arrays(
    np.int64, SIZES, elements=st.integers(-5, 5) | st.integers(-(2**63), 2**63 - 1)
)
TEXTS = arrays.arrays("U2", SIZES, elements=st.text("ab", max_size=2))
KINDS = st.sampled_from([np.int8, np.uint32, np.int32])
SMALL = KINDS.flatmap(
    lambda kind: st.tuples(*[arrays.arrays(kind, SIZES, elements=st.integers(0, 99))] * 2)
)
PAIRS = st.tuples(NUMBERS, NUMBERS) | st.tuples(TEXTS, TEXTS) | SMALL


def same(ours: NDArray[Any], theirs: NDArray[Any]) -> bool:
    return ours.dtype == theirs.dtype and ours.tolist() == theirs.tolist()


@given(PAIRS)
def test_they_are_those_of_numpy(pair: tuple[NDArray[Any], NDArray[Any]]) -> None:
    before = [one.copy() for one in pair]
    assert same(unique(pair[0]), np.unique(pair[0]))
    assert same(union(*pair), np.union1d(*pair))
    assert same(difference(*pair), np.setdiff1d(*pair))
    assert same(common(*pair), np.intersect1d(*pair))
    assert same(is_in(*pair), np.isin(*pair))
    assert all(same(one, kept) for one, kept in zip(pair, before, strict=True))


@pytest.mark.parametrize("kind", [np.bool_, np.uint8, np.int32, np.float64])
def test_they_keep_types_and_take_any_shape(kind: type) -> None:
    values: NDArray[Any] = np.array([[3, 0], [0, 1]], kind)
    assert same(unique(values), np.unique(values))
    assert same(unique(values[:, :0]), np.zeros(0, kind))


def test_membership_keeps_the_shape_and_takes_sequences() -> None:
    values = np.arange(6).reshape(2, 3)
    assert is_in(values, (1, 4)).tolist() == [[False, True, False], [False, True, False]]
    assert is_in(values, range(3, 40)).tolist() == [[False] * 3, [True] * 3]
    assert is_in(values, [2**40, *range(1, 40, 2)]).tolist() == [
        [False, True, False],
        [True, False, True],
    ]
    assert not is_in(values, ()).any()
    assert is_in(values[:0], (1,)).shape == (0, 3)


FLOATS = st.floats(-1e300, 1e300) | st.just(np.nan)


@given(arrays.arrays(np.float64, arrays.array_shapes(max_dims=2), elements=FLOATS))
def test_medians_of_floats(values: NDArray[Any]) -> None:
    assert np.array_equal(median(values), np.median(values), equal_nan=True)
    for axis in range(values.ndim):
        expected = np.median(values, axis=axis)
        assert np.array_equal(median(values, axis=axis), expected, equal_nan=True)


@given(arrays.arrays(np.int64, st.integers(1, 9), elements=st.integers(-(2**63), 2**63 - 1)))
def test_medians_of_integers(values: NDArray[Any]) -> None:
    assert median(values) == np.median(values)
    assert median(values.tolist()) == np.median(values.tolist())
    assert isinstance(median(values), np.float64)


def test_floats_are_summed_alike_on_each_python() -> None:
    assert sum_of([0.1] * 10) == 0.9999999999999999
    assert sum_of([]) == 0


def test_counts_that_no_column_holds_are_limited() -> None:
    most = 2**63 - 1
    assert as_counts([2**70, -(2**70), 3]).tolist() == [most, -most, 3]
    assert as_counts([1, 2]).tolist() == [1, 2]
