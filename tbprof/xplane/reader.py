"""A file of one XSpace as a `Space` whose planes decode themselves lazily."""

import os
from functools import cached_property

from tbprof.base.errors import BadTrace, Notice
from tbprof.events.space import Space
from tbprof.events.strings import Strings
from tbprof.xplane.buffer import Buffer
from tbprof.xplane.plane import FilePlane
from tbprof.xplane.scan import field_columns

# Fields of XSpace. Source: xplane.proto.
_PLANES = 1
_ERRORS = 2
_WARNINGS = 3
_HOSTNAMES = 4

# What a binary file looks like after a program has read it as UTF-8 text and written it again.
_REPLACEMENT = b"\xef\xbf\xbd"
_EPOCH_NS = 10**17


class _Epoch:
    """The smallest epoch time stamp of the planes' lines, 0 where times count from the start."""

    def __init__(self) -> None:
        self.planes: tuple[FilePlane, ...] = ()

    @cached_property
    def start_ns(self) -> int:
        stamps = [header.timestamp_ns for plane in self.planes for header in plane.headers]
        return min((stamp for stamp in stamps if stamp > _EPOCH_NS), default=0)


def read_space(path: str | os.PathLike[str]) -> Space:
    """The space in the file at `path`; raises Unreachable where it cannot be read, and BadTrace."""
    return space_in(Buffer.of_file(path))


def space_in(buffer: Buffer) -> Space:
    """The space in `buffer`, planes found by their length prefixes.

    A file that ends or is damaged inside a plane gives what could be read, with notices. Raises
    BadTrace, with the byte offset, where nothing can be read.
    """
    fields, damaged_at, cut = field_columns(buffer, 0, len(buffer))
    strings = Strings()
    epoch = _Epoch()

    def plane(begin: int, end: int, *, is_cut: bool) -> FilePlane:
        return FilePlane(buffer, begin, end, strings, lambda: epoch.start_ns, is_cut=is_cut)

    begins, ends = fields.bodies(_PLANES)
    spans = zip(begins.tolist(), ends.tolist(), strict=True)
    planes = [plane(begin, end, is_cut=False) for begin, end in spans]
    if cut is not None and cut[0] == _PLANES:
        planes.append(plane(cut[1], cut[2], is_cut=True))
    planes = [one for one in planes if one.name or one.headers]
    if not planes:
        _refuse(buffer, damaged_at)
    epoch.planes = tuple(planes)
    notices = []
    if damaged_at >= 0 and (cut is None or cut[0] != _PLANES):
        notices.append(_damage(buffer, damaged_at))

    def texts(field: int) -> tuple[str, ...]:
        raw = buffer.bytes
        return tuple(
            raw[begin:end].tobytes().decode("utf-8", "replace")
            for begin, end in zip(
                *(column.tolist() for column in fields.bodies(field)), strict=True
            )
        )

    return Space(
        epoch.start_ns,
        texts(_HOSTNAMES),
        strings,
        tuple(planes),
        texts(_ERRORS),
        texts(_WARNINGS),
        tuple(notices),
    )


def _damage(buffer: Buffer, offset: int) -> Notice:
    lost = len(buffer) - offset
    return Notice(
        "file_damaged",
        f"{buffer.path}: damaged at byte {offset}; the {lost} bytes from there on are lost",
        hint=_mangling_hint(buffer) or "record again; the page shows what could be read",
    )


def _mangling_hint(buffer: Buffer) -> str:
    if _REPLACEMENT not in buffer.bytes[:4096].tobytes():
        return ""
    return (
        "the file was copied as text, which replaced its binary bytes by EF BF BD: "
        "copy it again in binary mode"
    )


def _refuse(buffer: Buffer, damaged_at: int) -> None:
    if damaged_at >= 0:
        raise BadTrace(
            buffer.path,
            damaged_at,
            "not an XPlane trace: no plane could be read",
            _mangling_hint(buffer) or "it may be another kind of file, or still being written",
        )
    raise BadTrace(
        buffer.path,
        0,
        "the trace holds no planes",
        "the recorder wrote nothing: check that profiling was on while the program ran",
    )
