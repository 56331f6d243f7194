"""The fields of one small message, without protobuf, which takes longer to import."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

# The bytes of a message: a view if they are part of a file in memory.
Blob = bytes | memoryview

_VARINT, _EIGHT, _LENGTH, _FOUR = 0, 1, 2, 5
_MOST_SHIFT = 63


class DamagedMessage(Exception):
    """Raised for bytes that are truncated, or no valid message."""


# The values of each field by number, in order.
Fields = Mapping[int, Sequence[int | bytes]]


def read_fields(message: Blob) -> Fields:
    """The numbers and bytes in a message. Raises DamagedMessage.

    Source: protobuf.dev, "Encoding". Groups, which no message of ours has, count as damage.
    """
    content = bytes(message)
    fields: dict[int, list[int | bytes]] = {}
    at, end = 0, len(content)
    try:
        while at < end:
            tag, at = _varint(content, at)
            number, kind = tag >> 3, tag & 7
            if kind == _VARINT:
                value, at = _varint(content, at)
                fields.setdefault(number, []).append(value)
            elif kind == _LENGTH:
                size, begin = _varint(content, at)
                if size < 0:  # it would lead back to bytes that were read
                    raise DamagedMessage
                at = begin + size
                fields.setdefault(number, []).append(content[begin:at])
            elif kind in (_EIGHT, _FOUR):
                at += 8 if kind == _EIGHT else 4
            else:
                raise DamagedMessage
            if number <= 0 or at > end:
                raise DamagedMessage
    except IndexError as err:
        raise DamagedMessage from err
    return fields


def _varint(content: bytes, at: int) -> tuple[int, int]:
    """(a signed number of 64 bits, where the next field begins). Raises IndexError."""
    byte = content[at]
    if byte < 0x80:
        return byte, at + 1
    value, shift = byte & 0x7F, 7
    while byte >= 0x80:
        at += 1
        byte = content[at]
        if shift > _MOST_SHIFT:
            raise DamagedMessage
        value |= (byte & 0x7F) << shift
        shift += 7
    value &= 2**64 - 1
    return value - (value >> 63 << 64), at + 1


def number_in(fields: Fields, field: int) -> int:
    """The last number in a field, 0 if the message has none."""
    value = fields[field][-1] if field in fields else 0
    return value if isinstance(value, int) else 0


def numbers_in(fields: Fields, field: int) -> list[int]:
    """The numbers in a repeated field, packed or not. Raises DamagedMessage."""
    numbers: list[int] = []
    for value in fields.get(field, ()):
        if isinstance(value, int):
            numbers.append(value)
            continue
        at = 0
        try:
            while at < len(value):
                number, at = _varint(value, at)
                numbers.append(number)
        except IndexError as err:
            raise DamagedMessage from err
    return numbers


def bytes_in(fields: Fields, field: int) -> bytes:
    """The last bytes in a field, such as a message, empty if there are none."""
    value = fields[field][-1] if field in fields else b""
    return value if isinstance(value, bytes) else b""


def messages_in(fields: Fields, field: int) -> list[Fields]:
    """The messages in a repeated field. Raises DamagedMessage."""
    return [read_fields(value) for value in fields.get(field, ()) if isinstance(value, bytes)]


def text_in(fields: Fields, field: int) -> str:
    """A text, "" if the message has none."""
    return bytes_in(fields, field).decode("utf-8", "replace")
