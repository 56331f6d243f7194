"""Damaged, hostile and foreign files: what can be read is read, and the loss is reported."""

import gzip
import zipfile
from collections.abc import Callable, Sequence
from io import BytesIO
from random import Random

import numpy as np
import pytest
from google.protobuf.message import DecodeError
from helpers.promises.growth import seconds
from hypothesis import given, settings
from hypothesis import strategies as st
from traces import Ref, draw, drawn_space, message_of, space_of
from xplane import fuzz
from xplane.generate import body, scalar, varint

from tbprof.base.errors import BadTrace
from tbprof.events.space import Space
from tbprof.xplane.damage import MOST_PER_KIND
from tbprof.xplane.reader import MOST_LINES, MOST_PLANES

TRACE = draw(
    {
        "/device:GPU:0": """
            Stream #1(Compute) |mmm.nn
                               |.a....
        """,
        "/host:CPU": "python |aa.mm",
    },
    names={"m": "matmul", "n": "a/MatMul:MatMul"},
    stats={
        "m": {"tf_op": "a/MatMul:MatMul", "kernel_details": Ref("regs:32 grid:1,1,1 block:1,1,1")}
    },
    hostnames=["h0"],
)


def _notices(space: Space) -> list:
    return [*space.notices, *(notice for plane in space.planes for notice in plane.notices)]


def _is_valid(content: bytes) -> bool:
    try:
        message_of(content)
    except DecodeError:
        return False
    return True


def test_every_prefix_is_read_in_part_or_refused() -> None:
    for end in range(1, len(TRACE)):
        space = fuzz.read(TRACE[:end])
        assert space is None or _notices(space) or _is_valid(TRACE[:end])


def test_every_flipped_bit_is_survived() -> None:
    whole = draw(
        {"/device:GPU:0": "s |m", "/host:CPU": "t |m"},
        names={"m": "x"},
        stats={"m": {"tf_op": "x:X", "kernel_details": Ref("r:1")}},
        hostnames=["h"],
    )
    for index in range(len(whole)):
        for bit in range(8):
            raw = bytearray(whole)
            raw[index] ^= 1 << bit
            fuzz.read(bytes(raw))


def test_events_before_a_cut_are_read() -> None:
    """Cut in the last event of the first line: the others, and the name of the line, are there."""
    whole = space_of(TRACE).planes[0].events()
    ends = int(whole.source[-1])

    space = space_of(TRACE[: ends + 2])

    (plane,) = space.planes
    events = plane.events()
    assert plane.name == "/device:GPU:0"
    assert plane.strings[int(plane.lines.name[0])] == "Stream #1(Compute)"
    assert events.start_ps.tolist() == whole.start_ps.tolist()[:-1]
    # Said once, of the file: what the plane lacks follows from it.
    assert not plane.notices
    [notice] = space.notices
    assert notice.code == "file_cut"
    assert (
        f"at byte {ends + 2:,} of at least {len(TRACE) - after_first_plane():,}" in notice.message
    )
    assert notice.hint.startswith("copy the file again")


def after_first_plane() -> int:
    """The bytes of TRACE behind its first plane."""
    space = message_of(TRACE)
    del space.planes[0]
    return len(space.SerializeToString())


@pytest.mark.parametrize("size", [1, 2, 3])
def test_a_file_that_ends_inside_the_first_record_is_said_to(size: int) -> None:
    """Its tag, or a length of two bytes, alone: nobody knows how long it should be."""
    record = varint(1 << 3 | 2) + varint(300) + bytes(300)
    known = "" if size < 3 else " of at least 303"
    with pytest.raises(BadTrace, match=f"the file ends early, at byte {size}{known},") as raised:
        space_of(record[:size])
    assert raised.value.hint.startswith("copy the file again")


def test_what_is_damaged_at_its_end_was_not_cut_off() -> None:
    space = space_of(TRACE + b"\xff" * 40)
    assert [notice.code for notice in space.notices] == ["file_damaged"]
    assert space.ends_early == ""
    assert space_of(TRACE).ends_early == ""


