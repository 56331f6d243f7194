"""The categories of events, as clients know them."""

from __future__ import annotations

from enum import IntEnum


class Category(IntEnum):
    """A row of `CATEGORIES`.

    BOOKKEEPING are events that recorders write for analyses, mostly without duration: allocations,
    hand-overs to thread pools, ends of asynchronous work, buffers of the recorder.
    """

    OTHER = 0
    COMPUTE = 1
    COLLECTIVES = 2
    COPIES = 3
    INPUT = 4
    OUTPUT = 5
    LAUNCH = 6
    HOST = 7
    COMPILATION = 8
    PYTHON = 9
    WAITING = 10
    STEPS = 11
    PROGRAMS = 12
    SCOPES = 13
    BOOKKEEPING = 14


# (name, meaning): a meaning is a key of the palette that all pages share, "" if none fits.
CATEGORIES: tuple[tuple[str, str], ...] = (
    ("other", ""),
    ("compute", "compute"),
    ("collectives", "collective"),
    ("copies", "copy"),
    ("input", "input"),
    ("output", "output"),
    ("launch", "launch"),
    ("host", "host"),
    ("compilation", "compile"),
    ("python", ""),
    ("waiting", "idle"),
    ("steps", ""),
    ("programs", ""),
    ("scopes", ""),
    ("bookkeeping", "others"),
)
