"""Opens trace files: whatever their storage and compression, readers get a local, plain file."""

from __future__ import annotations

import contextlib
import os
import threading
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from errno import ENOSPC
from itertools import chain
from pathlib import Path
from typing import BinaryIO

from tbprof.base.digests import blake2b
from tbprof.base.errors import BadTrace, Notice, Unreachable, Unsupported
from tbprof.base.process.regular_files import open_regular
from tbprof.base.process.user_dirs import ENVIRONMENT
from tbprof.base.records import dataclass
from tbprof.storage.filesystems import file_system, is_remote
from tbprof.storage.results import ResultStore
from tbprof.storage.runs import TraceFile, called, reason

INFLATED_LIMIT = 64 << 30
_CHUNK = 1 << 18
_GZIP_MAGIC = b"\x1f\x8b"
# Traces inflate to 5 to 30 times their size, zeros to 1,032 times.
_MOST_RATIO = 200
_LEAST_BOMB = 64 << 20
# What stays free on the disk.
_LEAST_FREE = 256 << 20
_NO_SPACE_HINT = f"free some space, or point {ENVIRONMENT} at a larger disk"


@dataclass(frozen=True, slots=True)
class LocalTrace(os.PathLike[str]):
    """A local file of plain trace bytes, usable as a path, and what was lost while copying it."""

    path: str
    warnings: tuple[Notice, ...] = ()

    def __fspath__(self) -> str:
        return self.path

    def __str__(self) -> str:
        return self.path


def fingerprint(file: TraceFile) -> str:
    """A short text that changes whenever the file does: its path, size, time and version."""
    facts = (file.url, str(file.bytes), str(file.modified_ns), file.version, file.compression)
    joined = "\0".join(facts).encode("utf-8", "surrogateescape")
    return blake2b(joined, digest_size=16).hexdigest()


def fingerprints(files: Iterable[TraceFile]) -> tuple[str, ...]:
    """The fingerprints of several files, in order."""
    return tuple(map(fingerprint, files))


@contextmanager
def local_trace(file: TraceFile, store: ResultStore | None = None) -> Iterator[LocalTrace]:
    """The file's plain bytes as a local path, valid inside the block.

    A plain local file is used itself. Others are inflated and copied into `store` (or into a
    temporary file without one), and found there the next time. The readable part of a damaged gzip
    stream is kept, with a warning. Raises Unreachable, or Unsupported above
    `INFLATED_LIMIT` bytes.
    """
    if not is_remote(file.url) and not _is_gzip(file):
        yield LocalTrace(file.url)
        return
    if store is not None:
        name = f"trace\0{fingerprint(file)}"
        complete, part = store.path(name, ".xplane.pb"), store.path(name, ".part.xplane.pb")
        with _lock_of(complete), store.using(complete), store.using(part):
            local = _spooled(file, store, complete, part)
        if local is not None:
            with store.using(Path(local.path)), _removed_if_no_trace(Path(local.path)):
                yield local
            return
    with _temporary(file) as local:
        yield local


@contextmanager
def _removed_if_no_trace(copy: Path) -> Iterator[None]:
    """Removes the copy from the store if it turns out inside the block not to be a trace."""
    try:
        yield
    except BadTrace:
        with contextlib.suppress(OSError):
            copy.unlink()
        raise


def _is_gzip(file: TraceFile) -> bool:
    """Whether the local file is gzip, judged by its bytes, since its name may be wrong."""
    try:
        with open_regular(file.url) as opened_file:
            return opened_file.read(2) == _GZIP_MAGIC
    except OSError as err:
        raise _unreadable(file, err) from err


def _spooled(file: TraceFile, store: ResultStore, complete: Path, part: Path) -> LocalTrace | None:
    """The copy in the store, made if it is missing; None if the store cannot be written."""
    if not store.is_private():
        return None
    if complete.exists():
        return LocalTrace(str(complete))
    if part.exists():
        return LocalTrace(str(part), _damage_notice(file, part.stat().st_size))
    try:
        with store.writing(complete) as target:
            is_whole = _copy(file, target)
            size = target.tell()
        if not is_whole:
            complete.replace(part)
            return LocalTrace(str(part), _damage_notice(file, size))
    except OSError:
        return None
    return LocalTrace(str(complete))


