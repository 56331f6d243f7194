"""Packs a set of small arrays into one array of bytes, and unpacks it.

Hundreds of small arrays cost more to describe and to check one by one than to copy.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

# Looking up a dtype takes a fifth of the time of parsing or formatting its name.
_DTYPES = {np.dtype(kind).str: np.dtype(kind) for kind in np.typecodes["AllInteger"] + "?efd"}
_NAMES = {dtype: name for name, dtype in _DTYPES.items()}
# The name of an array, its type, the number of its items, where it begins, and its shape if it is
# not flat.
_Place = tuple[str, np.dtype[Any], int, int, tuple[int, ...] | None]
# Compiled code reads whole words.
_ALIGNED = 8
_FILL = bytes(_ALIGNED)


def bundle(arrays: Mapping[str, NDArray[Any]]) -> NDArray[np.uint8]:
    """The arrays as bytes: the header's length, the header, and their content.

    Raises ValueError for arrays of anything but numbers and truth values.
    """
    rows: list[tuple[str, str, tuple[int, ...]]] = []
    pieces: list[bytes] = []
    for name, array in arrays.items():
        kind = _NAMES.get(array.dtype)
        if kind is None:
            raise ValueError("arrays that hold no numbers are not stored")
        rows.append((name, kind, array.shape))
        if size := array.nbytes:
            pieces.append(array.tobytes())  # most are small, and bytes join faster than views
            if size % _ALIGNED:
                pieces.append(_FILL[: -size % _ALIGNED])
    header = orjson.dumps(rows)
    front = (len(header).to_bytes(_ALIGNED, "little"), header, _FILL[: -len(header) % _ALIGNED])
    return np.frombuffer(b"".join((*front, *pieces)), np.uint8)


def unbundle(content: NDArray[np.uint8]) -> dict[str, NDArray[Any]]:
    """The arrays of a bundle, which share its bytes. Raises ValueError or TypeError for others."""
    packed = content.data
    length = int.from_bytes(packed[:_ALIGNED], "little")
    size, places = _places(packed[_ALIGNED : _ALIGNED + length].tobytes())
    if size > len(packed):
        raise ValueError("a bundle is cut off")
    arrays: dict[str, NDArray[Any]] = {}
    for name, dtype, count, offset, shape in places:
        array = np.frombuffer(packed, dtype, count, offset)
        arrays[name] = array if shape is None else array.reshape(shape)
    return arrays


# Hosts of one job have arrays of equal shapes.
@functools.lru_cache(256)
def _places(header: bytes) -> tuple[int, list[_Place]]:
    """(the size of a bundle with this header, where its arrays are)."""
    offset = _ALIGNED + len(header) + -len(header) % _ALIGNED
    places: list[_Place] = []
    for name, kind, shape in orjson.loads(header):
        dtype = _DTYPES.get(kind)
        if dtype is None or min(shape, default=0) < 0:
            raise ValueError(f"array {name!r} holds no numbers")
        count = math.prod(shape)
        places.append((name, dtype, count, offset, None if len(shape) == 1 else tuple(shape)))
        size = count * dtype.itemsize
        offset += size + -size % _ALIGNED
    return offset, places