@pytest.mark.parametrize(
    "content",
    [
        b"# a text\n" * 100,
        b"\n" * 1000,
        b"\n\x05hello\n\x05world",
        b"{\"displayTimeUnit\": \"ns\"}",
        b"<html><body>404</body></html>",
        b"\x89PNG\r\n\x1a\n" + bytes(range(256)),
        gzip.compress(TRACE),
        bytes(1000),
        b"\xff" * 1000,
        Random(3).randbytes(5000),
    ],
)  # fmt: skip
def test_another_kind_of_file_is_refused(content: bytes) -> None:
    with pytest.raises(BadTrace, match=r"drawn: .*\(at byte \d+\)") as raised:
        space_of(content)
    assert raised.value.hint


def test_an_archive_is_refused() -> None:
    packed = BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("host0.xplane.pb", TRACE)
    with pytest.raises(BadTrace):
        space_of(packed.getvalue())


def test_an_empty_file_is_refused() -> None:
    with pytest.raises(BadTrace, match="empty"):
        space_of(b"")


def test_a_trace_without_planes_is_refused() -> None:
    with pytest.raises(BadTrace, match="no planes"):
        space_of(body(4, "h0"))


def test_a_file_copied_as_text_is_named_as_such() -> None:
    big = draw({"/host:CPU": "a |" + "ab" * 200}, start_ns=10**9)
    mangled = big.decode("utf-8", "replace").encode()

    assert b"\xef\xbf\xbd" in mangled[:100]
    with pytest.raises(BadTrace, match="EF BF BD") as raised:
        space_of(mangled)
    assert "binary" in raised.value.hint


def test_a_replaced_character_in_a_name_is_no_mangled_file() -> None:
    content = draw({"/host:CPU": "l\ufffd |" + "ab" * 200}, start_ns=10**9)

    space = space_of(content[:-40])

    assert space.planes[0].name in ("/host:CPU", "")
    assert _notices(space)


@pytest.mark.parametrize("length", [2**31, 2**32, 2**62, 2**63 - 1, 2**63, 2**64 - 1])
def test_lengths_beyond_the_end_are_cuts(length: int) -> None:
    for number in (1, 3, 4, 5, 6):
        inside = varint(number << 3 | 2) + varint(length)
        space = fuzz.read(TRACE + inside)
        assert space is not None
        assert _notices(space)
        fuzz.read(TRACE + body(1, body(2, "p") + inside))
        fuzz.read(TRACE + body(1, body(2, "p") + body(3, scalar(1, 1) + body(4, inside) + inside)))


def test_overlong_varints_are_read_as_protobuf_reads_them() -> None:
    event = b"\x08\x81\x80\x80\x00" + b"\x10" + b"\x85" + b"\x80" * 8 + b"\x00" + scalar(3, 7)
    line = body(3, scalar(1, 4) + body(4, event))

    events = space_of(body(1, body(2, "p") + line)).planes[0].events()

    assert (events.start_ps.tolist(), events.duration_ps.tolist()) == ([5], [7])


def test_a_varint_of_eleven_bytes_loses_its_event_alone() -> None:
    bad = body(4, b"\x10" + b"\x81" * 10 + b"\x01")
    good = body(4, scalar(2, 3))

    (plane,) = space_of(body(1, body(2, "p") + body(3, good + bad + good))).planes

    assert plane.events().start_ps.tolist() == [3, 3]
    assert "1 damaged events left out (first at byte" in plane.notices[0].message


@pytest.mark.parametrize(
    "name", ["a\0b", "<script>alert(1)</script>", "../../etc/passwd", "x" * 2**20, "\u202e", "é𝄞"]
)
def test_names_are_kept_as_they_are(name: str) -> None:
    (plane,) = drawn_space(
        {"/host:CPU": "l |m"}, names={"m": name}, stats={"m": {name: name}}
    ).planes

    assert plane.strings[int(plane.types.name[0])] == name
    assert plane.details(int(plane.events().source[0])) == [(name, name)]
    assert not plane.notices


def test_invalid_utf8_becomes_replacement_characters() -> None:
    entry = scalar(1, 1) + body(2, body(2, b"\xff\xfem"))
    line = body(3, body(2, b"l\x80") + body(4, scalar(1, 1)))
    key = body(5, scalar(1, 1) + body(2, body(2, b"k\xc0")))
    stat = body(6, scalar(1, 1) + body(5, b"v\xff"))

    (plane,) = space_of(body(1, body(2, b"p\xff") + line + body(4, entry) + key + stat)).planes

    assert plane.name == "p\ufffd"
    assert plane.strings[int(plane.lines.name[0])] == "l\ufffd"
    assert plane.strings[int(plane.types.name[0])] == "\ufffd\ufffdm"
    assert dict(plane.stats) == {"k\ufffd": "v\ufffd"}


