"""Timelines as plain arrays and back."""

import dataclasses

import numpy as np
import pytest
from timelines import make_timeline

from tbprof.timeline.kept import DAMAGE, freeze, from_arrays, to_arrays


def assert_same(one, other) -> None:
    assert type(one) is type(other)
    if dataclasses.is_dataclass(one):
        for field in dataclasses.fields(one):
            assert_same(getattr(one, field.name), getattr(other, field.name))
    elif isinstance(one, np.ndarray):
        assert one.dtype == other.dtype
        assert one.tobytes() == other.tobytes()
    elif isinstance(one, list | tuple):
        assert len(one) == len(other)
        for left, right in zip(one, other, strict=True):
            assert_same(left, right)
    else:
        assert one == other


@pytest.mark.parametrize("home", [None, (0, 5, "train 7")])
def test_what_was_taken_apart_is_the_same_again(home) -> None:
    timeline = dataclasses.replace(make_timeline(), home=home)
    assert_same(from_arrays(to_arrays(timeline)), timeline)


def test_all_columns_are_numbers() -> None:
    assert {array.dtype.kind for array in to_arrays(make_timeline()).values()} <= set("biuf")


def test_frozen_columns_cannot_be_written() -> None:
    frozen = freeze(make_timeline())
    for array in (frozen.start_ps, frozen.levels.count, frozen.types.category):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


def test_a_missing_or_foreign_piece_is_damage() -> None:
    arrays = to_arrays(make_timeline())
    for name in arrays:
        with pytest.raises(DAMAGE):
            from_arrays({key: array for key, array in arrays.items() if key != name})
    for text in (b"", b"[]", b"{}", b'{"home":null,"sections":[[1]]}'):
        with pytest.raises(DAMAGE):
            from_arrays({**arrays, "meta": np.frombuffer(text, np.uint8)})
