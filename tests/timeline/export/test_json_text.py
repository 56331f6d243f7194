"""What the kernels write is what Python reads back."""

import json
from decimal import Decimal

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tbprof.events.stats import INT64, UINT64
from tbprof.kernels.codes import NUMBER_BYTES, WIDEST
from tbprof.kernels.export.json_bytes import write_hex, write_integer, write_text, write_us
from tbprof.timeline.export.json_text import joined, json_string


def as_array(content: bytes) -> np.ndarray:
    return np.frombuffer(bytearray(content), np.uint8)


def written(write, *arguments, room: int = NUMBER_BYTES) -> bytes:
    """What a writer writes, with a byte before it that it leaves alone, in the room it needs."""
    out = np.full(room + 1, 0xFF, np.uint8)
    end = write(*arguments, out, 1)
    assert out[0] == 0xFF
    assert 1 < end <= room + 1
    return out[1:end].tobytes()


def text(content: bytes) -> bytes:
    room = WIDEST * len(content) + 2
    return written(write_text, as_array(content), 0, len(content), room=room)


@settings(max_examples=500, deadline=None)
@given(st.one_of(st.binary(), st.text().map(str.encode)))
@example(b"\xed\xa0\x80")  # a surrogate
@example(b"\xf0\x90\x80a\xf4\x90\x80\x80\xc0\xaf\xe0\x80\xf0\x9d\x84")
@example(bytes(range(256)))
@example('"\\\b\f\n\r\t\x7f\0é…𝄞</script>'.encode())
def test_any_bytes_become_the_text_that_python_reads(content: bytes) -> None:
    found = text(content)
    assert json.loads(found.decode()) == content.decode("utf-8", "replace")


def test_all_short_sequences_are_decoded_as_python_does() -> None:
    edges = (0x00, 0x22, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC1, 0xC2, 0xDF, 0xE0, 0xE1,
             0xEC, 0xED, 0xEE, 0xEF, 0xF0, 0xF1, 0xF3, 0xF4, 0xF5, 0xFF)  # fmt: skip
    sequences = [bytes((a, b, c)) for a in edges for b in edges for c in edges]
    content = b"|".join(sequences)
    assert json.loads(text(content).decode()) == content.decode("utf-8", "replace")


def test_a_part_of_the_bytes_is_written_alone() -> None:
    content = as_array("aé…b".encode())
    assert written(write_text, content, 1, 3, room=20) == '"é"'.encode()
    assert written(write_text, content, 1, 2, room=20).decode() == '"\ufffd"'
    assert written(write_text, content, 3, 3, room=20) == b'""'


SIGNED = st.integers(-(2**63), 2**63 - 1)


@settings(deadline=None)
@given(SIGNED)
@example(-(2**63))
@example(2**63 - 1)
@example(2**53)
@example(2**53 + 1)
@example(-(2**53))
@example(-(2**53) - 1)
@example(0)
def test_integers_beyond_a_double_are_texts(value: int) -> None:
    document = json.loads(written(write_integer, INT64, np.int64(value)))
    assert document == (value if abs(value) <= 2**53 else str(value))


@settings(deadline=None)
@given(st.integers(0, 2**64 - 1))
@example(2**64 - 1)
@example(2**63)
@example(2**53 + 1)
def test_unsigned_integers(value: int) -> None:
    bits = np.array([value], np.uint64).view(np.int64)[0]
    document = json.loads(written(write_integer, UINT64, bits))
    assert document == (value if value <= 2**53 else str(value))


@settings(deadline=None)
@given(SIGNED.filter(lambda value: value > -(2**63)))
@example(-5)
@example(1_000_000)
@example(1_500_000)
@example(100_000)
@example(0)
def test_picoseconds_are_exact_microseconds(value: int) -> None:
    found = written(write_us, np.int64(value)).decode()
    assert Decimal(found) == Decimal(value) / 1_000_000
    assert json.loads(found) == value / 1_000_000
    assert not ("." in found and found.endswith("0"))


@settings(deadline=None)
@given(st.integers(0, 2**63 - 1))
@example(0)
@example(0xABC)
def test_hexadecimal_numbers(value: int) -> None:
    assert written(write_hex, np.int64(value)).decode() == f'"{value:#x}"'


@given(st.lists(st.text(st.characters(), max_size=5)))
def test_quoted_texts_one_behind_the_other(texts: list[str]) -> None:
    table = joined(map(json_string, texts))
    found = [
        json.loads(bytes(table.text[table.first[i] : table.first[i + 1]]))
        for i in range(len(texts))
    ]
    assert found == [one.encode("utf-8", "replace").decode() for one in texts]
