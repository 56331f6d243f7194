"""Timelines as plain arrays and back."""

import dataclasses

import numpy as np
import pytest

from tbprof.base.errors import Notice
from tbprof.timeline.kept import DAMAGE, freeze, from_arrays, to_arrays
from tbprof.timeline.store import Counter, Levels, Section, Timeline, Track, TypeTable


def make_timeline() -> Timeline:
    return Timeline(
        sections=[Section("/host:CPU", "Host Threads", "host")],
        tracks=[Track(0, "a\ud800<b>", "thread", 3, -7, 0, 2, 3, is_derived=False, busy_ps=9)],
        types=TypeTable(
            ["m", "日本", ""], ["m", "\udcff", "x" * 300], np.array([0, 3, 1], np.uint8)
        ),
        row_first=np.array([0, 2, 3]),
        start_ps=np.array([-5, 2**57, 3]),
        duration_ps=np.array([1, 0, 2]),
        type=np.array([0, 2, -1], np.int32),
        source=np.array([10, 20, -1]),
        levels=Levels(
            np.array([0, 1, 1]), np.array([4], np.uint8), np.array([0, 1]), np.array([-5]),
            np.array([8]), np.array([1]), np.array([0], np.uint32), np.array([0], np.int32),
            np.array([2], np.uint32),
        ),
        counters=[Counter(0, "bytes", "B", 0, 1)],
        counter_time_ps=np.array([1]),
        counter_value=np.array([np.inf]),
        counter_low=np.array([np.nan]),
        counter_high=np.empty(0),
        busy_first=np.array([0, 1]),
        busy_start_ps=np.array([-5]),
        busy_end_ps=np.array([9]),
        busy_before_ps=np.array([0]),
        begin_ps=-5,
        end_ps=2**57,
        origin_ns=1_700_000_000_000_000_000,
        in_file=4,
        unplaced=1,
        home=(0, 5, "train 7"),
        notices=(Notice("line_cut", "text", "host", "hint"),),
    )  # fmt: skip


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
