"""Shapes of HLO, and how much of them is padding, by hand and by brute force."""

import math
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from traces.programs import fill_shape

from tbprof._pb import message
from tbprof.analysis.hlo.hlo_shapes import (
    Shape,
    padding_of,
    parse_shapes,
    read_shape,
    split_text,
    type_word,
)


def one(text: str) -> Shape:
    (shape,) = parse_shapes(text)
    return shape


@pytest.mark.parametrize(
    ("text", "padded", "elements"),
    [
        # The tiles that the layout states, of the dimensions from minor to major.
        ("f32[100,50]{1,0:T(8,128)}", (104, 128), 104 * 128),
        ("f32[100,50]{0,1:T(8,128)}", (128, 56), 128 * 56),
        ("f32[8,128]{1,0:T(8,128)}", (8, 128), 1024),
        ("f32[9,129]{1,0:T(8,128)}", (16, 256), 16 * 256),
        ("f32[3,5,7]{2,0,1:T(8,128)}", (8, 5, 128), 8 * 5 * 128),
        ("f32[3,5]{1,0:T(2,2)}", (4, 6), 24),  # the example of the layout's description
        ("f32[7,300]{1,0:T(1,128)}", (7, 384), 7 * 384),
        ("f32[1000]{0:T(1024)}", (1024,), 1024),
        ("f32[]{:T(128)}", (), 128),
        ("f32[0,5]{1,0:T(8,128)}", (0, 128), 0),
        # A second tile that packs rows of 16 bit: it pads where the first one is not a multiple.
        ("bf16[7,3]{1,0:T(8,128)(2,1)}", (8, 128), 1024),
        ("bf16[2,8192]{1,0:T(4,128)(2,1)}", (4, 8192), 4 * 8192),
        ("bf16[1,128]{1,0:T(1,128)(2,1)}", (1, 128), 256),
        # `*` joins a dimension with the next minor one: 3 x 50 = 150 as 256.
        ("f32[3,50]{1,0:T(*,128)}", (3, 128), 256),
        # Without tiles those of the registers: rows of narrower types are packed.
        ("f32[100,50]", (104, 128), 104 * 128),
        ("bf16[7,3]", (16, 128), 16 * 128),
        ("s8[7,3]{1,0}", (32, 128), 32 * 128),
        ("bf16[3,7]{0,1}", (128, 16), 128 * 16),
        ("f64[9,9]", (16, 128), 16 * 128),
        ("f32[100]", (128,), 128),
        ("f32[]", (), 1),
        # The host's memory has no tiles of its own.
        ("f32[7,3]{1,0:S(5)}", (7, 3), 21),
        # A dynamic dimension takes its bound.
        ("f32[<=100,50]{1,0:T(8,128)}", (104, 128), 104 * 128),
    ],
)
def test_dimensions_are_padded_to_tiles(text, padded, elements):
    shape = one(text)
    assert (shape.padded, shape.padded_elements) == (padded, elements)


