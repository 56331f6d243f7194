# cython: wraparound=False
"""The fields of many messages of one kind, as columns."""

import cython
from cython.cimports.tbprof.kernels.codes import LENGTH, VARINT
from cython.cimports.tbprof.kernels.types import (
    Bytes,
    Int32s,
    Ints,
    OutBytes,
    OutInt32s,
    OutInts,
    OutIntTable,
    i64,
)
from cython.cimports.tbprof.kernels.xplane.wire import (
    read_length,
    read_tag,
    read_varint,
    skip_value,
)


@cython.final
@cython.cclass
class BodyColumns:
    """Submessages [m]: the row of the message that each is in, and its byte range."""

    owner: OutInt32s
    at: OutInt32s
    end: OutInt32s

    def __init__(self, owner: OutInt32s, at: OutInt32s, end: OutInt32s) -> None:
        self.owner = owner
        self.at = at
        self.end = end


@cython.ccall
@cython.exceptval(check=False)
@cython.locals(
    at=i64, column=i64, count=i64, end=i64, number=i64, row=i64, tag=i64, value_at=i64
)  # fmt: skip
def read_numbers(buf: Bytes, begins: Int32s, ends: Int32s, field: Ints, values: OutIntTable) -> i64:
    """Fills in the varints of each `field` [k] of messages [n]; the last of a message counts.

    Returns how many messages are damaged.
    """
    with cython.nogil:
        count = 0
        for row in range(begins.shape[0]):
            at = begins[row]
            end = ends[row]
            while at >= 0 and at < end:
                tag, value_at = read_tag(buf, at, end)
                at = -1
                if value_at >= 0 and tag & 7 == VARINT:
                    number, at = read_varint(buf, value_at, end)
                    for column in range(field.shape[0]):
                        if field[column] == tag >> 3:
                            values[column, row] = number
                elif value_at >= 0:
                    at = skip_value(buf, value_at, end, tag & 7)
            if at < 0:
                count += 1
        return count


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
@cython.locals(after=i64, begin=i64, tag=i64)
def _read_field(buf: Bytes, at: i64, end: i64) -> tuple[i64, i64, i64]:
    """(tag, begin, end) of the field at `at`, without a length prefix; end is -1 if damaged."""
    tag, begin = read_tag(buf, at, end)
    if begin < 0:
        return tag, -1, -1
    if tag & 7 == LENGTH:
        begin, after = read_length(buf, begin, end)
        return tag, begin, after
    return tag, begin, skip_value(buf, begin, end, tag & 7)


@cython.ccall
@cython.exceptval(check=False)
@cython.locals(after=i64, at=i64, begin=i64, count=i64, end=i64, row=i64, tag=i64)
def list_bodies(buf: Bytes, begins: Int32s, ends: Int32s, field: i64, bodies: BodyColumns) -> i64:
    """Lists the submessages in a field of messages, by message and in order, while there is room.

    Returns their total number, -1 if a message is damaged.
    """
    with cython.nogil:
        count = 0
        for row in range(begins.shape[0]):
            at = begins[row]
            end = ends[row]
            while at < end:
                tag, begin, after = _read_field(buf, at, end)
                if after < 0:
                    return -1
                if tag == (field << 3 | LENGTH):
                    if count < bodies.owner.shape[0]:
                        bodies.owner[count] = cython.cast(cython.int, row)
                        bodies.at[count] = cython.cast(cython.int, begin)
                        bodies.end[count] = cython.cast(cython.int, after)
                    count += 1
                at = after
        return count


@cython.ccall
@cython.exceptval(check=False)
@cython.locals(
    after=i64, at=i64, begin=i64, count=i64, end=i64, number=i64, row=i64, tag=i64
)  # fmt: skip
def list_numbers(
    buf: Bytes, begins: Int32s, ends: Int32s, field: i64, owner: OutInt32s, value: OutInts
) -> i64:
    """Lists the varints of a repeated field, packed or not, like `list_bodies`."""
    with cython.nogil:
        count = 0
        for row in range(begins.shape[0]):
            at = begins[row]
            end = ends[row]
            while at < end:
                tag, begin, after = _read_field(buf, at, end)
                if after < 0:
                    return -1
                at = after
                if tag >> 3 != field or (tag & 7 != LENGTH and tag & 7 != VARINT):
                    continue
                while begin < after:
                    number, begin = read_varint(buf, begin, after)
                    if begin < 0:
                        return -1
                    if count < owner.shape[0]:
                        owner[count] = cython.cast(cython.int, row)
                        value[count] = number
                    count += 1
        return count


@cython.ccall
@cython.exceptval(check=False)
@cython.locals(
    after=i64, at=i64, byte=i64, count=i64, each=i64, end=i64, is_kept=cython.bint, row=i64,
    size=i64, tag=i64,
)  # fmt: skip
def copy_fields(
    buf: Bytes, begins: Int32s, ends: Int32s, left_out: Ints, content: OutBytes, copied: OutInts
) -> i64:
    """Copies messages [n] without the fields `left_out`, to content[copied[i]:copied[i + 1]].

    Returns how many messages are damaged; these are copied up to the damage.
    """
    with cython.nogil:
        count = 0
        size = 0
        for row in range(begins.shape[0]):
            at = begins[row]
            end = ends[row]
            while at < end:
                tag, _, after = _read_field(buf, at, end)
                if after < 0:
                    count += 1
                    break
                is_kept = True
                for each in range(left_out.shape[0]):
                    is_kept = is_kept and left_out[each] != tag >> 3
                if is_kept:
                    for byte in range(at, after):
                        content[size] = buf[byte]
                        size += 1
                at = after
            copied[row + 1] = size
        return count
