"""Packs a set of small arrays into one array of bytes, and unpacks it.

Hundreds of small arrays cost more to describe and to check one by one than to copy.
"""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

_KINDS = "biuf"
# To look one up takes a fifth of the time of parsing its name.
_DTYPES = {np.dtype(kind).str: np.dtype(kind) for kind in np.typecodes["AllInteger"] + "?efd"}
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
        dtype = array.dtype
        if dtype.kind not in _KINDS:
            raise ValueError("arrays that hold no numbers are not stored")
        rows.append((name, dtype.str, array.shape))
        pieces += (array.tobytes(), _FILL[: -array.nbytes % _ALIGNED])
    header = orjson.dumps(rows)
    front = (len(header).to_bytes(_ALIGNED, "little"), header, _FILL[: -len(header) % _ALIGNED])
    return np.frombuffer(b"".join((*front, *pieces)), np.uint8)


def unbundle(content: NDArray[np.uint8]) -> dict[str, NDArray[Any]]:
    """The arrays of a bundle, which share its bytes. Raises ValueError or TypeError for others."""
    packed = content.data
    length = int.from_bytes(packed[:_ALIGNED], "little")
    offset = _ALIGNED + length + -length % _ALIGNED
    arrays: dict[str, NDArray[Any]] = {}
    for name, kind, shape in orjson.loads(packed[_ALIGNED : _ALIGNED + length]):
        is_flat = len(shape) == 1
        count = shape[0] if is_flat else math.prod(shape)
        dtype = _DTYPES.get(kind)
        lowest = count if is_flat else min(shape, default=0)
        if dtype is None or lowest < 0 or offset + count * dtype.itemsize > len(packed):
            raise ValueError(f"array {name!r} is not in its bundle")
        array = np.frombuffer(packed, dtype, count, offset)
        arrays[name] = array if is_flat else array.reshape(shape)
        offset += array.nbytes + -array.nbytes % _ALIGNED
    return arrays
