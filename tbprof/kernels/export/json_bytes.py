"""Texts and numbers as JSON, written into byte buffers.

A writer takes the buffer and the current offset, and returns the offset after its output. The
caller ensures that there is room. Source: RFC 8259.
"""

import cython
from cython.cimports.libc.string import memcpy
from cython.cimports.tbprof.kernels.codes import (
    BACKSLASH,
    BRACE,
    COMMA,
    EXACT,
    INT64,
    LEAST,
    MINUS,
    NEWLINE,
    POINT,
    PS_PER_US,
    QUOTE,
    RETURN,
    ZERO,
)
from cython.cimports.tbprof.kernels.types import Bytes, Ints, OutBytes, i64


@cython.final
@cython.cclass
class Texts:
    """Concatenated texts: number i is `text[first[i]:first[i + 1]]`."""

    def __init__(self, text: Bytes, first: Ints) -> None:
        self.text = text
        self.first = first

    def say(self, number, out, at):
        """Writes the text of a number."""
        return copy_bytes(self.text, self.first[number], self.first[number + 1], out, at)


def copy_bytes(text, first, last, out, at):
    """Writes the bytes [first, last) of `text` as they are."""
    if last > first:
        memcpy(cython.address(out[at]), cython.address(text[first]), last - first)
    return at + last - first


@cython.locals(pos=i64, plain=i64, size=i64, is_character=cython.bint)
def write_text(text, first, last, out, at):
    """Writes the bytes [first, last) of `text` as a string, U+FFFD for invalid UTF-8."""
    out[at] = QUOTE
    at += 1
    pos = first
    while pos < last:
        plain = pos
        while pos < last and _is_plain(text[pos]):
            pos += 1
        at = copy_bytes(text, plain, pos, out, at)
        if pos == last:
            break
        if text[pos] < 0x80:
            at = _write_escape(text[pos], out, at)
            pos += 1
            continue
        size, is_character = _sequence(text, pos, last)
        if is_character:
            at = copy_bytes(text, pos, pos + size, out, at)
        else:
            out[at] = 0xEF
            out[at + 1] = 0xBF
            out[at + 2] = 0xBD
            at += 3
        pos += size
    out[at] = QUOTE
    return at + 1


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _is_plain(byte: cython.uchar) -> cython.bint:
    return 32 <= byte < 0x80 and byte != QUOTE and byte != BACKSLASH


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
@cython.locals(short=i64)
def _write_escape(byte: i64, out: OutBytes, at: i64) -> i64:
    """A quote, a backslash or a control character."""
    out[at] = BACKSLASH
    short = 0
    if byte == 8:
        short = 98  # b
    elif byte == 9:
        short = 116  # t
    elif byte == 10:
        short = 110  # n
    elif byte == 12:
        short = 102  # f
    elif byte == 13:
        short = 114  # r
    elif byte >= 32:
        short = byte
    if short:
        out[at + 1] = short
        return at + 2
    out[at + 1] = 117  # u
    out[at + 2] = ZERO
    out[at + 3] = ZERO
    out[at + 4] = ZERO + (byte >> 4)
    out[at + 5] = ZERO + (byte & 15) if byte & 15 < 10 else 87 + (byte & 15)
    return at + 6


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
@cython.locals(lead=i64, low=i64, high=i64, more=i64, step=i64)
def _sequence(text: Bytes, at: i64, last: i64) -> tuple[i64, cython.bint]:
    """(bytes, whether they are a character) of what begins at `at` with a byte over 127.

    Invalid bytes are combined as far as they could begin a character, as in Python's decoder.
    Source: The Unicode Standard, section 3.9, U+FFFD substitution.
    """
    lead = text[at]
    low = 0x80
    high = 0xBF
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
        low = 0x80
        high = 0xBF
    return more + 1, True


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
@cython.locals(digits=i64, rest=i64, place=i64)
def _write_natural(value: i64, out: OutBytes, at: i64) -> i64:
    """Writes an integer from 0 to 2^63 - 1, without quotes."""
    digits = 1
    rest = value
    while rest >= 10:
        rest //= 10
        digits += 1
    for place in range(digits):
        out[at + digits - 1 - place] = ZERO + value % 10
        value //= 10
    return at + digits


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
@cython.locals(half=i64, tens=i64)
def _write_unsigned(bits: i64, out: OutBytes, at: i64) -> i64:
    """Writes 64 bits as an unsigned integer, without quotes."""
    if bits >= 0:
        return _write_natural(bits, out, at)
    half = (bits >> 1) & ~LEAST
    tens = half // 5
    at = _write_natural(tens, out, at)
    out[at] = ZERO + 2 * (half - 5 * tens) + (bits & 1)
    return at + 1


