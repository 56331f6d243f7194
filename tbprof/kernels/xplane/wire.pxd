# cython: wraparound=False
# Protobuf's wire format, bounds-checked: varints, lengths, skipping; and the lookup of ids.
#
# Positions are byte offsets into the buffer; a position of -1 says "damaged here". Integers are
# signed: a 64-bit varint is read as two's complement. Source: protobuf.dev, "Encoding".
#
# These are compiled into each kernel that calls them: a call per byte would cost more than the byte.

from libc.string cimport memcmp

from tbprof.kernels.codes cimport (
    BEYOND, END_GROUP, FIXED32, FIXED64, GROUP, HEADER, LENGTH, MOST_FIELDS, VARINT,
)
from tbprof.kernels.types cimport Bytes, Int32s, Ints, OutBytes, i64


cdef inline (i64, i64) read_varint(Bytes buf, i64 pos, i64 end) noexcept nogil:
    """(value, next position) of the varint at `pos`; next is -1 where cut or over 10 bytes."""
    if pos < end and buf[pos] < 0x80:
        return buf[pos], pos + 1
    return read_long_varint(buf, pos, end)


cdef inline (i64, i64) read_long_varint(Bytes buf, i64 pos, i64 end) noexcept nogil:
    # Unsigned: a bit that leaves on the left is not an overflow.
    cdef unsigned long long value = 0
    cdef unsigned long long byte
    cdef int shift = 0
    while pos < end and shift < 70:
        byte = buf[pos]
        pos += 1
        # Of the tenth byte the lowest bit alone is left.
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return <i64>value, pos
        shift += 7
    return 0, -1


cdef inline (i64, i64) read_tag(Bytes buf, i64 pos, i64 end) noexcept nogil:
    """(tag, position of its value) at `pos`; a position of -1 where it is damaged."""
    cdef i64 tag, value_at
    tag, value_at = read_varint(buf, pos, end)
    if tag >> 3 <= 0 or tag >> 3 > MOST_FIELDS:
        return tag, -1
    return tag, value_at


cdef inline (i64, i64) read_length(Bytes buf, i64 pos, i64 end) noexcept nogil:
    """(first, last) byte offsets of a length-delimited body at `pos`; first is -1 where damaged."""
    cdef i64 length, body
    length, body = read_varint(buf, pos, end)
    if body < 0 or length < 0 or length > end - body:
        return -1, -1
    return body, body + length


cdef inline (i64, i64, i64) read_whole_body(Bytes buf, i64 pos, i64 end) noexcept nogil:
    """(first, last, reach) of a length-delimited body at `pos`; first is -1 where damaged.

    `reach` is the position that the window must reach to hold the body, -1 where it does.
    """
    cdef i64 body, after
    if pos > buf.shape[0] - HEADER and end > buf.shape[0]:
        return -1, -1, pos + HEADER
    body, after = read_length(buf, pos, end)
    return body, after, after if after > buf.shape[0] else -1


cdef inline i64 skip_single(Bytes buf, i64 pos, i64 end, i64 wire_type) noexcept nogil:
    cdef i64 _, after
    if wire_type == VARINT:
        _, after = read_varint(buf, pos, end)
        return after
    if wire_type == LENGTH:
        _, after = read_length(buf, pos, end)
        return after
    if wire_type == FIXED64:
        return pos + 8 if pos + 8 <= end else -1
    if wire_type == FIXED32:
        return pos + 4 if pos + 4 <= end else -1
    return -1


cdef inline i64 skip_value(Bytes buf, i64 pos, i64 end, i64 wire_type) noexcept nogil:
    """The position after a value of `wire_type` at `pos`; -1 where damaged or of no known type.

    Groups, which nothing writes any more, are passed over with all that they hold; `BEYOND` where
    one goes on after the window.
    """
    cdef i64 depth = 1
    cdef i64 tag
    if wire_type != GROUP:
        return skip_single(buf, pos, end, wire_type)
    while depth > 0:
        if pos > buf.shape[0] - HEADER and end > buf.shape[0]:
            return BEYOND
        tag, pos = read_varint(buf, pos, end)
        if pos < 0 or tag >> 3 <= 0:
            return -1
        if tag & 7 == GROUP:
            depth += 1
        elif tag & 7 == END_GROUP:
            depth -= 1
        else:
            pos = skip_single(buf, pos, end, tag & 7)
            if pos < 0:
                return -1
    return pos


cdef inline (i64, i64) read_body_of(Bytes buf, i64 pos, i64 end, i64 wanted) noexcept nogil:
    """(first, last) of the body of the field at `pos`; first is -1 if its tag is not `wanted`.

    The next field begins at last, which is negative where this one is damaged.
    """
    cdef i64 tag, value_at
    tag, value_at = read_varint(buf, pos, end)
    if value_at < 0:
        return -1, -1
    if tag == wanted:
        return read_length(buf, value_at, end)
    return -1, skip_value(buf, value_at, end, tag & 7)


cdef inline i64 read_fixed64(Bytes buf, i64 pos) noexcept nogil:
    """The 8 little-endian bytes at `pos`; the caller has checked that they are there."""
    cdef unsigned long long value = 0
    cdef int byte
    for byte in range(8):
        value |= <unsigned long long>buf[pos + byte] << (8 * byte)
    return <i64>value


cdef inline bint same_bytes(
    Bytes buf, i64 first, OutBytes content, i64 start, i64 size
) noexcept nogil:
    """Whether `size` bytes from `first` and `start` on are equal."""
    return size == 0 or memcmp(&buf[first], &content[start], size) == 0


cdef inline i64 text_mark(Bytes buf, i64 first, i64 last) noexcept nogil:
    """A number below 2^16 of a text's bytes, 8 at a time; unlike a hash, it is no secret."""
    cdef unsigned long long mixed = <unsigned long long>(last - first)
    cdef i64 at = first
    if last - first < 8:
        while at < last:
            mixed = mixed << 8 | buf[at]
            at += 1
    else:
        while at < last - 8:
            mixed = mixed * 31 ^ <unsigned long long>read_fixed64(buf, at)
            at += 8
        mixed = mixed * 31 ^ <unsigned long long>read_fixed64(buf, last - 8)
    return <i64>(mixed * 0x9E3779B97F4A7C15ULL >> 48)


cdef inline i64 slot_of(Ints keys, i64 mask, i64 key) noexcept nogil:
    # Unsigned: what a product has above 64 bits is dropped.
    cdef unsigned long long mixed = <unsigned long long>key
    if keys[mask + 1] == 0:
        return key & mask
    mixed = (mixed ^ mixed >> 32) * <unsigned long long>keys[mask + 1]
    mixed = (mixed ^ mixed >> 32) * <unsigned long long>keys[mask + 2]
    return <i64>(mixed >> 32) & mask


cdef inline i64 find_row(Ints keys, Int32s rows, i64 key) noexcept nogil:
    """The row of `key`, or -1. `keys` and `rows` come from `build_lookup`."""
    cdef i64 mask = rows.shape[0] - 1
    cdef i64 slot = slot_of(keys, mask, key)
    while rows[slot] >= 0:
        if keys[slot] == key:
            return rows[slot]
        slot = (slot + 1) & mask
    return -1
