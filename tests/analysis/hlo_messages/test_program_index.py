"""The index of an HLO proto says what protobuf's own parser says, and damage costs little.

Source of the fields: OpenXLA's hlo.proto.
"""

import gc
import tracemalloc
import weakref
from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
import pytest
from google.protobuf.message import DecodeError
from helpers.promises.growth import is_linear
from hypothesis import given
from hypothesis import strategies as st
from kernels.interpreted import checked_kernels
from traces.programs import Program
from xplane import fuzz, generate

from tbprof._pb import message
from tbprof.analysis.hlo.module import Module
from tbprof.analysis.hlo_messages.program_index import ProgramIndex

TEXTS = st.sampled_from(["", "a", "a.1", "Δ", "fusion", "add", "x" * 300])
IDS = st.sampled_from([0, 1, 2, 3, -1, 2**40, 2**63 - 1, -(2**63), 127, 128])
SHAPES = st.sampled_from(["f32[2,3]{1,0}", "bf16[8]{0:T(8,128)S(5)}", "s32[]"])


@st.composite
def protos(draw: Any) -> bytes:
    """Any computations and instructions: names and ids repeat, dangle, and form circles."""
    made = message("xla.HloProto")()
    module = made.hlo_module
    module.name, module.entry_computation_id = draw(TEXTS), draw(IDS)
    for _ in range(draw(st.integers(0, 3))):
        computation = module.computations.add(
            name=draw(TEXTS), id=draw(IDS), root_id=draw(IDS),
            is_fusion_computation=draw(st.booleans()), execution_thread=draw(TEXTS),
        )  # fmt: skip
        for _ in range(draw(st.integers(0, 4))):
            one = computation.instructions.add(
                name=draw(TEXTS), opcode=draw(TEXTS), id=draw(IDS), parameter_number=draw(IDS),
                operand_ids=draw(st.lists(IDS, max_size=3)),
                called_computation_ids=draw(st.lists(IDS, max_size=2)),
            )  # fmt: skip
            one.metadata.op_name = draw(TEXTS)
            for size in draw(st.lists(IDS, max_size=2)):
                one.shape.dimensions.append(size)
            if draw(st.booleans()):
                one.backend_config = b"\x0a\x0b"
    return bytes(made.SerializeToString())


def parsed(blob: bytes) -> Any | None:
    """What protobuf makes of it, None if it refuses."""
    try:
        return message("xla.HloProto").FromString(blob).hlo_module
    except DecodeError:
        return None


def check_equal(blob: bytes, expected: Any) -> None:
    """The index and the module of it say what the parsed module says."""
    module = Module(blob)
    index = module.index
    assert index.is_whole
    assert (index.name, index.entry_id) == (expected.name, expected.entry_computation_id)
    header = type(expected)()
    header.CopyFrom(expected)
    header.ClearField("computations")
    assert module.header == header
    assert [
        (part.id, part.root_id, part.name, part.execution_thread) for part in module.computations()
    ] == [
        (part.id, part.root_id, part.name, part.execution_thread) for part in expected.computations
    ]
    protos = [part for one in expected.computations for part in one.instructions]
    assert list(module.instructions()) == protos
    for found, computation in zip(module.computations(), expected.computations, strict=True):
        assert list(found.instructions) == list(computation.instructions)
    by_id = {part.id: part for part in protos}
    by_name = {part.name: part for part in protos}
    for name, part in by_name.items():
        assert module.find(name) == part
    for number, part in by_id.items():
        assert module.message(index.ids.row(number)) == part
    assert module.find("no such name") is None
    for row, part in enumerate(protos):
        assert module.opcode(row) == part.opcode
        operands = [by_id[number] for number in part.operand_ids if number in by_id]
        assert [module.message(operand) for operand in module.operand_rows(row)] == operands
        called = [number for number in part.called_computation_ids if module.computation(number)]
        assert [one.id for one in module.called_by(part)] == called
        in_column = index.instructions.parameter[row]
        assert in_column == (part.parameter_number if 0 <= part.parameter_number < 2**31 else -1)
    for computation in module.computations():
        for part in protos:
            users = [row for row in computation.rows if part.id in module.message(row).operand_ids]
            of_part = module.users_of(index.ids.row(part.id))
            assert [row for row in of_part if row in computation.rows] == users


def check_bounds(blob: bytes) -> None:
    """Whatever the bytes say, what is found lies within them and can be asked for."""
    module = Module(blob)
    for row, proto in enumerate(module.instructions()):
        assert proto.opcode == module.opcode(row) or "\ufffd" in module.opcode(row)
        module.operand_rows(row)
        module.called_by(proto)
        module.shapes.of(row)
        module.instruction(proto.name)
    for computation in module.computations():
        module.root_row(computation.row)
        assert computation.program_shape is not None
        module.rows_in_order(computation.row)
    assert len(module.scheduled_rows()) <= len(module.instructions())
    assert module.header is not None
    for ranges in (module.index.instructions.message, module.index.instructions.name):
        assert ((ranges >= 0) & (ranges <= len(blob))).all()


@given(protos())
def test_the_index_says_what_the_parser_says(blob: bytes):
    check_equal(blob, parsed(blob))


