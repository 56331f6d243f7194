"""The messages: wire forms checked by hand, and a pool that shares nothing with the process."""

import subprocess
import sys
from pathlib import Path

import pytest

from tbprof._pb import message


def test_message_reads_the_wire() -> None:
    # XSpace.planes (1) { XPlane.id (1): 7, .name (2): "gpu" }, XSpace.hostnames (4): "h0"
    wire = bytes.fromhex("0a07 0807 1203677075 2202 6830".replace(" ", ""))
    space = message("tensorflow.profiler.XSpace").FromString(wire)
    assert [(plane.id, plane.name) for plane in space.planes] == [(7, "gpu")]
    assert list(space.hostnames) == ["h0"]


def test_members_of_a_oneof_differ_from_absent() -> None:
    event = message("tensorflow.profiler.XEvent").FromString(bytes.fromhex("1000"))
    assert event.WhichOneof("data") == "offset_ps"
    assert message("tensorflow.profiler.XEvent")().WhichOneof("data") is None


def test_maps_are_written_as_entries() -> None:
    plane = message("tensorflow.profiler.XPlane")()
    plane.event_metadata[5].name = "op"
    # XPlane.event_metadata (4) { key (1): 5, value (2) { XEventMetadata.name (2): "op" } }
    assert plane.SerializeToString() == bytes.fromhex("22080805120412026f70")


def test_the_same_class_on_every_call() -> None:
    assert message("xla.HloProto") is message("xla.HloProto")
    instruction = message("xla.HloInstructionProto")(name="dot.1", called_computation_ids=[3])
    assert instruction.SerializeToString() == bytes.fromhex("0a05646f742e31b2020103")


def test_fields_unknown_to_us_survive() -> None:
    # HloInstructionProto.name (1): "a", and .epsilon (24, fixed32), which is not declared
    wire = bytes.fromhex("0a0161c501 0000803f".replace(" ", ""))
    assert message("xla.HloInstructionProto").FromString(wire).SerializeToString() == wire


@pytest.mark.parametrize(
    "name",
    [
        "tensorflow.ProfileOptions",
        "tensorflow.profiler.CoreDetails",
        "tensorflow.profiler.MemoryAccessBreakdown",
        "xla.HloModuleProto",
        "xla.StackFrameIndexProto.StackFrame",
    ],
)
def test_every_file_is_in_the_set(name: str) -> None:
    assert name == message(name).DESCRIPTOR.full_name


def test_an_unknown_message_is_named() -> None:
    with pytest.raises(KeyError, match=r"xla\.Nothing"):
        message("xla.Nothing")


def test_the_process_wide_pool_stays_empty() -> None:
    program = """
import sys
from google.protobuf import descriptor_pool
import tbprof._pb
assert "google.protobuf.descriptor_pb2" not in sys.modules, "loaded before it is asked for"
tbprof._pb.message("tensorflow.profiler.XSpace")
try:
    descriptor_pool.Default().FindMessageTypeByName("tensorflow.profiler.XSpace")
except KeyError:
    print("private")
assert "tensorflow" not in sys.modules
"""
    root = Path(__file__).resolve().parent.parent
    result = subprocess.run(
        [sys.executable, "-W", "error", "-c", program], capture_output=True, text=True, cwd=root
    )
    assert (result.stdout, result.stderr) == ("private\n", "")
