"""Twins of what is compiled into kernels: `wire.pxd`, `searches.pxd`, and memory that is copied.

Source of the wire format: protobuf.dev, "Encoding".
"""

from dataclasses import dataclass
from typing import Any

from tbprof.kernels.codes import (
    BEYOND,
    END_GROUP,
    FIXED32,
    FIXED64,
    GROUP,
    HEADER,
    LENGTH,
    MOST_FIELDS,
    VARINT,
)


@dataclass
class LevelEntry:
    start: int
    end: int
    event: int
    type: int
    count: int


def copy_bytes(text: Any, first: int, last: int, out: Any, at: int) -> int:
    for step in range(last - first):
        out[at + step] = text[first + step]
    return at + last - first


def signed(bits: int) -> int:
    """The lowest 64 bits as two's complement."""
    bits &= 2**64 - 1
    return bits - 2**64 if bits >> 63 else bits


def read_varint(buf: Any, pos: int, end: int) -> tuple[int, int]:
    value = 0
    for step in range(min(10, end - pos)):
        byte = buf[pos + step]
        value |= (byte & 0x7F) << 7 * step
        if byte < 0x80:
            return signed(value), pos + step + 1
    return 0, -1


def read_tag(buf: Any, pos: int, end: int) -> tuple[int, int]:
    tag, value_at = read_varint(buf, pos, end)
    return (tag, value_at) if 0 < tag // 8 <= MOST_FIELDS else (tag, -1)


def read_length(buf: Any, pos: int, end: int) -> tuple[int, int]:
    length, body = read_varint(buf, pos, end)
    return (body, body + length) if body >= 0 and 0 <= length <= end - body else (-1, -1)


def read_whole_body(buf: Any, pos: int, end: int) -> tuple[int, int, int]:
    if pos > buf.shape[0] - HEADER and end > buf.shape[0]:
        return -1, -1, pos + HEADER
    body, after = read_length(buf, pos, end)
    return body, after, after if after > buf.shape[0] else -1


def skip_value(buf: Any, pos: int, end: int, wire_type: int) -> int:
    if wire_type != GROUP:
        return _skip(buf, pos, end, wire_type)
    depth = 1
    while depth:
        if pos > buf.shape[0] - HEADER and end > buf.shape[0]:
            return BEYOND
        tag, pos = read_varint(buf, pos, end)
        if pos < 0 or tag < 8:
            return -1
        if tag % 8 in (GROUP, END_GROUP):
            depth += 1 if tag % 8 == GROUP else -1
            continue
        pos = _skip(buf, pos, end, tag % 8)
        if pos < 0:
            return -1
    return pos


def _skip(buf: Any, pos: int, end: int, wire_type: int) -> int:
    if wire_type == VARINT:
        return read_varint(buf, pos, end)[1]
    if wire_type == LENGTH:
        return read_length(buf, pos, end)[1]
    size = {FIXED64: 8, FIXED32: 4}.get(wire_type)
    return pos + size if size and pos + size <= end else -1


def read_body_of(buf: Any, pos: int, end: int, wanted: int) -> tuple[int, int]:
    tag, value_at = read_varint(buf, pos, end)
    if value_at < 0:
        return -1, -1
    if tag == wanted:
        return read_length(buf, value_at, end)
    return -1, skip_value(buf, value_at, end, tag % 8)


def read_fixed64(buf: Any, pos: int) -> int:
    return signed(sum(buf[pos + byte] << 8 * byte for byte in range(8)))


def same_bytes(buf: Any, first: int, content: Any, start: int, size: int) -> bool:
    return all(buf[first + byte] == content[start + byte] for byte in range(size))


def text_mark(buf: Any, first: int, last: int) -> int:
    size = last - first
    if size < 8:
        mixed = size << 8 * size | sum(buf[last - 1 - byte] << 8 * byte for byte in range(size))
    else:
        mixed = size
        for at in [*range(first, last - 8, 8), last - 8]:
            mixed = 31 * mixed ^ read_fixed64(buf, at) % 2**64
    return mixed * 0x9E3779B97F4A7C15 % 2**64 >> 48


def slot_of(keys: Any, mask: int, key: int) -> int:
    if keys[mask + 1] == 0:
        return key & mask
    mixed = key % 2**64
    for multiplier in (keys[mask + 1], keys[mask + 2]):
        mixed = (mixed ^ mixed >> 32) * multiplier % 2**64
    return mixed >> 32 & mask


def find_row(keys: Any, rows: Any, key: int) -> int:
    mask = rows.shape[0] - 1
    slot = slot_of(keys, mask, key)
    while rows[slot] >= 0:
        if keys[slot] == key:
            return rows[slot]
        slot = (slot + 1) & mask
    return -1


def first_not_below(column: Any, first: int, last: int, value: int) -> int:
    return next((row for row in range(first, last) if column[row] >= value), max(first, last))


first_near = first_not_below


def first_chosen(row: Any, first: int, last: int, column: Any, value: int) -> int:
    entries = range(first, last)
    return next((at for at in entries if column[row[at]] >= value), max(first, last))


def sink(heap: Any, size: int, at: int, start: Any, id_: Any) -> None:
    _sink(heap, size, at, lambda one: (start[one], id_[one]))


def sink_row(heap: Any, size: int, at: int, head_start: Any, head_end: Any) -> None:
    _sink(heap, size, at, lambda row: (head_start[row], -head_end[row], row))


def _sink(heap: Any, size: int, at: int, key: Any) -> None:
    while 2 * at + 1 < size:
        children = range(2 * at + 1, min(2 * at + 3, size))
        child = min(children, key=lambda one: key(heap[one]))
        if key(heap[child]) >= key(heap[at]):
            return
        heap[at], heap[child] = heap[child], heap[at]
        at = child


def open_rows(
    rows: Any, bounds: Any, track: int, begin: int, heap: Any, head: Any, start: Any, end: Any
) -> int:
    size = 0
    for row in range(bounds.last_row[track] - bounds.first_row[track]):
        first = bounds.low[bounds.first[track] + row]
        if _take(rows, bounds, track, row, first, begin, head, start, end):
            heap[size] = row
            size += 1
    for at in reversed(range(size // 2)):
        sink_row(heap, size, at, start, end)
    return size


def pass_event(
    rows: Any, bounds: Any, track: int, begin: int, size: int, heap: Any, head: Any, start: Any,
    end: Any,
) -> int:  # fmt: skip
    row = heap[0]
    if not _take(rows, bounds, track, row, head[row] + 1, begin, head, start, end):
        size -= 1
        heap[0] = heap[size]
    sink_row(heap, size, 0, start, end)
    return size


def _take(
    rows: Any, bounds: Any, track: int, row: int, first: int, begin: int, head: Any, start: Any,
    end: Any,
) -> bool:  # fmt: skip
    """Makes the first event of a row from `first` on that does not end before `begin` its head."""
    for event in range(first, bounds.high[bounds.first[track] + row]):
        stop = rows.start[event] + rows.duration[event]
        is_before = rows.start[event] < begin and stop <= begin
        if not (rows.crowded[bounds.first_row[track] + row] and is_before):
            head[row], start[row], end[row] = event, rows.start[event], stop
            return True
    return False