@cython.locals(is_negative=cython.bint, in_quotes=cython.bint)
def write_integer(kind, bits, out, at):
    """Writes an INT64 or UINT64 stat, in quotes if a double cannot represent it."""
    is_negative = kind == INT64 and bits < 0
    in_quotes = bits > EXACT or bits < (-EXACT if is_negative else 0)
    if in_quotes:
        out[at] = QUOTE
        at += 1
    if is_negative:
        out[at] = MINUS
        at += 1
        if bits > LEAST:  # whose bits are its magnitude
            bits = -bits
    at = _write_unsigned(bits, out, at)
    if in_quotes:
        out[at] = QUOTE
        at += 1
    return at


@cython.locals(rest=i64, digit=i64)
def write_us(time_ps, out, at):
    """Writes picoseconds as microseconds, exactly."""
    if time_ps < 0:
        out[at] = MINUS
        at += 1
        time_ps = -time_ps
    at = _write_natural(time_ps // PS_PER_US, out, at)
    rest = time_ps % PS_PER_US
    if rest:
        out[at] = POINT
        digit = PS_PER_US // 10
        while rest:
            at += 1
            out[at] = ZERO + rest // digit
            rest %= digit
            digit //= 10
        at += 1
    return at


@cython.locals(digits=i64, digit=i64, place=i64)
def write_hex(value, out, at):
    """Writes an integer from 0 to 2^63 - 1 as `"0x…"`, in quotes."""
    out[at] = QUOTE
    out[at + 1] = ZERO
    out[at + 2] = 120  # x
    digits = 1
    while digits < 16 and value >> 4 * digits:
        digits += 1
    for place in range(digits):
        digit = value >> 4 * (digits - 1 - place) & 15
        out[at + 3 + place] = ZERO + digit if digit < 10 else 87 + digit
    out[at + 3 + digits] = QUOTE
    return at + 4 + digits


@cython.ccall
@cython.exceptval(check=False)
@cython.locals(at=i64, event=i64)
def write_rows(
    out: OutBytes,
    thread: Ints,
    name: Ints,
    start: Ints,
    duration: Ints,
    threads: Texts,
    names_: Texts,
) -> i64:
    """Writes a row of CSV for each event; returns the number of bytes."""
    with cython.nogil:
        at = 0
        for event in range(thread.shape[0]):
            at = threads.say(thread[event], out, at)
            at = names_.say(name[event], out, at)
            at = write_us(start[event], out, at)
            out[at] = COMMA
            at = write_us(duration[event], out, at + 1)
            out[at] = RETURN
            out[at + 1] = NEWLINE
            at += 2
        return at


@cython.ccall
@cython.exceptval(check=False)
@cython.locals(at=i64, point=i64)
def write_points(out: OutBytes, time: Ints, value: Ints, words: Texts) -> i64:
    """Writes a counter's values; returns the number of bytes."""
    with cython.nogil:
        at = 0
        for point in range(time.shape[0]):
            at = words.say(0, out, at)
            at = _write_natural(value[point], out, at)
            at = words.say(1, out, at)
            at = write_us(time[point], out, at)
            out[at] = BRACE
            at += 1
        return at