@given(protos(), st.integers(0, 2**32))
def test_wounded_protos_are_read_as_far_as_they_are_whole(blob: bytes, seed: int):
    wounded = fuzz.mutate(Random(seed), blob, blob)
    expected = parsed(wounded)
    if expected is not None:
        check_equal(wounded, expected)
    check_bounds(wounded)


def test_the_kernels_do_what_their_sources_say():
    program = Program()
    program.add("p", "parameter", "f32[8]")
    program.add("x", "fusion", "(f32[8], s32[])", "p", "p", calls="inside")
    blob = program.bytes()
    with checked_kernels() as calls:
        for seed in range(60):
            ProgramIndex(fuzz.mutate(Random(seed), blob, blob) if seed else blob).find("x")
    assert calls["programs.program_scan.scan_program"] == 120
    assert calls["programs.name_table.find_name"] == 60


def field(number: int, content: bytes) -> bytes:
    return generate.varint(number << 3 | 2) + generate.varint(len(content)) + content


def test_a_proto_that_is_cut_off_yields_the_instructions_before_the_cut():
    program = Program()
    for number in range(20):
        program.add(f"a.{number}", "add", "f32[8]")
    blob = program.bytes()
    whole = ProgramIndex(blob)
    ends = whole.instructions.message[1]
    for cut in range(0, len(blob), 7):
        index = ProgramIndex(blob[:cut])
        assert index.instructions.id.size == (ends <= cut).sum()
        assert not index.is_whole or cut == 0
    assert whole.is_whole


def test_an_instruction_that_is_damaged_is_left_out_and_no_other():
    parts = [field(1, b"a") + field(2, b"add"), field(1, b"b") + b"\xff" * 12, field(1, b"c")]
    blob = field(1, field(3, b"".join(field(2, part) for part in parts)))
    index = ProgramIndex(blob)
    assert not index.is_whole
    assert [index.find(name) for name in "abc"] == [0, -1, 1]


def test_what_is_damaged_inside_an_instruction_costs_its_details_alone():
    """The shape is not a message: name, opcode and operands are known all the same."""
    part = field(1, b"a") + field(2, b"add") + field(3, b"\xff") + field(36, b"\x05\x07")
    module = Module(field(1, field(3, field(2, part))))
    proto = module.message(0)
    assert (proto.opcode, list(proto.operand_ids)) == ("add", [5, 7])
    assert module.shapes.of(0).shapes == ()


def chain(rows: int, ids: Callable[[int], int], operands: Callable[[int], int]) -> bytes:
    """Instructions of one name, each with one operand."""
    out = bytearray()
    for index in range(rows):
        part = field(1, b"x") + b"\x98\x02" + generate.varint(ids(index))
        out += field(2, part + b"\xa0\x02" + generate.varint(operands(index)))
    return field(1, field(3, bytes(out)))


def read(content: bytes) -> None:
    module = Module(content)
    assert module.find("x") is not None
    assert module.find("y") is None
    module.scheduled_rows()
    module.users_of(0)


@pytest.mark.parametrize(
    ("ids", "operands"),
    [
        (lambda _: 7, lambda _: 7),
        (lambda at: at, lambda at: at ^ 1),
        (lambda at: at, lambda at: 2**50 + at),
        (lambda at: at << 32, lambda _: 0),
    ],
    ids=["one id", "circles", "dangling", "one operand"],
)
def test_time_grows_with_the_number_of_instructions(
    ids: Callable[[int], int], operands: Callable[[int], int]
):
    def prepare(rows: int) -> Callable[[], object]:
        content = chain(rows, ids, operands)
        return lambda: read(content)

    assert is_linear(prepare, 64_000)


def test_a_million_instructions_are_bounded():
    """The shortest possible: empty ones of 2 bytes each, and such of one id and name."""
    for part in (b"\x12\x00", field(2, field(1, b"x") + b"\x98\x02\x07\xa0\x02\x07")):
        content = field(1, field(3, part * 1_000_000))
        tracemalloc.start()
        module = Module(content)
        assert len(module.scheduled_rows()) == len(module.instructions()) == 1_000_000
        module.find("x")
        module.users_of(0)
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert most < 160 * 2**20


def test_memory_is_a_small_multiple_of_a_programs_size():
    """Of instructions as XLA writes them, of 160 bytes or more: less than twice the proto."""
    program = Program()
    program.add("p", "parameter", "bf16[64,128]{1,0:T(8,128)(2,1)}")
    for number in range(3000):
        program.add(
            f"multiply_add_fusion.{number}", "multiply", "bf16[64,128]{1,0:T(8,128)(2,1)}", "p",
            op=f"jit(train_step)/jit(main)/transformer/layer_{number % 96}/attention/mul",
        )  # fmt: skip
    blob = program.bytes()
    Module(blob).find("p")
    tracemalloc.start()
    module = Module(blob)
    module.find("p")
    assert len(module.scheduled_rows()) == 3001
    assert np.asarray(module.users_of(0)).size == 3000
    kept, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert kept < len(blob)
    assert most < 2 * len(blob)


def test_a_program_is_freed_without_collecting_garbage() -> None:
    program = Program()
    program.add("p", "parameter", "f32[4]{0}")
    module = Module(program.bytes())
    assert module.find("p") is not None
    assert module.shapes.of(0).bytes == 16
    kept = weakref.ref(module)
    gc.disable()
    try:
        del module
        left = kept()
    finally:
        gc.enable()
    assert left is None
