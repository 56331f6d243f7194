"""Large arrays in the cache directory, mapped into memory rather than read.

One file holds a named set: a header that says what lies where, and the bytes of each array. All of
them are checked when the file is opened, which takes 0.1 s for 400 MB: compiled code follows the
numbers in these arrays, and must not follow damage. The check reads the file piece by piece, so
that no more of the map takes memory than is used later. Nothing shrinks such a file while it is
mapped: it is written beside its place, moved there in one step, and only ever removed as a whole.
"""

import json
import logging
import math
import mmap
import zlib
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from io import FileIO
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from tbprof.storage.results import ResultStore

_log = logging.getLogger(__name__)

SUFFIX = ".map"
_MAGIC = b"tbprofA1"
_ALIGNED = 64
_PIECE = 1 << 18
_LONGEST_HEADER = 1 << 24
_KINDS = "biuf"
# What a header that is not ours makes the reading of it raise.
_DAMAGE = (ValueError, KeyError, TypeError, OverflowError, RecursionError)


def keep_arrays(store: ResultStore, key: str, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Writes the arrays under `key`; where there is no room or no writable place, nothing.

    Raises ValueError for arrays of anything but numbers and truth values.
    """
    for name, array in arrays.items():
        if array.dtype.kind not in _KINDS:
            raise ValueError(f"array {name!r} holds no numbers: it is not stored")
    if sum(array.nbytes for array in arrays.values()) > store.max_bytes:
        return
    try:
        with store.writing(store.path(key, SUFFIX)) as file:
            _write(file, arrays)
    except OSError as error:
        store.failed(error)


def map_arrays(store: ResultStore, key: str) -> dict[str, NDArray[Any]] | None:
    """The arrays kept under `key`, read-only; None where there are none, or damaged ones."""
    path = store.path(key, SUFFIX)
    try:
        with path.open("rb", buffering=0) as file:
            content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            arrays = _arrays(file, content)
    except FileNotFoundError:
        return None
    except OSError as error:
        _log.info("a cache entry cannot be read, %s: %s", path, error)
        return None
    except _DAMAGE as error:  # an empty file among them, which cannot be mapped
        _log.info("dropping a damaged cache entry, %s: %s", path, error)
        _remove(path)
        return None
    store.touch(path)
    return arrays


def _write(file: BinaryIO, arrays: Mapping[str, NDArray[Any]]) -> None:
    plain = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    with ThreadPoolExecutor() as pool:
        sums = list(pool.map(_checksum, (_bytes(array) for array in plain.values())))
    entries = []
    offset = 0
    for (name, array), checksum in zip(plain.items(), sums, strict=True):
        entries.append(
            {
                "name": name,
                "dtype": array.dtype.str,
                "shape": array.shape,
                "offset": offset,
                "checksum": checksum,
            }
        )
        offset += -(-array.nbytes // _ALIGNED) * _ALIGNED
    header = json.dumps(entries).encode()
    header += b" " * (-(len(header) + len(_MAGIC) + 16) % _ALIGNED)
    file.write(_MAGIC)
    file.write(len(header).to_bytes(8, "little"))
    file.write(zlib.crc32(header).to_bytes(8, "little"))
    file.write(header)
    for array in plain.values():
        content = _bytes(array)
        file.write(content)
        file.write(bytes(-len(content) % _ALIGNED))


def _arrays(file: FileIO, content: mmap.mmap) -> dict[str, NDArray[Any]]:
    """The arrays of a mapped file. Raises one of `_DAMAGE`."""
    begin = len(_MAGIC) + 16
    size = int.from_bytes(content[len(_MAGIC) : begin - 8], "little")
    if content[: len(_MAGIC)] != _MAGIC or size > min(len(content), _LONGEST_HEADER):
        raise ValueError("no header of ours")
    header = content[begin : begin + size]
    if zlib.crc32(header) != int.from_bytes(content[begin - 8 : begin], "little"):
        raise ValueError("the header is damaged")
    whole = memoryview(content)
    piece = memoryview(bytearray(_PIECE))
    arrays: dict[str, NDArray[Any]] = {}
    for entry in json.loads(header):
        dtype, shape = np.dtype(entry["dtype"]), tuple(entry["shape"])
        at = begin + size + entry["offset"]
        length = dtype.itemsize * math.prod(shape)
        fits = min(shape, default=0) >= 0 <= at and at + length <= len(content)
        if dtype.kind not in _KINDS or not fits:
            raise ValueError(f"array {entry['name']!r} is cut off")
        if _checksum_in(file, at, length, piece) != entry["checksum"]:
            raise ValueError(f"array {entry['name']!r} is damaged")
        arrays[entry["name"]] = np.frombuffer(whole[at : at + length], dtype).reshape(shape)
    return arrays


def _checksum_in(file: FileIO, at: int, length: int, piece: memoryview) -> int:
    """The checksum of `length` bytes at an offset, read into `piece` by and by."""
    file.seek(at)
    checksum = 0
    while length > 0:
        read = file.readinto(piece[: min(length, len(piece))])
        if not read:
            raise ValueError("the file is cut off")
        checksum = zlib.crc32(piece[:read], checksum)
        length -= read
    return checksum


def _bytes(array: NDArray[Any]) -> memoryview:
    return array.reshape(-1).view(np.uint8).data


def _checksum(content: memoryview) -> int:
    checksum = 0
    for begin in range(0, len(content), _PIECE):
        checksum = zlib.crc32(content[begin : begin + _PIECE], checksum)
    return checksum


def _remove(path: Path) -> None:
    try:
        path.unlink(missing_ok=True)
    except OSError as error:  # Windows keeps mapped files
        _log.debug("%s cannot be removed: %s", path, error)