def test_a_thousand_damaged_parts_make_few_notices() -> None:
    bad = body(3, scalar(1, 1) + body(4, b"\x10") + b"\x22\x7f")
    lines = b"".join(
        body(3, scalar(1, index) + body(4, b"\x10") + b"\x22\x7f") for index in range(500)
    )
    planes = [body(1, body(2, f"p{index}") + bad) for index in range(1000)]

    space = space_of(b"".join(planes) + body(1, body(2, "many") + lines))
    for plane in space.planes:
        plane.events()
        plane.events()

    codes = [notice.code for notice in _notices(space)]
    assert {code: codes.count(code) for code in codes} == {
        "line_cut": MOST_PER_KIND + 1,
        "events_damaged": MOST_PER_KIND + 1,
    }


def test_planes_and_lines_beyond_belief_are_left_out() -> None:
    space = space_of(TRACE + body(1, body(2, "p")) * (MOST_PLANES + 5))
    assert len(space.planes) == MOST_PLANES
    assert [notice.code for notice in space.notices] == ["planes_left_out"]

    lines = b"".join(body(3, scalar(1, index)) for index in range(MOST_LINES + 9))
    (plane,) = space_of(body(1, body(2, "p") + lines)).planes
    assert plane.lines.id.size == MOST_LINES
    assert [notice.code for notice in plane.notices] == ["lines_left_out"]


def test_ids_cannot_be_made_to_collide() -> None:
    """Compared with ids in order: were the hash known, these would take 400 times as long."""
    alike = [index << shift for shift in (0, 20, 44) for index in range(1, 20_001)]
    others = min(seconds(_reading_of_ids(range(1, 60_001))) for _ in range(3))
    assert seconds(_reading_of_ids(alike)) < 100 * others


def _reading_of_ids(ids: Sequence[int]) -> Callable[[], None]:
    """Reads a plane whose types have these ids; its one event is of the last."""
    entries = b"".join(body(4, scalar(1, id_) + body(2, body(2, "x"))) for id_ in ids)
    content = body(1, body(2, "p") + body(3, scalar(1, 1) + body(4, scalar(1, ids[-1]))) + entries)

    def read() -> None:
        (plane,) = space_of(content).planes
        assert plane.types.id[plane.events().type].tolist() == [ids[-1]]

    return read


def test_texts_cannot_be_made_to_collide() -> None:
    """All texts of Aa and BB have one value under the usual multiplier 31."""
    texts = [
        "".join("Aa" if index >> bit & 1 else "BB" for bit in range(15)) for index in range(2**15)
    ]
    events = b"".join(body(4, body(4, scalar(1, 1) + body(5, text))) for text in texts)
    key = body(5, scalar(1, 1) + body(2, body(2, "tf_op")))

    (plane,) = space_of(body(1, body(2, "p") + body(3, scalar(1, 1) + events) + key)).planes

    found = plane.events().stats(["tf_op"])["tf_op"].texts()
    assert np.unique(found).size == 2**15
    assert plane.strings.take(found.tolist()) == texts


def test_impossible_times_are_cut_and_told() -> None:
    line = scalar(1, 1) + scalar(3, 10**16) + body(4, scalar(3, -5))

    (plane,) = space_of(body(1, body(2, "p") + body(3, line))).planes

    assert plane.events().duration_ps.tolist() == [0]
    assert plane.lines.start_ps.tolist() == [2**57]
    assert {notice.code for notice in plane.notices} == {"times_damaged", "names_missing"}


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(content: bytes) -> None:
    if content:
        fuzz.read(content)


@pytest.mark.slow
def test_mutated_traces_are_read_or_refused() -> None:
    """Longer runs are recorded in `fuzz.py`."""
    counts = fuzz.run(1_200, seed=1, pages=3)

    assert counts["inputs"] == 1_200
    assert counts["read"] > counts["refused"]
