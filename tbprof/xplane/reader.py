"""A file of one XSpace as a `Space` with planes that are decoded lazily."""

from __future__ import annotations

import os

from tbprof.base.errors import CUT_HINT, BadTrace
from tbprof.events.space import Space
from tbprof.events.strings import Strings
from tbprof.xplane.buffer import Buffer
from tbprof.xplane.damage import Damage
from tbprof.xplane.field_scan import Field, field_columns
from tbprof.xplane.plane import EPOCH_NS, Epoch, FilePlane

# Fields of XSpace. Source: xplane.proto.
_PLANES = 1
_ERRORS = 2
_WARNINGS = 3
_HOSTNAMES = 4

# The length-delimited wire type; the longest varint, and more than any file.
_LENGTH_DELIMITED = 2
_LONGEST_VARINT = 10
_LONGEST_FILE = 1 << 40

# No recorder writes this many: 2 bytes each in a hostile file would fill the memory.
MOST_PLANES = 4096
MOST_LINES = 1 << 17
MOST_TEXTS = 1000

# The beginning of a binary file that a program has read as UTF-8 text and written again.
_REPLACEMENT = b"\xef\xbf\xbd"
_LOOKED_AT = 4096


def read_space(path: str | os.PathLike[str], name: str = "") -> Space:
    """The space in the file at `path`; raises Unreachable if it cannot be read, and BadTrace.

    Messages call the file `name`, by default its path.
    """
    return space_in(Buffer.of_file(path, name))


def space_in(buffer: Buffer) -> Space:
    """The space in `buffer`, planes found by their length prefixes.

    If it ends or is damaged inside a plane, returns what can be read, with notices. Raises
    BadTrace, with the byte offset, if nothing can be read.
    """
    fields, damaged_at, cut = field_columns(buffer, 0, len(buffer))
    strings = Strings()
    damage = Damage(buffer.path)
    epoch = Epoch()
    planes: list[FilePlane] = []
    bodies = [(begin, end, False) for begin, end in _spans(fields, _PLANES)]
    ends_early = _early_end(buffer, damaged_at) if damaged_at >= 0 else ""
    if cut is not None and cut[0] == _PLANES:
        bodies.append((cut[1], cut[2], True))
    if ends_early:
        damage.note(
            "file_cut",
            f"{ends_early}: events and names that follow are missing",
            CUT_HINT,
        )
    elif damaged_at >= 0:
        damage.note(
            "file_damaged",
            f"damaged at byte {damaged_at}; the {len(buffer) - damaged_at} bytes from there on "
            "are lost",
            "record again; the page shows what could be read",
        )
    if len(bodies) > MOST_PLANES:
        damage.note(
            "planes_left_out",
            f"{len(bodies) - MOST_PLANES} of {len(bodies)} planes left out: no trace has so many",
        )
    most_lines = MOST_LINES
    for begin, end, is_cut in bodies[:MOST_PLANES]:
        plane = FilePlane(
            buffer,
            begin,
            end,
            strings,
            damage,
            epoch,
            is_cut=is_cut,
            most_lines=most_lines,
        )
        if plane.name or plane.line_messages:
            planes.append(plane)
        elif plane.is_damaged:
            damage.note(
                "plane_lost",
                f"the plane at byte {begin} is damaged; nothing of it could be read",
                "record again; the page shows what could be read",
            )
        most_lines -= min(plane.line_messages, most_lines)
    is_damaged = damaged_at >= 0 or any(plane.is_damaged for plane in planes)
    _refuse_useless(buffer, damaged_at, ends_early, is_damaged=is_damaged, has_planes=bool(planes))

    def texts(field: int) -> tuple[str, ...]:
        spans = _spans(fields, field)
        if len(spans) > MOST_TEXTS:
            damage.note(
                "texts_left_out",
                f"{len(spans) - MOST_TEXTS} of {len(spans)} messages of the recorder left out",
            )
        return tuple(buffer.text(begin, end) for begin, end in spans[:MOST_TEXTS])

    epoch.start_ns = _first_epoch_stamp(planes)
    hostnames, errors, warnings = texts(_HOSTNAMES), texts(_ERRORS), texts(_WARNINGS)
    return Space(
        epoch.start_ns,
        hostnames,
        strings,
        tuple(planes),
        errors,
        warnings,
        damage.notices,
        ends_early,
        buffer.decoded_ratio,
    )


def _early_end(buffer: Buffer, offset: int) -> str:
    """Where a file ends if its record at byte `offset` continues beyond the end, else "".

    The record is a field of XSpace: its tag and length come first.
    """
    size = len(buffer)
    ends = f"the file ends early, at byte {size:,}"
    head = buffer.view(offset, min(offset + 2 * _LONGEST_VARINT, size)).tobytes()
    tag, after = _varint(head, 0)
    if after < 0:
        return ends if len(head) < _LONGEST_VARINT else ""
    if tag & 7 != _LENGTH_DELIMITED or not _PLANES <= tag >> 3 <= _HOSTNAMES:
        return ""
    length, begin = _varint(head, after)
    if begin < 0:
        return ends if len(head) - after < _LONGEST_VARINT else ""
    end = offset + begin + length
    if end <= size:
        return ""
    return f"{ends} of at least {end:,}" if end < _LONGEST_FILE else ends


def _varint(content: bytes, offset: int) -> tuple[int, int]:
    """(value, next offset) of the varint at `offset`, both -1 if the bytes end inside it."""
    value = 0
    for index, byte in enumerate(content[offset : offset + _LONGEST_VARINT]):
        value |= (byte & 0x7F) << 7 * index
        if byte < 0x80:
            return value, offset + index + 1
    return -1, -1


def _first_epoch_stamp(planes: list[FilePlane]) -> int:
    """The smallest epoch time stamp of the lines, 0 if times count from the start."""
    spans = (span for plane in planes for line in plane.timelines for span in line.spans)
    stamps = (span.timestamp_ns for span in spans)
    return min((stamp for stamp in stamps if stamp > EPOCH_NS), default=0)


def _spans(fields: Field, number: int) -> list[tuple[int, int]]:
    return list(zip(*(column.tolist() for column in fields.bodies(number)), strict=True))


def _refuse_useless(
    buffer: Buffer, damaged_at: int, ends_early: str, *, is_damaged: bool, has_planes: bool
) -> None:
    """Raises BadTrace if there is no plane, or if the file was decoded as text."""
    if is_damaged and _is_mangled(buffer):
        raise BadTrace(
            buffer.path,
            buffer.view(0, _LOOKED_AT).tobytes().index(_REPLACEMENT),
            "the file was copied as text, which replaced its binary bytes by EF BF BD",
            "copy it again in binary mode",
        )
    if not has_planes and ends_early:
        raise BadTrace(
            buffer.path, damaged_at, f"{ends_early}, before anything could be read", CUT_HINT
        )
    if not has_planes and damaged_at >= 0:
        raise BadTrace(
            buffer.path,
            damaged_at,
            "not an XPlane trace: no plane could be read",
            "it may be another kind of file, or still being written",
        )
    if not has_planes:
        raise BadTrace(
            buffer.path,
            0,
            "the trace has no planes",
            "the recorder wrote nothing: check that profiling was on while the program ran",
        )


def _is_mangled(buffer: Buffer) -> bool:
    """Whether the file was decoded as text: valid UTF-8 that contains replacement characters."""
    start = buffer.view(0, _LOOKED_AT).tobytes()
    if _REPLACEMENT not in start:
        return False
    try:
        start[:-4].decode()
    except UnicodeDecodeError as error:
        # The cut may fall inside a character.
        return error.end >= len(start) - 4
    return True
