"""The HLO text of programs: what every trace may hold, and what no valid one does."""

import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from helpers.promises.growth import is_linear
from traces.programs import Program

from tbprof._pb import message
from tbprof.analysis.hlo.hlo import Programs
from tbprof.analysis.hlo.module import Module
from tbprof.analysis.hlo_text.hlo_instructions import (
    EVENT,
    LONG,
    SHORT,
    WHOLE,
    Form,
    InstructionWriter,
    instruction_text,
)
from tbprof.analysis.hlo_text.hlo_literals import literal_text
from tbprof.analysis.hlo_text.hlo_quoting import MOST_LETTERS, value_text
from tbprof.analysis.hlo_text.hlo_text import computation_text, lines_from, module_text
from tbprof.xplane.reader import read_space


def text_of(program: Program, name: str, form: Form = LONG) -> str:
    module = Module(program.bytes())
    return instruction_text(module, module.index.find(name), form)


def small() -> Program:
    """A fusion that negates, and a loop that never ends."""
    program = Program()
    program.name("jit_f", 7)
    program.add("x", "parameter", "f32[8]{0}", within="fused")
    program.add("negate.1", "negate", "f32[8]{0}", "x", within="fused")
    program.add("p", "parameter", "f32[8]{0:T(128)S(5)}")
    fusion = program.add("fusion", "fusion", "f32[8]{0}", "p", calls="fused", op="jit(f)/neg")
    fusion.fusion_kind = "kLoop"
    fusion.metadata.source_file, fusion.metadata.source_line = "f.py", 3
    fusion.backend_config = b'{"n":{"x":"}"}}'
    return program


def test_an_instruction_in_each_form():
    program = small()
    config = ', backend_config={"n":{"x":"}"}}'
    origin = ', metadata={op_name="jit(f)/neg" source_file="f.py" source_line=3}'
    assert text_of(program, "fusion", SHORT) == (
        "fusion = f32[8]{0} fusion(p), kind=kLoop, calls=fused" + config
    )
    assert text_of(program, "fusion", LONG) == (
        "%fusion = f32[8]{0} fusion(%p), kind=kLoop, calls=%fused" + config
    )
    assert text_of(program, "fusion", EVENT) == (
        "%fusion = f32[8]{0} fusion(f32[8]{0:T(128)S(5)} %p), kind=kLoop, calls=%fused"
    )
    assert text_of(program, "fusion", WHOLE) == text_of(program, "fusion", EVENT) + origin + config


def test_a_module_lists_its_computations_and_marks_the_entry_and_the_roots():
    lines = list(module_text(Module(small().bytes()), SHORT))
    assert [line for line in lines if "{" in line and "=" not in line] == [
        "ENTRY main {",
        "fused {",
    ]
    assert lines[0] == "HloModule jit_f"
    assert "  ROOT negate.1 = f32[8]{0} negate(x)" in lines


def test_instructions_are_in_the_order_of_the_schedule_if_that_lists_them_all():
    program = Program()
    for name in ("a", "b", "c"):
        program.add(name, "parameter", "f32[]")
    proto = message("xla.HloProto").FromString(program.bytes())
    order = proto.hlo_module.schedule.sequences[1].instruction_ids

    def names() -> list[str]:
        module = Module(proto.SerializeToString())
        (computation,) = module.computations()
        lines = list(computation_text(InstructionWriter(module, SHORT), computation))[1:-1]
        return [line.strip().removeprefix("ROOT ")[0] for line in lines]

    order.extend([3, 1, 2])
    assert names() == ["c", "a", "b"]
    del order[:]
    order.extend([3, 1])
    assert names() == ["a", "b", "c"]
    order.extend([9, 9])
    assert names() == ["a", "b", "c"]


def test_texts_of_events_of_a_tpu_are_made_from_its_programs(tpu_trace: Path):
    """Recorders name the types of events on TPUs with the whole text of the instruction."""
    space = read_space(tpu_trace)
    programs = Programs(space)
    found = []
    for plane in space.planes:
        if not plane.name.startswith("/device:TPU"):
            continue
        names = set(plane.strings.take(plane.types.name.tolist()))
        for text in sorted(name for name in names if " = " in name):
            name = text[1:].partition(" = ")[0]
            ours = [
                instruction_text(module, row, EVENT)
                for module in (programs.module(-1, module) for module in TPU_MODULES)
                if module is not None and (row := module.index.find(name)) >= 0
            ]
            assert text in ours
            found.append(text)
    assert len(set(found)) == 17