@given(
    sizes=st.lists(st.integers(1, 9), min_size=1, max_size=4),
    tile=st.lists(st.integers(1, 4), min_size=1, max_size=3),
    data=st.data(),
)
def test_the_padded_array_is_as_large_as_the_tiles_that_it_touches(sizes, tile, data):
    order = data.draw(st.permutations(range(len(sizes))))
    tile = tile[: len(sizes)]
    shape = Shape("f32", tuple(sizes), tuple(order), (tuple(tile),))
    steps = [1] * len(sizes)
    for minor, step in enumerate(reversed(tile)):
        steps[order[minor]] = step
    touched = {
        tuple(place // step for place, step in zip(element, steps, strict=True))
        for element in product(*map(range, sizes))
    }
    assert shape.padded_elements == len(touched) * math.prod(tile)
    assert math.prod(shape.padded) == shape.padded_elements


def test_text_and_message_tell_the_same():
    for text in (
        "f32[100,50]{0,1:T(8,128)S(5)}", "s4[8,256]{1,0:T(8,128)(2,1)E(4)}", "pred[]",
        "u32[]{:S(2)}", "bf16[2,3,4]{2,0,1:T(*,128)(2,1)}", "f8e4m3fn[8]{0:T(512)}",
    ):  # fmt: skip
        proto = message("xla.ShapeProto")()
        fill_shape(proto, one(text))
        assert list(read_shape(proto)) == [one(text)], text


def test_types_are_named_as_in_the_protos():
    words = message("xla.ShapeProto").DESCRIPTOR.fields_by_name["element_type"].enum_type
    for number in range(-1, max(words.values_by_number) + 2):
        word = words.values_by_number.get(number)
        assert type_word(number) == (word.name.lower() if word is not None else ""), number


def test_tuples_are_read_array_by_array_and_tokens_are_none():
    proto = message("xla.ShapeProto")(element_type=13)
    fill_shape(proto.tuple_shapes.add(), one("f32[2]"))
    proto.tuple_shapes.add(element_type=17)
    inner = proto.tuple_shapes.add(element_type=13)
    fill_shape(inner.tuple_shapes.add(), one("s8[3]"))
    assert [shape.text for shape in read_shape(proto)] == ["f32[2]", "s8[3]"]


def test_sizes_that_are_not_known_and_other_words_are_no_shapes():
    assert parse_shapes("f32[?,4] token[] a[3] %f32[4] opaque[2] to=[4,2]<=[8]") == ()
    proto = message("xla.ShapeProto")(element_type=11)
    proto.dimensions.append(-(2**63))
    assert list(read_shape(proto)) == []


def test_layouts_are_written_as_hlo_does():
    for text in ("f32[8,1]{0,1:T(8,128)S(1)}", "bf16[8]{0:T(*,4)(2,1)}", "f32[]{:S(2)}", "f32[]"):
        assert one(text).text + one(text).layout == text


def test_padding_is_counted_in_bytes_over_all_arrays():
    """f32[100,50] is 20,000 bytes in 53,248; bf16[8,128] fills its tile of 2,048 bytes."""
    padding = padding_of(parse_shapes("f32[100,50]{1,0:T(8,128)} bf16[8,128]{1,0:T(8,128)(2,1)}"))
    assert (padding.bytes, padding.padded_bytes) == (22_048, 55_296)
    assert padding.wasted == pytest.approx(1 - 22_048 / 55_296)
    assert padding.worst is not None
    assert padding.worst.text == "f32[100,50]"
    assert not padding.is_assumed
    assert padding_of(parse_shapes("f32[100,50]")).is_assumed
    assert not padding_of(parse_shapes("f32[8,128]")).is_assumed
    assert math.isnan(padding_of(()).wasted)


def test_elements_of_four_bits_take_half_a_byte_where_the_layout_says_so():
    assert padding_of(parse_shapes("s4[8,128]{1,0:T(8,128)E(4)}")).bytes == 512
    assert padding_of(parse_shapes("s4[8,128]{1,0:T(8,128)}")).bytes == 1024


def test_a_text_is_cut_into_result_opcode_and_operands():
    result, opcode, operands = split_text(
        "%c.1 = (f32[8]{0:T(128)}, u32[]{:S(2)}) copy-start(f32[8]{0:T(128)S(5)} %param), "
        "metadata={op_name=f32[9]}"
    )
    assert opcode == "copy-start"
    assert [shape.text for shape in parse_shapes(result)] == ["f32[8]", "u32[]"]
    assert [shape.text + shape.layout for shape in parse_shapes(operands)] == [
        "f32[8]{0:T(128)S(5)}"
    ]
    assert split_text("fusion.1") == ("", "", "")
    assert split_text("%a = f32[8]{0}") == ("f32[8]{0}", "", "")


@given(st.text(alphabet="f32[]{}(),:T*S5 <=?%E8", max_size=60))
def test_any_text_is_read(text):
    for shape in parse_shapes(text):
        assert shape.padded_elements >= min(shape.elements, 2**62) or not shape.elements
        assert shape.layout is not None
        padding_of([shape])
    split_text(text)
