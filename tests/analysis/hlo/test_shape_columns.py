"""Columns of shapes have the arrays that the parser finds."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from traces.programs import Program

from tbprof._pb import message
from tbprof.analysis.hlo.hlo_shapes import read_shape
from tbprof.analysis.hlo.module import Module
from tbprof.analysis.hlo.program_shapes import _is_in_host, _tensors
from tbprof.analysis.hlo.shape_columns import ShapeColumns
from tbprof.analysis.hlo_messages.message_fields import DamagedMessage

PRED, F32, TUPLE, BF16, TOKEN, UNKNOWN = 1, 11, 13, 16, 17, 999
SIZES = st.lists(st.sampled_from([0, 1, 8, 300, 2**40, -1]), max_size=3)


@st.composite
def shapes(draw: Any, depth: int = 2) -> Any:
    """A ShapeProto: an array with or without a layout, a token, or a tuple of such."""
    proto = message("xla.ShapeProto")()
    kinds = [PRED, F32, BF16, TOKEN, UNKNOWN] + [TUPLE] * 2 * depth
    proto.element_type = draw(st.sampled_from(kinds))
    proto.dimensions.extend(draw(SIZES))
    if draw(st.booleans()):
        proto.layout.minor_to_major.extend(draw(SIZES))
        for sizes in draw(st.lists(SIZES, max_size=2)):
            proto.layout.tiles.add().dimensions.extend(sizes)
        proto.layout.memory_space = draw(st.sampled_from([0, 5]))
        proto.layout.element_size_in_bits = draw(st.sampled_from([0, 4]))
    for part in draw(st.lists(shapes(depth - 1), max_size=3)) if depth else ():
        proto.tuple_shapes.add().CopyFrom(part)
    return proto


def is_nested(proto: Any) -> bool:
    parts = proto.tuple_shapes if proto.element_type == TUPLE else ()
    return any(part.element_type == TUPLE for part in parts)


@given(st.lists(shapes(), max_size=8))
def test_arrays_are_those_of_the_parser(protos: list[Any]):
    columns = ShapeColumns([proto.SerializeToString() for proto in protos])
    for row, proto in enumerate(protos):
        assert columns.is_tuple(row) == (proto.element_type == TUPLE)
        expected = None if is_nested(proto) else tuple(read_shape(proto))
        assert columns.read(row) == expected
        tensors = None if is_nested(proto) else (tuple(_tensors(proto)), _is_in_host(proto))
        assert columns.tensors(row) == tensors


@pytest.mark.parametrize("damaged", ["10", "1a02ff", "2a03080a", "2a020aff"])
def test_a_damaged_shape_is_reported(damaged: str):
    with pytest.raises(DamagedMessage):
        ShapeColumns([b"\x10\x0b", bytes.fromhex(damaged)])


@pytest.mark.parametrize("is_damaged", [False, True])
def test_programs_of_many_shapes_have_those_of_the_parser(is_damaged: bool):
    program = Program()
    for size in range(1, 150):
        program.add(f"a.{size}", "add", f"f32[{size},8]{{1,0:T(8,128)S(5)}}")
        program.add(f"t.{size}", "tuple", f"(bf16[{size}]{{0}}, s32[])")
    nested = program.named["t.7"].shape.tuple_shapes.add(element_type=TUPLE)
    nested.tuple_shapes.add().CopyFrom(program.named["a.9"].shape)
    content = program.bytes()
    if is_damaged:
        shape = program.named["a.3"].shape.SerializeToString()
        content = content.replace(shape, shape[:-2] + b"\xff\xff", 1)
    module = Module(content)
    for row in range(len(module.instructions())):
        proto = module.shapes.proto(row)
        found = module.shapes.of(row)
        assert found.shapes == tuple(read_shape(proto))
        assert found.bytes == sum(shape.bytes for shape in found.shapes)
        assert found.is_array == (proto.element_type not in (TUPLE, 0))
