"""Reads tiles as docs/http_api.md describes them, slowly."""

import json
import struct
from dataclasses import dataclass
from typing import Any

import numpy as np

ESCAPE = 65535


@dataclass(frozen=True)
class Entry:
    """An event, or several that are shown as one."""

    row: int
    tile: int
    start_ps: float
    end_ps: float
    type: int
    name: str
    category: int
    count: int
    id: int


@dataclass(frozen=True)
class Tiles:
    """The JSON, and every entry of every chunk; `chunks` are (row, tile) pairs."""

    head: dict[str, Any]
    chunks: list[tuple[int, int]]
    entries: list[Entry]


def read_tiles(content: bytes) -> Tiles:
    """What a body of `timeline_tiles` says."""
    assert content[:4] == b"TBT1"
    (size,) = struct.unpack("<I", content[4:8])
    head = json.loads(content[8 : 8 + size])
    at = 8 + size
    assert at % 8 == 0

    def take(dtype: str, length: int) -> list[Any]:
        nonlocal at
        found: list[Any] = np.frombuffer(content, dtype, length, at).tolist()
        at += -(-np.dtype(dtype).itemsize * length // 8) * 8
        return found

    chunks, entries = head["chunks"], head["entries"]
    row, tile, first = take("<u4", chunks), take("<u4", chunks), take("<u4", chunks + 1)
    base, base_id = take("<f8", chunks), take("<u4", chunks)
    narrow = [take("<u2", entries) for _ in range(5)]
    wide = [iter(take("<f8", length)) for length in head["wide"]]
    assert at == len(content)
    assert first[-1] == entries
    columns = [
        [next(more) if value == ESCAPE else value for value in column]
        for column, more in zip(narrow, wide, strict=True)
    ]
    assert all(next(more, None) is None for more in wide)
    unit = head["unit_ps"]
    found = []
    for chunk in range(chunks):
        units, id_ = 0, base_id[chunk]
        for entry in range(first[chunk], first[chunk + 1]):
            start, duration, type_, count, id_step = (column[entry] for column in columns)
            units += start
            id_ += id_step
            begin = base[chunk] + units * unit
            found.append(
                Entry(
                    row[chunk], tile[chunk] + head["from"], begin, begin + duration * unit,
                    head["types"][int(type_)], head["names"][int(type_)],
                    head["categories"][int(type_)], int(count), int(id_),
                )
            )  # fmt: skip
    pairs = [(one, other + head["from"]) for one, other in zip(row, tile, strict=True)]
    assert len(set(pairs)) == chunks
    return Tiles(head, pairs, found)
