"""Fields of a message are those that protobuf finds."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tbprof._pb import message
from tbprof.analysis.hlo_messages.device_groups import DeviceGroups, read_device_groups
from tbprof.analysis.hlo_messages.message_fields import (
    DamagedMessage,
    bytes_in,
    number_in,
    numbers_in,
    read_fields,
    text_in,
)
from tbprof.analysis.hlo_messages.metadata import Metadata, read_metadata
from tbprof.base.records import as_dict

METADATA = st.fixed_dictionaries(
    {
        "op_name": st.text(max_size=300),
        "op_type": st.text(max_size=3),
        "source_file": st.text(max_size=3),
        "source_line": st.integers(-(2**31), 2**31 - 1),
        "size_of_generated_code_in_bytes": st.integers(-(2**63), 2**63 - 1),
        "stack_frame_id": st.integers(-1, 300),
        "deduplicated_name": st.text(max_size=3),
    }
)


@given(METADATA)
def test_metadata_is_what_protobuf_reads(values: dict[str, Any]):
    content = message("xla.OpMetadata")(**values).SerializeToString()
    expected = Metadata(**{name: values[name] for name in Metadata().__match_args__})
    assert read_metadata(content) == read_metadata(memoryview(content)) == expected
    assert number_in(read_fields(content), 8) == values["size_of_generated_code_in_bytes"]


def test_the_last_value_of_a_field_counts_and_other_fields_are_skipped():
    fields = read_fields(bytes.fromhex("0801 0802 11 0000000000000000 1d 00000000 220161 220162"))
    assert (number_in(fields, 1), text_in(fields, 4), bytes_in(fields, 4)) == (2, "b", b"b")
    assert (number_in(fields, 4), text_in(fields, 1), number_in(fields, 9)) == (0, "", 0)
    assert text_in(read_fields(b"\x0a\x01\xff"), 1) == "\ufffd"


@pytest.mark.parametrize(
    "damaged", ["08", "08ff", "0a02ff", "00", "0001", "0b", "1100", "1d00", "08" + "ff" * 10 + "01",
                "0affffffffffffffffff01", "0801 0a f5ffffffffffffffff01"],
)  # fmt: skip
def test_damage_is_reported(damaged: str):
    with pytest.raises(DamagedMessage):
        read_fields(bytes.fromhex(damaged))
    assert read_metadata(bytes.fromhex(damaged)) == Metadata()


@given(st.binary(max_size=24))
def test_what_protobuf_reads_is_not_damaged(content: bytes):
    from google.protobuf.message import DecodeError

    proto = message("xla.OpMetadata")()
    try:
        proto.ParseFromString(content)
    except DecodeError:
        return
    try:
        fields = read_fields(content)
    except DamagedMessage:
        assert any(byte & 7 in (3, 4) for byte in content)  # groups
        return
    assert text_in(fields, 2) == proto.op_name or isinstance(fields[2][-1], int)


NUMBERS = st.lists(st.integers(-(2**31), 2**31 - 1), max_size=4)
GROUPS = st.lists(NUMBERS.map(lambda ids: {"replica_ids": ids}), max_size=3)
IOTA = st.fixed_dictionaries(
    {
        "num_replica_groups": st.integers(0, 300),
        "num_devices_per_group": st.integers(0, 300),
        "iota_reshape_dims": NUMBERS,
        "iota_transpose_perm": NUMBERS,
    }
)


@given(GROUPS, GROUPS, IOTA, IOTA, st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9))))
def test_groups_are_what_protobuf_reads(
    groups: Any, listed: Any, iota: Any, other: Any, pairs: Any
):
    proto = message("xla.HloInstructionProto")(
        opcode="all-reduce",
        replica_groups=groups,
        collective_device_list={"replica_groups": listed, "iota_replica_group_list": iota},
        iota_collective_device_list=other,
        source_target_pairs=[{"source": source, "target": target} for source, target in pairs],
    )
    found = read_device_groups(read_fields(proto.SerializeToString()))
    assert [group.replica_ids for group in found.replica_groups] == [
        group["replica_ids"] for group in groups
    ]
    assert [group.replica_ids for group in found.collective_device_list.replica_groups] == [
        group["replica_ids"] for group in listed
    ]
    assert as_dict(found.collective_device_list.iota_replica_group_list) == iota
    assert as_dict(found.iota_collective_device_list) == other
    assert [tuple(pair) for pair in found.source_target_pairs] == pairs


def test_numbers_may_be_packed_and_damaged_groups_are_none():
    assert numbers_in(read_fields(bytes.fromhex("0a020102 0803 0a00")), 1) == [1, 2, 3]
    with pytest.raises(DamagedMessage):
        numbers_in({1: [b"\xff"]}, 1)
    assert read_device_groups({49: [b"\x0a"]}) == DeviceGroups()