TPU_MODULES = ("jit_f", "jit__psum", "jit_broadcast_in_dim", "jit_convert_element_type")


def test_what_the_file_does_not_hold_is_written_with_its_id():
    program = small()
    fusion = program.named["fusion"]
    fusion.operand_ids.append(99)
    fusion.called_computation_ids.append(77)
    fusion.control_predecessor_ids.append(55)
    text = text_of(program, "fusion")
    assert "fusion(%p, %?99)" in text
    assert "calls=%fused, %?77" in text
    assert "control-predecessors={%?55}" in text


def test_instructions_that_take_themselves_have_texts():
    program = Program()
    one = program.add("a", "add", "f32[]")
    one.operand_ids.extend([one.id, one.id])
    one.called_computation_ids.append(1)
    assert text_of(program, "a") == "%a = f32[] add(%a, %a), calls=%main"


def test_unknown_opcodes_show_what_is_known_of_them():
    program = Program()
    one = program.add("a", "quantum-dot", "f32[2]{0}")
    one.dimensions.extend([0, 1])
    one.channel_id = 4
    one.dot_dimension_numbers.lhs_contracting_dimensions.append(1)
    assert text_of(program, "a") == (
        "%a = f32[2]{0} quantum-dot(), dimensions={0,1}, channel_id=4, "
        "lhs_contracting_dims={1}, rhs_contracting_dims={}"
    )


def test_unknown_types_and_words_are_numbers():
    program = Program()
    one = program.add("a", "fft", "f32[2]{0}")
    one.shape.element_type = 99
    one.fft_type = 12
    assert text_of(program, "a") == "%a = type99[2]{0} fft(), fft_type=12, fft_length={}"


def test_names_stay_on_their_lines():
    program = Program()
    one = program.add('a\n}\nENTRY %"evil', "custom-call", "f32[]")
    one.custom_call_target = 'x"\n<script>'
    one.metadata.op_name = "schön\t"
    [line] = text_of(program, one.name, WHOLE).splitlines()
    assert line == (
        '%a\\n}\\nENTRY %\\"evil = f32[] custom-call(), custom_call_target="x\\"\\n<script>", '
        'metadata={op_name="schön\\t"}'
    )


def test_texts_are_bounded():
    program = Program()
    one = program.add("a", "custom-call", "f32[]")
    one.backend_config = b"{" * 10**6
    many = program.add("b", "constant", "f32[1000000]{0}")
    many.literal = message("xla.LiteralProto")(f32s=[1.0] * 10**6).SerializeToString()
    assert len(text_of(program, "a")) < MOST_LETTERS + 200
    assert text_of(program, "a").endswith('{..."')
    assert text_of(program, "b") == "%b = f32[1000000]{0} constant({...})"


def test_a_long_module_ends_with_what_is_left_out():
    lines = list(module_text(Module(small().bytes()), LONG, most_letters=10))
    assert lines[-1] == "// 2 more instructions in 1 computations"
    assert sum("fusion(" in line for line in lines) == 1


def test_a_text_is_the_same_from_any_line_on():
    module = Module(small().bytes())
    lines = list(module_text(module))
    for first in range(len(lines) + 2):
        assert list(lines_from(module, first)) == lines[first:]


def test_a_tuple_in_tuples_ends():
    program = Program()
    shape = program.add("a", "tuple", "f32[]").shape
    for _ in range(40):
        shape.element_type = 13
        shape = shape.tuple_shapes.add()
    assert "..." in text_of(program, "a")


def test_damaged_constants_are_left_out():
    program = Program()
    short = program.add("a", "constant", "f32[3]{0}")
    short.literal = message("xla.LiteralProto")(f32s=[1.0]).SerializeToString()
    program.add("b", "constant", "f32[3]{0}").literal = b"\xff\xff\xff"
    program.add("c", "constant", "f32[3]{0}")
    program.add("d", "constant", "f32[3]{0}").shape.dimensions[0] = -3
    for name in "abcd":
        assert text_of(program, name).endswith("constant({...})") or name == "d"