@contextmanager
def _temporary(file: TraceFile) -> Iterator[LocalTrace]:
    import tempfile  # brings six modules, and most traces are plain local files

    with tempfile.TemporaryDirectory(prefix="tbprof-", ignore_cleanup_errors=True) as directory:
        path = Path(directory) / "trace.xplane.pb"
        try:
            with path.open("wb") as target:
                is_whole = _copy(file, target)
                size = target.tell()
        except OSError as err:
            raise Unreachable(
                f"{called(file)} cannot be copied to the temporary folder: {reason(err)}",
                _NO_SPACE_HINT,
            ) from err
        yield LocalTrace(str(path), () if is_whole else _damage_notice(file, size))


def _copy(file: TraceFile, target: BinaryIO) -> bool:
    """Writes the plain bytes; False if the gzip stream is damaged and the rest is lost.

    Raises OSError only for the target; errors of the source become Unreachable.
    """
    chunks = _chunks(file)
    first = next(chunks, b"")
    while len(first) < 2 and (more := next(chunks, b"")):
        first += more
    is_whole = True
    written = 0
    # Judged by its bytes, as storages may inflate files (GCS does, for Content-Encoding: gzip).
    is_gzip = first.startswith(_GZIP_MAGIC)
    pieces = _inflated(first, chunks) if is_gzip else chain([first], chunks)
    for piece in pieces:
        if piece is None:
            is_whole = False
            break
        written += len(piece)
        if written > INFLATED_LIMIT:
            raise Unsupported(
                f"{called(file)} inflates to more than {INFLATED_LIMIT:,} bytes",
                "inflate it with gzip -d and open the plain file",
            )
        if is_gzip and file.bytes and written > max(_LEAST_BOMB, _MOST_RATIO * file.bytes):
            raise Unsupported(
                f"{called(file)} inflates to more than {_MOST_RATIO} times its size, "
                "as no trace does",
                "copy the trace again from where it was captured",
            )
        _check_space(target, len(piece))
        target.write(piece)
    return is_whole


def _check_space(target: BinaryIO, size: int) -> None:
    """Raises OSError where `size` more bytes would fill the disk."""
    if hasattr(os, "fstatvfs"):
        facts = os.fstatvfs(target.fileno())
        if facts.f_bavail * facts.f_frsize < size + _LEAST_FREE:
            raise OSError(ENOSPC, os.strerror(ENOSPC))


def _chunks(file: TraceFile) -> Iterator[bytes]:
    try:
        files, url = file_system(file.url)
        yield from files.chunks(url, file.bytes)
    except OSError as err:
        raise _unreadable(file, err) from err


def _inflated(first: bytes, chunks: Iterator[bytes]) -> Iterator[bytes | None]:
    """The bytes of one or more gzip members; a final None says that the stream is damaged.

    Zeros after the last member are padding (RFC 1952 leaves room for it, and tapes did it).
    """
    inflator = zlib.decompressobj(wbits=31)
    is_started = False
    pending = first
    while True:
        while pending:
            if inflator.eof:
                pending = pending.lstrip(b"\0")
                if not pending:
                    break
                inflator, is_started = zlib.decompressobj(wbits=31), False
            before = inflator.copy()
            try:
                piece = inflator.decompress(pending, 16 * _CHUNK)
            except zlib.error:
                yield _until_damage(before, pending)
                yield None
                return
            is_started = True
            pending = inflator.unused_data if inflator.eof else inflator.unconsumed_tail
            yield piece
        pending = next(chunks, b"")
        if not pending:
            break
    if is_started and not inflator.eof:
        yield inflator.flush()
        yield None


def _until_damage(inflator: zlib._Decompress, data: bytes) -> bytes:
    """The part of `data` that can be inflated, byte by byte: one failing call returns nothing."""
    pieces: list[bytes] = []
    with contextlib.suppress(zlib.error):
        pieces.extend(inflator.decompress(bytes((byte,))) for byte in data)
    return b"".join(pieces)


def _damage_notice(file: TraceFile, size: int) -> tuple[Notice, ...]:
    return (
        Notice(
            "gzip_damaged",
            f"{called(file)} is a damaged gzip file: {size:,} bytes could be inflated, and what "
            "follows is lost",
            file.host,
            "copy the trace again from where it was captured",
        ),
    )


def _unreadable(file: TraceFile, err: OSError) -> Unreachable:
    return Unreachable(
        f"{called(file)} cannot be read: {reason(err)}", "reload the list of runs and try again"
    )


_locks: dict[Path, threading.Lock] = {}
_locks_lock = threading.Lock()


def _lock_of(path: Path) -> threading.Lock:
    """One lock per spooled file, so that two requests do not inflate the same trace twice."""
    with _locks_lock:
        return _locks.setdefault(path, threading.Lock())
