"""Named sets of arrays in the cache directory: one file each, large ones mapped rather than read.

A file consists of a header that describes the arrays, and the bytes of each array. All of them are
checked when the file is opened, which takes 0.05 s for 400 MB: compiled code follows the numbers in
these arrays, and must not follow damage. The check reads a large file in pieces, so that the map
takes no more memory than is used later, and only sums up its words, page by page: a checksum of all
bytes would take three times as long. Nothing shrinks such a file while it is mapped: it is written
under a temporary name, renamed, read-only from then on, and only removed as a whole.
"""

from __future__ import annotations

import math
import mmap
import os
import zlib
from collections.abc import Iterator, Mapping
from io import FileIO
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

from tbprof.base.lazy import get_logger
from tbprof.storage.results import ResultStore, remove

_log = get_logger(__name__)

SUFFIX = ".map"
_MAGIC = b"tbprofA5"
_FRONT = len(_MAGIC) + 16
_ALIGNED = 64
_PIECE = 1 << 20
_PAGE = 1 << 12
# Smaller files are read: a map costs as much as reading some 100 kB.
_LEAST_MAPPED = 1 << 20
_LONGEST_HEADER = 1 << 24
_KINDS = "biuf"
# What reading the header of another kind of file raises.
_DAMAGE = (ValueError, KeyError, TypeError, OverflowError, RecursionError)


def keep_arrays(store: ResultStore, key: str, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Writes the arrays under `key`; does nothing if the disk is full or not writable.

    Raises ValueError for arrays of anything but numbers and truth values.
    """
    for name, array in arrays.items():
        if array.dtype.kind not in _KINDS:
            raise ValueError(f"array {name!r} holds no numbers: it is not stored")
    if sum(array.nbytes for array in arrays.values()) > store.max_bytes:
        return
    try:
        with store.writing(store.path(key, SUFFIX)) as file:
            for piece in _pieces(key, arrays):
                file.write(piece)
    except OSError as error:
        store.failed(error)


def load_arrays(store: ResultStore, key: str) -> dict[str, NDArray[Any]] | None:
    """The arrays kept under `key`, read-only; None if they are missing or damaged."""
    path = store.path(key, SUFFIX)
    if not store.is_private():
        return None
    try:
        with path.open("rb", buffering=0) as file:
            arrays = _read(file, key)
    except FileNotFoundError:
        return None
    except OSError as error:
        _log.info("a cache entry cannot be read, %s: %s", path, error)
        return None
    except _DAMAGE as error:  # an empty file among them, which cannot be mapped
        _log.info("dropping a damaged cache entry, %s: %s", path, error)
        remove(path)
        return None
    store.touch(path)
    return arrays


def has_arrays(store: ResultStore, key: str) -> bool:
    """Whether there is a file of arrays for `key`; it is not read."""
    return store.is_private() and store.path(key, SUFFIX).exists()


def _pieces(key: str, arrays: Mapping[str, NDArray[Any]]) -> Iterator[bytes | memoryview]:
    """The content of a file. It contains its key, so that a file under a wrong name is noticed."""
    plain = [np.ascontiguousarray(array) for array in arrays.values()]
    contents = [array.reshape(-1).view(np.uint8).data for array in plain]
    sums = [_checksum(_cut(content)) for content in contents]
    rows: list[tuple[object, ...]] = []
    offset = 0
    for name, array, checksum in zip(arrays, plain, sums, strict=True):
        rows.append((name, array.dtype.str, array.shape, offset, checksum))
        offset += -(-array.nbytes // _ALIGNED) * _ALIGNED
    header = orjson.dumps([_text(key), rows])
    header += b" " * (-(len(header) + _FRONT) % _ALIGNED)
    yield _MAGIC + len(header).to_bytes(8, "little") + zlib.crc32(header).to_bytes(8, "little")
    yield header
    for content in contents:
        yield content
        yield bytes(-len(content) % _ALIGNED)


def _read(file: FileIO, key: str) -> dict[str, NDArray[Any]]:
    """The arrays of an open file. Raises one of `_DAMAGE`, also if it is that of another key."""
    size = file.seek(0, os.SEEK_END)
    file.seek(0)
    if size < _LEAST_MAPPED:
        content: bytes | mmap.mmap = file.read()
    else:
        content = mmap.mmap(file.fileno(), size, access=mmap.ACCESS_READ)
    data = memoryview(content)
    first, (own_key, rows) = _header(data)
    if own_key != _text(key):
        raise ValueError("the file belongs to another key")
    piece = memoryview(bytearray(_PIECE if size >= _LEAST_MAPPED else 0))
    arrays: dict[str, NDArray[Any]] = {}
    for name, kind, shape, offset, checksum in rows:
        dtype, begin = np.dtype(kind), first + offset
        length = dtype.itemsize * math.prod(shape)
        fits = min(shape, default=0) >= 0 <= begin and begin + length <= len(data)
        if dtype.kind not in _KINDS or not fits:
            raise ValueError(f"array {name!r} is cut off")
        array_bytes = data[begin : begin + length]
        if (
            _checksum(_read_pieces(file, begin, length, piece) if piece else _cut(array_bytes))
            != checksum
        ):
            raise ValueError(f"array {name!r} is damaged")
        arrays[name] = np.frombuffer(array_bytes, dtype).reshape(shape)
    return arrays


def _header(data: memoryview) -> tuple[int, Any]:
    """(the offset of the first array, the header's entries)."""
    first = _FRONT + int.from_bytes(data[_FRONT - 16 : _FRONT - 8], "little")
    if data[: len(_MAGIC)] != _MAGIC or first > min(len(data), _LONGEST_HEADER):
        raise ValueError("not a cache file of tbprof")
    header = data[_FRONT:first]
    if zlib.crc32(header) != int.from_bytes(data[_FRONT - 8 : _FRONT], "little"):
        raise ValueError("the header is damaged")
    return first, orjson.loads(header)


def _text(key: str) -> str:
    """The key without half surrogates, which JSON lacks."""
    return key.encode("utf-8", "backslashreplace").decode()


def _cut(content: memoryview) -> Iterator[memoryview]:
    """The content in pieces."""
    for begin in range(0, len(content), _PIECE):
        yield content[begin : begin + _PIECE]


def _read_pieces(file: FileIO, offset: int, length: int, space: memoryview) -> Iterator[memoryview]:
    """`length` bytes at an offset, read into `space` piece by piece."""
    file.seek(offset)
    for begin in range(0, length, _PIECE):
        piece = space[: min(length - begin, _PIECE)]
        done = 0
        while done < len(piece):
            read = file.readinto(piece[done:])
            if not read:
                raise ValueError("the file is cut off")
            done += read
        yield piece


def _checksum(pieces: Iterator[memoryview]) -> int:
    """A checksum of the sums of the 64-bit words of each page, and of the incomplete last page."""
    checksum = 0
    for piece in pieces:
        complete = len(piece) - len(piece) % _PAGE
        if complete:
            words = np.frombuffer(piece[:complete], np.uint64).reshape(-1, _PAGE // 8)
            checksum = zlib.crc32(np.add.reduce(words, axis=1), checksum)
        checksum = zlib.crc32(piece[complete:], checksum)
    return checksum