@pytest.mark.parametrize(
    ("dtype", "field", "held", "text"),
    [
        ("BF16", "bf16s", b"\x80\x3f\x7f\xbf", "{1, -0.9961}"),
        ("F16", "f16s", struct.pack("<2e", 1.5, 65504), "{1.5, 65504}"),
        ("F8E5M2", "f8e5m2s", bytes([0x3C, 0xFC]), "{1, -inf}"),
        ("F8E4M3FN", "f8e4m3fns", bytes([0x7E, 0x7F]), "{448, nan}"),
        ("F8E4M3FNUZ", "f8e4m3fnuzs", bytes([0x7F, 0x80]), "{240, nan}"),
        ("F8E8M0FNU", "f8e8m0fnus", bytes([127, 255]), "{1, nan}"),
        ("F4E2M1FN", "f4e2m1fns", bytes([0x7, 0x9]), "{6, -0.5}"),
        ("S4", "s4s", bytes([0x8, 0xF]), "{-8, -1}"),
        ("U4", "u4s", bytes([0x8, 0xF]), "{8, 15}"),
        ("S16", "s16s", struct.pack("<2h", -2, 3), "{-2, 3}"),
        ("F64", "f64s", [0.1, 1 / 3], "{0.1, 0.33333333333333331}"),
        ("F32", "f32s", [0.1, 1 / 3], "{0.1, 0.333333343}"),
        ("C64", "c64s", [1.0, 2.0, 0.5, -1.0], "{(1, 2), (0.5, -1)}"),
        ("PRED", "preds", [True, False], "{1, 0}"),
    ],
)
def test_elements_have_the_digits_that_tell_them_apart(
    dtype: str, field: str, held: object, text: str
):
    literal = message("xla.LiteralProto")(**{field: held}).SerializeToString()
    assert literal_text(literal, shape_proto(dtype, 2), 10) == text


def test_arrays_nest():
    literal = message("xla.LiteralProto")(s32s=range(8)).SerializeToString()
    assert literal_text(literal, shape_proto("S32", 2, 2, 2), 10) == (
        "{ { { 0, 1 }, { 2, 3 } }, { { 4, 5 }, { 6, 7 } } }"
    )
    assert literal_text(literal, shape_proto("S32", 2, 2, 2), 7) == "{...}"
    assert literal_text(b"", shape_proto("S32", 0), 7) == "{}"


def shape_proto(dtype: str, *sizes: int) -> Any:
    shape = message("xla.ShapeProto")(dimensions=sizes)
    shape.element_type = (
        shape.DESCRIPTOR.fields_by_name["element_type"].enum_type.values_by_name[dtype].number
    )
    return shape


def test_the_time_of_a_text_is_linear_in_the_program():
    def prepare(count: int) -> Callable[[], object]:
        program = Program()
        program.add("p", "parameter", "f32[8]{0}")
        for number in range(count):
            program.add(f"a.{number}", "add", "f32[8]{0}", "p", "p")
        module = Module(program.bytes())
        return lambda: sum(1 for _ in module_text(module))

    assert is_linear(prepare, 8000)


@pytest.mark.parametrize(
    ("text", "is_braced"),
    [
        ("{}", True), ('{"a": "}"}', True), ('{"a\\"}": {"b": "\\\\"}}', True), ("{a = {b}}", True),
        ("{", False), ("{}}", False), ("{} ", False), ("{}{}", False), ('{}"}', False),
        ('{"}', False), ('{"\\"}', False), ('{"\\', False), ("a{}", False), ("{\n}", False),
    ],
)  # fmt: skip
def test_one_pair_of_braces_needs_no_quotes(text, is_braced):
    assert (value_text(text) == text) == is_braced


def test_quotes_that_never_end_take_linear_time():
    texts = ['{"' + '\\"' * (2**15 - 8), '{"' + '"' * (2**16 - 8), "{" * 2**16]
    assert all(value_text(text) != text for text in texts)
