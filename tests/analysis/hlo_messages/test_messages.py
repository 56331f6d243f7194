"""Messages as columns say what protobuf's own parser says."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kernels.interpreted import checked_kernels
from traces.memory.memory_plans import train_step

from tbprof._pb import message
from tbprof.analysis.hlo_messages.message_fields import DamagedMessage
from tbprof.analysis.hlo_messages.messages import Messages

NUMBERS = st.sampled_from([0, 1, 127, 128, -1, 2**40, 2**63 - 1, -(2**63)])
TEXTS = st.sampled_from(["", "a", "Δ", "x" * 300])


@st.composite
def assignments(draw: Any) -> Any:
    """Any buffers, in places of any allocations."""
    made = message("xla.BufferAssignmentProto")()
    for _ in range(draw(st.integers(0, 4))):
        one = made.logical_buffers.add(id=draw(NUMBERS), size=draw(NUMBERS))
        if draw(st.booleans()):
            one.defined_at.instruction_name = draw(TEXTS)
            one.defined_at.shape_index.extend(draw(st.lists(NUMBERS, max_size=3)))
    for _ in range(draw(st.integers(0, 3))):
        allocation = made.buffer_allocations.add(is_tuple=draw(st.booleans()), color=draw(NUMBERS))
        for _ in range(draw(st.integers(0, 3))):
            allocation.assigned.add(logical_buffer_id=draw(NUMBERS), offset=draw(NUMBERS))
    return made


def check_equal(made: Any) -> None:
    """The columns are the fields of the message."""
    whole = Messages.one(made.SerializeToString())
    owner, buffers = whole.parts(1)
    assert owner.tolist() == [0] * len(buffers) == [0] * len(made.logical_buffers)
    assert buffers.numbers(1, 2, 99).T.tolist() == [
        [buffer.id, buffer.size, 0] for buffer in made.logical_buffers
    ]
    of, defined = buffers.parts(3)
    assert of.tolist() == [
        n for n, one in enumerate(made.logical_buffers) if one.HasField("defined_at")
    ]
    places = [made.logical_buffers[row].defined_at for row in of.tolist()]
    assert defined.texts(2) == [place.instruction_name.encode() for place in places]
    rows, index = defined.lists(3)
    assert [*zip(rows.tolist(), index.tolist(), strict=True)] == [
        (row, value) for row, place in enumerate(places) for value in place.shape_index
    ]
    allocation, assigned = whole.parts(3)[1].parts(9)
    assert [*zip(allocation.tolist(), *assigned.numbers(1, 2).tolist(), strict=True)] == [
        (row, place.logical_buffer_id, place.offset)
        for row, one in enumerate(made.buffer_allocations)
        for place in one.assigned
    ]


@given(assignments())
def test_columns_are_the_fields_of_messages(made):
    check_equal(made)


def test_kernels_do_what_their_sources_say_of_messages():
    with checked_kernels() as calls:
        check_equal(train_step().assigned)
    assert {name for name in calls if "message_columns" in name} == {
        f"programs.message_columns.{name}"
        for name in ("read_numbers", "list_bodies", "list_numbers")
    }


def test_numbers_count_unpacked_and_the_last_of_several_counts():
    # Field 3, a list: 1, 2 unpacked, then 3, 4 packed; field 1: 5, then 6; field 9 as 32 bits.
    found = Messages.one(bytes.fromhex("1801 1802 1a020304 0805 0806 4d01020304"))
    assert found.lists(3)[1].tolist() == [1, 2, 3, 4]
    assert found.numbers(1, 9).tolist() == [[6], [0]]


@pytest.mark.parametrize("content", ["08", "0a05 01", "00", "0f", "0d 01", "08 ff"])
def test_what_is_no_message_is_damaged(content):
    found = Messages.one(bytes.fromhex(content))
    for read in (found.numbers, found.parts, found.lists, found.texts):
        with pytest.raises(DamagedMessage):
            read(1)


def test_a_list_that_is_cut_off_is_damaged():
    with pytest.raises(DamagedMessage):
        Messages.one(bytes.fromhex("1a01 80")).lists(3)
