"""Dataclasses as plain arrays and back."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from tbprof.storage.packing import DAMAGE, pack, share_texts, unpack


@dataclass(frozen=True, slots=True)
class Row:
    name: str
    count: int
    is_odd: bool


@dataclass(frozen=True, slots=True)
class Inner:
    value: NDArray[np.float32]
    label: list[str]
    size: float


@dataclass(frozen=True, slots=True)
class Whole:
    start: NDArray[np.int64]
    text: list[str]
    inner: Inner
    rows: list[Row]
    others: tuple[Row, ...]
    home: tuple[int, int, str] | None
    name: str
    ratio: float
    count: int
    is_whole: bool


def whole(**changes: Any) -> Whole:
    return dataclasses.replace(
        Whole(
            np.arange(6).reshape(3, 2),
            ["m", "日本", "", "\udcff", "\ud800", "\udc00"],
            Inner(np.array([np.nan, 1], np.float32), ["x"], 0.5),
            [Row("a\ud800<b>", 3, is_odd=True), Row("", -(2**62), is_odd=False)],
            (Row("b", 0, is_odd=False),),
            (0, 5, "train 7"),
            "é",
            float("inf"),
            2**70,
            is_whole=True,
        ),
        **changes,
    )


def assert_same(one: Any, other: Any) -> None:
    assert type(one) is type(other)
    if dataclasses.is_dataclass(one):
        for field in dataclasses.fields(one):
            assert_same(getattr(one, field.name), getattr(other, field.name))
    elif isinstance(one, np.ndarray):
        assert (one.dtype, one.shape) == (other.dtype, other.shape)
        assert one.tobytes() == other.tobytes()
    elif isinstance(one, list | tuple):
        assert len(one) == len(other)
        for left, right in zip(one, other, strict=True):
            assert_same(left, right)
    else:
        assert one == other


@pytest.mark.parametrize(
    "changes",
    [{}, {"home": None}, {"rows": [], "others": ()}, {"text": []}, {"start": np.empty((0, 4))}],
)
def test_what_was_packed_is_the_same_again(changes):
    value = whole(**changes)
    assert_same(unpack(Whole, pack(value)), value)


def test_several_values_share_arrays_by_their_prefixes():
    one, other = whole(), whole(name="other", text=["only"])
    arrays = {**pack(one, "1/"), **pack(other, "2/")}
    assert_same(unpack(Whole, arrays, "1/"), one)
    assert_same(unpack(Whole, arrays, "2/"), other)


@given(st.lists(st.text(st.characters())))
def test_any_texts_come_back(texts):
    assert unpack(Whole, pack(whole(text=texts))).text == texts


def test_long_lists_of_equal_texts_are_one_list():
    def texts(size: int) -> list[str]:
        return [f"op {number}" for number in range(size)]

    one, other = share_texts(whole(text=texts(100))), share_texts(whole(text=texts(100)))
    assert one.text is other.text
    assert one.text == texts(100)
    packed, again = pack(one), pack(other)
    assert unpack(Whole, packed).text is unpack(Whole, again).text
    assert unpack(Whole, packed).text == texts(100)
    # The same number of texts with other ones between.
    between = ["op 0", *["op"] * 98, "op 99"]
    assert share_texts(whole(text=between)).text == between
    assert share_texts(whole(text=texts(100))).text == texts(100)
    # The same characters, cut elsewhere.
    cut = [f"op {number}" for number in range(98)] + ["op 98o", "p 99"]
    assert share_texts(whole(text=cut)).text == cut
    assert_same(share_texts(whole(text=texts(3))), whole(text=texts(3)))


def test_short_lists_that_were_unpacked_are_one_list():
    texts = ["op", "other op", ""]
    packed, again = pack(whole(text=texts)), pack(whole(text=[*texts]))
    assert unpack(Whole, packed).text == texts
    assert unpack(Whole, packed).text is unpack(Whole, again).text
    assert unpack(Whole, pack(whole(text=["op", "othe", "r op"]))).text == ["op", "othe", "r op"]
    long = ["a" * 5000]
    packed = pack(whole(text=long))
    assert unpack(Whole, packed).text == long
    assert unpack(Whole, packed).text is not unpack(Whole, packed).text


def test_a_long_list_holds_repeated_texts_once():
    texts = [f"kernel {number % 3}" for number in range(300)]
    packed = pack(whole(text=texts))
    assert packed["text.text"].tobytes() == b"kernel 0kernel 1kernel 2"
    assert unpack(Whole, packed).text == texts
    assert unpack(Whole, pack(whole(text=[*texts]))).text is unpack(Whole, packed).text
    with pytest.raises(DAMAGE):
        unpack(Whole, {**packed, "text.row": np.full(300, 3, np.uint32)})


def test_all_that_is_packed_are_numbers():
    assert {array.dtype.kind for array in pack(whole()).values()} <= set("biuf")


def test_a_missing_or_foreign_piece_is_damage():
    arrays = pack(whole())
    for name in arrays:
        with pytest.raises(DAMAGE):
            unpack(Whole, {key: array for key, array in arrays.items() if key != name})
    for text in (b"", b"[]", b"{}", b'{"inner": 1}'):
        with pytest.raises(DAMAGE):
            unpack(Whole, {**arrays, "meta": np.frombuffer(text, np.uint8)})
    for lengths in ([1], [2, 2, 0, 1, 1, 1], [-1, 4, 0, 1, 1, 1]):
        with pytest.raises(DAMAGE):
            unpack(Whole, {**arrays, "text.length": np.array(lengths)})
