"""Texts and numbers as JSON, written by compiled kernels into byte buffers.

A writer takes the buffer and the place where it goes on, and returns the place after what it has
written. The caller sees to it that there is room. Source: RFC 8259.
"""

from collections.abc import Iterable
from json.encoder import encode_basestring
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tbprof.base.jit import kernel
from tbprof.events.stats import INT64

# The most bytes that one byte of a text becomes: a control character as \u0000.
WIDEST = 6
# The most bytes of a number, in quotes where a double could not hold it.
NUMBER_BYTES = 32

# Readers take numbers for doubles, which hold integers up to 2^53. Source: RFC 8259, section 6.
_EXACT = 2**53
_LEAST = -(2**63)
_PS_PER_US = 1_000_000

_QUOTE = ord('"')
_BACKSLASH = ord("\\")
_MINUS = ord("-")
_POINT = ord(".")
_ZERO = ord("0")


class Texts(NamedTuple):
    """Texts one behind the other: number i is `text[first[i]:first[i + 1]]`."""

    text: NDArray[np.uint8]
    first: NDArray[np.int64]


def joined(parts: Iterable[bytes]) -> Texts:
    """The parts as `Texts`."""
    known = list(parts)
    first = np.zeros(len(known) + 1, np.int64)
    np.cumsum([len(part) for part in known], out=first[1:])
    # Writable, as all arrays are that kernels see: they are compiled for one kind.
    return Texts(np.frombuffer(bytearray(b"".join(known)), np.uint8), first)


def quoted(text: str) -> bytes:
    """The text as a JSON string; lone surrogates become question marks."""
    return encode_basestring(text).encode("utf-8", "replace")


@kernel
def copy_text(text, first, last, out, at):  # type: ignore[no-untyped-def]
    """Writes the bytes [first, last) of `text` as they are."""
    size = last - first
    if size > 0 and first >= 0 and at >= 0:  # always, but said so it is a copy of whole words
        for byte in range(size):
            out[at + byte] = text[first + byte]
    return at + size


@kernel
def _write_escape(byte, out, at):  # type: ignore[no-untyped-def]
    """A quote, a backslash or a control character."""
    out[at] = _BACKSLASH
    short = np.int64(0)
    if byte == 8:
        short = np.int64(98)  # b
    elif byte == 9:
        short = np.int64(116)  # t
    elif byte == 10:
        short = np.int64(110)  # n
    elif byte == 12:
        short = np.int64(102)  # f
    elif byte == 13:
        short = np.int64(114)  # r
    elif byte >= 32:
        short = byte
    if short:
        out[at + 1] = short
        return at + 2
    out[at + 1] = 117  # u
    out[at + 2] = _ZERO
    out[at + 3] = _ZERO
    out[at + 4] = _ZERO + (byte >> 4)
    out[at + 5] = _ZERO + (byte & 15) if byte & 15 < 10 else 87 + (byte & 15)
    return at + 6


@kernel
def _sequence(text, at, last):  # type: ignore[no-untyped-def]
    """(bytes, whether they are a character) of what begins at `at` with a byte over 127.

    Bytes that are none are taken together as far as a character could begin so, as Python's
    decoder replaces them. Source: The Unicode Standard, section 3.9, U+FFFD substitution.
    """
    lead = text[at]
    low, high = 0x80, 0xBF
    if 0xC2 <= lead <= 0xDF:
        more = 1
    elif 0xE0 <= lead <= 0xEF:
        more = 2
        if lead == 0xE0:
            low = 0xA0
        elif lead == 0xED:  # surrogates
            high = 0x9F
    elif 0xF0 <= lead <= 0xF4:
        more = 3
        if lead == 0xF0:
            low = 0x90
        elif lead == 0xF4:
            high = 0x8F
    else:
        return 1, False
    for step in range(1, more + 1):
        if at + step >= last or not low <= text[at + step] <= high:
            return step, False
        low, high = 0x80, 0xBF
    return more + 1, True


@kernel
def _is_plain(byte):  # type: ignore[no-untyped-def]
    return 32 <= byte < 0x80 and byte != _QUOTE and byte != _BACKSLASH


@kernel
def write_text(text, first, last, out, at):  # type: ignore[no-untyped-def]
    """Writes the bytes [first, last) of `text` as a string, U+FFFD for invalid UTF-8."""
    out[at] = _QUOTE
    at += 1
    pos = first
    while pos < last:
        plain = pos
        while pos < last and _is_plain(text[pos]):
            pos += 1
        at = copy_text(text, plain, pos, out, at)
        if pos == last:
            break
        if text[pos] < 0x80:
            at = _write_escape(np.int64(text[pos]), out, at)
            pos += 1
            continue
        size, is_character = _sequence(text, pos, last)
        if is_character:
            at = copy_text(text, pos, pos + size, out, at)
        else:
            out[at] = 0xEF
            out[at + 1] = 0xBF
            out[at + 2] = 0xBD
            at += 3
        pos += size
    out[at] = _QUOTE
    return at + 1


@kernel
def write_natural(value, out, at):  # type: ignore[no-untyped-def]
    """Writes an integer from 0 to 2^63 - 1, without quotes."""
    digits = 1
    rest = value
    while rest >= 10:
        rest //= 10
        digits += 1
    for place in range(digits):
        out[at + digits - 1 - place] = _ZERO + value % 10
        value //= 10
    return at + digits


@kernel
def write_unsigned(bits, out, at):  # type: ignore[no-untyped-def]
    """Writes 64 bits as an unsigned integer, without quotes."""
    if bits >= 0:
        return write_natural(bits, out, at)
    half = (bits >> 1) & (2**63 - 1)
    tens = half // 5
    at = write_natural(tens, out, at)
    out[at] = _ZERO + 2 * (half - 5 * tens) + (bits & 1)
    return at + 1


@kernel
def write_integer(kind, bits, out, at):  # type: ignore[no-untyped-def]
    """Writes an INT64 or UINT64 stat, in quotes where a double could not hold it."""
    is_negative = kind == INT64 and bits < 0
    in_quotes = bits > _EXACT or bits < (-_EXACT if is_negative else 0)
    if in_quotes:
        out[at] = _QUOTE
        at += 1
    if is_negative:
        out[at] = _MINUS
        at += 1
        if bits > _LEAST:  # whose bits are those of its magnitude
            bits = -bits
    at = write_unsigned(bits, out, at)
    if in_quotes:
        out[at] = _QUOTE
        at += 1
    return at


@kernel
def write_us(time_ps, out, at):  # type: ignore[no-untyped-def]
    """Writes picoseconds as microseconds, exactly."""
    if time_ps < 0:
        out[at] = _MINUS
        at += 1
        time_ps = -time_ps
    at = write_natural(time_ps // _PS_PER_US, out, at)
    rest = time_ps % _PS_PER_US
    if rest:
        out[at] = _POINT
        digit = _PS_PER_US // 10
        while rest:
            at += 1
            out[at] = _ZERO + rest // digit
            rest %= digit
            digit //= 10
        at += 1
    return at


@kernel
def write_hex(value, out, at):  # type: ignore[no-untyped-def]
    """Writes an integer from 0 to 2^63 - 1 as `"0x…"`, in quotes."""
    out[at] = _QUOTE
    out[at + 1] = _ZERO
    out[at + 2] = 120  # x
    digits = 1
    while value >> 4 * digits and digits < 16:
        digits += 1
    for place in range(digits):
        digit = value >> 4 * (digits - 1 - place) & 15
        out[at + 3 + place] = _ZERO + digit if digit < 10 else 87 + digit
    out[at + 3 + digits] = _QUOTE
    return at + 4 + digits
